package order_test

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/backsweep/backsweep/order"
)

// The language in which tests write graphs has three words: tape lists nodes,
// node names one with its operands, ids reads a sequence.
//
//	n := tape(t, node("q", "a"), node("d", "b"), node("s", "q", "d"))
//	err := n.Check(n.ids("s q d"))
//
// An operand that is no node is a leaf. The output tensor of node v has number
// v; leaves follow, as they are met.

type nodeLine struct {
	name     string
	operands []string
}

func node(name string, operands ...string) nodeLine { return nodeLine{name, operands} }

type net struct {
	*order.Graph
	byID    []string // names
	tensors map[string]int32
	sizes   order.Sizes // a byte for each gradient, no payload
}

func tape(t testing.TB, lines ...nodeLine) net {
	t.Helper()
	n := net{tensors: map[string]int32{}}
	for id, line := range lines {
		n.byID = append(n.byID, line.name)
		n.tensors[line.name] = int32(id)
		n.sizes.Grads = append(n.sizes.Grads, order.Grad{Bytes: 1, Producer: int32(id)})
	}
	var edges []order.Edge
	for id, line := range lines {
		for _, operand := range line.operands {
			tensor, ok := n.tensors[operand]
			if !ok {
				tensor = int32(len(n.sizes.Grads))
				n.tensors[operand] = tensor
				n.sizes.Grads = append(n.sizes.Grads, order.Grad{Bytes: 1, Producer: -1})
			}
			n.sizes.Uses = append(n.sizes.Uses, order.Use{Tensor: tensor, Consumer: int32(id)})
			if int(tensor) < len(lines) {
				edges = append(edges, order.Edge{From: tensor, To: int32(id), Tensor: tensor})
			}
		}
	}
	n.sizes.Grads[len(lines)-1].Seeded = true
	n.Graph = mustNew(t, len(lines), edges)
	return n
}

func (n net) ids(names string) []int32 {
	var seq []int32
	for _, name := range strings.Fields(names) {
		id, ok := n.tensors[name]
		if !ok {
			panic("no node is called " + name)
		}
		seq = append(seq, id)
	}
	return seq
}

// names is the inverse of ids.
func (n net) names(seq []int32) string {
	list := make([]string, len(seq))
	for i, id := range seq {
		list[i] = n.byID[id]
	}
	return strings.Join(list, " ")
}

func mustNew(t testing.TB, n int, edges []order.Edge) *order.Graph {
	t.Helper()
	g, err := order.New(n, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// towers is the graph of the package's documentation.
func towers(t testing.TB) net {
	return tape(t, node("q", "a"), node("u", "q"), node("d", "b"), node("v", "d"), node("s", "u", "v"))
}

// chain is n nodes, each of which consumes the one before.
func chain(t testing.TB, n int) (*order.Graph, order.Sizes) {
	edges := make([]order.Edge, n-1)
	s := order.Sizes{Grads: make([]order.Grad, n), Uses: make([]order.Use, n-1)}
	for i := range int32(n) {
		s.Grads[i] = order.Grad{Bytes: 4, Producer: i, Seeded: int(i) == n-1}
		s.Storages = append(s.Storages, order.Storage{Bytes: 4})
		s.Readers = append(s.Readers, order.Reader{Storage: i, Node: i})
		if i > 0 {
			edges[i-1] = order.Edge{From: i - 1, To: i, Tensor: i - 1}
			s.Uses[i-1] = order.Use{Tensor: i - 1, Consumer: i}
		}
	}
	return mustNew(t, n, edges), s
}

// fan is one node whose output n-2 nodes consume, all of which the last one
// consumes.
func fan(t testing.TB, n int) (*order.Graph, order.Sizes) {
	var edges []order.Edge
	s := order.Sizes{Grads: make([]order.Grad, n)}
	last := int32(n - 1)
	for i := range int32(n) {
		s.Grads[i] = order.Grad{Bytes: int64(1 + i%7), Producer: i, Seeded: i == last}
		if i > 0 && i < last {
			edges = append(edges, order.Edge{From: 0, To: i, Tensor: 0}, order.Edge{From: i, To: last, Tensor: i})
			s.Uses = append(s.Uses, order.Use{Tensor: 0, Consumer: i}, order.Use{Tensor: i, Consumer: last})
		}
	}
	return mustNew(t, n, edges), s
}

// ladder is two long chains with a rung from the first to the second at each
// step.
func ladder(t testing.TB, n int) *order.Graph {
	var edges []order.Edge
	for i := int32(2); int(i) < n; i++ {
		edges = append(edges, order.Edge{From: i - 2, To: i, Tensor: i - 2})
		if i%2 == 1 {
			edges = append(edges, order.Edge{From: i - 1, To: i, Tensor: i - 1})
		}
	}
	return mustNew(t, n, edges)
}

// twins is two long chains that begin at one node, and at each step a node whose
// output both consume.
func twins(t testing.TB, n int) *order.Graph {
	var edges []order.Edge
	last := int32(n - 1)
	for v := int32(0); v+2 < last; v += 3 {
		edges = append(edges, order.Edge{From: v, To: v + 1, Tensor: v}, order.Edge{From: v, To: v + 2, Tensor: v},
			order.Edge{From: v + 1, To: min(v+4, last), Tensor: v + 1}, order.Edge{From: v + 2, To: min(v+5, last), Tensor: v + 2})
	}
	return mustNew(t, n, edges)
}

var seedFlag = flag.Uint64("seed", 0, "seed of the randomized tests; 0 takes one from the clock")

// random returns a source of randomness whose seed is in the test's log.
func random(t testing.TB) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("rerun with -seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
