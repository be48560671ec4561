package order_test

import (
	"testing"

	"github.com/backsweep/backsweep/order"
)

func TestCheckNamesTheFault(t *testing.T) {
	n := towers(t)
	for _, c := range []struct {
		seq  []int32
		want string
	}{
		{n.ids("s u d v q"), "order: node 2 at position 2 comes too early: node 3, which consumed its output tensor 2, has not been visited"},
		{n.ids("u s v d q"), "order: node 1 at position 0 comes too early: node 4, which consumed its output tensor 1, has not been visited"},
		{n.ids("s u u v d"), "order: position 2 has node 1 for the second time"},
		{n.ids("s u q v"), "order: node 2 is missing from the order"},
		{nil, "order: node 0 is missing from the order"},
		{[]int32{4, 5, 3, 2, 1}, "order: position 1 has node 5, which the graph does not have; it has 5 nodes"},
		{[]int32{4, 3, 2, 1, 0, -1}, "order: position 5 has node -1, which the graph does not have; it has 5 nodes"},
		{[]int32{4, 3, 2, 1, 0, 0}, "order: position 5 has node 0 for the second time"},
	} {
		if err := n.Check(c.seq); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v\nwant %s", c.seq, err, c.want)
		}
	}
	if err := n.Check(n.ids("s u v q d")); err != nil {
		t.Error(err)
	}
}

// Of several consumers that are missing, the one that reverse tape order visits
// first is the witness, through the first of the tensors between the two.
func TestCheckNamesTheLargestConsumer(t *testing.T) {
	g := mustNew(t, 4, []order.Edge{{0, 3, 7}, {0, 1, 5}, {0, 3, 6}, {0, 2, 5}})
	want := order.IllegalError{Pos: 0, Node: 0, Consumer: 3, Tensor: 6}
	if err := g.Check([]int32{0, 1, 2, 3}); *err.(*order.IllegalError) != want {
		t.Error(err)
	}
}

func TestNewRefusesEdges(t *testing.T) {
	for _, c := range []struct {
		edge order.Edge
		want string
	}{
		{order.Edge{From: 1, To: 1}, "order: edge 1 leads from node 1 to node 1; a node consumes only what earlier nodes produced"},
		{order.Edge{From: 2, To: 0}, "order: edge 1 leads from node 2 to node 0; a node consumes only what earlier nodes produced"},
		{order.Edge{From: -1, To: 2}, "order: edge 1 leads from node -1 to node 2, but the graph has the nodes 0 to 2"},
		{order.Edge{From: 0, To: 3}, "order: edge 1 leads from node 0 to node 3, but the graph has the nodes 0 to 2"},
	} {
		if _, err := order.New(3, []order.Edge{{From: 0, To: 1}, c.edge}); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v\nwant %s", c.edge, err, c.want)
		}
	}
	if _, err := order.New(-1, nil); err == nil {
		t.Error("a graph with -1 nodes")
	}
	if _, err := order.New(1<<31-1, nil); err == nil {
		t.Error("a graph with 2^31-1 nodes, which leaves no id for the sweep itself")
	}
}

func TestReasonsPanicsOnIllegalOrder(t *testing.T) {
	defer func() {
		if _, ok := recover().(*order.IllegalError); !ok {
			t.Error("no IllegalError")
		}
	}()
	n := towers(t)
	n.Reasons(n.ids("u s v d q"))
}
