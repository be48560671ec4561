package sketch

import (
	"slices"

	"github.com/backsweep/backsweep/record"
)

// Swept builds a record whose last output was swept in reverse tape order.
func Swept(text string) *record.Record {
	r := Record(text)
	Sweep(r, nil)
	return r
}

// Sweep plans a sweep of the record's loss over the nodes that lead from a
// param to it, in the given sequence or, without one, in reverse tape order,
// and puts it into the record.
func Sweep(r *record.Record, sequence []int) {
	loss := r.Loss()
	asked := make([]bool, len(r.Tensors))
	for t := range r.Tensors {
		asked[t] = r.Tensors[t].Watched
	}
	for i := range r.Nodes {
		from := slices.ContainsFunc(r.Nodes[i].Inputs, func(t int) bool { return asked[t] })
		for _, t := range r.Nodes[i].Outputs {
			asked[t] = from
		}
	}
	leads := make([]bool, len(r.Tensors))
	leads[loss] = true
	for i := len(r.Nodes) - 1; i >= 0; i-- {
		if slices.ContainsFunc(r.Nodes[i].Outputs, func(t int) bool { return leads[t] }) {
			for _, t := range r.Nodes[i].Inputs {
				leads[t] = true
			}
		}
	}
	within := func(t int) bool { return asked[t] && leads[t] }
	s := &record.Sweep{Roots: []int{loss}, Order: "given", Workers: 1, Sequence: slices.Clone(sequence)}
	if sequence == nil {
		s.Order, s.Sequence = "tape", []int{}
		for i := len(r.Nodes) - 1; i >= 0; i-- {
			if slices.ContainsFunc(r.Nodes[i].Outputs, within) {
				s.Sequence = append(s.Sequence, i)
			}
		}
	}
	r.Sweep = s
	rank := ranks(r, within)
	arrived := make([]int, len(r.Tensors))
	until := (&record.Record{Tensors: r.Tensors, Nodes: r.Nodes, Storages: r.Storages, Sweep: &record.Sweep{Roots: s.Roots}}).LetGo(s.Sequence)
	frees := make([][]int, len(s.Sequence))
	for st, step := range until {
		switch {
		case step == record.BeforeSweep:
			s.Before = append(s.Before, st)
		case step < len(s.Sequence):
			frees[step] = append(frees[step], st)
		}
	}
	for i, n := range s.Sequence {
		step := record.Step{Node: n, Frees: frees[i]}
		for slot, t := range r.Nodes[n].Inputs {
			if !within(t) {
				continue
			}
			g := record.Give{Slot: slot, Tensor: t, Rank: rank.of[n][slot], Of: rank.count[t]}
			if t == loss {
				arrived[t] = max(arrived[t], 1)
			}
			g.Parked = g.Rank != arrived[t]
			arrived[t]++
			step.Gives = append(step.Gives, g)
		}
		for _, t := range r.Nodes[n].Outputs {
			if within(t) {
				step.Drops = append(step.Drops, t)
			}
		}
		s.Steps = append(s.Steps, step)
	}
	for t := range r.Tensors {
		switch {
		case within(t) && r.Tensors[t].Kind == record.Computed:
			r.Tensors[t].Grad = record.Released
		case within(t):
			r.Tensors[t].Grad = record.Known
		case asked[t]:
			r.Tensors[t].Grad = record.Unconnected
		default:
			r.Tensors[t].Grad = record.NotAsked
		}
	}
}

// ranked is the canonical turn of every contribution.
type ranked struct {
	of    [][]int // by node and slot
	count []int   // by tensor, seeds included
}

func ranks(r *record.Record, within func(t int) bool) ranked {
	k := ranked{of: make([][]int, len(r.Nodes)), count: make([]int, len(r.Tensors))}
	for _, t := range r.Sweep.Roots {
		k.count[t]++
	}
	visited := make([]bool, len(r.Nodes))
	for _, n := range r.Sweep.Sequence {
		visited[n] = true
	}
	for n := len(r.Nodes) - 1; n >= 0; n-- {
		k.of[n] = make([]int, len(r.Nodes[n].Inputs))
		for slot, t := range r.Nodes[n].Inputs {
			if visited[n] && within(t) {
				k.of[n][slot] = k.count[t]
				k.count[t]++
			}
		}
	}
	return k
}
