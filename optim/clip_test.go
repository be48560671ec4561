package optim_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// clip-non-finite-signal: a norm that is not finite comes with an error before
// the step, and a parameter without gradient is skipped.
func TestClipNonFiniteSignal(t *testing.T) {
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		a, b := param(backsweep.Float64, 0, 0), backsweep.NewParam("absent", backsweep.Scalar(0.0))
		g := sweep(t, []*backsweep.Tensor{a, b}, []*backsweep.Tensor{backsweep.New([]float64{bad, 1}), nil})
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			clipped, norm, err := optim.ClipNorm(g, 1, p, a, b)
			if clipped != nil || !errors.Is(err, optim.ErrNotFinite) || math.IsNaN(bad) != math.IsNaN(norm) || !math.IsNaN(bad) && !math.IsInf(norm, 1) {
				t.Errorf("%v, p %v: norm %v, error %v", bad, p, norm, err)
			}
		}
		if norm, err := optim.Norm(g, 2, b); norm != 0 || err != nil {
			t.Errorf("no gradient has the norm %v, %v", norm, err)
		}
	}
	_, _, err := optim.ClipNorm(sweepOf(t, backsweep.Float64, math.Inf(1)), 1, 2, theOne)
	if want := "optim: ClipNorm: the norm is +Inf, because of the gradient of w: gradients are not finite"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// theOne is the parameter of the last sweepOf.
var theOne *backsweep.Tensor

func sweepOf(t *testing.T, dt backsweep.DType, values ...float64) *backsweep.Grads {
	theOne = backsweep.NewParam("w", backsweep.Zeros(dt, len(values)))
	return sweep(t, []*backsweep.Tensor{theOne}, []*backsweep.Tensor{backsweep.New(values).Cast(dt)})
}

func TestRowsCountInTheNorm(t *testing.T) {
	for _, dt := range floats {
		w, grads := table(dt)
		g := grads(t, 0)
		clipped, norm, err := optim.ClipNorm(g, 0.5, 2, w)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range g.Of(w).Float64s() {
			sum += v * v
		}
		if math.Abs(norm-math.Sqrt(sum)) > 1e-6 || norm < 0.5 {
			t.Errorf("the norm is %v, want %v", norm, math.Sqrt(sum))
		}
		rows, values, ok := clipped.Rows(w)
		if !ok || !slices.Equal(backsweep.Data[int64](rows), []int64{1, 3}) {
			t.Fatalf("rows %v", rows)
		}
		_, before, _ := g.Rows(w)
		for i, v := range values.Float64s() {
			if want := before.Float64s()[i] * 0.5 / norm; math.Abs(v-want) > 1e-6 {
				t.Errorf("element %d is %v, want %v", i, v, want)
			}
		}
		start := w.Clone()
		step(t, optim.NewSGD(1, w), clipped)
		near(t, "after the step", w, start.Sub(dense(t, clipped, w)).Float64s()...)
	}
}

func dense(t *testing.T, g optim.Gradients, w *backsweep.Tensor) *backsweep.Tensor {
	t.Helper()
	x, state := g.Lookup(w)
	if x == nil {
		t.Fatal(state)
	}
	return x
}

func TestTheClippedNormIsTheLimit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scale := rapid.SampledFrom([]float64{1e-200, 1, 1e200}).Draw(r, "scale")
		values := rapid.SliceOfN(rapid.Float64Range(-10, 10), 1, 20).Draw(r, "values")
		for i := range values {
			values[i] *= scale
		}
		p := rapid.SampledFrom([]float64{0.5, 1, 2, 3, math.Inf(1)}).Draw(r, "p")
		g := sweepOf(t, backsweep.Float64, values...)
		norm, err := optim.Norm(g, p, theOne)
		if err != nil {
			r.Fatal(err)
		}
		limit := norm * rapid.Float64Range(0.1, 2).Draw(r, "limit")
		clipped, _, err := optim.ClipNorm(g, limit, p, theOne)
		if err != nil {
			r.Fatal(err)
		}
		after, err := optim.Norm(clipped, p, theOne)
		if err != nil || math.Abs(after-min(norm, limit)) > 1e-9*norm {
			r.Fatalf("norm %v, limit %v, after %v, %v", norm, limit, after, err)
		}
		if limit >= norm && dense(t, clipped, theOne) != dense(t, g, theOne) {
			r.Fatal("gradients below the limit were copied")
		}
	})
}

func TestClipValue(t *testing.T) {
	for _, dt := range floats {
		g := sweepOf(t, dt, -3, math.Inf(1), math.NaN(), 0.5, math.Inf(-1))
		got := dense(t, optim.ClipValue(g, 2, theOne), theOne).Float64s()
		for i, want := range []float64{-2, 2, math.NaN(), 0.5, -2} {
			if got[i] != want && !(math.IsNaN(got[i]) && math.IsNaN(want)) {
				t.Errorf("%s: element %d is %v, want %v", dt, i, got[i], want)
			}
		}
	}
}

func TestClippingKeepsOffTheTape(t *testing.T) {
	w := param(backsweep.Float64, 3, 4)
	tape := backsweep.NewTape()
	g, err := tape.Backward(tape.Watch(w).Square().Sum(), backsweep.Recorded())
	if err != nil {
		t.Fatal(err)
	}
	clipped, norm, err := optim.ClipNorm(g, 1, 2, w)
	if err != nil || norm != 10 {
		t.Fatal(norm, err)
	}
	n := tape.Len()
	step(t, optim.NewSGD(1, w), clipped)
	step(t, optim.NewSGD(1, w), optim.ClipValue(g, 1, w))
	if tape.Len() != n {
		t.Errorf("clipping recorded %d nodes", tape.Len()-n)
	}
	near(t, "w", w, 3-0.6-1, 4-0.8-1)
}

func TestATotalAddsSweepsUp(t *testing.T) {
	for _, dt := range floats {
		w := param(dt, 0, 0)
		never := backsweep.NewParam("never", backsweep.Scalar(0.0))
		total := optim.NewTotal(w, never)
		tape := backsweep.NewTape()
		for i := range 3 {
			x := backsweep.New([]float64{1, float64(i)}).Cast(dt)
			g, err := tape.Backward(tape.Watch(w).Mul(x).Sum())
			if err != nil {
				t.Fatal(err)
			}
			if err := total.Add(g); err != nil {
				t.Fatal(err)
			}
			tape.Reset()
		}
		near(t, "total", dense(t, total, w), 3, 3)
		if x, state := total.Lookup(never); x != nil || state != backsweep.Unconnected {
			t.Errorf("what never had a gradient has %v, %v", x, state)
		}
		step(t, optim.NewSGD(1, w, never), total)
		near(t, "w", w, -3, -3)
		total.Clear()
		step(t, optim.NewSGD(1, w, never), total)
		near(t, "w after Clear", w, -3, -3)
	}
}
