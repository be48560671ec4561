package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/record"
)

func payloadCommand() *cobra.Command {
	var f sourceFlags
	var order string
	var lines int
	c := &cobra.Command{
		Use:   "payload SOURCE",
		Short: "Show what the sweep keeps, why, and until when",
		Long:  wrap("payload lists each value that a gradient rule will read back: its bytes, which node keeps it and why, and until which visit it lives under the order; then the moment at which the sweep holds most, and what is held there. Storage that several views share counts once.", columns, ""),
		Example: `  backsweep payload -e 'h := tanh(x*w); sum(h*h)' --in x:1000
  backsweep payload towers.record.json.gz --order leanest`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("backsweep why SOURCE T asks for one tensor", "payload takes a SOURCE alone, not %q", rest[0])
			}
			spec, err := parseOrder(order)
			if err != nil {
				return err
			}
			rec, err := s.plan(spec)
			if err != nil {
				return err
			}
			return printTo(c.OutOrStdout(), lines, func(w io.Writer) error {
				printPayload(w, rec)
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&order, "order", "tape", "tape, depth, breadth, random, leanest, or 'id,id,…'")
	addLines(c, &lines)
	return c
}

// keeper is a node that keeps a storage, and why.
type keeper struct {
	node int
	save record.Save
}

// keepers lists, by storage, the saves of the nodes that the sweep visits.
func keepers(rec *record.Record) [][]keeper {
	by := make([][]keeper, len(rec.Storages))
	visited := visits(rec)
	for n := range rec.Nodes {
		if visited[n] < 0 {
			continue
		}
		for _, save := range rec.Nodes[n].Saves {
			st := rec.Tensors[save.Tensor].Storage
			by[st] = append(by[st], keeper{n, save})
		}
	}
	return by
}

// visits is the turn of each node in the sweep, from 0, or -1.
func visits(rec *record.Record) []int {
	turn := make([]int, len(rec.Nodes))
	for n := range turn {
		turn[n] = -1
	}
	if rec.Sweep != nil {
		for i, n := range rec.Sweep.Sequence {
			turn[n] = i
		}
	}
	return turn
}

func printPayload(w io.Writer, rec *record.Record) {
	st := newStorages(rec)
	by := keepers(rec)
	until := rec.LetGo(rec.Sweep.Sequence)
	total, kept := int64(0), 0
	for id, k := range by {
		if len(k) > 0 && !rec.Storages[id].Leaf {
			total += rec.Storages[id].Bytes
			kept++
		}
	}
	fmt.Fprintln(w, wrap(fmt.Sprintf("%s: rules keep %s in %s, and read leaves besides", orderName(rec.Sweep), record.BytesText(total), counted(kept, "value")), columns, "  "))
	for id, k := range by {
		if len(k) == 0 {
			continue
		}
		fmt.Fprintln(w)
		fmt.Fprintln(w, wrap(storageText(rec, st, id), columns, "    "))
		for _, x := range k {
			fmt.Fprintln(w, wrap("    "+keeperText(rec, x), columns, "      "))
		}
		fmt.Fprintln(w, wrap("    "+lifetime(rec, id, until[id]), columns, "      "))
	}
	if len(rec.Sweep.Before) > 0 {
		fmt.Fprintln(w, "\nread by no rule, held for its handle, and let go before the first visit:")
		for _, id := range rec.Sweep.Before {
			fmt.Fprintln(w, wrap("  "+storageText(rec, st, id), columns, "    "))
		}
	}
	printPeak(w, rec)
}

// storageText is "h (t3)  float32 2×3, 24 B", with the views that share it.
func storageText(rec *record.Record, st *storages, id int) string {
	first := st.tensors[id][0]
	t := &rec.Tensors[first]
	text := fmt.Sprintf("%s  %s %s, %s", tensorText(rec, first), t.DType, record.ShapeText(t.Shape), record.BytesText(rec.Storages[id].Bytes))
	if t.Kind != record.Computed {
		text += ", " + string(t.Kind)
	}
	if views := st.tensors[id][1:]; len(views) > 0 {
		var names []string
		for _, v := range views {
			names = append(names, tensorText(rec, v))
		}
		text += "; shared with " + listing(names, 4)
	}
	return text
}

func keeperText(rec *record.Record, k keeper) string {
	role := map[bool]string{true: "its input", false: "its output"}[strings.HasPrefix(k.save.Role, "input")]
	_, slot, _ := strings.Cut(k.save.Role, " ")
	scope := ""
	if path := rec.ScopePath(rec.Nodes[k.node].Scope); path != "" {
		scope = ", in " + path
	}
	return fmt.Sprintf("%s keeps %s %s%s: %s", rec.NodeName(k.node), role, slot, scope, k.save.Reason)
}

// lifetime says until when a storage lives. until is as record.LetGo has it.
func lifetime(rec *record.Record, id, until int) string {
	seq := rec.Sweep.Sequence
	switch {
	case until == record.BeforeSweep:
		return "let go before the first visit"
	case until < len(seq):
		return fmt.Sprintf("let go after %s, visit %d of %d, its last reader", rec.NodeName(seq[until]), until+1, len(seq))
	case rec.Storages[id].Leaf:
		return "it belongs to a leaf, and outlives the sweep"
	case rec.Sweep.Retain:
		return "the sweep retains it, until the tape's Reset"
	}
	for _, t := range rec.Sweep.Roots {
		if rec.Tensors[t].Storage == id {
			return "it is the loss, which lives until the tape's Reset"
		}
	}
	return "it was told to Keep, until the tape's Reset"
}

// printPeak prints the moment at which most is held, and, when that is before
// the first visit, the visit at which most is.
func printPeak(w io.Writer, rec *record.Record) {
	m := rec.Memory()
	printMoment(w, rec, "peak", &m.Moments[m.Peak], m.Held)
	if m.Peak > 0 || len(m.Moments) < 2 {
		return
	}
	most := 1
	for i := range m.Moments {
		if i > 0 && m.Moments[i].Total() > m.Moments[most].Total() {
			most = i
		}
	}
	printMoment(w, rec, "then at most", &m.Moments[most], rec.HeldAt(most))
}

func printMoment(w io.Writer, rec *record.Record, what string, at *record.Moment, held []record.Held) {
	when := "when the sweep starts"
	if at.Step >= 0 {
		when = fmt.Sprintf("at visit %d of %d, %s", at.Step+1, len(rec.Sweep.Sequence), rec.NodeName(rec.Sweep.Sequence[at.Step]))
	}
	fmt.Fprintf(w, "\n%s: %s %s\n", what, record.BytesText(at.Total()), when)
	const most = 30
	for i, h := range held {
		if i == most {
			fmt.Fprintf(w, "  … and %d more\n", len(held)-most)
			break
		}
		fmt.Fprintln(w, wrap(fmt.Sprintf("  %10s  %s", record.BytesText(h.Bytes), heldText(rec, h)), columns, strings.Repeat(" ", 14)))
	}
}

func heldText(rec *record.Record, h record.Held) string {
	name := "nothing's"
	if h.Tensor >= 0 {
		name = rec.TensorName(h.Tensor)
	}
	switch h.Cause {
	case "payload":
		return fmt.Sprintf("payload %s, for %s", name, rec.NodeName(h.Node))
	case "grads":
		return "the gradient of " + name
	case "parked":
		return fmt.Sprintf("a parked part of the gradient of %s, from %s", name, rec.NodeName(h.Node))
	case "params":
		return "parameter " + name
	case "inputs":
		return "leaf " + name
	}
	return "value " + name
}
