package backsweep_test

import (
	"fmt"
	"runtime"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// The core by itself: record and sweep long chains of ops so small that their
// kernels hardly count. Each benchmark reports nanoseconds and bytes of garbage
// a node, both ways.

func BenchmarkMul4(b *testing.B) {
	y := bs.New([]float32{1, 1.01, 1, 0.99})
	benchChain(b, 1000, bs.New([]float32{0.1, 0.2, 0.3, 0.4}), reused, func(x *bs.Tensor) *bs.Tensor { return x.Mul(y) })
}

func BenchmarkTanh4(b *testing.B) {
	benchChain(b, 1000, bs.New([]float32{0.1, 0.2, 0.3, 0.4}), reused, (*bs.Tensor).Tanh)
}

func BenchmarkScalarChain(b *testing.B) {
	y := bs.Scalar(float32(1.0000001))
	mul := func(x *bs.Tensor) *bs.Tensor { return x.Mul(y) }
	b.Run("reused", func(b *testing.B) { benchChain(b, 1_000_000, bs.Scalar(float32(0.1)), reused, mul) })
	b.Run("fresh", func(b *testing.B) { benchChain(b, 1_000_000, bs.Scalar(float32(0.1)), fresh, mul) })
}

const (
	reused = false
	fresh  = true
)

// benchChain applies f to x0 n times and sweeps, on a tape that is reset or on
// a new one each time.
func benchChain(b *testing.B, n int, x0 *bs.Tensor, anew bool, f func(x *bs.Tensor) *bs.Tensor) {
	tape := bs.NewTape()
	b.ReportAllocs()
	for b.Loop() {
		if anew {
			tape = bs.NewTape()
		} else {
			tape.Reset()
		}
		x := tape.Watch(x0)
		for range n {
			x = f(x)
		}
		if x.Rank() > 0 {
			x = x.Sum()
		}
		if _, err := tape.Backward(x); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b, n)
}

func perNode(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
}

// The plan of the default order is all that a sweep that visits nothing does.
func BenchmarkPlanOfTapeOrder(b *testing.B) {
	const n = 1_000_000
	tape := bs.NewTape()
	x := tape.Input("x", bs.Scalar(float32(0.1))) // not watched: no node leads to anything asked for
	for range n {
		x = x.MulScalar(1.0000001)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tape.Backward(x, bs.Retain()); err != nil {
			b.Fatal(err)
		}
	}
	perNode(b, n)
}

// BenchmarkBytesPerNode reports what a scalar node keeps alive once it is
// recorded, its handle aside, and with every handle kept.
func BenchmarkBytesPerNode(b *testing.B) {
	const n = 1_000_000
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprintf("handles=%v", keep), func(b *testing.B) {
			y := bs.Scalar(float32(1.0000001))
			handles := make([]*bs.Tensor, n)
			var before, after runtime.MemStats
			for b.Loop() {
				clear(handles)
				runtime.GC()
				runtime.ReadMemStats(&before)
				tape := bs.NewTape()
				x := tape.Watch(bs.Scalar(float32(0.1)))
				for i := range n {
					x = x.Mul(y)
					if keep {
						handles[i] = x
					}
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				runtime.KeepAlive(x)
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "live-B/node")
		})
	}
}
