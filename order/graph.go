package order

import (
	"fmt"
	"iter"
	"math"
)

// Edge says that node From produced a tensor, numbered Tensor, which node To
// consumed. From < To, because nodes are numbered in tape order.
type Edge struct{ From, To, Tensor int32 }

// Graph is an immutable graph of nodes 0 … Len()-1. Several edges may join the
// same two nodes. It is safe for use from several goroutines.
type Graph struct {
	n int
	// The consumers of node v are con[conStart[v]:conStart[v+1]], ascending,
	// one for each edge, and conTensor is parallel to con.
	conStart, con, conTensor []int32
	// The producers of v's operands, likewise.
	proStart, pro []int32
}

// EdgeError says why an edge cannot be part of a graph.
type EdgeError struct {
	Index int // in the list given to New
	Edge  Edge
	Nodes int // of the graph
}

func (e *EdgeError) Error() string {
	switch {
	case !within(e.Edge.From, e.Nodes) || !within(e.Edge.To, e.Nodes):
		return fmt.Sprintf("order: edge %d leads from node %d to node %d, but the graph has the nodes 0 to %d",
			e.Index, e.Edge.From, e.Edge.To, e.Nodes-1)
	default:
		return fmt.Sprintf("order: edge %d leads from node %d to node %d; a node consumes only what earlier nodes produced",
			e.Index, e.Edge.From, e.Edge.To)
	}
}

// New returns the graph with n nodes and the given edges, in any order. It
// copies them. The error is an *EdgeError for an edge whose ids are outside
// 0 … n-1 or not ascending, and a *TooLargeError beyond 2^31-2 nodes or edges.
func New(n int, edges []Edge) (*Graph, error) {
	if n < 0 {
		return nil, fmt.Errorf("order: a graph cannot have %d nodes", n)
	}
	const most = math.MaxInt32 - 1
	if n > most {
		return nil, &TooLargeError{What: "graph", Unit: "nodes", Size: int64(n), Limit: most}
	}
	if len(edges) > most {
		return nil, &TooLargeError{What: "graph", Unit: "edges", Size: int64(len(edges)), Limit: most}
	}
	for i, e := range edges {
		if e.From < 0 || e.From >= e.To || !within(e.To, n) {
			return nil, &EdgeError{Index: i, Edge: e, Nodes: n}
		}
	}
	// Two stable passes, by To and then by From, leave each node's consumers
	// ascending without a comparison sort.
	_, byTo := buckets(n, len(edges), func(i int32) int32 { return edges[i].To })
	start, con := buckets(n, len(edges), func(i int32) int32 { return edges[byTo[i]].From })
	g := &Graph{n: n, conStart: start, con: con, conTensor: make([]int32, len(edges))}
	from := byTo // each entry is read before it is overwritten below
	for k, i := range con {
		e := edges[byTo[i]]
		con[k], g.conTensor[k] = e.To, e.Tensor
	}
	for v := range int32(n) {
		for k := start[v]; k < start[v+1]; k++ {
			from[k] = v
		}
	}
	g.proStart, g.pro = buckets(n, len(edges), func(k int32) int32 { return con[k] })
	for k, i := range g.pro {
		g.pro[k] = from[i]
	}
	return g, nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return g.n }

// Edges yields every edge, by ascending From, then ascending To, then as they
// were given to New.
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for v := range int32(g.n) {
			for k := g.conStart[v]; k < g.conStart[v+1]; k++ {
				if !yield(Edge{v, g.con[k], g.conTensor[k]}) {
					return
				}
			}
		}
	}
}

// Roots returns, ascending, the nodes whose outputs no node consumes. They may
// go first.
func (g *Graph) Roots() []int32 {
	var roots []int32
	for v := range int32(g.n) {
		if g.conStart[v] == g.conStart[v+1] {
			roots = append(roots, v)
		}
	}
	return roots
}

func (g *Graph) consumers(v int32) []int32 { return g.con[g.conStart[v]:g.conStart[v+1]] }

func (g *Graph) producers(v int32) []int32 { return g.pro[g.proStart[v]:g.proStart[v+1]] }

// pending returns for each node how many edges to a consumer it waits for.
func (g *Graph) pending() []int32 {
	p := make([]int32, g.n)
	for v := range p {
		p[v] = g.conStart[v+1] - g.conStart[v]
	}
	return p
}

func within(id int32, n int) bool { return id >= 0 && int(id) < n }

// buckets sorts the numbers 0 … m-1 by key(i), which lies in 0 … n-1, and
// leaves equal keys in ascending order: those of key k are
// items[start[k]:start[k+1]]. It is one pass of a counting sort.
func buckets(n, m int, key func(i int32) int32) (start, items []int32) {
	start = make([]int32, n+1)
	for i := range int32(m) {
		start[key(i)+1]++
	}
	for k := range n {
		start[k+1] += start[k]
	}
	items = make([]int32, m)
	at := append([]int32(nil), start[:n]...)
	for i := range int32(m) {
		k := key(i)
		items[at[k]] = i
		at[k]++
	}
	return start, items
}
