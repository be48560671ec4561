package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// unary is a function of one operand with its definition in float64 and how
// many units in the last place it may be off in float32 and float64.
type unary struct {
	name         string
	f32          func(dst, x []float32)
	f64          func(dst, x []float64)
	want         func(x float64) float64
	ulp32, ulp64 float64
}

// allowed is how far off an inexact function may be on the path in use.
// Assembly has polynomials of its own, to 2 units in the last place; slack is
// how far off their definition in float64 may be itself.
func allowed(ulp, slack float64) float64 {
	if kernel.Path() != "go" && ulp > 0 {
		return max(ulp, 2+slack)
	}
	return ulp
}

func sigmoidOf(x float64) float64 {
	if x < 0 {
		return math.Exp(x) / (1 + math.Exp(x))
	}
	return 1 / (1 + math.Exp(-x))
}

func geluOf(x float64) float64 {
	if x == math.Inf(-1) {
		return math.Copysign(0, -1)
	}
	return x * math.Erfc(-x*math.Sqrt2/2) / 2
}

func geluTanhOf(x float64) float64 {
	if x == math.Inf(-1) {
		return math.Copysign(0, -1)
	}
	u := math.Sqrt(2/math.Pi) * (x + 0.044715*math.Pow(x, 3))
	return x * sigmoidOf(2*u)
}

var unaries = []unary{
	{"Copy", kernel.Copy[float32], kernel.Copy[float64], func(x float64) float64 { return x }, 0, 0},
	{"Neg", kernel.Neg[float32], kernel.Neg[float64], func(x float64) float64 { return -x }, 0, 0},
	{"Abs", kernel.Abs[float32], kernel.Abs[float64], math.Abs, 0, 0},
	{"Sign", kernel.Sign[float32], kernel.Sign[float64], func(x float64) float64 {
		if x == 0 || x != x {
			return x
		}
		return math.Copysign(1, x)
	}, 0, 0},
	{"Square", kernel.Square[float32], kernel.Square[float64], func(x float64) float64 { return x * x }, 0, 0},
	{"Sqrt", kernel.Sqrt[float32], kernel.Sqrt[float64], math.Sqrt, 0, 0},
	{"Recip", kernel.Recip[float32], kernel.Recip[float64], func(x float64) float64 { return 1 / x }, 0, 0},
	{"Relu", kernel.Relu[float32], kernel.Relu[float64], func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return x
	}, 0, 0},
	{"Exp", kernel.Exp[float32], kernel.Exp[float64], math.Exp, 1, 1},
	{"Expm1", kernel.Expm1[float32], kernel.Expm1[float64], math.Expm1, 1, 1},
	{"Log", kernel.Log[float32], kernel.Log[float64], math.Log, 1, 1},
	{"Log1p", kernel.Log1p[float32], kernel.Log1p[float64], math.Log1p, 1, 1},
	{"Sin", kernel.Sin[float32], kernel.Sin[float64], math.Sin, 1, 1},
	{"Cos", kernel.Cos[float32], kernel.Cos[float64], math.Cos, 1, 1},
	{"Tanh", kernel.Tanh[float32], kernel.Tanh[float64], math.Tanh, 1, 1},
	{"Sigmoid", kernel.Sigmoid[float32], kernel.Sigmoid[float64], sigmoidOf, 1, 1},
	{"Gelu", kernel.Gelu[float32], kernel.Gelu[float64], geluOf, 1, 4000}, // erfc of a rounded quotient: x² ulps in the tail
	{"GeluTanh", kernel.GeluTanh[float32], kernel.GeluTanh[float64], geluTanhOf, 1, 4000},
	{"AddC", func(d, x []float32) { kernel.AddC(d, x, 1.5) }, func(d, x []float64) { kernel.AddC(d, x, 1.5) }, func(x float64) float64 { return x + 1.5 }, 0, 0},
	{"RsubC", func(d, x []float32) { kernel.RsubC(d, x, 1.5) }, func(d, x []float64) { kernel.RsubC(d, x, 1.5) }, func(x float64) float64 { return 1.5 - x }, 0, 0},
	{"MulC", func(d, x []float32) { kernel.MulC(d, x, 1.5) }, func(d, x []float64) { kernel.MulC(d, x, 1.5) }, func(x float64) float64 { return x * 1.5 }, 0, 0},
	{"PowC 3", func(d, x []float32) { kernel.PowC(d, x, 3) }, func(d, x []float64) { kernel.PowC(d, x, 3) }, func(x float64) float64 { return math.Pow(x, 3) }, 1, 1},
	{"PowC 2", func(d, x []float32) { kernel.PowC(d, x, 2) }, func(d, x []float64) { kernel.PowC(d, x, 2) }, func(x float64) float64 { return x * x }, 0, 0},
	{"PowC 1", func(d, x []float32) { kernel.PowC(d, x, 1) }, func(d, x []float64) { kernel.PowC(d, x, 1) }, func(x float64) float64 { return x }, 0, 0},
	{"PowC -0.5", func(d, x []float32) { kernel.PowC(d, x, -0.5) }, func(d, x []float64) { kernel.PowC(d, x, -0.5) }, func(x float64) float64 { return math.Pow(x, -0.5) }, 1, 1},
}

func checkUnary[T kernel.Float](t *rapid.T, f func(dst, x []T), want func(float64) float64, most float64) {
	x := floats[T](t, shape(t, 64, "n"), "x")
	dst, check := fenced(len(x), T(7))
	f(dst, x)
	check(t)
	for i, v := range x {
		if d := ulps(dst[i], want(float64(v))); d > most {
			t.Fatalf("f(%v) is %v, want %v: %v ulp off", v, dst[i], want(float64(v)), d)
		}
	}
	f(x, x)
	requireBits(t, "in place", x, dst)
}

func TestUnary(t *testing.T) {
	for _, u := range unaries {
		t.Run(u.name, func(t *testing.T) {
			both(t,
				func(t *rapid.T) { checkUnary(t, u.f32, u.want, allowed(u.ulp32, 0)) },
				func(t *rapid.T) { checkUnary(t, u.f64, u.want, allowed(u.ulp64, 2)) })
		})
	}
}

// TestFloat32Accuracy holds the functions that have a float32 form of their own
// against float64 over all magnitudes.
func TestFloat32Accuracy(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([]float32, 400_000)
	for i := range x {
		if i%2 == 0 {
			x[i] = math.Float32frombits(rng.Uint32())
		} else {
			x[i] = float32(rng.NormFloat64() * 20)
		}
	}
	y := make([]float32, len(x))
	for _, u := range unaries {
		switch u.name {
		case "Exp", "Tanh", "Sigmoid":
		default:
			continue
		}
		u.f32(y, x)
		wrong := 0
		for i, v := range x {
			d := ulps(y[i], u.want(float64(v)))
			if d > allowed(1, 0) {
				t.Fatalf("seed %d: %s(%v) is %v, want %v", seed, u.name, v, y[i], u.want(float64(v)))
			}
			if d != 0 {
				wrong++
			}
		}
		if kernel.Path() == "go" && wrong > len(x)/1000 {
			t.Errorf("seed %d: %s rounds %d of %d values the other way", seed, u.name, wrong, len(x))
		}
	}
}

func TestTransitionsAreMonotone(t *testing.T) {
	for _, u := range unaries {
		switch u.name {
		case "Exp", "Tanh", "Sigmoid":
		default:
			continue
		}
		for _, at := range []float32{0, 0.625, -0.625, 44, -44, 22, 88.72284, 89, -87.33655, -103.97208, -104} {
			lo := at
			for range 200 {
				lo = math.Nextafter32(lo, float32(math.Inf(-1)))
			}
			x := make([]float32, 400)
			for i := range x {
				x[i] = lo
				lo = math.Nextafter32(lo, float32(math.Inf(1)))
			}
			y := make([]float32, len(x))
			u.f32(y, x)
			for i := 1; i < len(y); i++ {
				// Without its last place or two, a polynomial need not ascend.
				fall := ulps(y[i], float64(y[i-1]))
				if y[i] < y[i-1] && (kernel.Path() == "go" || fall > 1) {
					t.Errorf("%s falls from %v to %v between %v and %v", u.name, y[i-1], y[i], x[i-1], x[i])
				}
			}
		}
	}
}

// binary is a function of two operands, exact in float64 for float32 operands.
type binary struct {
	name string
	f32  func(dst, a, b []float32)
	f64  func(dst, a, b []float64)
	want func(a, b float64) float64
	ulp  float64
}

var binaries = []binary{
	{"Add", kernel.Add[float32], kernel.Add[float64], func(a, b float64) float64 { return a + b }, 0},
	{"Sub", kernel.Sub[float32], kernel.Sub[float64], func(a, b float64) float64 { return a - b }, 0},
	{"Mul", kernel.Mul[float32], kernel.Mul[float64], func(a, b float64) float64 { return a * b }, 0},
	{"Div", kernel.Div[float32], kernel.Div[float64], func(a, b float64) float64 { return a / b }, 0},
	{"Pow", kernel.Pow[float32], kernel.Pow[float64], math.Pow, 1},
	{"Max", kernel.Max[float32], kernel.Max[float64], func(a, b float64) float64 {
		if a != a || b != b {
			return math.NaN()
		}
		return math.Max(a, b)
	}, 0},
	{"Min", kernel.Min[float32], kernel.Min[float64], func(a, b float64) float64 {
		if a != a || b != b {
			return math.NaN()
		}
		return math.Min(a, b)
	}, 0},
	{"ReluGrad", kernel.ReluGrad[float32], kernel.ReluGrad[float64], func(dy, y float64) float64 {
		if y <= 0 {
			return 0
		}
		return dy
	}, 0},
	{"AbsGrad", kernel.AbsGrad[float32], kernel.AbsGrad[float64], func(dy, x float64) float64 {
		switch {
		case x > 0:
			return dy
		case x < 0:
			return -dy
		}
		return x * x
	}, 0},
}

func checkBinary[T kernel.Float](t *rapid.T, f func(dst, a, b []T), want func(a, b float64) float64, most float64) {
	n := shape(t, 64, "n")
	a, b := floats[T](t, n, "a"), floats[T](t, n, "b")
	dst, check := fenced(n, T(7))
	f(dst, a, b)
	check(t)
	for i := range dst {
		if d := ulps(dst[i], want(float64(a[i]), float64(b[i]))); d > most {
			t.Fatalf("f(%v, %v) is %v, want %v", a[i], b[i], dst[i], want(float64(a[i]), float64(b[i])))
		}
	}
	c := append([]T(nil), a...)
	f(c, c, b)
	requireBits(t, "in place of a", c, dst)
	copy(c, b)
	f(c, a, c)
	requireBits(t, "in place of b", c, dst)
}

func TestBinary(t *testing.T) {
	for _, u := range binaries {
		t.Run(u.name, func(t *testing.T) {
			both(t,
				func(t *rapid.T) { checkBinary(t, u.f32, u.want, u.ulp) },
				func(t *rapid.T) { checkBinary(t, u.f64, u.want, u.ulp) })
		})
	}
}

func TestAccAddHasTheBitsOfAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := shape(t, 64, "n")
		a, b := floats[float32](t, n, "a"), floats[float32](t, n, "b")
		want := make([]float32, n)
		kernel.Add(want, a, b)
		kernel.AccAdd(a, b)
		requireBits(t, "dst", a, want)
	})
}

// TestElementwiseGradients holds the gradient kernels against central
// differences of their functions.
func TestElementwiseGradients(t *testing.T) {
	const h = 1e-5
	for _, c := range []struct {
		name  string
		f     func(dst, x []float64)
		grad  func(dst, dy, v []float64)
		readY bool
	}{
		{"Tanh", kernel.Tanh[float64], kernel.TanhGrad[float64], true},
		{"Sigmoid", kernel.Sigmoid[float64], kernel.SigmoidGrad[float64], true},
		{"Relu", kernel.Relu[float64], kernel.ReluGrad[float64], true},
		{"Abs", kernel.Abs[float64], kernel.AbsGrad[float64], false},
		{"Sqrt", kernel.Sqrt[float64], kernel.SqrtGrad[float64], true},
		{"Gelu", kernel.Gelu[float64], kernel.GeluGrad[float64], false},
		{"GeluTanh", kernel.GeluTanh[float64], kernel.GeluTanhGrad[float64], false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				x := []float64{rapid.Float64Range(-9, 9).Filter(func(v float64) bool { return math.Abs(v) > 2*h }).Draw(t, "x")}
				dy := []float64{rapid.Float64Range(-2, 2).Draw(t, "dy")}
				if c.name == "Sqrt" {
					x[0] = math.Abs(x[0]) + 0.5
				}
				up, down, y, got := []float64{0}, []float64{0}, []float64{0}, []float64{0}
				c.f(up, []float64{x[0] + h})
				c.f(down, []float64{x[0] - h})
				c.f(y, x)
				if c.readY {
					c.grad(got, dy, y)
				} else {
					c.grad(got, dy, x)
				}
				requireNear(t, "gradient", got[0], dy[0]*(up[0]-down[0])/(2*h), 1e-9)
			})
		})
	}
}

func TestGradientsAtTheEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name            string
		f               func(dst, dy, v []float64)
		dy, value, want float64
	}{
		{"gelu far below", kernel.GeluGrad[float64], 2, -inf, 0},
		{"gelu far above", kernel.GeluGrad[float64], 2, inf, 2},
		{"gelu NaN", kernel.GeluGrad[float64], 2, nan, nan},
		{"gelu where x² overflows", kernel.GeluGrad[float64], 2, -1e200, 0},
		{"tanh form far below", kernel.GeluTanhGrad[float64], 2, -inf, 0},
		{"tanh form far above", kernel.GeluTanhGrad[float64], 2, inf, 2},
		{"tanh form where x² overflows", kernel.GeluTanhGrad[float64], 2, 1e200, 2},
		{"tanh form NaN", kernel.GeluTanhGrad[float64], 2, nan, nan},
		{"a closed gate stops Inf", kernel.ReluGrad[float64], inf, 0, 0},
		{"relu of NaN passes", kernel.ReluGrad[float64], 3, nan, 3},
		{"sqrt at 0", kernel.SqrtGrad[float64], 1, 0, inf},
		{"the kink of abs stops Inf", kernel.AbsGrad[float64], inf, 0, 0},
	} {
		got := []float64{7}
		c.f(got, []float64{c.dy}, []float64{c.value})
		requireBits(t, c.name, got, []float64{c.want})
	}
}

func TestMaxAndMinShareTheirGradient(t *testing.T) {
	nan := math.NaN()
	a := []float64{1, 3, 2, 0, nan, 1}
	b := []float64{2, 1, 2, math.Copysign(0, -1), 1, nan}
	dy := []float64{5, 5, 5, 5, 5, 5}
	for _, c := range []struct {
		name string
		f    func(dst, dy, a, b []float64)
		want []float64
	}{
		{"MaxGradA", kernel.MaxGradA[float64], []float64{0, 5, 2.5, 2.5, 5, 5}},
		{"MaxGradB", kernel.MaxGradB[float64], []float64{5, 0, 2.5, 2.5, 5, 5}},
		{"MinGradA", kernel.MinGradA[float64], []float64{5, 0, 2.5, 2.5, 5, 5}},
		{"MinGradB", kernel.MinGradB[float64], []float64{0, 5, 2.5, 2.5, 5, 5}},
	} {
		dst, check := fenced(len(a), 7.0)
		c.f(dst, dy, a, b)
		check(t)
		requireBits(t, c.name, dst, c.want)
	}
}
