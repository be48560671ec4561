package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

func TestComparisons(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(dst []bool, a, b []float32)
		i    func(dst []bool, a, b []int64)
		want func(a, b float64) bool
	}{
		{"Gt", kernel.Gt[float32], kernel.Gt[int64], func(a, b float64) bool { return a > b }},
		{"Ge", kernel.Ge[float32], kernel.Ge[int64], func(a, b float64) bool { return a >= b }},
		{"Lt", kernel.Lt[float32], kernel.Lt[int64], func(a, b float64) bool { return a < b }},
		{"Le", kernel.Le[float32], kernel.Le[int64], func(a, b float64) bool { return a <= b }},
		{"Eq", kernel.Eq[float32], kernel.Eq[int64], func(a, b float64) bool { return a == b }},
		{"Ne", kernel.Ne[float32], kernel.Ne[int64], func(a, b float64) bool { return a != b }},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := shape(t, 64, "n")
				a, b := floats[float32](t, n, "a"), floats[float32](t, n, "b")
				dst, check := fenced(n, true)
				c.f(dst, a, b)
				check(t)
				ints := rapid.SliceOfN(rapid.Int64Range(-2, 2), n, n)
				p, q := ints.Draw(t, "p"), ints.Draw(t, "q")
				of := make([]bool, n)
				c.i(of, p, q)
				for i := range dst {
					if dst[i] != c.want(float64(a[i]), float64(b[i])) {
						t.Fatalf("of %v and %v: %v", a[i], b[i], dst[i])
					}
					if of[i] != c.want(float64(p[i]), float64(q[i])) {
						t.Fatalf("of %v and %v: %v", p[i], q[i], of[i])
					}
				}
			})
		})
	}
}

func TestMasks(t *testing.T) {
	a, b := []bool{false, false, true, true}, []bool{false, true, false, true}
	got := make([]bool, 4)
	kernel.And(got, a, b)
	if !slices.Equal(got, []bool{false, false, false, true}) {
		t.Errorf("And is %v", got)
	}
	kernel.Or(got, a, b)
	if !slices.Equal(got, []bool{false, true, true, true}) {
		t.Errorf("Or is %v", got)
	}
	kernel.Not(a, a)
	if !slices.Equal(a, []bool{true, true, false, false}) {
		t.Errorf("Not is %v", a)
	}
	x, y, z := []int64{1, 2, 3, 4}, []int64{5, 6, 7, 8}, []int64{0, 0, 0, 0}
	kernel.Where(z, b, x, y)
	if !slices.Equal(z, []int64{5, 2, 7, 4}) {
		t.Errorf("Where is %v", z)
	}
	kernel.Where(x, b, x, y)
	if !slices.Equal(x, z) {
		t.Errorf("Where in place is %v", x)
	}
}

func TestCasts(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ints := make([]int64, 10)
	kernel.CastInt(ints, []float64{1.9, -1.9, 0.5, math.Copysign(0, -1), nan, inf, -inf, 1 << 63, -1 << 63, 1<<63 - 1024})
	if want := []int64{1, -1, 0, 0, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64, 1<<63 - 1024}; !slices.Equal(ints, want) {
		t.Errorf("CastInt of float64 is %v, want %v", ints, want)
	}
	kernel.CastInt(ints[:4], []float32{1 << 63, 3e38, -2.5, 1e-45})
	if want := []int64{math.MinInt64, math.MinInt64, -2, 0}; !slices.Equal(ints[:4], want) {
		t.Errorf("CastInt of float32 is %v, want %v", ints[:4], want)
	}
	narrow := make([]float32, 5)
	kernel.Cast(narrow, []float64{1 + 1e-9, 1e300, -1e-60, nan, 16777217})
	requireBits(t, "Cast to float32", narrow, []float32{1, float32(inf), float32(math.Copysign(0, -1)), float32(nan), 16777216})
	wide := make([]float64, 2)
	kernel.Cast(wide, []int64{1<<53 + 1, -3})
	requireBits(t, "Cast of int64", wide, []float64{1 << 53, -3})
	masks := make([]bool, 4)
	kernel.CastBool(masks, []float64{0, math.Copysign(0, -1), nan, 1e-300})
	if !slices.Equal(masks, []bool{false, false, true, true}) {
		t.Errorf("CastBool is %v", masks)
	}
	kernel.FromBool(wide, masks[1:3])
	requireBits(t, "FromBool", wide, []float64{0, 1})
}
