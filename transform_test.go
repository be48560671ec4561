package backsweep_test

import (
	"math"
	"math/rand/v2"
	"testing"

	bs "github.com/backsweep/backsweep"
)

func normal64(rng *rand.Rand, shape ...int) *bs.Tensor {
	return bs.Randn(rng, shape...).Cast(bs.Float64)
}

func wants(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) || math.IsNaN(got) != math.IsNaN(want) {
		t.Errorf("%s is %v, not %v", what, got, want)
	}
}

// cubes is Σ xᵢ³ + Π-like mixing, so that its Hessian has off-diagonals.
func mixed(in ...*bs.Tensor) *bs.Tensor {
	x := in[0]
	s := x.Sum()
	return x.Mul(x).Mul(x).Sum().Add(s.Mul(s).Mul(s)).Add(x.Tanh().Mul(s).Sum())
}

func TestTransformsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, v := normal64(rng, 2, 3), normal64(rng, 2, 3)
	value, grads, err := bs.ValueAndGrad(mixed, x)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the value", value.Item(), mixed(x).Item())
	_, along, err := bs.JVP(mixed, []*bs.Tensor{x}, []*bs.Tensor{v})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the derivative along v", along.Item(), grads[0].Mul(v).Sum().Item())

	hessian, err := bs.Hessian(mixed, x)
	if err != nil {
		t.Fatal(err)
	}
	_, product, err := bs.HVP(mixed, []*bs.Tensor{x}, []*bs.Tensor{v})
	if err != nil {
		t.Fatal(err)
	}
	byHessian := hessian.Reshape(6, 6).MatMul(v.Reshape(6))
	for i, p := range product[0].Float64s() {
		wants(t, "the Hessian's product", p, byHessian.At(i))
	}
	// The Hessian is the Jacobian of the gradient.
	gradient := func(in ...*bs.Tensor) *bs.Tensor {
		g, err := bs.Grad(mixed, in[0])
		if err != nil {
			t.Fatal(err)
		}
		return g[0]
	}
	again, _, err := bs.Jacobian(gradient, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range again.Float64s() {
		wants(t, "an entry of the Hessian", h, hessian.Float64s()[i])
	}
}

func TestJacobianByRowsAndByColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	wide, tall := normal64(rng, 3, 5), normal64(rng, 5, 3)
	for _, w := range []*bs.Tensor{wide, tall} {
		x := normal64(rng, w.Dim(1))
		j, mode, err := bs.Jacobian(func(in ...*bs.Tensor) *bs.Tensor { return w.MatMul(in[0]).Exp() }, x)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]bs.Mode{true: bs.ByRows, false: bs.ByColumns}[w.Dim(0) <= w.Dim(1)]; mode != want {
			t.Errorf("a Jacobian of shape %v was computed by %s", j.Shape(), mode)
		}
		y := w.MatMul(x).Exp()
		for i := range w.Dim(0) {
			for k := range w.Dim(1) {
				wants(t, "an entry", j.At(i, k), w.At(i, k)*y.At(i))
			}
		}
	}
}

// behaviour case mixed-mode-second-derivative: t⁴ at 1.5 has the second
// derivative 27 by all four nestings.
func TestMixedModeSecondDerivative(t *testing.T) {
	f := func(in ...*bs.Tensor) *bs.Tensor { return in[0].Square().Square() }
	one := bs.Scalar(1.0)
	reverse := func(g bs.Func) bs.Func {
		return func(in ...*bs.Tensor) *bs.Tensor {
			d, err := bs.Grad(g, in...)
			if err != nil {
				t.Fatal(err)
			}
			return d[0]
		}
	}
	forward := func(g bs.Func) bs.Func {
		return func(in ...*bs.Tensor) *bs.Tensor {
			_, d, err := bs.JVP(g, in, []*bs.Tensor{one})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	x := bs.Scalar(1.5)
	wants(t, "reverse over reverse", reverse(reverse(f))(x).Item(), 27)
	wants(t, "forward over reverse", forward(reverse(f))(x).Item(), 27)
	wants(t, "reverse over forward", reverse(forward(f))(x).Item(), 27)
	wants(t, "forward over forward", forward(forward(f))(x).Item(), 27)
	wants(t, "the third derivative", reverse(reverse(reverse(f)))(x).Item(), 36)
}

// behaviour case perturbation-product: an inner derivative whose function
// closes over the outer variable.
func TestPerturbationsAreNotConfused(t *testing.T) {
	derivative := func(f bs.Func, x *bs.Tensor) *bs.Tensor {
		_, d, err := bs.JVP(f, []*bs.Tensor{x}, []*bs.Tensor{bs.Scalar(1.0)})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	// d/dx [ x · d/dy (x·y) at y = 1 ] at x = 4
	got := derivative(func(in ...*bs.Tensor) *bs.Tensor {
		x := in[0]
		inner := derivative(func(in ...*bs.Tensor) *bs.Tensor { return x.Mul(in[0]) }, x.Tape().Input("y", bs.Scalar(1.0)))
		return x.Mul(inner)
	}, bs.Scalar(4.0))
	wants(t, "d/dx [x · d/dy (x·y)]", got.Item(), 8)
	// d/dx [ x · d/dy (y²) at y = x ] at x = 1
	got = derivative(func(in ...*bs.Tensor) *bs.Tensor {
		x := in[0]
		return x.Mul(derivative(func(in ...*bs.Tensor) *bs.Tensor { return in[0].Square() }, x))
	}, bs.Scalar(1.0))
	wants(t, "d/dx [x · d/dy y² at x]", got.Item(), 4)
	// d/dx [ d/dy (x·y) at y = x ] at x = 5
	got = derivative(func(in ...*bs.Tensor) *bs.Tensor {
		x := in[0]
		return derivative(func(in ...*bs.Tensor) *bs.Tensor { return x.Mul(in[0]) }, x)
	}, bs.Scalar(5.0))
	wants(t, "d/dx [d/dy (x·y) at x]", got.Item(), 1)
}

// behaviour case unused-gradient-detached: the gradient of an unused input is
// plain zeros.
func TestGradientOfAnUnusedInputIsPlainZeros(t *testing.T) {
	x, unused := bs.Scalar(2.0), bs.New([]float32{1, 2})
	g, err := bs.Grad(func(in ...*bs.Tensor) *bs.Tensor { return in[0].Square() }, x, unused)
	if err != nil {
		t.Fatal(err)
	}
	if z := g[1]; z.Tape() != nil || z.DType() != bs.Float32 || z.Len() != 2 || z.At(0) != 0 || z.At(1) != 0 {
		t.Errorf("the gradient of an unused input is %v", z)
	}
	wants(t, "the gradient", g[0].Item(), 4)
}

// The Hessian of a scalar function of 1,000 parameters has the bits of one row
// at a time. BenchmarkHessian compares the two in time.
func TestHessianOfAThousandParameters(t *testing.T) {
	x, f := network(1000)
	all, err := bs.Hessian(f, x)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowByRow(t, f, x, 0, 499, 999)
	for k, i := range []int{0, 499, 999} {
		want, got := bs.Data[float64](rows[k]), bs.Data[float64](all.Index(i))
		for j := range want {
			if math.Float64bits(want[j]) != math.Float64bits(got[j]) {
				t.Fatalf("entry %d,%d is %v, and %v one row at a time", i, j, got[j], want[j])
			}
		}
	}
}

// network is a small network on fixed inputs, as a function of n parameters
// laid out in one vector.
func network(n int) (*bs.Tensor, bs.Func) {
	rng := rand.New(rand.NewPCG(5, 6))
	hidden := n / 25
	in := normal64(rng, 16, 24)
	f := func(p ...*bs.Tensor) *bs.Tensor {
		w := p[0].Slice(bs.Range{Stop: 24 * hidden}).Reshape(24, hidden)
		v := p[0].Slice(bs.Range{Start: 24 * hidden, Stop: bs.End})
		return in.MatMul(w).Tanh().MatMul(v).Square().Sum()
	}
	return normal64(rng, n).MulScalar(0.3), f
}

func rowByRow(tb testing.TB, f bs.Func, x *bs.Tensor, rows ...int) []*bs.Tensor {
	tape := bs.NewTape()
	h := tape.Watch(x)
	g, err := tape.Backward(f(h), bs.Recorded())
	if err != nil {
		tb.Fatal(err)
	}
	var out []*bs.Tensor
	for _, i := range rows {
		unit := bs.Zeros(bs.Float64, x.Len())
		unit.SetAt(1, i)
		d, err := tape.BackwardFrom([]bs.Root{{Tensor: g.Of(h), Cotangent: unit}}, bs.Retain())
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, d.Of(h).Clone())
	}
	return out
}

func BenchmarkHessian(b *testing.B) {
	x, f := network(1000)
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			if _, err := bs.Hessian(f, x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("by products", func(b *testing.B) {
		for b.Loop() {
			for i := range x.Len() {
				unit := bs.Zeros(bs.Float64, x.Len())
				unit.SetAt(1, i)
				if _, _, err := bs.HVP(f, []*bs.Tensor{x}, []*bs.Tensor{unit}); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("row by row", func(b *testing.B) {
		rows := make([]int, x.Len())
		for i := range rows {
			rows[i] = i
		}
		for b.Loop() {
			rowByRow(b, f, x, rows...)
		}
	})
}
