package backsweep_test

import (
	"math"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// slopes is the gradient of the sum of f at x.
func slopes(t *testing.T, f func(x *bs.Tensor) *bs.Tensor, x ...float64) []float64 {
	t.Helper()
	tape := bs.NewTape()
	w := tape.Watch(bs.New(x))
	grads, err := tape.Backward(f(w).Sum())
	if err != nil {
		t.Fatal(err)
	}
	return grads.OrZeros(w).Float64s()
}

// Where the mathematics leaves a choice, the gradient is the documented one,
// and the forward sweep makes the same choice.
func TestKinksAndTies(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	zero := func(x *bs.Tensor) *bs.Tensor { return bs.Scalar(0.0) }
	for name, c := range map[string]struct {
		f        func(x *bs.Tensor) *bs.Tensor
		at, want []float64
	}{
		"abs":            {(*bs.Tensor).Abs, []float64{-1, 0, math.Copysign(0, -1), 2, -inf}, []float64{-1, 0, 0, 1, -1}},
		"relu":           {(*bs.Tensor).Relu, []float64{-1, 0, 2, inf}, []float64{0, 0, 1, 1}},
		"sqrt at 0":      {(*bs.Tensor).Sqrt, []float64{0, 4}, []float64{inf, 0.25}},
		"maximum":        {func(x *bs.Tensor) *bs.Tensor { return x.Maximum(zero(x)) }, []float64{-1, 0, 2}, []float64{0, 0.5, 1}},
		"minimum":        {func(x *bs.Tensor) *bs.Tensor { return x.Minimum(zero(x)) }, []float64{-1, 0, 2}, []float64{1, 0.5, 0}},
		"max of itself":  {func(x *bs.Tensor) *bs.Tensor { return x.Maximum(x) }, []float64{-1, 3}, []float64{1, 1}},
		"max":            {func(x *bs.Tensor) *bs.Tensor { return x.Max() }, []float64{3, 1, 3, 3}, []float64{1. / 3, 0, 1. / 3, 1. / 3}},
		"max, NaN":       {func(x *bs.Tensor) *bs.Tensor { return x.Max() }, []float64{3, nan, 1}, []float64{0, 1, 0}},
		"min, infinite":  {func(x *bs.Tensor) *bs.Tensor { return x.Min() }, []float64{-inf, 1, -inf}, []float64{0.5, 0, 0.5}},
		"pow 0":          {func(x *bs.Tensor) *bs.Tensor { return x.PowScalar(0) }, []float64{0, 2, -1}, []float64{0, 0, 0}},
		"pow 1":          {func(x *bs.Tensor) *bs.Tensor { return x.PowScalar(1) }, []float64{0, 2, -1}, []float64{1, 1, 1}},
		"pow 2":          {func(x *bs.Tensor) *bs.Tensor { return x.PowScalar(2) }, []float64{0, 2, -1}, []float64{0, 4, -2}},
		"0 to the x":     {func(x *bs.Tensor) *bs.Tensor { return bs.Scalar(0.0).Pow(x) }, []float64{0, 1, 2}, []float64{0, 0, 0}},
		"x to the 0":     {func(x *bs.Tensor) *bs.Tensor { return x.Pow(bs.Scalar(0.0)) }, []float64{0, 1, -2}, []float64{0, 0, 0}},
		"where":          {func(x *bs.Tensor) *bs.Tensor { return bs.Where(x.Gt(zero(x)), x.Log(), zero(x)) }, []float64{2, 4}, []float64{0.5, 0.25}},
		"where, chosen":  {func(x *bs.Tensor) *bs.Tensor { return bs.Where(x.Gt(zero(x)), x, x.Neg()) }, []float64{nan, 1, -1}, []float64{-1, 1, -1}},
		"softmax, huge":  {func(x *bs.Tensor) *bs.Tensor { return x.Softmax(0).Slice(bs.Range{Start: 0, Stop: 1}) }, []float64{1e300, 0}, []float64{0, 0}},
		"lse, -Inf":      {func(x *bs.Tensor) *bs.Tensor { return x.LogSumExp() }, []float64{0, -inf}, []float64{1, 0}},
		"tanh, infinite": {(*bs.Tensor).Tanh, []float64{inf, -inf}, []float64{0, 0}},
		"sigmoid":        {(*bs.Tensor).Sigmoid, []float64{inf, -inf, 800, -800, 0}, []float64{0, 0, 0, 0, 0.25}},
		"gelu":           {(*bs.Tensor).Gelu, []float64{40, -40, 0}, []float64{1, 0, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			got := slopes(t, c.f, c.at...)
			for i, w := range c.want {
				if got[i] != w && math.Abs(got[i]-w) > 1e-12 {
					t.Errorf("at %v the gradient is %v, want %v", c.at[i], got[i], w)
				}
			}
			// One direction at a time, forward: the same numbers.
			for i, w := range c.want {
				tape := bs.NewTape()
				x := tape.Watch(bs.New(c.at))
				y := c.f(x).Sum()
				e := make([]float64, len(c.at))
				e[i] = 1
				tangents, err := tape.Forward([]bs.Seed{{Tensor: x, Tangent: bs.New(e)}})
				if err != nil {
					t.Fatal(err)
				}
				got := 0.0
				if d, ok := tangents.Lookup(y); ok {
					got = d.Item()
				}
				// 0·∞ is NaN: an infinite derivative elsewhere leaves no number here.
				if got != w && math.Abs(got-w) > 1e-12 && !(math.IsNaN(got) && name == "sqrt at 0") {
					t.Errorf("along element %d the tangent is %v, want %v", i, got, w)
				}
			}
		})
	}
}

// The second derivative of a power at its edges.
func TestPowTwiceAtZero(t *testing.T) {
	for _, c := range []struct{ p, at, want float64 }{
		{2, 0, 2}, {1, 0, 0}, {0, 0, 0}, {3, 0, 0}, {2, -3, 2}, {3, -1, -6}, {0, 5, 0}, {1, 5, 0},
	} {
		for name, f := range map[string]func(x *bs.Tensor) *bs.Tensor{
			"pow":        func(x *bs.Tensor) *bs.Tensor { return x.Pow(bs.Scalar(c.p)) },
			"pow_scalar": func(x *bs.Tensor) *bs.Tensor { return x.PowScalar(c.p) },
		} {
			tape := bs.NewTape()
			x := tape.Watch(bs.Scalar(c.at))
			grads, err := tape.Backward(f(x), bs.Recorded())
			if err != nil {
				t.Fatal(err)
			}
			second, err := tape.Backward(grads.Of(x))
			if err != nil {
				t.Fatal(err)
			}
			if got := second.OrZeros(x).Item(); got != c.want {
				t.Errorf("%s: x^%v twice at %v is %v, want %v", name, c.p, c.at, got, c.want)
			}
		}
	}
}
