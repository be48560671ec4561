package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// logSumExpOf is the definition, in float64.
func logSumExpOf(r []float64) float64 {
	if len(r) == 0 {
		return math.Inf(-1)
	}
	top := slices.Max(r)
	if math.IsInf(top, 0) || slices.ContainsFunc(r, math.IsNaN) {
		return top + sumOfNaNs(r)
	}
	s := 0.0
	for _, v := range r {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

func sumOfNaNs(r []float64) float64 {
	if slices.ContainsFunc(r, math.IsNaN) {
		return math.NaN()
	}
	return 0
}

func checkSoftmax[T kernel.Float](t *rapid.T) {
	s := spaces(t, 0)
	x := ordinary[T](t, s.in(), "x")
	scale := T(rapid.SampledFrom([]float64{1, 10, 1000, 1e6}).Draw(t, "scale"))
	kernel.MulC(x, x, scale)
	if len(x) > 0 && rapid.IntRange(0, 3).Draw(t, "holes") == 0 {
		for range 5 {
			x[rapid.IntRange(0, len(x)-1).Draw(t, "hole")] = T(math.Inf(-1))
		}
	}
	lse, check := fenced(s.out(), T(7))
	kernel.LogSumExp(lse, x, s.outer, s.n, s.inner)
	check(t)
	soft, check := fenced(s.in(), T(7))
	kernel.Softmax(soft, x, s.outer, s.n, s.inner)
	check(t)
	logs, check := fenced(s.in(), T(7))
	kernel.LogSoftmax(logs, x, s.outer, s.n, s.inner)
	check(t)
	w, u := wide(x), unitOf[T]()
	for o := range s.outer {
		for k := range s.inner {
			r := s.row(w, o, k)
			want := logSumExpOf(r)
			requireNear(t, "logsumexp", lse[o*s.inner+k], want, 30*u*(1+math.Abs(want)))
			for i, v := range r {
				at := (o*s.n+i)*s.inner + k
				if math.IsInf(want, -1) {
					requireBits(t, "softmax of -Inf alone", []T{soft[at], logs[at]}, []T{T(math.NaN()), T(math.NaN())})
					continue
				}
				// The error of the reference itself grows with |v|.
				slack := 30*u + 4*0x1p-53*math.Abs(v)
				requireNear(t, "softmax", soft[at], math.Exp(v-want), slack*math.Exp(v-want)+1e-45+slack*1e-3)
				requireNear(t, "log softmax", logs[at], v-want, 30*u*(1+math.Abs(v-want))+4*0x1p-53*math.Abs(v))
			}
		}
	}
	again := slices.Clone(x)
	kernel.Softmax(again, again, s.outer, s.n, s.inner)
	requireBits(t, "softmax in place", again, soft)
	copy(again, x)
	kernel.LogSoftmax(again, again, s.outer, s.n, s.inner)
	requireBits(t, "log softmax in place", again, logs)
}

func TestSoftmax(t *testing.T) { both(t, checkSoftmax[float32], checkSoftmax[float64]) }

func TestSoftmaxEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		row             []float64
		lse             float64
		softmax, logged []float64
	}{
		{[]float64{-inf, 1}, 1, []float64{0, 1}, []float64{-inf, 0}},
		{[]float64{inf, 1}, inf, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{-inf, -inf}, -inf, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{nan, 1}, nan, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{nan, inf}, nan, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{1000, 0}, 1000, []float64{1, 0}, []float64{0, -1000}},
		{[]float64{-1e308, 1e308}, 1e308, []float64{0, 1}, []float64{-inf, 0}},
	} {
		got := []float64{7, 7}
		kernel.LogSumExp(got[:1], c.row, 1, 2, 1)
		requireBits(t, "logsumexp", got[:1], []float64{c.lse})
		kernel.Softmax(got, c.row, 1, 2, 1)
		requireBits(t, "softmax", got, c.softmax)
		kernel.LogSoftmax(got, c.row, 1, 2, 1)
		requireBits(t, "log softmax", got, c.logged)
	}
	none := []float64{7, 7}
	kernel.LogSumExp(none, nil, 2, 0, 1)
	requireBits(t, "logsumexp of nothing", none, []float64{-inf, -inf})
}

func checkSoftmaxGrads[T kernel.Float](t *rapid.T) {
	s := spaces(t, 0)
	x, dy := ordinary[T](t, s.in(), "x"), ordinary[T](t, s.in(), "dy")
	soft, logs := make([]T, s.in()), make([]T, s.in())
	kernel.Softmax(soft, x, s.outer, s.n, s.inner)
	kernel.LogSoftmax(logs, x, s.outer, s.n, s.inner)
	ds, check := fenced(s.in(), T(7))
	kernel.SoftmaxGrad(ds, dy, soft, s.outer, s.n, s.inner)
	check(t)
	dl, check := fenced(s.in(), T(7))
	kernel.LogSoftmaxGrad(dl, dy, logs, s.outer, s.n, s.inner)
	check(t)
	g, y, l, u := wide(dy), wide(soft), wide(logs), unitOf[T]()
	for o := range s.outer {
		for k := range s.inner {
			gr, yr, lr := s.row(g, o, k), s.row(y, o, k), s.row(l, o, k)
			dot := 0.0
			for i := range gr {
				dot += gr[i] * yr[i]
			}
			total, size := exactSum(gr), sumAbs(gr)
			for i := range gr {
				at := (o*s.n+i)*s.inner + k
				requireNear(t, "softmax gradient", ds[at], yr[i]*(gr[i]-dot), 60*u*yr[i])
				e := math.Exp(lr[i])
				requireNear(t, "log softmax gradient", dl[at], gr[i]-e*total, 60*u*(1+e*size))
			}
		}
	}
	for _, c := range []struct {
		name string
		f    func(dst, dy, y []T, outer, n, inner int)
		y    []T
		want []T
	}{{"softmax", kernel.SoftmaxGrad[T], soft, ds}, {"log softmax", kernel.LogSoftmaxGrad[T], logs, dl}} {
		again := slices.Clone(dy)
		c.f(again, again, c.y, s.outer, s.n, s.inner)
		requireBits(t, c.name+" gradient in place of dy", again, c.want)
		copy(again, c.y)
		c.f(again, dy, again, s.outer, s.n, s.inner)
		requireBits(t, c.name+" gradient in place of y", again, c.want)
	}
}

func TestSoftmaxGradients(t *testing.T) {
	both(t, checkSoftmaxGrads[float32], checkSoftmaxGrads[float64])
}
