package backsweep_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	bs "github.com/backsweep/backsweep"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
	neg = math.Copysign(0, -1) // -0
)

// agrees compares to nearly all digits, and zeros by their sign too.
func agrees(got, want float64) bool {
	if want == 0 || math.IsInf(want, 0) {
		return got == want && math.Signbit(got) == math.Signbit(want)
	}
	return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 4e-15*math.Abs(want)
}

// point is a function of one or two numbers at a point where implementations
// have gone wrong: its value and its derivatives.
type point struct {
	op    string
	at    bs.Attrs
	x     []float64
	y     float64
	slope []float64
}

// Functions of one number at zeros of both signs, at infinities, where a
// textbook formula overflows, underflows or cancels, and at jumps.
func TestUnaryEdges(t *testing.T) {
	euler := 0.57721566490153286061
	tail := 4.248354255291589e-18 // e^-40
	for _, c := range []struct {
		op          string
		at          bs.Attrs
		x, y, slope float64
	}{
		{"log1p", nil, -1, -inf, inf}, {"log1p", nil, 1e-18, 1e-18, 1}, {"log1p", nil, neg, neg, 1}, {"log1p", nil, inf, inf, 0},
		{"expm1", nil, -inf, -1, 0}, {"expm1", nil, -40, -1, tail}, {"expm1", nil, 1e-18, 1e-18, 1}, {"expm1", nil, neg, neg, 1}, {"expm1", nil, inf, inf, inf},
		{"rsqrt", nil, 0, inf, -inf}, {"rsqrt", nil, 4, 0.5, -1. / 16}, {"rsqrt", nil, inf, 0, neg}, {"rsqrt", nil, -1, nan, nan},
		{"reciprocal", nil, 0, inf, -inf}, {"reciprocal", nil, neg, -inf, -inf}, {"reciprocal", nil, inf, 0, neg}, {"reciprocal", nil, 1e200, 1e-200, neg},
		{"sign", nil, neg, neg, 0}, {"sign", nil, 3, 1, 0}, {"sign", nil, -inf, -1, 0}, {"sign", nil, nan, nan, 0},
		{"floor", nil, 2, 2, 0}, {"floor", nil, -0.5, -1, 0}, {"ceil", nil, -0.5, neg, 0}, {"trunc", nil, -2.7, -2, 0},
		{"round", nil, 0.5, 0, 0}, {"round", nil, 1.5, 2, 0}, {"round", nil, -0.5, neg, 0}, {"round", nil, 2.5, 2, 0},
		{"asin", nil, 1, math.Pi / 2, inf}, {"asin", nil, 1 - 0x1p-50, math.Asin(1 - 0x1p-50), 0x1p25 / math.Sqrt(2-0x1p-50)}, {"asin", nil, 2, nan, nan},
		{"acos", nil, -1, math.Pi, -inf}, {"atan", nil, inf, math.Pi / 2, 0}, {"atan", nil, 1e200, math.Pi / 2, 0}, {"sin", nil, inf, nan, nan},
		{"asinh", nil, 1e200, math.Asinh(1e200), 1e-200}, {"asinh", nil, -inf, -inf, 0}, {"asinh", nil, neg, neg, 1},
		{"acosh", nil, 1, 0, inf}, {"acosh", nil, 1e200, math.Acosh(1e200), 1e-200}, {"acosh", nil, 0.5, nan, nan},
		{"atanh", nil, 1, inf, inf}, {"atanh", nil, -1, -inf, inf}, {"atanh", nil, neg, neg, 1},
		{"log2", nil, 8, 3, 1 / (8 * math.Ln2)}, {"log2", nil, 0, -inf, inf}, {"log10", nil, 1000, 3, 1 / (1000 * math.Ln10)}, {"log10", nil, 1e-5, -5, 1e5 / math.Ln10},
		{"exp2", nil, 3, 8, 8 * math.Ln2}, {"exp2", nil, -inf, 0, 0},
		{"erf", nil, inf, 1, 0}, {"erf", nil, neg, neg, 2 / math.Sqrt(math.Pi)}, {"erfc", nil, 10, 2.0884875837625448e-45, -2 / math.Sqrt(math.Pi) * math.Exp(-100)},
		{"lgamma", nil, 1, 0, -euler}, {"lgamma", nil, 0, inf, -inf}, {"lgamma", nil, -1, inf, nan}, {"lgamma", nil, -inf, inf, nan}, {"lgamma", nil, inf, inf, inf},
		{"digamma", nil, 1, -euler, math.Pi * math.Pi / 6}, {"digamma", nil, 0.5, -euler - 2*math.Ln2, math.Pi * math.Pi / 2},
		{"digamma", nil, -1.5, 8./3 - euler - 2*math.Ln2, math.Pi*math.Pi/2 + 40./9}, {"digamma", nil, 0, -inf, inf}, {"digamma", nil, neg, inf, inf},
		{"polygamma", bs.Attrs{"n": 2}, 1, -2 * 1.2020569031595942854, math.Pow(math.Pi, 4) / 15}, {"polygamma", bs.Attrs{"n": 1}, inf, 0, neg},
		{"log_sigmoid", nil, 0, -math.Ln2, 0.5}, {"log_sigmoid", nil, -1000, -1000, 1}, {"log_sigmoid", nil, 40, -tail, tail}, {"log_sigmoid", nil, -inf, -inf, 1}, {"log_sigmoid", nil, inf, 0, 0},
		{"softplus", nil, 1000, 1000, 1}, {"softplus", nil, -1000, 0, 0}, {"softplus", nil, -40, tail, tail}, {"softplus", nil, inf, inf, 1}, {"softplus", nil, -inf, 0, 0},
		{"softplus", bs.Attrs{"beta": 5.0}, -8, tail / 5, tail}, {"softplus", bs.Attrs{"beta": 1e300}, 1e300, 1e300, 1},
		{"silu", nil, -inf, neg, 0}, {"silu", nil, inf, inf, 1}, {"silu", nil, neg, neg, 0.5}, {"silu", nil, -1000, neg, 0}, {"silu", nil, nan, nan, nan},
		{"gelu_tanh", nil, -inf, neg, 0}, {"gelu_tanh", nil, inf, inf, 1}, {"gelu_tanh", nil, 1e200, 1e200, 1}, {"gelu_tanh", nil, 0, 0, 0.5},
		{"leaky_relu", bs.Attrs{"slope": 0.1}, 0, 0, 0.1}, {"leaky_relu", bs.Attrs{"slope": 0.1}, -inf, -inf, 0.1}, {"leaky_relu", bs.Attrs{"slope": 0.1}, nan, nan, 1},
		{"clamp", bs.Attrs{"min": -1.0, "max": 1.0}, -1, -1, 1}, {"clamp", bs.Attrs{"min": -1.0, "max": 1.0}, 1, 1, 1}, {"clamp", bs.Attrs{"max": 1.0}, inf, 1, 0},
		{"clamp", bs.Attrs{"min": 0.0}, -5, 0, 0}, {"clamp", bs.Attrs{"min": 2.0, "max": 1.0}, 1.5, 1, 0}, {"clamp", nil, nan, nan, 0},
	} {
		check(t, point{c.op, c.at, []float64{c.x}, c.y, []float64{c.slope}})
	}
}

func TestBinaryEdges(t *testing.T) {
	for _, c := range []struct {
		op   string
		a, b float64
		y    float64
		da   float64
		db   float64
	}{
		{"logaddexp", -inf, -inf, -inf, 0.5, 0.5}, {"logaddexp", inf, inf, inf, 0.5, 0.5}, {"logaddexp", 1000, 0, 1000, 1, 0}, {"logaddexp", -inf, 3, 3, 0, 1},
		{"logaddexp", 0, -40, 4.248354255291589e-18, 1, 4.248354255291589e-18}, {"logaddexp", nan, 0, nan, nan, nan},
		{"xlogy", 0, 0, 0, 0, 0}, {"xlogy", 0, 2, 0, math.Ln2, 0}, {"xlogy", 0, -1, 0, 0, 0}, {"xlogy", 3, 0, -inf, -inf, inf}, {"xlogy", 0, nan, nan, nan, nan}, {"xlogy", 0, inf, 0, inf, 0},
		{"atan2", 1e200, 1e200, math.Pi / 4, 5e-201, -5e-201}, {"atan2", 3e-200, 4e-200, math.Atan2(3, 4), 1.6e199, -1.2e199}, {"atan2", 0, 0, 0, nan, nan},
		{"atan2", inf, 1, math.Pi / 2, 0, neg}, {"atan2", neg, -1, -math.Pi, -1, 0},
		{"mod", 5, 3, 2, 1, -1}, {"mod", -5, 3, 1, 1, 2}, {"mod", 5, -3, -1, 1, 2}, {"mod", 6, -3, neg, 1, 2}, {"mod", 1, 0, nan, 1, nan},
	} {
		check(t, point{c.op, nil, []float64{c.a, c.b}, c.y, []float64{c.da, c.db}})
	}
}

// check compares an op's value and its derivatives in both modes.
func check(t *testing.T, c point) {
	t.Helper()
	tape := bs.NewTape()
	in := make([]*bs.Tensor, len(c.x))
	for i, v := range c.x {
		in[i] = tape.Watch(bs.New([]float64{v}))
	}
	out, err := bs.Call(c.op, in, c.at)
	if err != nil {
		t.Errorf("%s(%v): %v", c.op, c.x, err)
		return
	}
	if got := out[0].Item(); !agrees(got, c.y) {
		t.Errorf("%s(%v) is %v, want %v", c.op, c.x, got, c.y)
	}
	grads, err := tape.Backward(out[0].Sum(), bs.Retain())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range c.slope {
		if got := grads.Of(in[i]).Item(); !agrees(got, want) {
			t.Errorf("the gradient of operand %d of %s(%v) is %v, want %v", i, c.op, c.x, got, want)
		}
		tangents, err := tape.Forward([]bs.Seed{{Tensor: in[i], Tangent: bs.New([]float64{1})}})
		if err != nil {
			t.Fatal(err)
		}
		if got := tangents.Of(out[0]).Item(); !agrees(got, want) && !(got == 0 && want == 0) {
			t.Errorf("the tangent of %s(%v) by operand %d is %v, want %v", c.op, c.x, i, got, want)
		}
	}
}

// ψ and its derivatives satisfy ψ⁽ⁿ⁾(x+1) = ψ⁽ⁿ⁾(x) + (-1)ⁿ·n!/xⁿ⁺¹ everywhere.
func TestPolygammaRecurrence(t *testing.T) {
	rng := source(t)
	for range 300 {
		n := rng.IntN(5)
		x := -6 + 20*rng.Float64()
		if math.Abs(x-math.Round(x)) < 0.02 && x < 1 {
			continue
		}
		factorial, _ := math.Lgamma(float64(n + 1))
		step := math.Exp(factorial) * math.Pow(x, -float64(n+1))
		if n%2 == 1 {
			step = -step
		}
		lo, hi := bs.Scalar(x).Polygamma(n).Item(), bs.Scalar(x+1).Polygamma(n).Item()
		if size := math.Abs(lo) + math.Abs(hi) + math.Abs(step) + 1; math.Abs(lo+step-hi) > 2e-13*size {
			t.Errorf("order %d at %v: %v + %v is not %v", n, x, lo, step, hi)
		}
	}
}

// Vectors whose powers overflow or underflow, that are zero, or that have zeros.
func TestNormEdges(t *testing.T) {
	for _, c := range []struct {
		p     float64
		x     []float64
		y     float64
		slope []float64
	}{
		{2, []float64{3e200, 4e200}, 5e200, []float64{0.6, 0.8}}, {2, []float64{3e-200, -4e-200}, 5e-200, []float64{0.6, -0.8}},
		{2, []float64{0, 0}, 0, []float64{0, 0}}, {1, []float64{0, math.Copysign(0, -1)}, 0, []float64{0, 0}}, {3, []float64{0, 0}, 0, []float64{0, 0}},
		{0.5, []float64{0, 0}, 0, []float64{0, 0}}, {inf, []float64{0, 0}, 0, []float64{0, 0}}, {inf, []float64{-7, 3, 7}, 7, []float64{-0.5, 0, 0.5}},
		{-inf, []float64{-7, 3, 7}, 3, []float64{0, 1, 0}}, {0, []float64{0, 2, -3}, 2, []float64{0, 0, 0}}, {0.5, []float64{4, 0, 1}, 9, []float64{1.5, 0, 3}},
		{-1, []float64{2, 0}, 0, []float64{0, 0}}, {100, []float64{1e10, 1e10}, 1e10 * math.Pow(2, 0.01), []float64{math.Pow(2, -0.99), math.Pow(2, -0.99)}},
		{2, []float64{inf, 1}, inf, []float64{nan, 0}}, {2, []float64{nan, 1}, nan, []float64{nan, nan}},
	} {
		x := bs.New(c.x)
		if got := x.Norm(c.p).Item(); !agrees(got, c.y) {
			t.Errorf("the %v-norm of %v is %v, want %v", c.p, c.x, got, c.y)
		}
		for i, got := range slopes(t, func(x *bs.Tensor) *bs.Tensor { return x.Norm(c.p) }, c.x...) {
			if !agrees(got, c.slope[i]) && !(got == 0 && c.slope[i] == 0) {
				t.Errorf("the gradient of the %v-norm of %v is %v there, want %v", c.p, c.x, got, c.slope[i])
			}
		}
	}
	for i, got := range slopes(t, func(x *bs.Tensor) *bs.Tensor { return x.Std() }, 2, 2, 2) {
		if got != 0 {
			t.Errorf("the gradient of a standard deviation of 0 is %v at %d", got, i)
		}
	}
}

// Masks, guards and cut-offs hold in the second derivative too: at the edge of
// each the derivative of the gradient is a number, and the documented one.
func TestSecondDerivativesAtEdges(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(x *bs.Tensor) *bs.Tensor
		at   []float64
		want []float64
	}{
		"norm of zeros":       {func(x *bs.Tensor) *bs.Tensor { return x.Norm(2) }, []float64{0, 0}, []float64{0, 0}},
		"3-norm with a zero":  {func(x *bs.Tensor) *bs.Tensor { return x.Norm(3) }, []float64{1, 0}, []float64{0, 0}},
		"std of equals":       {func(x *bs.Tensor) *bs.Tensor { return x.Std() }, []float64{1, 1}, []float64{0, 0}},
		"xlogy at the origin": {func(x *bs.Tensor) *bs.Tensor { return x.XLogY(x) }, []float64{0, 2}, []float64{0, 0.5}},
		"softplus, tail":      {func(x *bs.Tensor) *bs.Tensor { return x.Softplus() }, []float64{40, -40}, []float64{4.248354255291589e-18, 4.248354255291589e-18}},
		"silu at the ends":    {func(x *bs.Tensor) *bs.Tensor { return x.Silu() }, []float64{1000, -1000}, []float64{0, 0}},
		"product with zeros":  {func(x *bs.Tensor) *bs.Tensor { return x.Prod() }, []float64{0, 0, 3}, []float64{3, 3, 0}},
		"asinh, large":        {func(x *bs.Tensor) *bs.Tensor { return x.Asinh() }, []float64{1e150}, []float64{-1e-300}},
	} {
		tape := bs.NewTape()
		x := tape.Watch(bs.New(c.at))
		grads, err := tape.Backward(c.f(x).Sum(), bs.Recorded())
		if err != nil {
			t.Fatal(err)
		}
		second, err := tape.Backward(grads.Of(x).Sum())
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range second.OrZeros(x).Float64s() {
			if !agrees(got, c.want[i]) && !(got == 0 && c.want[i] == 0) {
				t.Errorf("%s: element %d is %v, want %v", name, i, got, c.want[i])
			}
		}
	}
}

// What a row of a cross-entropy does not count must not reach the others.
func TestCrossEntropyEdges(t *testing.T) {
	x := bs.New([]float64{1, -inf, 2, nan, nan, nan}, 2, 3)
	target := bs.New([]int64{0, -1})
	how := bs.ClassLoss{Ignore: []int{-1}, Weight: bs.New([]float64{2, 0, 1})}
	tape := bs.NewTape()
	w := tape.Watch(x)
	loss := w.CrossEntropyWith(target, how)
	if got, want := loss.Item(), math.Log1p(math.E); !agrees(got, want) {
		t.Errorf("loss %v, want %v", got, want)
	}
	grads, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	p := math.E / (1 + math.E)
	for i, want := range []float64{-p, 0, p, 0, 0, 0} {
		if got := grads.Of(w).Float64s()[i]; !agrees(got, want) {
			t.Errorf("gradient %d is %v, want %v", i, got, want)
		}
	}
}

// Misuses of attributes are errors, before anything is recorded.
func TestAttributesOutOfRange(t *testing.T) {
	x, i := bs.Zeros(bs.Float64, 2, 3), bs.New([]int64{0, 1})
	for name, c := range map[string]struct {
		f    func() *bs.Tensor
		want error
	}{
		"polygamma":   {func() *bs.Tensor { return x.Polygamma(-1) }, bs.ErrValue},
		"beta":        {func() *bs.Tensor { return x.SoftplusBeta(0) }, bs.ErrValue},
		"bound":       {func() *bs.Tensor { return x.Clamp(nan, 1) }, bs.ErrValue},
		"p":           {func() *bs.Tensor { return x.Norm(nan) }, bs.ErrValue},
		"delta":       {func() *bs.Tensor { return x.Huber(x, 0) }, bs.ErrValue},
		"smoothing":   {func() *bs.Tensor { return x.CrossEntropyWith(i, bs.ClassLoss{Smoothing: 1.5}) }, bs.ErrValue},
		"weights":     {func() *bs.Tensor { return x.WeightedCrossEntropy(i, bs.Zeros(bs.Float64, 2)) }, bs.ErrShape},
		"mod by 0":    {func() *bs.Tensor { return i.Mod(bs.New([]int64{0})) }, bs.ErrValue},
		"topk":        {func() *bs.Tensor { v, _ := x.Topk(4, 1); return v }, bs.ErrValue},
		"argmax":      {func() *bs.Tensor { return bs.Zeros(bs.Float64, 2, 0).Argmax(1) }, bs.ErrShape},
		"order":       {func() *bs.Tensor { return x.Gt(x).Gt(x.Gt(x)) }, bs.ErrDType},
		"one hot":     {func() *bs.Tensor { return i.OneHot(1) }, bs.ErrIndex},
		"padding row": {func() *bs.Tensor { return x.EmbeddingPadded(i, 2) }, bs.ErrIndex},
		"crop":        {func() *bs.Tensor { return x.Pad(0, [2]int{-2, -1}, [2]int{}) }, bs.ErrShape},
		"reflect":     {func() *bs.Tensor { return x.PadReflect([2]int{2, 0}, [2]int{}) }, bs.ErrShape},
		"replicate":   {func() *bs.Tensor { return bs.Zeros(bs.Float64, 0).PadReplicate([2]int{1, 0}) }, bs.ErrShape},
		"pads":        {func() *bs.Tensor { return x.Pad(0, [2]int{1, 1}) }, bs.ErrShape},
		"tile":        {func() *bs.Tensor { return x.Tile(-1) }, bs.ErrValue},
		"trace":       {func() *bs.Tensor { return i.Trace() }, bs.ErrShape},
		"tril":        {func() *bs.Tensor { return i.Tril(0) }, bs.ErrShape},
		"outer":       {func() *bs.Tensor { return x.Outer(x) }, bs.ErrShape},
		"tensordot":   {func() *bs.Tensor { return x.Tensordot(x, []int{0}, []int{1}) }, bs.ErrShape},
		"not":         {func() *bs.Tensor { return i.Not() }, bs.ErrDType},
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
}

// A padding row is looked up, and gets a gradient in neither mode.
func TestPaddingRow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tape := bs.NewTape()
	w := tape.Watch(bs.Rand(rng, -1, 1, 4, 2))
	index := bs.New([]int64{0, 3, 3, 1}, 2, 2)
	y := w.EmbeddingPadded(index, -1)
	mustEqual(t, "value", y.Detach().Clone(), w.Detach().Clone().Embedding(index))
	tangents, err := tape.Forward([]bs.Seed{{Tensor: w, Tangent: bs.Full(bs.Float32, 1, 4, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "tangent", tangents.Of(y).Clone(), bs.New([]float32{1, 1, 0, 0, 0, 0, 1, 1}, 2, 2, 2))
	grads, err := tape.Backward(y.Sum())
	if err != nil {
		t.Fatal(err)
	}
	rows, _, ok := grads.Rows(w)
	if !ok {
		t.Fatal("the gradient is not row-sparse")
	}
	mustEqual(t, "rows", rows, bs.New([]int64{0, 1}))
	mustEqual(t, "gradient", grads.Of(w), bs.New([]float32{1, 1, 1, 1, 0, 0, 0, 0}, 4, 2))
}
