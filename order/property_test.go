package order_test

import (
	"slices"
	"testing"

	"github.com/backsweep/backsweep/order"
	"pgregory.net/rapid"
)

// drawGraph draws a graph of up to most nodes, across several 64-node blocks when
// most is large. Short and long edges come equally often.
func drawGraph(t *rapid.T, most int) (n int, edges []order.Edge) {
	n = rapid.IntRange(1, most).Draw(t, "nodes")
	for to := int32(1); int(to) < n; to++ {
		for range rapid.IntRange(0, 3).Draw(t, "operands") {
			span := rapid.Int32Range(1, to).Draw(t, "span")
			if rapid.Bool().Draw(t, "near") {
				span = min(span, 3)
			}
			edges = append(edges, order.Edge{From: to - span, To: to, Tensor: to - span})
		}
	}
	return n, edges
}

// closure is the plain Floyd–Warshall–Roy transitive closure.
func closure(n int, edges []order.Edge) [][]bool {
	reach := square[bool](n)
	for _, e := range edges {
		reach[e.From][e.To] = true
	}
	for via := range n {
		for a := range n {
			if reach[a][via] {
				for b := range n {
					reach[a][b] = reach[a][b] || reach[via][b]
				}
			}
		}
	}
	return reach
}

func TestStructureOfLargerGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t, 150)
		g, err := order.New(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		reach := closure(n, edges)

		windows, err := g.Windows()
		if err != nil {
			t.Fatal(err)
		}
		for v := range n {
			want := order.Window{Earliest: 0, Latest: int32(n - 1)}
			for u := range n {
				if reach[v][u] {
					want.Earliest++
				}
				if reach[u][v] {
					want.Latest--
				}
			}
			if windows[v] != want {
				t.Fatalf("node %d has the window %v; it is %v", v, windows[v], want)
			}
		}

		antichain, err := g.Width()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range antichain {
			for _, b := range antichain {
				if reach[a][b] {
					t.Fatalf("antichain %v, but %d waits for %d", antichain, a, b)
				}
			}
		}
		if chains := chainCover(reach); len(antichain) != chains {
			t.Fatalf("antichain %v, but %d chains cover the graph", antichain, chains)
		}

		reduction, err := g.Reduction()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(closure(n, reduction), reach, slices.Equal) {
			t.Fatalf("the reduction %v loses something", reduction)
		}
		for _, e := range reduction {
			for via := range n {
				if reach[e.From][via] && reach[via][e.To] {
					t.Fatalf("the reduction keeps %v, which %d implies", e, via)
				}
			}
		}
	})
}

// chainCover is the least number of chains that cover the graph, by the
// matching of H. W. Kuhn (1955).
func chainCover(reach [][]bool) int {
	n := len(reach)
	partner := slices.Repeat([]int{-1}, n)
	var match func(x int, tried []bool) bool
	match = func(x int, tried []bool) bool {
		for y := range n {
			if reach[x][y] && !tried[y] {
				tried[y] = true
				if partner[y] < 0 || match(partner[y], tried) {
					partner[y] = x
					return true
				}
			}
		}
		return false
	}
	chains := n
	for x := range n {
		if match(x, make([]bool, n)) {
			chains--
		}
	}
	return chains
}

func TestDominatorsOfLargerGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t, 80)
		g, err := order.New(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		roots := []int32{int32(n - 1)}
		tree := g.Dominators(roots)
		for v, want := range dominators(n, edges, roots) {
			if got := tree.Through(int32(v)); !slices.Equal(got, want) {
				t.Fatalf("all paths to %d pass through %v; it is %v", v, got, want)
			}
		}
	})
}

// Whatever is asked for, what comes back is legal.
func TestOrdersOfLargerGraphsAreLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, edges := drawGraph(t, 300)
		g, err := order.New(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		s := order.Sizes{Grads: make([]order.Grad, n)}
		for v := range s.Grads {
			s.Grads[v] = order.Grad{Bytes: rapid.Int64Range(0, 100).Draw(t, "bytes"), Producer: int32(v), Seeded: v == n-1}
		}
		for _, e := range edges {
			s.Uses = append(s.Uses, order.Use{Tensor: e.Tensor, Consumer: e.To})
		}
		a := rapid.Int32Range(0, int32(n)-1).Draw(t, "a")
		b := rapid.Int32Range(0, int32(n)-1).Draw(t, "b")
		why := g.Why(a, b)
		for _, seq := range [][]int32{g.Tape(), g.Depth(), g.Breadth(), g.Random(uint64(n)), g.Leanest(s), why.Other, why.BFirst} {
			if seq == nil {
				continue
			}
			if err := g.Check(seq); err != nil {
				t.Fatal(err)
			}
			_, curve := g.Peak(s, seq)
			for i, m := range simulate(s, seq) {
				if curve[i] != m.Held() {
					t.Fatalf("%d held at step %d of %v; it is %d", curve[i], i, seq, m.Held())
				}
			}
		}
	})
}
