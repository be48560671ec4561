package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/order"
	"github.com/backsweep/backsweep/record"
)

// maxOrders is how many orders --all lists.
const maxOrders = 10_000

type orderFlags struct {
	source                     sourceFlags
	order, check               string
	count, all, windows, width bool
	json                       bool
	lines                      int
}

func orderCommand() *cobra.Command {
	f := &orderFlags{}
	c := &cobra.Command{
		Use:   "order SOURCE",
		Short: "Show the order of the sweep, and what freedom it has",
		Long: wrap(`order shows the sweep line by line: the node, why it may go now, what it hands to whom, and what it lets go.

An order of your own, as --order or --check 'n4,n3,n1', runs, or is refused with exit code 1: the message names the node, the consumer that has not been visited, and the tensor between them.`, columns, ""),
		Example: `  backsweep order -e 'a := exp(x); b := tanh(x); a*b' --order depth
  backsweep order -e 'a := exp(x); b := tanh(x); a*b' --check 2,0,1
  backsweep order -e 'a := exp(x); b := tanh(x); a*b' --count --all`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.source.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("an order is given with --order or --check", "order takes a SOURCE alone, not %q", rest[0])
			}
			return f.run(c.OutOrStdout(), s)
		},
	}
	f.source.add(c)
	fl := c.Flags()
	fl.StringVar(&f.order, "order", "tape", "tape, depth, breadth, random, leanest, or 'id,id,…'")
	fl.StringVar(&f.check, "check", "", "run this order, 'id,id,…', or say why it is not legal")
	fl.BoolVar(&f.count, "count", false, "how many legal orders there are")
	fl.BoolVar(&f.all, "all", false, fmt.Sprintf("list them (the first %d)", maxOrders))
	fl.BoolVar(&f.windows, "windows", false, "the earliest and the latest visit of each node")
	fl.BoolVar(&f.width, "width", false, "how many nodes can be visited side by side, and the longest chain of visits")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	addLines(c, &f.lines)
	return c
}

func (f *orderFlags) run(w io.Writer, s *source) error {
	text := f.order
	if f.check != "" {
		text = f.check
	}
	spec, err := parseOrder(text)
	if err != nil {
		return err
	}
	if f.check != "" && spec.kind != "given" {
		return misuse("write --check 'n4,n3,n1'", "--check takes node ids, not %q", f.check)
	}
	rec, err := s.plan(spec)
	if err != nil {
		var no *noError
		if f.json && errors.As(err, &no) && spec.kind == "given" {
			return f.refusedJSON(w, s, spec, err)
		}
		return err
	}
	ran := ""
	if spec.kind == "given" && s.program != nil {
		if ran, err = runGiven(s, rec); err != nil {
			return err
		}
	}
	if f.json {
		return f.printJSON(w, rec)
	}
	return printTo(w, f.lines, func(w io.Writer) error {
		if f.count || f.all || f.windows || f.width {
			return f.freedom(w, s, rec)
		}
		if err := printSweep(w, rec); err != nil {
			return err
		}
		if ran != "" {
			fmt.Fprintln(w, "\n"+wrap(ran, columns, ""))
		} else if spec.kind == "given" {
			fmt.Fprintln(w, "\nThe order is legal.")
		}
		return nil
	})
}

// runGiven runs the program's sweep under the order of the record's plan, and
// compares every gradient with that of reverse tape order.
func runGiven(s *source, rec *record.Record) (string, error) {
	first, err := s.sweep(backsweep.NewTape())
	if err != nil {
		return "", err
	}
	own, err := s.sweep(backsweep.NewTape(), backsweep.WithOrder(backsweep.GivenOrder(rec.Sweep.Sequence...)))
	if err != nil {
		return "", err
	}
	if name := differing(first, own); name != "" {
		return "", &noError{"the order is legal and ran, but the gradient of " + name + " has other bits than in reverse tape order; this is a fault of backsweep"}
	}
	return "The order is legal. It ran, and every gradient has the bits that reverse tape order gives.", nil
}

var orderNames = map[string]string{
	"tape": "reverse tape order", "depth": "depth first", "breadth": "breadth first",
	"leanest": "leanest order", "given": "order as given",
}

func orderName(s *record.Sweep) string {
	if s.Order == "random" {
		return fmt.Sprintf("random order, seed %d", s.Seed)
	}
	if name, ok := orderNames[s.Order]; ok {
		return name
	}
	return "order " + s.Order
}

// printSweep prints the plan of a sweep, a visit in a few lines.
func printSweep(w io.Writer, rec *record.Record) error {
	sw := rec.Sweep
	fmt.Fprintln(w, wrap(fmt.Sprintf("%s: %s, from %s", orderName(sw), counted(len(sw.Sequence), "visit"), lossText(rec)), columns, "  "))
	if len(sw.Sequence) == 0 {
		fmt.Fprintln(w, "There is nothing to visit: no op leads from an input to the loss.")
		return nil
	}
	st := newStorages(rec)
	if len(sw.Before) > 0 {
		var names []string
		for _, id := range sw.Before {
			names = append(names, st.text(id))
		}
		fmt.Fprintln(w, wrap("before: lets go of "+listing(names, 6)+", which no rule reads back", columns, "        "))
	}
	fmt.Fprintln(w)
	g, nodes, err := rec.Graph()
	if err != nil {
		return err
	}
	reasons := g.Reasons(rec.Vertices(sw.Sequence))
	digits := len(fmt.Sprint(len(sw.Sequence)))
	indent := strings.Repeat(" ", digits+3)
	for i := range sw.Steps {
		step := &sw.Steps[i]
		line := fmt.Sprintf("%*d  %s: %s", digits, i+1, rec.NodeName(step.Node), reasonText(rec, nodes, reasons[i]))
		fmt.Fprintln(w, wrap(line, columns, indent))
		if len(step.Gives) > 0 {
			fmt.Fprintln(w, wrap(indent+"hands over "+givesText(rec, step), columns, indent+"  "))
		}
		if text := lettingGo(rec, st, step); text != "" {
			fmt.Fprintln(w, wrap(indent+"lets go of "+text, columns, indent+"  "))
		}
	}
	return nil
}

func reasonText(rec *record.Record, nodes []int, e order.Edge) string {
	if e.To < 0 {
		return "at once; it produced the loss, and nothing consumes that"
	}
	return fmt.Sprintf("after %s, which consumes its output %s", rec.NodeName(nodes[e.To]), rec.TensorName(int(e.Tensor)))
}

func givesText(rec *record.Record, step *record.Step) string {
	const most = 8
	var parts []string
	for _, give := range step.Gives {
		t := &rec.Tensors[give.Tensor]
		text := "the gradient of " + rec.TensorName(give.Tensor)
		if t.Producer >= 0 {
			text += " to " + rec.NodeName(t.Producer)
		} else {
			text += ", a leaf"
		}
		switch {
		case give.Parked:
			text += fmt.Sprintf(" (part %d of %d, parked until its turn)", give.Rank+1, give.Of)
		case give.Of > 1:
			text += fmt.Sprintf(" (part %d of %d)", give.Rank+1, give.Of)
		}
		parts = append(parts, text)
	}
	more := ""
	if len(parts) > most+1 {
		more = fmt.Sprintf("; and %d more", len(parts)-most)
		parts = parts[:most]
	}
	return strings.Join(parts, "; ") + more
}

func lettingGo(rec *record.Record, st *storages, step *record.Step) string {
	var parts []string
	for _, t := range step.Drops {
		parts = append(parts, "the gradient of "+rec.TensorName(t))
	}
	for _, id := range step.Frees {
		parts = append(parts, "payload "+st.text(id))
	}
	return listing(parts, 8)
}

// freedom answers --count, --all, --windows and --width.
func (f *orderFlags) freedom(w io.Writer, s *source, rec *record.Record) error {
	g, nodes, err := rec.Graph()
	if err != nil {
		return err
	}
	if f.count {
		n, err := g.Count(0)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, countText(n))
	}
	if f.all {
		n := 0
		for seq := range g.All() {
			if n == maxOrders {
				fmt.Fprintf(w, "there are more; these are the first %d\n", maxOrders)
				break
			}
			if err := s.ctx.Err(); err != nil {
				return err
			}
			n++
			fmt.Fprintln(w, wrap(sequenceText(nodeIDs(nodes, seq), 0), columns, "  "))
		}
	}
	if f.windows {
		windows, err := g.Windows()
		if err != nil {
			return err
		}
		for v, win := range windows {
			text := fmt.Sprintf("visit %d to %d of %d", win.Earliest+1, win.Latest+1, len(nodes))
			if win.Earliest == win.Latest {
				text = fmt.Sprintf("visit %d of %d, in every order", win.Earliest+1, len(nodes))
			}
			fmt.Fprintf(w, "%-24s %s\n", rec.NodeName(nodes[v]), text)
		}
	}
	if f.width {
		chain, err := g.Width()
		if err != nil {
			return err
		}
		path := g.CriticalPath(nil)
		fmt.Fprintln(w, wrap(fmt.Sprintf("width %d: at most %s can be visited side by side, for instance %s", len(chain), counted(len(chain), "node"), nodesText(rec, nodeIDs(nodes, chain))), columns, "  "))
		fmt.Fprintln(w, wrap(fmt.Sprintf("longest chain: %s one after the other, however many workers there are: %s", counted(len(path), "visit"), nodesText(rec, nodeIDs(nodes, path))), columns, "  "))
	}
	return nil
}

func countText(n *big.Int) string {
	if n.IsInt64() && n.Int64() == 1 {
		return "1 legal order"
	}
	text := n.String()
	if len(text) > 60 {
		return fmt.Sprintf("about %s legal orders", new(big.Float).SetInt(n).Text('g', 6))
	}
	return text + " legal orders"
}

func nodesText(rec *record.Record, ids []int) string {
	var names []string
	for _, n := range ids {
		names = append(names, rec.NodeName(n))
	}
	return listing(names, 12)
}

// sequenceText prints node ids; of more than most, those at both ends.
func sequenceText(ids []int, most int) string {
	var b strings.Builder
	for i, n := range ids {
		if most > 0 && len(ids) > most && i >= most/2 && i < len(ids)-most/2 {
			if i == most/2 {
				fmt.Fprintf(&b, " … (%d more)", len(ids)-most/2*2)
			}
			continue
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "n%d", n)
	}
	return b.String()
}

// The JSON of order.
type orderJSON struct {
	Order   []int          `json:"order"`
	Nodes   []nodeJSON     `json:"nodes"`
	Tensors []tensorJSON   `json:"tensors"`
	Legal   bool           `json:"legal"`
	Count   json.Number    `json:"count,omitempty"`
	Width   []int          `json:"width,omitempty"`
	Windows map[int][2]int `json:"windows,omitempty"` // by node id, visits from 0
	All     [][]int        `json:"all,omitempty"`
}

type nodeJSON struct {
	ID      int    `json:"id"`
	Op      string `json:"op"`
	Inputs  []int  `json:"inputs"`
	Outputs []int  `json:"outputs"`
}

type tensorJSON struct {
	ID       int    `json:"id"`
	Producer int    `json:"producer"` // -1 for a leaf
	Name     string `json:"name"`
}

func newOrderJSON(rec *record.Record, sequence []int, legal bool) *orderJSON {
	out := &orderJSON{Order: append([]int{}, sequence...), Legal: legal, Nodes: []nodeJSON{}, Tensors: []tensorJSON{}}
	for i := range rec.Nodes {
		n := &rec.Nodes[i]
		out.Nodes = append(out.Nodes, nodeJSON{n.ID, n.Op, append([]int{}, n.Inputs...), append([]int{}, n.Outputs...)})
	}
	for i := range rec.Tensors {
		t := &rec.Tensors[i]
		out.Tensors = append(out.Tensors, tensorJSON{t.ID, t.Producer, t.Name})
	}
	return out
}

func (f *orderFlags) printJSON(w io.Writer, rec *record.Record) error {
	out := newOrderJSON(rec, rec.Sweep.Sequence, true)
	g, nodes, err := rec.Graph()
	if err != nil {
		return err
	}
	if f.count {
		n, err := g.Count(0)
		if err != nil {
			return err
		}
		out.Count = json.Number(n.String())
	}
	if f.width {
		chain, err := g.Width()
		if err != nil {
			return err
		}
		out.Width = nodeIDs(nodes, chain)
	}
	if f.windows {
		windows, err := g.Windows()
		if err != nil {
			return err
		}
		out.Windows = map[int][2]int{}
		for v, win := range windows {
			out.Windows[nodes[v]] = [2]int{int(win.Earliest), int(win.Latest)}
		}
	}
	if f.all {
		for seq := range g.All() {
			if len(out.All) == maxOrders {
				return &noError{fmt.Sprintf("there are more than %d legal orders, which is what --all --json lists; --count counts them", maxOrders)}
			}
			out.All = append(out.All, nodeIDs(nodes, seq))
		}
	}
	return writeJSON(w, out)
}

// refusedJSON prints an order that is not legal, and returns why.
func (f *orderFlags) refusedJSON(w io.Writer, s *source, spec orderSpec, why error) error {
	rec, err := s.plan(orderSpec{kind: "tape"})
	if err != nil {
		return err
	}
	ids, err := spec.nodes(rec)
	if err != nil {
		ids = nil
	}
	if err := writeJSON(w, newOrderJSON(rec, ids, false)); err != nil {
		return err
	}
	return why
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
