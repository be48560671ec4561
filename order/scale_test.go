package order_test

import (
	"errors"
	"math/big"
	"runtime/debug"
	"testing"
	"time"

	"github.com/backsweep/backsweep/order"
)

// A million nodes in a row, with a stack that no recursion over them could live
// on.
func TestLongChainOnASmallStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	const n = 1_000_000
	g, s := chain(t, n)
	for _, seq := range [][]int32{g.Tape(), g.Depth(), g.Breadth(), g.Random(1), g.Leanest(s)} {
		if err := g.Check(seq); err != nil {
			t.Fatal(err)
		}
	}
	orders := 0
	for range g.All() {
		orders++
	}
	if orders != 1 {
		t.Errorf("%d orders", orders)
	}
	if w := g.Why(0, n-1); len(w.Path) != n-1 {
		t.Errorf("a chain of %d", len(w.Path))
	}
	if path := g.CriticalPath(nil); len(path) != n {
		t.Errorf("a critical path of %d", len(path))
	}
	if edges, err := g.Reduction(); err != nil || len(edges) != n-1 {
		t.Errorf("a reduction of %d, %v", len(edges), err)
	}
	if through := g.Dominators([]int32{n - 1}).Through(0); len(through) != n {
		t.Errorf("%d dominators", len(through))
	}
	if reasons := g.Reasons(g.Tape()); reasons[n-1].To != 1 {
		t.Errorf("the last reason is %v", reasons[n-1])
	}
}

func TestTooLarge(t *testing.T) {
	long, sizes := chain(t, 500_000)
	wide := mustNew(t, 21, nil)
	_, _, err := long.LeanestExact(sizes)
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"leanest order", err, "order: leanest order: the graph is too large: 500000 nodes, and the limit is 1024"},
		{"count", second(long.Count(0)), "order: count: the graph is too large: 500000 nodes, and the limit is 1024"},
		{"count", second(wide.Count(5000)), "order: count: the graph is too large: more than 5000 visited sets, which is the limit"},
		{"width", second(long.Width()), "order: width: the graph is too large: 500000 nodes, and the limit is 16384"},
		{"windows", second(long.Windows()), "order: windows: the graph is too large: 7812992187 steps, and the limit is 2147483648"},
	} {
		var large *order.TooLargeError
		if !errors.As(c.err, &large) || large.What != c.what || c.err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.what, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The limit of Count is exact: n free nodes have 2^n visited sets, and n! orders.
func TestCountLimit(t *testing.T) {
	g := mustNew(t, 8, nil)
	if count, err := g.Count(256); err != nil || count.Int64() != 40320 {
		t.Error(count, err)
	}
	if count, err := g.Count(255); err == nil {
		t.Error(count)
	}
	if count, err := mustNew(t, 16, nil).Count(0); err != nil || count.Cmp(new(big.Int).MulRange(1, 16)) != 0 {
		t.Error(count, err)
	}
	if count, err := mustNew(t, 0, nil).Count(0); err != nil || count.Int64() != 1 {
		t.Error(count, err)
	}
}

// Two towers of 300 nodes: the orders are the ways to interleave them.
func TestCountTwoLongTowers(t *testing.T) {
	const n = 300
	var edges []order.Edge
	for v := int32(0); v < 2*n-2; v++ {
		edges = append(edges, order.Edge{From: v, To: v + 2, Tensor: v})
	}
	g := mustNew(t, 2*n, edges)
	if count, err := g.Count(0); err != nil || count.Cmp(new(big.Int).Binomial(2*n, n)) != 0 {
		t.Error(count, err)
	}
	if antichain, err := g.Width(); err != nil || len(antichain) != 2 {
		t.Error(antichain, err)
	}
}

// TestLinear compares ten times the size as a ratio: 10 is linear, 100 is
// quadratic.
func TestLinear(t *testing.T) {
	const small = 20_000
	for _, shape := range []struct {
		name string
		make func(n int) (*order.Graph, order.Sizes)
	}{
		{"chain", func(n int) (*order.Graph, order.Sizes) { return chain(t, n) }},
		{"fan", func(n int) (*order.Graph, order.Sizes) { return fan(t, n) }},
		{"ladder", func(n int) (*order.Graph, order.Sizes) { return ladder(t, n), order.Sizes{} }},
		{"twins", func(n int) (*order.Graph, order.Sizes) { return twins(t, n), order.Sizes{} }},
	} {
		g, s := shape.make(small)
		g10, s10 := shape.make(10 * small)
		for _, f := range []struct {
			name string
			call func(g *order.Graph, s order.Sizes)
		}{
			{"new", func(g *order.Graph, s order.Sizes) { shape.make(g.Len()) }},
			{"check", func(g *order.Graph, s order.Sizes) { g.Check(g.Tape()) }},
			{"depth", func(g *order.Graph, s order.Sizes) { g.Depth() }},
			{"breadth", func(g *order.Graph, s order.Sizes) { g.Breadth() }},
			{"random", func(g *order.Graph, s order.Sizes) { g.Random(1) }},
			{"leanest", func(g *order.Graph, s order.Sizes) { g.Leanest(s) }},
			{"peak", func(g *order.Graph, s order.Sizes) { g.Peak(s, g.Tape()) }},
			{"why", func(g *order.Graph, s order.Sizes) { g.Why(0, int32(g.Len()-1)); g.Why(1, 0) }},
			{"critical path", func(g *order.Graph, s order.Sizes) { g.CriticalPath(nil) }},
			{"dominators", func(g *order.Graph, s order.Sizes) { g.Dominators(g.Roots()) }},
			{"reasons", func(g *order.Graph, s order.Sizes) { g.Reasons(g.Tape()) }},
			{"first of all", func(g *order.Graph, s order.Sizes) {
				for range g.All() {
					break
				}
			}},
		} {
			ratio := growth(func() { f.call(g, s) }, func() { f.call(g10, s10) }, 40)
			if ratio > 40 {
				t.Errorf("%s of a %s: ten times the nodes take %.0f times as long", f.name, shape.name, ratio)
			}
		}
	}
}

// growth returns how many times as long large takes as small. It takes the best
// of up to ten rounds, as many as it needs to get down to enough: what else the
// machine does can only make a round slower.
func growth(small, large func(), enough float64) float64 {
	bestSmall, bestLarge := time.Hour, time.Hour
	ratio := 0.0
	for range 10 {
		start := time.Now()
		small()
		middle := time.Now()
		large()
		bestSmall, bestLarge = min(bestSmall, middle.Sub(start)), min(bestLarge, time.Since(middle))
		if ratio = bestLarge.Seconds() / bestSmall.Seconds(); ratio <= enough {
			break
		}
	}
	return ratio
}
