package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/backsweep/backsweep/order"
)

// ErrNoSweep says that a record has no sweep whose plan could be asked for or
// changed.
var ErrNoSweep = errors.New("record: the record has no sweep; record the tape after Backward with Trace, or after Plan")

// ErrReplays says that a plan replays checkpoints. Which values a replay reads
// is not in a record, so the plan cannot be worked out anew under another
// sequence; the tape can plan it.
var ErrReplays = errors.New("record: the sweep replays checkpoints, whose plan only the tape can work out; ask for the order when it is recorded")

// Replan returns the plan that the record's sweep has under another sequence of
// the same nodes: what each visit gives, and its rank, are the same; what parks
// and what each visit lets go are worked out anew. It has no events, since it
// did not run. Nodes that the sweep does not visit are passed over. The errors
// are [ErrNoSweep], [ErrReplays] and a *SequenceError. The time is linear in the record.
func (r *Record) Replan(sequence []int) (*Sweep, error) {
	old := r.Sweep
	if old == nil {
		return nil, ErrNoSweep
	}
	if err := r.CheckSequence(sequence); err != nil {
		return nil, err
	}
	sequence = r.visited(sequence)
	for i := range old.Steps {
		if len(old.Steps[i].Replays) > 0 && !slices.Equal(sequence, old.Sequence) {
			return nil, ErrReplays
		}
	}
	s := &Sweep{
		Roots: old.Roots, Order: "given", Workers: 1, Retain: old.Retain,
		Sequence: sequence, Steps: make([]Step, len(sequence)), Before: old.Before,
	}
	stepOf := make([]int, len(r.Nodes))
	for i, n := range old.Sequence {
		stepOf[n] = i
	}
	for i, n := range sequence {
		was := &old.Steps[stepOf[n]]
		s.Steps[i] = Step{Node: n, Replays: was.Replays, Gives: append([]Give(nil), was.Gives...), Drops: was.Drops}
	}
	r.park(s)
	r.free(s, old)
	return s, nil
}

// park says which contributions come before their turn.
func (r *Record) park(s *Sweep) {
	g := newGradients(r, s)
	for _, t := range s.Roots {
		g.seed(t)
	}
	for i := range s.Steps {
		for k := range s.Steps[i].Gives {
			give := &s.Steps[i].Gives[k]
			give.Parked = give.Rank-g.seeds[give.Tensor] != g.next[give.Tensor]
			g.give(s.Steps[i].Node, give)
		}
	}
}

// free lets each storage that the old plan lets go on the way go after the last
// of its readers.
func (r *Record) free(s, old *Sweep) {
	goes := make([]bool, len(r.Storages))
	for i := range old.Steps {
		for _, st := range old.Steps[i].Frees {
			goes[st] = true
		}
	}
	reads := make([]int, len(r.Storages))
	each := func(n int, f func(st int)) {
		for _, save := range r.Nodes[n].Saves {
			if st := r.Tensors[save.Tensor].Storage; goes[st] {
				f(st)
			}
		}
	}
	for _, n := range s.Sequence {
		each(n, func(st int) { reads[st]++ })
	}
	for i, n := range s.Sequence {
		each(n, func(st int) {
			if reads[st]--; reads[st] == 0 {
				s.Steps[i].Frees = append(s.Steps[i].Frees, st)
			}
		})
	}
}

// SequenceError says why a sequence of node ids is no legal order of a record's
// sweep.
type SequenceError struct {
	Node     int    // the node that cannot stand there, comes twice, or is missing
	Consumer int    // the consumer that was not visited yet, or -1
	Tensor   int    // the tensor between them, or -1
	What     string // in words
}

func (e *SequenceError) Error() string { return "record: " + e.What }

// CheckSequence returns nil when the sequence is a legal order of the sweep's
// nodes (of all nodes, when there is no sweep), and otherwise a *SequenceError.
// Nodes of the record that the sweep does not visit are passed over, as the
// tape does.
func (r *Record) CheckSequence(sequence []int) error {
	g, nodes, err := r.Graph()
	if err != nil {
		return err
	}
	for _, n := range sequence {
		if n < 0 || n >= len(r.Nodes) {
			return &SequenceError{n, -1, -1, fmt.Sprintf("there is no node %d; nodes run from 0 to %d", n, len(r.Nodes)-1)}
		}
	}
	err = g.Check(r.Vertices(r.visited(sequence)))
	var illegal *order.IllegalError
	var part *order.NotPermutationError
	switch {
	case errors.As(err, &illegal):
		n, c, t := nodes[illegal.Node], nodes[illegal.Consumer], int(illegal.Tensor)
		return &SequenceError{n, c, t, fmt.Sprintf("%s cannot be visited before %s, which consumes its output %s", r.NodeName(n), r.NodeName(c), r.TensorName(t))}
	case errors.As(err, &part):
		n := nodes[part.Node]
		what := "%s is missing"
		if part.Fault == order.Twice {
			what = "%s comes twice"
		}
		return &SequenceError{n, -1, -1, fmt.Sprintf(what, r.NodeName(n))}
	}
	return err
}

// visited is the part of a sequence that the sweep visits.
func (r *Record) visited(sequence []int) []int {
	vertex := r.vertices()
	visited := make([]int, 0, len(sequence))
	for _, n := range sequence {
		if vertex[n] >= 0 {
			visited = append(visited, n)
		}
	}
	return visited
}

// Sizes describes the memory of the record's sweep to package order. It returns
// [ErrNoSweep] when there is none.
func (r *Record) Sizes() (order.Sizes, error) {
	if r.Sweep == nil {
		return order.Sizes{}, ErrNoSweep
	}
	vertex := r.vertices()
	s := order.Sizes{Grads: make([]order.Grad, len(r.Tensors)), Storages: make([]order.Storage, len(r.Storages))}
	for i := range r.Tensors {
		t := &r.Tensors[i]
		g := &s.Grads[i]
		g.Producer = -1
		if t.Grad != Known && t.Grad != Released {
			continue
		}
		g.Bytes, g.Kept = t.Bytes, t.Grad == Known
		if t.Producer >= 0 {
			g.Producer = vertex[t.Producer]
		}
	}
	for _, t := range r.Sweep.Roots {
		s.Grads[t].Seeded = true
	}
	goes := make([]bool, len(r.Storages))
	for _, st := range r.Sweep.Before {
		goes[st] = true
	}
	for i := range r.Sweep.Steps {
		step := &r.Sweep.Steps[i]
		for _, st := range step.Frees {
			goes[st] = true
		}
		for _, give := range step.Gives {
			s.Uses = append(s.Uses, order.Use{Tensor: int32(give.Tensor), Consumer: vertex[step.Node]})
		}
		for _, save := range r.Nodes[step.Node].Saves {
			s.Readers = append(s.Readers, order.Reader{Storage: int32(r.Tensors[save.Tensor].Storage), Node: vertex[step.Node]})
		}
	}
	for st := range r.Storages {
		s.Storages[st] = order.Storage{Bytes: r.Storages[st].Bytes, Kept: !goes[st]}
	}
	return s, nil
}
