package kernel_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// space is a drawn [outer, n, inner].
type space struct{ outer, n, inner int }

func (s space) in() int  { return s.outer * s.n * s.inner }
func (s space) out() int { return s.outer * s.inner }

func spaces(t *rapid.T, least int) space {
	s := space{outer: rapid.IntRange(0, 3).Draw(t, "outer"), n: max(least, shape(t, 400, "n")), inner: shape(t, 33, "inner")}
	if s.n > 40 && s.inner > 5 {
		s.outer = min(s.outer, 1)
	}
	return s
}

// row returns the terms of one output element, packed.
func (s space) row(x []float64, o, k int) []float64 {
	r := make([]float64, s.n)
	for i := range r {
		r[i] = x[(o*s.n+i)*s.inner+k]
	}
	return r
}

func wide[T kernel.Float](x []T) []float64 {
	w := make([]float64, len(x))
	kernel.Cast(w, x)
	return w
}

func unitOf[T kernel.Float]() float64 {
	if isFloat32[T]() {
		return 0x1p-24
	}
	return 0x1p-53
}

// exactSum adds without rounding.
func exactSum(x []float64) float64 {
	var s big.Float
	s.SetPrec(300)
	for _, v := range x {
		s.Add(&s, new(big.Float).SetFloat64(v))
	}
	f, _ := s.Float64()
	return f
}

func sumAbs(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}

// depth bounds how many additions any one term of n passes through.
func depth(n int) float64 { return 20 + math.Log2(float64(n)/128+1) }

func checkSum[T kernel.Float](t *rapid.T) {
	s := spaces(t, 0)
	x := ordinary[T](t, s.in(), "x")
	dst, check := fenced(s.out(), T(7))
	kernel.Sum(dst, x, s.outer, s.n, s.inner)
	check(t)
	w := wide(x)
	for o := range s.outer {
		for k := range s.inner {
			r := s.row(w, o, k)
			requireNear(t, "sum", dst[o*s.inner+k], exactSum(r), depth(s.n)*unitOf[T]()*sumAbs(r))
			// The bits are those of the packed terms.
			packed, one := make([]T, s.n), []T{7}
			kernel.Cast(packed, r)
			kernel.Sum(one, packed, 1, s.n, 1)
			requireBits(t, "sum of the packed terms", one, dst[o*s.inner+k:o*s.inner+k+1])
		}
	}
}

func TestSum(t *testing.T) { both(t, checkSum[float32], checkSum[float64]) }

func TestSumOfManyKeepsItsDigits(t *testing.T) {
	x := make([]float32, 1<<20)
	for i := range x {
		x[i] = 0.1
	}
	got := []float32{0}
	kernel.Sum(got, x, 1, len(x), 1)
	want := float64(float32(0.1)) * float64(len(x))
	if math.Abs(float64(got[0])-want) > 1e-6*want {
		t.Errorf("2^20 times 0.1 is %v, want %v", got[0], want)
	}
}

func TestSumEnds(t *testing.T) {
	negZero := math.Copysign(0, -1)
	got := []float64{7, 7}
	kernel.Sum(got, nil, 1, 0, 2)
	requireBits(t, "no terms", got, []float64{0, 0})
	kernel.Sum(got[:1], []float64{negZero}, 1, 1, 1)
	requireBits(t, "-0 alone", got[:1], []float64{negZero})
	kernel.Sum(got[:1], slices.Repeat([]float64{negZero}, 300), 1, 300, 1)
	requireBits(t, "-0 alone, often", got[:1], []float64{negZero})
	kernel.Sum(got[:1], []float64{math.Inf(1), math.Inf(-1)}, 1, 2, 1)
	requireBits(t, "Inf - Inf", got[:1], []float64{math.NaN()})
}

func TestSumIntAndProd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := spaces(t, 0)
		x := rapid.SliceOfN(rapid.Int64(), s.in(), s.in()).Draw(t, "x")
		sum, check := fenced(s.out(), int64(7))
		kernel.SumInt(sum, x, s.outer, s.n, s.inner)
		check(t)
		prod, check := fenced(s.out(), int64(7))
		kernel.Prod(prod, x, s.outer, s.n, s.inner)
		check(t)
		for o := range s.outer {
			for k := range s.inner {
				a, m := int64(0), int64(1)
				for i := range s.n {
					a += x[(o*s.n+i)*s.inner+k]
					m *= x[(o*s.n+i)*s.inner+k]
				}
				if sum[o*s.inner+k] != a || prod[o*s.inner+k] != m {
					t.Fatalf("sum and product are %d and %d, want %d and %d", sum[o*s.inner+k], prod[o*s.inner+k], a, m)
				}
			}
		}
	})
}

func checkExtremes[T kernel.Float](t *rapid.T) {
	s := spaces(t, 1)
	x := floats[T](t, s.in(), "x")
	top, check := fenced(s.out(), T(7))
	kernel.ReduceMax(top, x, s.outer, s.n, s.inner)
	check(t)
	low, check := fenced(s.out(), T(7))
	kernel.ReduceMin(low, x, s.outer, s.n, s.inner)
	check(t)
	at, checkAt := fenced(s.out(), int64(7))
	kernel.ArgMax(at, x, s.outer, s.n, s.inner)
	checkAt(t)
	dy := ordinary[T](t, s.out(), "dy")
	dx, check := fenced(s.in(), T(7))
	kernel.ExtremeGrad(dx, dy, x, top, s.outer, s.n, s.inner)
	check(t)
	w := wide(x)
	for o := range s.outer {
		for k := range s.inner {
			r, out := s.row(w, o, k), o*s.inner+k
			hi, lo := slices.Max(r), slices.Min(r)
			if slices.ContainsFunc(r, math.IsNaN) {
				hi, lo = math.NaN(), math.NaN()
			} else {
				for _, v := range r {
					hi, lo = math.Max(hi, v), math.Min(lo, v)
				}
			}
			requireBits(t, "max and min", []T{top[out], low[out]}, []T{T(hi), T(lo)})
			first := slices.IndexFunc(r, func(v float64) bool { return v == hi || v != v && hi != hi })
			if at[out] != int64(first) {
				t.Fatalf("argmax of %v is %d", r, at[out])
			}
			n := 0
			for _, v := range r {
				if v == hi || v != v && hi != hi {
					n++
				}
			}
			for i, v := range r {
				want := T(0)
				if v == hi || v != v && hi != hi {
					want = dy[out] / T(n)
				}
				requireBits(t, "gradient", dx[(o*s.n+i)*s.inner+k:][:1], []T{want})
			}
		}
	}
	kernel.ExtremeGrad(x, dy, x, top, s.outer, s.n, s.inner)
	requireBits(t, "gradient in place", x, dx)
}

func TestExtremes(t *testing.T) { both(t, checkExtremes[float32], checkExtremes[float64]) }

func checkDot[T kernel.Float](t *rapid.T) {
	n, as, bs := shape(t, 400, "n"), rapid.IntRange(0, 3).Draw(t, "as"), rapid.IntRange(0, 3).Draw(t, "bs")
	a, b := ordinary[T](t, n*as+1, "a"), ordinary[T](t, n*bs+1, "b")
	products, exact := make([]T, n), make([]float64, n)
	for i := range n {
		products[i] = a[i*as] * b[i*bs]
		exact[i] = float64(a[i*as]) * float64(b[i*bs])
	}
	want := []T{0}
	kernel.Sum(want, products, 1, n, 1)
	got := kernel.Dot(a, b, n, as, bs)
	requireBits(t, "dot", []T{got}, want)
	requireNear(t, "dot", got, exactSum(exact), (depth(n)+1)*unitOf[T]()*sumAbs(exact)+float64(n)*math.SmallestNonzeroFloat32)
}

func TestDot(t *testing.T) { both(t, checkDot[float32], checkDot[float64]) }
