package order_test

import (
	"fmt"
	"testing"

	"github.com/backsweep/backsweep/order"
)

// BenchmarkPerNode reports the time per node of everything that is linear by
// nature, on a chain and on a wide graph of 10^5 and 10^6 nodes.
func BenchmarkPerNode(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, shape := range []struct {
			name string
			make func(testing.TB, int) (*order.Graph, order.Sizes)
		}{{"chain", chain}, {"fan", fan}} {
			g, s := shape.make(b, n)
			var edges []order.Edge
			for e := range g.Edges() {
				edges = append(edges, e)
			}
			seq := g.Tape()
			for _, f := range []struct {
				name string
				call func()
			}{
				{"new", func() { mustNew(b, n, edges) }},
				{"check", func() { g.Check(seq) }},
				{"depth", func() { g.Depth() }},
				{"breadth", func() { g.Breadth() }},
				{"random", func() { g.Random(1) }},
				{"leanest", func() { g.Leanest(s) }},
				{"peak", func() { g.Peak(s, seq) }},
				{"why", func() { g.Why(0, int32(n)-1) }},
				{"critical", func() { g.CriticalPath(nil) }},
				{"dominators", func() { g.Dominators(g.Roots()) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", f.name, shape.name, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						f.call()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
				})
			}
		}
	}
}

// BenchmarkAtTheLimit times what is not linear near its limit.
func BenchmarkAtTheLimit(b *testing.B) {
	ladder8 := ladder(b, order.WidthLimit)
	b.Run("width", func(b *testing.B) {
		for b.Loop() {
			ladder8.Width()
		}
	})
	long := ladder(b, 300_000)
	b.Run("windows", func(b *testing.B) {
		for b.Loop() {
			long.Windows()
		}
	})
	b.Run("reduction", func(b *testing.B) {
		for b.Loop() {
			long.Reduction()
		}
	})
	free := mustNew(b, 20, nil)
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			free.Count(0)
		}
	})
}
