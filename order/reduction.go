package order

// Reduction returns the transitive reduction: the fewest edges from which the
// same nodes wait for each other. An edge is left out when a longer chain says
// the same, and of several edges between two nodes the first one stays. The
// edges are in the order of [Graph.Edges]. The error is a *TooLargeError when
// it takes more than [ClosureLimit] steps, which only a graph can that has very
// many edges that pass over very many nodes.
//
// In an acyclic graph the reduction is unique (A. V. Aho, M. R. Garey,
// J. D. Ullman, The transitive reduction of a directed graph, 1972): an edge from p to
// c is implied when another consumer of p leads on to c.
func (g *Graph) Reduction() ([]Edge, error) {
	blocks := (g.n + 63) / 64
	// A node's first consumer cannot be reached through a later one. low[k] is
	// the smallest producer that has another than its first in block k, so that
	// only the nodes from there on need be looked at.
	low := make([]int32, blocks)
	for k := range low {
		low[k] = int32(min((k+1)*64, g.n))
	}
	for v := int32(g.n) - 1; v >= 0; v-- {
		for i, c := range g.consumers(v) {
			if i > 0 && c != g.consumers(v)[0] {
				low[c/64] = v
			}
		}
	}
	steps := int64(0)
	for k, v := range low {
		hi := int32(min((k+1)*64, g.n))
		steps += int64(hi-v) + int64(g.conStart[hi]-g.conStart[v])
	}
	if steps > ClosureLimit {
		return nil, &TooLargeError{What: "reduction", Unit: "steps", Size: steps, Limit: ClosureLimit}
	}
	implied := make([]bool, len(g.con))
	reach := make([]uint64, g.n) // by node: which of the block's nodes lie beyond it
	for k := range blocks {
		g.markImplied(int32(k*64), int32(min((k+1)*64, g.n)), low[k], reach, implied)
	}
	var edges []Edge
	for v := range int32(g.n) {
		for k := g.conStart[v]; k < g.conStart[v+1]; k++ {
			again := k > g.conStart[v] && g.con[k] == g.con[k-1]
			if !again && !implied[k] {
				edges = append(edges, Edge{v, g.con[k], g.conTensor[k]})
			}
		}
	}
	return edges, nil
}

// markImplied marks the implied edges from the nodes low … hi-1 to the block
// lo … hi-1.
func (g *Graph) markImplied(lo, hi, low int32, reach []uint64, implied []bool) {
	for v := hi - 1; v >= low; v-- {
		direct, beyond := uint64(0), uint64(0)
		for _, c := range g.consumers(v) {
			if c >= hi {
				break
			}
			beyond |= reach[c]
			if c >= lo {
				direct |= 1 << (c - lo)
			}
		}
		if direct&beyond != 0 {
			for k := g.conStart[v]; k < g.conStart[v+1] && g.con[k] < hi; k++ {
				if c := g.con[k]; c >= lo && beyond>>(c-lo)&1 != 0 {
					implied[k] = true
				}
			}
		}
		reach[v] = direct | beyond
	}
}
