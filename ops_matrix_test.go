package backsweep_test

import (
	"errors"
	"math"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// Where one output of a node has no tangent, what only that output leads to
// has none either.
func TestForwardPastAnOutputWithoutTangent(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float64{2, 1, 0, -3}, 2, 2))
	sign, log := x.SlogDet()
	y := sign.Add(sign).Mul(bs.Scalar(2.0))
	z := y.Add(log)
	tangents, err := tape.Forward([]bs.Seed{{Tensor: x, Tangent: bs.New([]float64{1, 0, 0, 0}, 2, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := tangents.Lookup(y); ok {
		t.Error("the sign's tangent was computed")
	}
	if d := tangents.Of(z).Item(); d != 0.5 {
		t.Errorf("d log|det| = %v, want 1/2", d)
	}
}

func TestMatricesByHand(t *testing.T) {
	a := bs.New([]float64{0, 2, 1, 3}, 2, 2) // needs a row exchange
	mustBeClose(t, "inverse", a.Inverse(), bs.New([]float64{-1.5, 1, 0.5, 0}, 2, 2), 1e-15)
	mustBeClose(t, "det", a.Det(), bs.Scalar(-2.0), 1e-15)
	sign, log := a.SlogDet()
	mustBeClose(t, "sign", sign, bs.Scalar(-1.0), 0)
	mustBeClose(t, "log", log, bs.Scalar(math.Ln2), 1e-15)
	mustBeClose(t, "solve", a.Solve(bs.New([]float64{2, 4})), bs.New([]float64{1, 1}), 1e-15)
	mustBeClose(t, "cholesky", bs.New([]float64{4, 2, 2, 5}, 2, 2).Cholesky(), bs.New([]float64{2, 0, 1, 2}, 2, 2), 1e-15)
	// Above the triangle nothing is read.
	l := bs.New([]float64{2, math.NaN(), 1, 4}, 2, 2)
	mustBeClose(t, "lower", l.SolveTriangular(bs.New([]float64{2, 9}), false), bs.New([]float64{1, 2}), 1e-15)
	mustBeClose(t, "upper", l.T().SolveTriangular(bs.New([]float64{4, 8}), true), bs.New([]float64{1, 2}), 1e-15)
	none := bs.Zeros(bs.Float64, 0, 0)
	mustBeClose(t, "det of nothing", none.Det(), bs.Scalar(1.0), 0)
}

// det's gradient is the matrix of cofactors, which a singular matrix has too.
func TestDetOfASingularMatrixHasAGradient(t *testing.T) {
	for _, c := range []struct {
		a, want []float64
		n       int
	}{
		{[]float64{1, 2, 2, 4}, []float64{4, -2, -2, 1}, 2},
		{[]float64{1, 0, 0, 0, 1, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0, 0, 0, 0, 1}, 3},
		{[]float64{0}, []float64{1}, 1},
	} {
		tape := bs.NewTape()
		a := tape.Watch(bs.New(c.a, c.n, c.n))
		grads, err := tape.Backward(a.Det())
		if err != nil {
			t.Fatal(err)
		}
		mustBeClose(t, "cofactors", grads.Of(a), bs.New(c.want, c.n, c.n), 1e-14)
	}
}

func TestMatricesThatHaveNoAnswer(t *testing.T) {
	singular := bs.New([]float64{1, 2, 2, 4}, 2, 2)
	for name, c := range map[string]struct {
		f    func()
		want error
	}{
		"inverse":      {func() { singular.Inverse() }, bs.ErrValue},
		"solve":        {func() { singular.Solve(bs.New([]float64{1, 2})) }, bs.ErrValue},
		"cholesky":     {func() { singular.Neg().Cholesky() }, bs.ErrValue},
		"not a number": {func() { bs.Full(bs.Float64, math.NaN(), 2, 2).Cholesky() }, bs.ErrValue},
		"not square":   {func() { bs.Zeros(bs.Float64, 2, 3).Det() }, bs.ErrShape},
		"integers":     {func() { bs.Zeros(bs.Int64, 2, 2).Det() }, bs.ErrDType},
		"other rows":   {func() { singular.Solve(bs.Zeros(bs.Float64, 3, 1)) }, bs.ErrShape},
		"mixed types":  {func() { singular.Solve(bs.Zeros(bs.Float32, 2, 1)) }, bs.ErrDType},
	} {
		err := func() (err error) {
			defer bs.Catch(&err)
			c.f()
			return nil
		}()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	sign, log := singular.SlogDet()
	mustBeClose(t, "sign", sign, bs.Scalar(0.0), 0)
	mustBeClose(t, "log", log, bs.Scalar(math.Inf(-1)), 0)
}
