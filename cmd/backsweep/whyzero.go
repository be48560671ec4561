package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// whyGradient says the state of a tensor's gradient, and for a zero where it
// comes from.
func whyGradient(w io.Writer, s *source, rec *record.Record, id int) error {
	say := func(format string, args ...any) {
		fmt.Fprintln(w, wrap("gradient: "+fmt.Sprintf(format, args...), columns, "  "))
	}
	t := &rec.Tensors[id]
	switch t.Grad {
	case record.NoSweep:
		say("the record has no sweep, so nothing was computed")
		return nil
	case record.Unconnected:
		say("unconnected: it is zero by mathematics, and none is computed; %s", connectionEnds(rec, id))
		return nil
	case record.NotAsked:
		say("not asked for: nothing that was asked for leads to it, so no gradient is computed for it")
		return nil
	case record.Released:
		turn := visits(rec)[t.Producer]
		say("released: it is computed, consumed by %s (visit %d of %d), and let go then", rec.NodeName(t.Producer), turn+1, len(rec.Sweep.Sequence))
	default:
		say("computed, and kept until the tape's Reset")
	}
	if s.program == nil {
		say("whether it is zero, a record cannot say: it has no gradients")
		return nil
	}
	sw, err := s.sweep(backsweep.NewTape(), backsweep.KeepGrads())
	if err != nil {
		return err
	}
	g := sw.grads.Of(sw.run.Tensors[id])
	data := g.Float64s()
	zeros := zerosIn(data)
	e := newEntry("", sw.run.Tensors[id], g, backsweep.Computed)
	switch {
	case len(data) > 0 && zeros == len(data):
		say("it is zero: %s", becameZero(rec, sw, id))
	case zeros > 0:
		say("%s, of which %d of %d entries are 0", valuesText(e.data, e.shape, e.dtype), zeros, len(data))
	default:
		say("%s", valuesText(e.data, e.shape, e.dtype))
	}
	return nil
}

func zerosIn(data []float64) int {
	n := 0
	for _, v := range data {
		if v == 0 {
			n++
		}
	}
	return n
}

// connectionEnds says where the paths from an unconnected tensor to the loss
// end. It follows consumers over tensors that are unconnected themselves.
func connectionEnds(rec *record.Record, id int) string {
	if !floats(rec.Tensors[id].DType) {
		return rec.Tensors[id].DType + " carries no gradient"
	}
	uses := rec.Consumers()
	leads := leadsTo(rec, rec.Loss())
	seen := make([]bool, len(rec.Tensors))
	seen[id] = true
	queue := []int{id}
	var ends []string
	consumed, on := false, false
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		for _, u := range uses.Of(t) {
			n := &rec.Nodes[u.Node]
			consumed = true
			if !slices.ContainsFunc(n.Outputs, func(o int) bool { return leads[o] }) {
				continue
			}
			on = true
			cut := false
			for _, o := range n.Outputs {
				if !leads[o] {
					continue
				}
				if !floats(rec.Tensors[o].DType) || rec.Tensors[o].Grad != record.Unconnected || o == rec.Loss() {
					cut = true
				} else if !seen[o] {
					seen[o] = true
					queue = append(queue, o)
				}
			}
			if cut {
				if text := cutText(rec, u, t); !slices.Contains(ends, text) {
					ends = append(ends, text)
				}
			}
		}
	}
	switch {
	case len(ends) > 0:
		return "the connection ends at " + listing(ends, 4)
	case !consumed:
		return "no path leads to the loss: nothing consumes it"
	case !on:
		return "no path leads to the loss: what consumes it leads elsewhere"
	}
	return "no differentiable path leads to the loss"
}

// cutText says why no gradient flows back through one use of a tensor.
func cutText(rec *record.Record, u record.Use, t int) string {
	n := &rec.Nodes[u.Node]
	name := rec.NodeName(u.Node)
	if !floats(rec.Tensors[t].DType) {
		return fmt.Sprintf("%s, which takes %s as %s", name, rec.TensorName(t), rec.Tensors[t].DType)
	}
	for _, o := range n.Outputs {
		if !floats(rec.Tensors[o].DType) {
			return fmt.Sprintf("%s, whose output %s is %s, which carries no gradient", name, rec.TensorName(o), rec.Tensors[o].DType)
		}
	}
	if n.Op == "detach" {
		return name + ", which detaches it on purpose"
	}
	for _, o := range backsweep.Ops() {
		if o.Name == n.Op && o.Constant {
			return name + ", through which no gradient flows"
		}
	}
	return fmt.Sprintf("%s, which takes %s as operand %d, where it has no gradient", name, rec.TensorName(t), u.Slot)
}

func floats(dtype string) bool { return strings.HasPrefix(dtype, "float") }

// leadsTo marks the tensors from which any path of ops leads to a tensor,
// differentiable or not.
func leadsTo(rec *record.Record, tensor int) []bool {
	leads := make([]bool, len(rec.Tensors))
	if tensor < 0 {
		return leads
	}
	leads[tensor] = true
	for n := len(rec.Nodes) - 1; n >= 0; n-- {
		if !slices.ContainsFunc(rec.Nodes[n].Outputs, func(o int) bool { return leads[o] }) {
			continue
		}
		for _, t := range rec.Nodes[n].Inputs {
			leads[t] = true
		}
	}
	return leads
}

// becameZero follows a zero gradient towards the loss, as long as what it was
// computed from is zero too.
func becameZero(rec *record.Record, sw *swept, id int) string {
	givers := map[int][]int{} // nodes that contribute, by tensor
	for i := range rec.Sweep.Steps {
		step := &rec.Sweep.Steps[i]
		for _, give := range step.Gives {
			givers[give.Tensor] = append(givers[give.Tensor], step.Node)
		}
	}
	for {
		next, alive := -1, []string{}
		for _, n := range givers[id] {
			zero := true
			for _, o := range rec.Nodes[n].Outputs {
				if g, state := sw.grads.Lookup(sw.run.Tensors[o]); state == backsweep.Computed {
					if data := g.Float64s(); zerosIn(data) != len(data) {
						zero = false
					} else if next < 0 {
						next = o
					}
				}
			}
			if !zero && !slices.Contains(alive, rec.NodeName(n)) {
				alive = append(alive, rec.NodeName(n))
			}
		}
		switch {
		case len(alive) == 1 && len(givers[id]) == 1:
			return fmt.Sprintf("it became zero at %s, whose output has a gradient that is not", alive[0])
		case len(alive) > 0:
			return fmt.Sprintf("the parts that %s hand over are zero, or cancel", strings.Join(alive, " and "))
		case next < 0:
			return "the cotangent that the sweep started from is zero"
		}
		id = next
	}
}
