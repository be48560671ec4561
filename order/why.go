package order

import "fmt"

// Answer is the answer to the question whether node a must wait for node b.
type Answer struct {
	// Path is the shortest chain of reasons when a must wait for b, and nil
	// otherwise. It leads from b to a: Path[0].To is b, each edge's From is the
	// next one's To, and the last one's From is a. Each edge says that From
	// cannot be visited until To has been, because To consumed its output.
	Path []Edge
	// Back is the chain when it is b that must wait for a: Back[0].To is a.
	Back []Edge
	// Other is a legal order that has a before b, nil when a must wait for b.
	Other []int32
	// BFirst is a legal order that has b before a, nil when b must wait for a.
	BFirst []int32
}

// Waits reports whether a must wait for b.
func (a Answer) Waits() bool { return len(a.Path) > 0 }

// Why tells whether a must wait for b, by proof either way: a chain of edges, or
// a legal order that has them the other way round. When the two are free of
// each other, both orders are given and both paths are nil. A node does not
// wait for itself, and nothing can go before itself: for a == b all is nil.
// Why panics when a or b is no node. Time and space are linear.
//
// The chain is found breadth-first (E. F. Moore, The shortest path through a
// maze, 1959). The orders are reverse tape order with the later node, and what
// it waits for, moved up to just before the other one.
func (g *Graph) Why(a, b int32) Answer {
	for _, v := range []int32{a, b} {
		if !within(v, g.n) {
			panic(fmt.Sprintf("order: there is no node %d; the graph has %d nodes", v, g.n))
		}
	}
	var w Answer
	if a == b {
		return w
	}
	if w.Path = g.chain(a, b); w.Path == nil {
		w.Other = g.hoist(a, b)
	}
	if w.Back = g.chain(b, a); w.Back == nil {
		w.BFirst = g.hoist(b, a)
	}
	return w
}

// chain returns the shortest chain of edges from b down to a, or nil.
func (g *Graph) chain(a, b int32) []Edge {
	if a > b {
		return nil
	}
	// Ids ascend along the way, so nothing outside a … b can be on it.
	const unseen = -1
	type step struct{ edge, from int32 }
	into := make([]step, b-a+1)
	for i := range into {
		into[i].edge = unseen
	}
	queue := []int32{a}
	for at := 0; at < len(queue) && into[b-a].edge == unseen; at++ {
		v := queue[at]
		for k := g.conStart[v]; k < g.conStart[v+1]; k++ {
			c := g.con[k]
			if c > b {
				break
			}
			if into[c-a].edge == unseen {
				into[c-a] = step{edge: k, from: v}
				queue = append(queue, c)
			}
		}
	}
	if into[b-a].edge == unseen {
		return nil
	}
	var path []Edge
	for v := b; v != a; {
		s := into[v-a]
		path = append(path, Edge{From: s.from, To: v, Tensor: g.conTensor[s.edge]})
		v = s.from
	}
	return path
}

// hoist returns a legal order that has a before b, given that a does not wait
// for b.
func (g *Graph) hoist(a, b int32) []int32 {
	if a > b {
		return g.Tape()
	}
	// needed holds what a waits for among a … b-1, and a itself.
	needed := make([]bool, b-a)
	needed[0] = true
	stack := []int32{a}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, c := range g.consumers(v) {
			if c > b {
				break
			}
			if !needed[c-a] {
				needed[c-a] = true
				stack = append(stack, c)
			}
		}
	}
	seq := make([]int32, 0, g.n)
	for v := int32(g.n) - 1; v > b; v-- {
		seq = append(seq, v)
	}
	for v := b - 1; v >= a; v-- {
		if needed[v-a] {
			seq = append(seq, v)
		}
	}
	seq = append(seq, b)
	for v := b - 1; v >= 0; v-- {
		if v < a || !needed[v-a] {
			seq = append(seq, v)
		}
	}
	return seq
}
