package order

import (
	"math/bits"
	"math/rand/v2"
)

// The orders in this file are the topological sorting of A. B. Kahn
// (Topological sorting of large networks, CACM 5(11), 1962) with different
// rules for which of the ready nodes goes next. All are linear.

// Tape returns reverse tape order, n-1 … 0: the default of a sweep, and the
// only order that needs no graph.
func (g *Graph) Tape() []int32 {
	seq := make([]int32, g.n)
	for i := range seq {
		seq[i] = int32(g.n - 1 - i)
	}
	return seq
}

// Depth returns the depth-first order: it follows one branch to its end, or to
// where it meets one that has not been visited, before it takes up the next.
// Of the nodes that one visit makes ready, the one with the largest id is
// followed first.
func (g *Graph) Depth() []int32 {
	pending := g.pending()
	seq := make([]int32, 0, g.n)
	stack := g.Roots()
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		seq = append(seq, v)
		for _, p := range g.producers(v) {
			if pending[p]--; pending[p] == 0 {
				stack = append(stack, p)
			}
		}
	}
	return seq
}

// Breadth returns the breadth-first order: level by level, where a node's level
// is the longest way to it from a root. Within a level ids descend.
func (g *Graph) Breadth() []int32 {
	level := make([]int32, g.n)
	for v := int32(g.n) - 1; v >= 0; v-- {
		for _, c := range g.consumers(v) {
			level[v] = max(level[v], level[c]+1)
		}
	}
	tape := g.Tape()
	_, seq := buckets(g.n, g.n, func(i int32) int32 { return level[tape[i]] })
	for i, t := range seq {
		seq[i] = tape[t]
	}
	return seq
}

// Random returns an order that depends on seed alone: at each step every ready
// node has the same chance. So any legal order may come, as far as 2^64 seeds
// reach, but they are not equally likely: one that passes through moments with
// little choice comes more often.
func (g *Graph) Random(seed uint64) []int32 {
	pending := g.pending()
	seq := make([]int32, 0, g.n)
	// PCG's stream is specified by its paper, and scaling a draw by a product
	// (Lemire, Fast random integer generation in an interval, 2019) needs nothing
	// that a new release of Go may change. The bias is below 2^-32.
	draw := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	ready := g.Roots()
	for len(ready) > 0 {
		at, _ := bits.Mul64(draw.Uint64(), uint64(len(ready)))
		v := ready[at]
		ready[at] = ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		seq = append(seq, v)
		for _, p := range g.producers(v) {
			if pending[p]--; pending[p] == 0 {
				ready = append(ready, p)
			}
		}
	}
	return seq
}
