package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// special are the values at which elementwise functions go wrong.
var special = []float64{
	0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, math.Inf(1), math.Inf(-1), math.NaN(),
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1e-39, -1e-39, 1e-20, -1e-20, 1e-5,
	88.7, 88.8, -87, -103.9, -104.1, 0.625, -0.625, 44, 709, 710, -745, -746, math.MaxFloat32, -math.MaxFloat32, 1e18, -1e18,
}

// floats draws n values: specials, and ordinary ones over many magnitudes.
func floats[T kernel.Float](t *rapid.T, n int, label string) []T {
	x := make([]T, n)
	for i := range x {
		switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
		case 0:
			x[i] = T(rapid.SampledFrom(special).Draw(t, label))
		case 1:
			x[i] = T(rapid.Float32Range(-100, 100).Draw(t, label))
		default:
			x[i] = T(rapid.Float32Range(-4, 4).Draw(t, label))
		}
	}
	return x
}

// ordinary draws a seed for n values between -2 and 2.
func ordinary[T kernel.Float](t *rapid.T, n int, label string) []T {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, label+" seed"), 0))
	x := make([]T, n)
	for i := range x {
		x[i] = T(4*rng.Float64() - 2)
	}
	return x
}

// shape draws an extent: 0, 1, one about a lane, a block or a tile, or any.
func shape(t *rapid.T, most int, label string) int {
	n := rapid.OneOf(
		rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129, 255, 256, 257, 263}),
		rapid.IntRange(0, 40),
	).Draw(t, label)
	return min(n, most)
}

// fence is how many poisoned elements lie on either side of a fenced slice.
const fence = 9

// fenced returns a slice of n elements between poison, filled with poison
// itself, and a function that fails the test when the fence was written to.
func fenced[T comparable](n int, poison T) (inside []T, check func(t rapid.TB)) {
	all := make([]T, n+2*fence)
	for i := range all {
		all[i] = poison
	}
	return all[fence : fence+n : fence+n], func(t rapid.TB) {
		t.Helper()
		for i, v := range all {
			if (i < fence || i >= fence+n) && v != poison {
				t.Fatalf("wrote %v at %d, outside of 0..%d", v, i-fence, n-1)
			}
		}
	}
}

// sameBits reports whether two values are identical; all NaNs are.
func sameBits[T kernel.Float](a, b T) bool {
	return a != a && b != b || math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

func requireBits[T kernel.Float](t rapid.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// requireNear fails unless |got - want| ≤ tol, or they are the same infinity or
// both NaN.
func requireNear[T kernel.Float](t rapid.TB, what string, got T, want, tol float64) {
	t.Helper()
	g := float64(got)
	switch {
	case math.IsNaN(g) && math.IsNaN(want), g == want:
	case math.IsNaN(g) != math.IsNaN(want) || !(math.Abs(g-want) <= tol):
		t.Fatalf("%s is %v, want %v within %v", what, got, want, tol)
	}
}

// ulps is the distance between got and want in units in the last place of T;
// 0 for equal values and two NaNs, +Inf where one is NaN or an infinity that
// the other is not next to.
func ulps[T kernel.Float](got T, want float64) float64 {
	w := T(want)
	if sameBits(got, w) {
		return 0
	}
	if got != got || w != w {
		return math.Inf(1)
	}
	if !isFloat32[T]() {
		return math.Abs(float64(order64(float64(got)) - order64(want)))
	}
	return math.Abs(float64(order32(float32(got)) - order32(float32(w))))
}

func isFloat32[T kernel.Float]() bool { return T(1)+T(1e-10) == 1 }

// order64 and order32 number the floats in ascending order; both zeros are 0.
func order64(x float64) int64 {
	if b := int64(math.Float64bits(x)); b >= 0 {
		return b
	} else {
		return math.MinInt64 - b
	}
}

func order32(x float32) int64 {
	if b := int32(math.Float32bits(x)); b >= 0 {
		return int64(b)
	} else {
		return int64(math.MinInt32) - int64(b)
	}
}

// both runs a property for each float type.
func both(t *testing.T, p32, p64 func(t *rapid.T)) {
	t.Run("float32", func(t *testing.T) { rapid.Check(t, p32) })
	t.Run("float64", func(t *testing.T) { rapid.Check(t, p64) })
}
