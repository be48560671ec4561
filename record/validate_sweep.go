package record

import (
	"errors"
	"fmt"

	"github.com/backsweep/backsweep/order"
)

// sweep checks the plan and the events of the record's sweep.
func (v *validator) sweep() error {
	s := v.r.Sweep
	if s == nil {
		return nil
	}
	if s.Workers < 0 {
		return bad("sweep.workers", "it is %d", s.Workers)
	}
	if len(s.Roots) == 0 {
		return bad("sweep.roots", "there are none; the loss is the first of them")
	}
	for i, t := range s.Roots {
		if t < 0 || t >= len(v.r.Tensors) {
			return bad(fmt.Sprintf("sweep.roots[%d]", i), "tensor %d does not exist", t)
		}
	}
	for _, check := range []func(*Sweep) error{v.sequence, v.gives, v.legal, v.frees, v.drops, v.events} {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// sequence checks that the sequence has distinct nodes and one step for each.
func (v *validator) sequence(s *Sweep) error {
	seen := make([]bool, len(v.r.Nodes))
	for i, n := range s.Sequence {
		place := fmt.Sprintf("sweep.sequence[%d]", i)
		if n < 0 || n >= len(seen) {
			return bad(place, "node %d does not exist", n)
		}
		if seen[n] {
			return bad(place, "%s is visited for the second time", v.r.NodeName(n))
		}
		seen[n] = true
	}
	if len(s.Steps) != len(s.Sequence) {
		return bad("sweep.steps", "there are %d, but the sequence has %d nodes", len(s.Steps), len(s.Sequence))
	}
	for i := range s.Steps {
		if s.Steps[i].Node != s.Sequence[i] {
			return bad(fmt.Sprintf("sweep.steps[%d].node", i), "it is %d, but the sequence has node %d there", s.Steps[i].Node, s.Sequence[i])
		}
	}
	return nil
}

// gives checks each contribution by itself, and that no two have one turn.
func (v *validator) gives(s *Sweep) error {
	r := v.r
	// The turns of tensor t are turns[start[t]:start[t+1]].
	start := make([]int, len(r.Tensors)+1)
	for i := range s.Steps {
		for k, g := range s.Steps[i].Gives {
			inputs := r.Nodes[s.Steps[i].Node].Inputs
			place := fmt.Sprintf("sweep.steps[%d].gives[%d]", i, k)
			if g.Slot < 0 || g.Slot >= len(inputs) {
				return bad(place+".slot", "%s has no operand %d", r.NodeName(s.Steps[i].Node), g.Slot)
			}
			if inputs[g.Slot] != g.Tensor {
				return bad(place+".tensor", "it is %d, but operand %d of %s is tensor %d", g.Tensor, g.Slot, r.NodeName(s.Steps[i].Node), inputs[g.Slot])
			}
			start[g.Tensor+1]++
		}
	}
	seeds := make([]int, len(r.Tensors))
	for _, t := range s.Roots {
		seeds[t]++
	}
	for t := range r.Tensors {
		start[t+1] += start[t]
	}
	taken := make([]bool, start[len(r.Tensors)])
	for i := range s.Steps {
		for k, g := range s.Steps[i].Gives {
			place := fmt.Sprintf("sweep.steps[%d].gives[%d]", i, k)
			turns := taken[start[g.Tensor]:start[g.Tensor+1]]
			if g.Of != len(turns)+seeds[g.Tensor] {
				return bad(place+".of", "it is %d, but %s gets %d contributions", g.Of, r.TensorName(g.Tensor), len(turns)+seeds[g.Tensor])
			}
			turn := g.Rank - seeds[g.Tensor]
			if turn < 0 || turn >= len(turns) {
				return bad(place+".rank", "it is %d; the ranks of %s's contributions run from %d to %d", g.Rank, r.TensorName(g.Tensor), seeds[g.Tensor], g.Of-1)
			}
			if turns[turn] {
				return bad(place+".rank", "rank %d of %s is taken twice", g.Rank, r.TensorName(g.Tensor))
			}
			turns[turn] = true
		}
	}
	return nil
}

// legal checks that every consumer in the sweep is visited before the producer.
func (v *validator) legal(s *Sweep) error {
	g, nodes, err := v.r.Graph()
	if err != nil {
		return bad("sweep.sequence", "%v", err)
	}
	err = g.Check(v.r.Vertices(s.Sequence))
	var broken *order.IllegalError
	if errors.As(err, &broken) {
		node, consumer := nodes[broken.Node], nodes[broken.Consumer]
		return bad(fmt.Sprintf("sweep.sequence[%d]", broken.Pos), "%s comes before %s, which consumes its output %s",
			v.r.NodeName(node), v.r.NodeName(consumer), v.r.TensorName(int(broken.Tensor)))
	}
	if err != nil {
		return bad("sweep.sequence", "%v", err)
	}
	return nil
}

// frees checks that each storage is let go once, and no leaf's at all.
func (v *validator) frees(s *Sweep) error {
	r := v.r
	gone := make([]bool, len(r.Storages))
	free := func(place string, st int) error {
		switch {
		case st < 0 || st >= len(gone):
			return bad(place, "storage %d does not exist", st)
		case r.Storages[st].Leaf:
			return bad(place, "storage %d belongs to a leaf, which outlives the sweep", st)
		case gone[st]:
			return bad(place, "storage %d is let go for the second time", st)
		}
		gone[st] = true
		return nil
	}
	for i, st := range s.Before {
		if err := free(fmt.Sprintf("sweep.before[%d]", i), st); err != nil {
			return err
		}
	}
	for i := range s.Steps {
		for k, st := range s.Steps[i].Frees {
			if err := free(fmt.Sprintf("sweep.steps[%d].frees[%d]", i, k), st); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *validator) drops(s *Sweep) error {
	dropped := make([]bool, len(v.r.Tensors))
	for i := range s.Steps {
		for k, t := range s.Steps[i].Drops {
			place := fmt.Sprintf("sweep.steps[%d].drops[%d]", i, k)
			if t < 0 || t >= len(dropped) {
				return bad(place, "tensor %d does not exist", t)
			}
			if dropped[t] {
				return bad(place, "the gradient of %s is let go for the second time", v.r.TensorName(t))
			}
			dropped[t] = true
		}
	}
	return nil
}

func (v *validator) events(s *Sweep) error {
	for i := range s.Events {
		e := &s.Events[i]
		place := fmt.Sprintf("sweep.events[%d]", i)
		switch e.Kind {
		case Seeded, Visited, Added, Parked, Freed, GradReleased, Replayed:
		default:
			return bad(place+".kind", "%.40q is not a kind of event", e.Kind)
		}
		if e.Node < -1 || e.Node >= len(v.r.Nodes) {
			return bad(place+".node", "node %d does not exist", e.Node)
		}
		if e.Tensor < -1 || e.Tensor >= len(v.r.Tensors) {
			return bad(place+".tensor", "tensor %d does not exist", e.Tensor)
		}
		if e.Storage < -1 || e.Storage >= len(v.r.Storages) {
			return bad(place+".storage", "storage %d does not exist", e.Storage)
		}
		if e.Slot < -1 || (e.Slot >= 0 && e.Node < 0) || (e.Node >= 0 && e.Slot >= len(v.r.Nodes[e.Node].Inputs)) {
			return bad(place+".slot", "there is no operand %d", e.Slot)
		}
		if e.Rank < -1 || e.Bytes < -1 || e.Worker < -1 {
			return bad(place, "a number is below -1")
		}
	}
	return nil
}
