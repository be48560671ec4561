package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

// lengths are all up to 257, and those about a chunk of assembly.
func lengths() (n []int) {
	for i := range 258 {
		n = append(n, i)
	}
	return append(n, 511, 512, 513, 1<<16-1, 1<<16, 1<<16+1)
}

// mixed fills a slice with ordinary values and some special ones.
func mixed[T kernel.Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(8*rng.Float64() - 4)
		if rng.IntN(8) == 0 {
			x[i] = T(special[rng.IntN(len(special))])
		}
	}
	return x
}

// exact fails unless two slices have the same bits, NaNs apart.
func exact[T kernel.Float](t *testing.T, what string, n int, got, want []T) {
	t.Helper()
	for i := range got {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s: %s of %d: element %d is %v, alone %v", kernel.Path(), what, n, i, got[i], want[i])
		}
	}
}

func placeUnary[T kernel.Float](t *testing.T, what string, f func(dst, x []T)) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	x := mixed[T](rng, 1<<16+1)
	want, got := make([]T, len(x)), make([]T, len(x))
	for i := range x {
		f(want[i:i+1], x[i:i+1])
	}
	for _, n := range lengths() {
		at := rng.IntN(len(x) - n + 1)
		for i := range got[:n] {
			got[i] = T(math.NaN())
		}
		f(got[:n], x[at:at+n])
		exact(t, what, n, got[:n], want[at:at+n])
	}
}

func placeBinary[T kernel.Float](t *testing.T, what string, f func(dst, a, b []T)) {
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, 0))
	a, b := mixed[T](rng, 1<<16+1), mixed[T](rng, 1<<16+1)
	want, got := make([]T, len(a)), make([]T, len(a))
	for i := range a {
		f(want[i:i+1], a[i:i+1], b[i:i+1])
	}
	for _, n := range lengths() {
		at := rng.IntN(len(a) - n + 1)
		for i := range got[:n] {
			got[i] = T(math.NaN())
		}
		f(got[:n], a[at:at+n], b[at:at+n])
		exact(t, what, n, got[:n], want[at:at+n])
	}
}

// TestElementsDoNotDependOnTheirPlace holds elementwise functions to the bits
// of an element alone: broadcasting calls them on runs of any length.
func TestElementsDoNotDependOnTheirPlace(t *testing.T) {
	for _, u := range unaries {
		placeUnary(t, u.name, u.f32)
		placeUnary(t, u.name, u.f64)
	}
	for _, b := range append(binaries,
		binary{name: "TanhGrad", f32: kernel.TanhGrad[float32], f64: kernel.TanhGrad[float64]},
		binary{name: "SigmoidGrad", f32: kernel.SigmoidGrad[float32], f64: kernel.SigmoidGrad[float64]},
		binary{name: "GeluGrad", f32: kernel.GeluGrad[float32], f64: kernel.GeluGrad[float64]},
		binary{name: "Where", f32: chosen[float32], f64: chosen[float64]},
	) {
		placeBinary(t, b.name, b.f32)
		placeBinary(t, b.name, b.f64)
	}
}

// chosen is Where by the signs of the first operand.
func chosen[T kernel.Float](dst, a, b []T) {
	c := make([]bool, len(a))
	for i, v := range a {
		c[i] = v > 0
	}
	kernel.Where(dst, c, a, b)
}
