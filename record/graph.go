package record

import "github.com/backsweep/backsweep/order"

// Graph is the graph that a sweep goes through, for package order, and the
// node id of each of its vertices, ascending. Its vertices are the nodes of
// the sweep, or all nodes when the record has no sweep; its edges are the
// tensors by which one of them hands a gradient to another.
func (r *Record) Graph() (*order.Graph, []int, error) {
	nodes := make([]int, 0, len(r.Nodes))
	vertex := r.vertices()
	for id, v := range vertex {
		if v >= 0 {
			nodes = append(nodes, id)
		}
	}
	g, err := order.New(len(nodes), r.edges(vertex))
	return g, nodes, err
}

// Vertices turns a sequence of node ids into one of vertices of [Record.Graph].
// A node outside the sweep becomes -1, which no order accepts.
func (r *Record) Vertices(sequence []int) []int32 {
	vertex := r.vertices()
	seq := make([]int32, len(sequence))
	for i, id := range sequence {
		seq[i] = -1
		if id >= 0 && id < len(vertex) {
			seq[i] = vertex[id]
		}
	}
	return seq
}

// vertices numbers the nodes of the sweep in ascending order; others get -1.
func (r *Record) vertices() []int32 {
	vertex := make([]int32, len(r.Nodes))
	if r.Sweep != nil {
		for i := range vertex {
			vertex[i] = -1
		}
		for _, id := range r.Sweep.Sequence {
			vertex[id] = 0
		}
	}
	next := int32(0)
	for id, v := range vertex {
		if v >= 0 {
			vertex[id] = next
			next++
		}
	}
	return vertex
}

// edges lists the edges between the given vertices. A plan that says what each
// visit gives decides which operands count; without one, all of them do.
func (r *Record) edges(vertex []int32) []order.Edge {
	var edges []order.Edge
	add := func(consumer, tensor int) {
		p := r.Tensors[tensor].Producer
		if p >= 0 && vertex[p] >= 0 {
			edges = append(edges, order.Edge{From: vertex[p], To: vertex[consumer], Tensor: int32(tensor)})
		}
	}
	if r.Sweep != nil {
		for i := range r.Sweep.Steps {
			for _, g := range r.Sweep.Steps[i].Gives {
				add(r.Sweep.Steps[i].Node, g.Tensor)
			}
		}
		if edges != nil {
			return edges
		}
	}
	for id := range r.Nodes {
		if vertex[id] < 0 {
			continue
		}
		for _, t := range r.Nodes[id].Inputs {
			add(id, t)
		}
	}
	return edges
}
