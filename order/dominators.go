package order

import "fmt"

// The immediate dominator of a node that has none.
const (
	// NoDominator is that of a root, and of a node that gradients reach on paths
	// with no node in common.
	NoDominator int32 = -1
	// Unreached is that of a node to which no gradient path leads.
	Unreached int32 = -2
)

// DominatorTree tells what all gradient paths to a node have in common. A
// gradient path begins at a root and goes from consumer to producer.
type DominatorTree struct {
	n int
	// Node n stands for the sweep itself, which leads to every root. It is at
	// depth 0 and its own parent.
	parent, depth []int32
	// jump leads to a dominator further up, as far for all nodes of one depth.
	jump []int32
}

// Dominators returns the tree of immediate dominators for the gradient paths
// that begin at roots: usually the one node that produced the loss. It panics
// when a root is no node. Time is O(m log n) and space is linear.
//
// Since every consumer of a node has a larger id, one pass over descending ids
// is the whole of the iteration of K. D. Cooper, T. J. Harvey and K. Kennedy (A
// simple, fast dominance algorithm, 2001): a node's immediate dominator is the
// deepest common dominator of its consumers. The jumps of E. W. Myers (An
// applicative random-access stack, 1983) find it in logarithmic time even when
// branches are long.
func (g *Graph) Dominators(roots []int32) *DominatorTree {
	d := &DominatorTree{
		n:      g.n,
		parent: make([]int32, g.n+1),
		depth:  make([]int32, g.n+1),
		jump:   make([]int32, g.n+1),
	}
	for v := range d.parent {
		d.parent[v] = Unreached
	}
	sweep := int32(g.n)
	d.parent[sweep], d.jump[sweep] = sweep, sweep
	for _, v := range roots {
		if !within(v, g.n) {
			panic(fmt.Sprintf("order: there is no node %d; the graph has %d nodes", v, g.n))
		}
		d.parent[v] = sweep
	}
	for v := sweep - 1; v >= 0; v-- {
		up := d.parent[v]
		if up != sweep {
			up = d.meet(g.consumers(v))
		}
		if up == Unreached {
			continue
		}
		d.parent[v], d.depth[v] = up, d.depth[up]+1
		if far := d.jump[up]; d.depth[up]-d.depth[far] == d.depth[far]-d.depth[d.jump[far]] {
			d.jump[v] = d.jump[far]
		} else {
			d.jump[v] = up
		}
	}
	return d
}

// Of returns the immediate dominator of v: of all nodes that every gradient
// path to v passes through before v, the nearest. It is NoDominator or Unreached
// when there is none.
func (d *DominatorTree) Of(v int32) int32 {
	up := d.parent[:d.n][v]
	if int(up) == d.n {
		return NoDominator
	}
	return up
}

// Through returns the nodes that every gradient path to any of the given
// nodes passes through, nearest first. For one node it begins with that node; for
// the consumers of a leaf it tells what every gradient path to the leaf passes
// through. Nodes that no gradient path leads to are left out of account; when
// there is no other, Through returns nil.
func (d *DominatorTree) Through(nodes ...int32) []int32 {
	var chain []int32
	if v := d.meet(nodes); v != Unreached {
		for ; int(v) != d.n; v = d.parent[v] {
			chain = append(chain, v)
		}
	}
	return chain
}

// meet returns the deepest node of the tree that dominates all the reached ones
// of nodes, or Unreached when none is reached.
func (d *DominatorTree) meet(nodes []int32) int32 {
	all := Unreached
	for _, v := range nodes {
		if d.parent[:d.n][v] == Unreached {
			continue
		}
		if all == Unreached {
			all = v
		} else {
			all = d.common(all, v)
		}
	}
	return all
}

func (d *DominatorTree) common(a, b int32) int32 {
	if d.depth[a] < d.depth[b] {
		a, b = b, a
	}
	for d.depth[a] > d.depth[b] {
		if far := d.jump[a]; d.depth[far] >= d.depth[b] {
			a = far
		} else {
			a = d.parent[a]
		}
	}
	for a != b {
		if d.jump[a] != d.jump[b] {
			a, b = d.jump[a], d.jump[b]
		} else {
			a, b = d.parent[a], d.parent[b]
		}
	}
	return a
}
