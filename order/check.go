package order

import "fmt"

// IllegalError names the edge that a sequence breaks: Node was placed at
// position Pos, but Consumer, which consumed its output Tensor, had not been
// visited by then.
type IllegalError struct {
	Pos                    int
	Node, Consumer, Tensor int32
}

func (e *IllegalError) Error() string {
	return fmt.Sprintf("order: node %d at position %d comes too early: node %d, which consumed its output tensor %d, has not been visited",
		e.Node, e.Pos, e.Consumer, e.Tensor)
}

// Fault is what is wrong with a sequence that is no permutation.
type Fault string

// The faults of a sequence.
const (
	Unknown Fault = "unknown" // an id that no node has
	Twice   Fault = "twice"   // a node that came before
	Missing Fault = "missing" // a node that does not come at all
)

// NotPermutationError says how a sequence fails to have each node once. Pos is
// the position of an unknown or repeated id and -1 for a missing one.
type NotPermutationError struct {
	Fault Fault
	Node  int32
	Pos   int
	Nodes int // of the graph
}

func (e *NotPermutationError) Error() string {
	switch e.Fault {
	case Unknown:
		return fmt.Sprintf("order: position %d has node %d, which the graph does not have; it has %d nodes", e.Pos, e.Node, e.Nodes)
	case Twice:
		return fmt.Sprintf("order: position %d has node %d for the second time", e.Pos, e.Node)
	default:
		return fmt.Sprintf("order: node %d is missing from the order", e.Node)
	}
}

// Check returns nil when seq is a legal order of all nodes: each node once, and
// for each edge the consumer To before the producer From. Otherwise it returns
// a *NotPermutationError with the first fault, or an *IllegalError with the
// first position that is too early and the largest consumer that is not yet
// visited there. Time and space are linear.
func (g *Graph) Check(seq []int32) error {
	pos, err := g.positions(seq)
	if err != nil {
		return err
	}
	for i, v := range seq {
		for k := g.conStart[v+1] - 1; k >= g.conStart[v]; k-- {
			if c := g.con[k]; pos[c] > int32(i) {
				return &IllegalError{Pos: i, Node: v, Consumer: c, Tensor: g.conTensor[k]}
			}
		}
	}
	return nil
}

// positions returns where each node stands in seq.
func (g *Graph) positions(seq []int32) ([]int32, error) {
	pos := make([]int32, g.n)
	for i := range pos {
		pos[i] = -1
	}
	for i, v := range seq {
		if !within(v, g.n) {
			return nil, &NotPermutationError{Fault: Unknown, Node: v, Pos: i, Nodes: g.n}
		}
		if pos[v] >= 0 {
			return nil, &NotPermutationError{Fault: Twice, Node: v, Pos: i, Nodes: g.n}
		}
		pos[v] = int32(i)
	}
	if len(seq) < g.n {
		for v, p := range pos {
			if p < 0 {
				return nil, &NotPermutationError{Fault: Missing, Node: int32(v), Pos: -1, Nodes: g.n}
			}
		}
	}
	return pos, nil
}

// Reasons says for each position of seq why its node may go there and could
// not go sooner: the edge to the consumer that was visited last. A node whose
// outputs nobody consumed has the edge {From: node, To: -1, Tensor: -1}.
// Reasons panics with the error of [Graph.Check] when seq is no legal order.
// Time and space are linear.
func (g *Graph) Reasons(seq []int32) []Edge {
	g.mustCheck(seq)
	pos, _ := g.positions(seq)
	why := make([]Edge, len(seq))
	for i, v := range seq {
		why[i] = Edge{From: v, To: -1, Tensor: -1}
		last := int32(-1)
		for k := g.conStart[v]; k < g.conStart[v+1]; k++ {
			if c := g.con[k]; pos[c] > last {
				last = pos[c]
				why[i].To, why[i].Tensor = c, g.conTensor[k]
			}
		}
	}
	return why
}

func (g *Graph) mustCheck(seq []int32) {
	if err := g.Check(seq); err != nil {
		panic(err)
	}
}
