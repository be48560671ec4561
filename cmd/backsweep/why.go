package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/order"
	"github.com/backsweep/backsweep/record"
)

func whyCommand() *cobra.Command {
	var f sourceFlags
	var ord string
	var lines int
	c := &cobra.Command{
		Use:   "why SOURCE A B | why SOURCE T",
		Short: "Say why a node waits for another, or what becomes of a tensor",
		Long: wrap(`why A B says why node A cannot be visited until B has been, along the shortest path of tensors; or, when it can, shows a legal order that has them the other way.

why T says what keeps tensor T alive and until which node, and the state of its gradient: for a zero, where the connection to the loss ends, or the node at which it became zero.`, columns, ""),
		Example: `  backsweep why -e 'h := tanh(x); y := h*w; sum(y)' n0 n2
  backsweep why -e 'h := tanh(x); y := detach(h); sum(y)' h`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) != 1 && len(rest) != 2 {
				return misuse("why SOURCE A B asks about two nodes, why SOURCE T about a tensor", "why takes one name or two, and %d are given", len(rest))
			}
			spec, err := parseOrder(ord)
			if err != nil {
				return err
			}
			rec := s.file
			if rec == nil || rec.Sweep != nil && c.Flags().Changed("order") {
				if rec, err = s.plan(spec); err != nil {
					return err
				}
			}
			return printTo(c.OutOrStdout(), lines, func(w io.Writer) error {
				if len(rest) == 2 {
					return whyNodes(w, rec, rest[0], rest[1])
				}
				return whyTensor(w, s, rec, rest[0])
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&ord, "order", "tape", "for lifetimes: tape, depth, breadth, random, leanest, or 'id,id,…'")
	addLines(c, &lines)
	return c
}

// whyNodes says whether one node must wait for another.
func whyNodes(w io.Writer, rec *record.Record, first, second string) error {
	a, err := findNode(rec, first)
	if err != nil {
		return err
	}
	b, err := findNode(rec, second)
	if err != nil {
		return err
	}
	if a == b {
		return misuse("", "both names stand for %s", rec.NodeName(a))
	}
	g, nodes, err := rec.Graph()
	if err != nil {
		return err
	}
	vertices := rec.Vertices([]int{a, b})
	for i, n := range []int{a, b} {
		if vertices[i] < 0 {
			return &noError{rec.NodeName(n) + " is not visited: the sweep has no gradient to hand through it"}
		}
	}
	answer := g.Why(vertices[0], vertices[1])
	switch {
	case answer.Waits():
		printChain(w, rec, nodes, answer.Path)
	case answer.Back != nil:
		fmt.Fprintln(w, wrap(fmt.Sprintf("%s need not wait for %s; it is the other way round:", rec.NodeName(a), rec.NodeName(b)), columns, "  "))
		printChain(w, rec, nodes, answer.Back)
		printOther(w, rec, a, b, nodeIDs(nodes, answer.Other))
	default:
		fmt.Fprintln(w, wrap(fmt.Sprintf("%s need not wait for %s, nor %s for %s: no path of tensors joins them.",
			rec.NodeName(a), rec.NodeName(b), rec.NodeName(b), rec.NodeName(a)), columns, "  "))
		printOther(w, rec, a, b, nodeIDs(nodes, answer.Other))
		printOther(w, rec, b, a, nodeIDs(nodes, answer.BFirst))
	}
	return nil
}

// printChain prints a chain of reasons from the node that waits. The path leads
// the other way.
func printChain(w io.Writer, rec *record.Record, nodes []int, path []order.Edge) {
	for i := len(path) - 1; i >= 0; i-- {
		e := path[i]
		end := ";"
		if i == 0 {
			end = "."
		}
		fmt.Fprintln(w, wrap(fmt.Sprintf("%s cannot be visited until %s has been, because n%d consumes its output %s%s",
			rec.NodeName(nodes[e.From]), rec.NodeName(nodes[e.To]), nodes[e.To], rec.TensorName(int(e.Tensor)), end), columns, "  "))
	}
	if len(path) > 1 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("So %s waits for %s, over %d tensors.", rec.NodeName(nodes[path[len(path)-1].From]), rec.NodeName(nodes[path[0].To]), len(path)), columns, "  "))
	}
}

func printOther(w io.Writer, rec *record.Record, a, b int, sequence []int) {
	fmt.Fprintln(w, wrap(fmt.Sprintf("A legal order that has %s before %s: %s", rec.NodeName(a), rec.NodeName(b), sequenceText(sequence, 60)), columns, "  "))
}

// whyTensor says what becomes of a tensor's value and of its gradient.
func whyTensor(w io.Writer, s *source, rec *record.Record, name string) error {
	f, err := find(rec, name)
	if err != nil {
		return err
	}
	id := f.Tensor
	if f.Node >= 0 {
		outputs := rec.Nodes[f.Node].Outputs
		if len(outputs) != 1 {
			return misuse("name one of its outputs", "%s has %d outputs", rec.NodeName(f.Node), len(outputs))
		}
		id = outputs[0]
	}
	t := &rec.Tensors[id]
	from := "a leaf, " + string(t.Kind)
	if t.Producer >= 0 {
		from = "the output of " + rec.NodeName(t.Producer)
		if len(rec.Nodes[t.Producer].Outputs) > 1 {
			from = fmt.Sprintf("output %d of %s", t.Output, rec.NodeName(t.Producer))
		}
	}
	if path := rec.ScopePath(t.Scope); path != "" {
		from += ", in " + path
	}
	fmt.Fprintln(w, wrap(fmt.Sprintf("%s: %s %s, %s; %s", tensorText(rec, id), t.DType, record.ShapeText(t.Shape), record.BytesText(t.Bytes), from), columns, "  "))
	whyAlive(w, rec, id)
	return whyGradient(w, s, rec, id)
}

// whyAlive says what keeps a tensor's value, and until when.
func whyAlive(w io.Writer, rec *record.Record, id int) {
	say := func(text string) { fmt.Fprintln(w, wrap("value: "+text, columns, "  ")) }
	sto := rec.Tensors[id].Storage
	var views []string
	for v := range rec.Tensors {
		if v != id && rec.Tensors[v].Storage == sto {
			views = append(views, tensorText(rec, v))
		}
	}
	if len(views) > 0 {
		say("it shares its storage with " + listing(views, 6) + ", so they live and go together")
	}
	if rec.Sweep == nil {
		say("the record has no sweep, so it cannot say until when it lives")
		return
	}
	kept := keepers(rec)[sto]
	const most = 12
	for i, k := range kept {
		if i == most {
			say(fmt.Sprintf("and %d more nodes keep it", len(kept)-most))
			break
		}
		say(keeperText(rec, k))
	}
	until := rec.LetGo(rec.Sweep.Sequence)[sto]
	text := lifetime(rec, sto, until)
	if len(kept) == 0 {
		text = "no rule reads it back; " + text
		if until == record.BeforeSweep {
			text = "no rule reads it back, so it is held for its handle alone, and let go before the first visit"
		}
	}
	say(text + " (" + strings.TrimPrefix(orderName(rec.Sweep), "the ") + ")")
}
