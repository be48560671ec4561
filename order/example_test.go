package order_test

import (
	"fmt"

	"github.com/backsweep/backsweep/order"
)

// Two towers that meet in a dot product, as in the package's documentation:
//
//	0 tanh ─q→ 1 exp ─u┐
//	                   ├→ 4 dot
//	2 tanh ─d→ 3 exp ─v┘
func twoTowers() *order.Graph {
	const q, u, d, v = 0, 1, 2, 3
	g, err := order.New(5, []order.Edge{
		{From: 0, To: 1, Tensor: q},
		{From: 2, To: 3, Tensor: d},
		{From: 1, To: 4, Tensor: u},
		{From: 3, To: 4, Tensor: v},
	})
	if err != nil {
		panic(err)
	}
	return g
}

func Example() {
	g := twoTowers()
	fmt.Println("tape   ", g.Tape())
	fmt.Println("depth  ", g.Depth())
	fmt.Println("breadth", g.Breadth())
	fmt.Println(g.Check([]int32{4, 1, 2, 3, 0}))
	antichain, _ := g.Width()
	fmt.Println("at most", len(antichain), "at once, for example", antichain)
	fmt.Println("longest path", g.CriticalPath(nil))
	windows, _ := g.Windows()
	for id, w := range windows {
		fmt.Printf("node %d: position %d to %d\n", id, w.Earliest, w.Latest)
	}
	// Output:
	// tape    [4 3 2 1 0]
	// depth   [4 3 2 1 0]
	// breadth [4 3 1 2 0]
	// order: node 2 at position 2 comes too early: node 3, which consumed its output tensor 2, has not been visited
	// at most 2 at once, for example [1 3]
	// longest path [4 1 0]
	// node 0: position 2 to 4
	// node 1: position 1 to 3
	// node 2: position 2 to 4
	// node 3: position 1 to 3
	// node 4: position 0 to 0
}

func ExampleGraph_All() {
	g := twoTowers()
	count, _ := g.Count(0)
	fmt.Println(count, "orders")
	for seq := range g.All() {
		fmt.Println(seq)
	}
	// Output:
	// 6 orders
	// [4 1 0 3 2]
	// [4 1 3 0 2]
	// [4 1 3 2 0]
	// [4 3 1 0 2]
	// [4 3 1 2 0]
	// [4 3 2 1 0]
}

func ExampleGraph_Why() {
	g := twoTowers()
	for _, e := range g.Why(0, 4).Path {
		fmt.Printf("node %d cannot be visited until node %d has been, which consumed its output tensor %d\n", e.From, e.To, e.Tensor)
	}
	fmt.Println("0 does not wait for 3:", g.Why(0, 3).Other)
	// Output:
	// node 1 cannot be visited until node 4 has been, which consumed its output tensor 1
	// node 0 cannot be visited until node 1 has been, which consumed its output tensor 0
	// 0 does not wait for 3: [4 1 0 3 2]
}

func ExampleGraph_Reasons() {
	g := twoTowers()
	for i, why := range g.Reasons(g.Breadth()) {
		if why.To < 0 {
			fmt.Printf("%d: node %d, whose outputs nobody consumed\n", i, why.From)
			continue
		}
		fmt.Printf("%d: node %d, after node %d, which consumed its output tensor %d\n", i, why.From, why.To, why.Tensor)
	}
	// Output:
	// 0: node 4, whose outputs nobody consumed
	// 1: node 3, after node 4, which consumed its output tensor 3
	// 2: node 1, after node 4, which consumed its output tensor 1
	// 3: node 2, after node 3, which consumed its output tensor 2
	// 4: node 0, after node 1, which consumed its output tensor 0
}

// The rule of node 0 is the only one that reads a storage of 1000 bytes. Going down
// that tower first lets it go early, before the large gradient of tensor 2 comes.
func ExampleGraph_Leanest() {
	g := twoTowers()
	s := order.Sizes{
		Grads: []order.Grad{
			{Bytes: 8, Producer: 0},
			{Bytes: 8, Producer: 1},
			{Bytes: 500, Producer: 2},
			{Bytes: 8, Producer: 3},
			{Bytes: 8, Producer: 4, Seeded: true},
		},
		Uses: []order.Use{
			{Tensor: 0, Consumer: 1},
			{Tensor: 2, Consumer: 3},
			{Tensor: 1, Consumer: 4},
			{Tensor: 3, Consumer: 4},
		},
		Storages: []order.Storage{{Bytes: 1000}},
		Readers:  []order.Reader{{Storage: 0, Node: 0}},
	}
	for _, seq := range [][]int32{g.Tape(), g.Leanest(s)} {
		peak, curve := g.Peak(s, seq)
		fmt.Println(seq, "holds", curve, "at most", peak)
	}
	// Output:
	// [4 3 2 1 0] holds [1024 1516 1508 1016 1008] at most 1516
	// [4 1 0 3 2] holds [1024 1024 1016 508 500] at most 1024
}

// Tensors a and b come from one node, which everything else was computed from.
func ExampleGraph_Dominators() {
	// 0 split ─a→ 1 tanh ─→ 3 mul ─→ 4 sum
	//    └─────b→ 2 exp ──────┘
	g, _ := order.New(5, []order.Edge{{0, 1, 0}, {0, 2, 1}, {1, 3, 2}, {2, 3, 3}, {3, 4, 4}})
	tree := g.Dominators([]int32{4})
	fmt.Println("every gradient path to node 0 passes through", tree.Through(0))
	fmt.Println("the nearest before it is", tree.Of(0))
	// Output:
	// every gradient path to node 0 passes through [0 3 4]
	// the nearest before it is 3
}

func ExampleGraph_Reduction() {
	// y = x + tanh(x): the skip says nothing that the way through tanh does not.
	g, _ := order.New(3, []order.Edge{{0, 1, 0}, {0, 2, 0}, {1, 2, 1}})
	edges, _ := g.Reduction()
	fmt.Println(edges)
	// Output:
	// [{0 1 0} {1 2 1}]
}
