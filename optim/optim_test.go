package optim_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

type optimizer interface{ Step(optim.Gradients) error }

// sweep returns gradients in which each parameter's is the tensor beside it;
// one beside nil has none.
func sweep(t *testing.T, params, grads []*backsweep.Tensor) *backsweep.Grads {
	t.Helper()
	tape := backsweep.NewTape()
	var loss *backsweep.Tensor
	add := func(x *backsweep.Tensor) {
		if loss == nil {
			loss = x
		} else {
			loss = loss.Add(x)
		}
	}
	for i, p := range params {
		if grads[i] != nil {
			add(tape.Watch(p).Mul(grads[i]).Sum())
		}
	}
	if loss == nil {
		loss = tape.Watch(backsweep.Scalar(0.0)).Sum()
	}
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func step(t *testing.T, o optimizer, g optim.Gradients) {
	t.Helper()
	if err := o.Step(g); err != nil {
		t.Fatal(err)
	}
}

// near compares with the rounding of the element type.
func near(t *testing.T, what string, got *backsweep.Tensor, want ...float64) {
	t.Helper()
	tol := 1e-12
	if got.DType() == backsweep.Float32 {
		tol = 1e-6
	}
	for i, v := range got.Float64s() {
		if math.Abs(v-want[i]) > tol*(1+math.Abs(want[i])) {
			t.Errorf("%s: element %d is %v, want %v", what, i, v, want[i])
		}
	}
}

func param(dt backsweep.DType, values ...float64) *backsweep.Tensor {
	return backsweep.NewParam("w", backsweep.New(values).Cast(dt))
}

var floats = []backsweep.DType{backsweep.Float32, backsweep.Float64}

// On a constant gradient g the corrected moments are g and g² at every step.
func TestAdamOnAConstantGradientGoesByTheRate(t *testing.T) {
	for _, dt := range floats {
		w := param(dt, 1, 1)
		adam := optim.NewAdam(0.1, w)
		adam.Eps = 0
		for n := 1; n <= 4; n++ {
			step(t, adam, sweep(t, []*backsweep.Tensor{w}, []*backsweep.Tensor{backsweep.New([]float64{3, -0.5}).Cast(dt)}))
			near(t, dt.String(), w, 1-0.1*float64(n), 1+0.1*float64(n))
		}
		if w.Version() != 4 {
			t.Errorf("%s: version %d after 4 steps", dt, w.Version())
		}
	}
}

// With momentum m a constant gradient of 1 moves by the partial sums of the
// geometric series.
func TestMomentumAddsUpAGeometricSeries(t *testing.T) {
	for _, dt := range floats {
		w := param(dt, 0)
		sgd := optim.NewSGD(1, w)
		sgd.Momentum = 0.5
		at := 0.0
		for n := 1; n <= 6; n++ {
			step(t, sgd, sweep(t, []*backsweep.Tensor{w}, []*backsweep.Tensor{backsweep.New([]float64{1}).Cast(dt)}))
			at -= 2 - math.Pow(0.5, float64(n-1))
			near(t, dt.String(), w, at)
		}
	}
}

// table returns a parameter of five rows and the gradients by which two steps
// touch rows 3 and 1 (twice) and then 1 and 4.
func table(dt backsweep.DType) (w *backsweep.Tensor, grads func(t *testing.T, step int) *backsweep.Grads) {
	rng := rand.New(rand.NewPCG(1, 2))
	w = backsweep.NewParam("table", backsweep.Randn(rng, 5, 3).Cast(dt))
	index := []*backsweep.Tensor{backsweep.New([]int64{3, 1, 1}), backsweep.New([]int64{1, 4})}
	scale := []*backsweep.Tensor{backsweep.Randn(rng, 3, 3).Cast(dt), backsweep.Randn(rng, 2, 3).Cast(dt)}
	return w, func(t *testing.T, step int) *backsweep.Grads {
		tape := backsweep.NewTape()
		g, err := tape.Backward(tape.Watch(w).Embedding(index[step]).Mul(scale[step]).Sum())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := g.Rows(w); !ok {
			t.Fatal("the gradient is not row-sparse")
		}
		return g
	}
}

// A row is as a parameter of its own that has a gradient in some steps only,
// but for Adam's t, which counts the table's steps.
func TestRowSparseStepsTouchTheirRowsAlone(t *testing.T) {
	for _, dt := range floats {
		for name, make := range map[string]func(w *backsweep.Tensor) optimizer{
			"sgd":      func(w *backsweep.Tensor) optimizer { return optim.NewSGD(0.1, w) },
			"momentum": func(w *backsweep.Tensor) optimizer { o := optim.NewSGD(0.1, w); o.Momentum = 0.9; return o },
			"nesterov": func(w *backsweep.Tensor) optimizer {
				o := optim.NewSGD(0.1, w)
				o.Momentum, o.Nesterov, o.WeightDecay = 0.9, true, 0.01
				return o
			},
			"adam": func(w *backsweep.Tensor) optimizer { return optim.NewAdam(0.1, w) },
		} {
			w, grads := table(dt)
			o := make(w)
			for s, touched := range [][]int{{1, 3}, {1, 4}} {
				before := w.Clone()
				step(t, o, grads(t, s))
				for row := range 5 {
					same := reflect.DeepEqual(before.Index(row).Float64s(), w.Index(row).Float64s())
					if same == slices.Contains(touched, row) {
						t.Errorf("%s %s: step %d: row %d changed: %v", dt, name, s, row, !same)
					}
				}
			}
		}
	}
}

// Where a step touches every row, rows and dense are the same bits.
func TestRowSparseOnAllRowsIsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	start, scale := backsweep.Randn(rng, 4, 3), backsweep.Randn(rng, 4, 3)
	for name, make := range map[string]func(w *backsweep.Tensor) optimizer{
		"sgd":  func(w *backsweep.Tensor) optimizer { o := optim.NewSGD(0.1, w); o.Momentum = 0.9; return o },
		"adam": func(w *backsweep.Tensor) optimizer { return optim.NewAdam(0.1, w) },
	} {
		a, b := backsweep.NewParam("a", start), backsweep.NewParam("b", start)
		oa, ob := make(a), make(b)
		for range 3 {
			tape := backsweep.NewTape()
			loss := tape.Watch(a).Embedding(backsweep.Arange(4)).Mul(scale).Sum().Add(tape.Watch(b).Mul(scale).Sum())
			g, err := tape.Backward(loss)
			if err != nil {
				t.Fatal(err)
			}
			step(t, oa, g)
			step(t, ob, g)
		}
		if !reflect.DeepEqual(backsweep.Data[float32](a), backsweep.Data[float32](b)) {
			t.Errorf("%s: %v by rows, %v dense", name, a, b)
		}
	}
}

// Adam by hand on the row that both steps touch and on the one that only the
// second does.
func TestRowSparseAdamByHand(t *testing.T) {
	w, grads := table(backsweep.Float64)
	adam := optim.NewAdam(0.1, w)
	want := map[int][]float64{1: w.Index(1).Float64s(), 4: w.Index(4).Float64s()}
	m, v := map[int][]float64{1: make([]float64, 3), 4: make([]float64, 3)}, map[int][]float64{1: make([]float64, 3), 4: make([]float64, 3)}
	for s := range 2 {
		g := grads(t, s)
		rows, values, _ := g.Rows(w)
		for i, r := range backsweep.Data[int64](rows) {
			if want[int(r)] == nil {
				continue
			}
			for j, d := range values.Index(i).Float64s() {
				m, v := &m[int(r)][j], &v[int(r)][j]
				*m, *v = 0.9**m+0.1*d, 0.999**v+0.001*d*d
				n := float64(s + 1)
				want[int(r)][j] -= 0.1 * (*m / (1 - math.Pow(0.9, n))) / (math.Sqrt(*v/(1-math.Pow(0.999, n))) + 1e-8)
			}
		}
		step(t, adam, g)
	}
	near(t, "row 1", w.Index(1), want[1]...)
	near(t, "row 4", w.Index(4), want[4]...)
}

func TestWithoutAGradient(t *testing.T) {
	a, b := backsweep.NewParam("a", backsweep.Scalar(1.0)), backsweep.NewParam("b", backsweep.Scalar(1.0))
	adam := optim.NewAdam(0.1, a, b)
	adam.Eps = 0
	one := backsweep.Scalar(1.0)
	step(t, adam, sweep(t, []*backsweep.Tensor{a, b}, []*backsweep.Tensor{one, nil}))
	if a.Item() == 1 || b.Item() != 1 || b.Version() != 0 {
		t.Errorf("a is %v, b is %v of version %d", a, b, b.Version())
	}
	// b's first step is its own first.
	step(t, adam, sweep(t, []*backsweep.Tensor{a, b}, []*backsweep.Tensor{one, one}))
	near(t, "b", b, 0.9)

	adam.Strict = true
	before := a.Item()
	err := adam.Step(sweep(t, []*backsweep.Tensor{a, b}, []*backsweep.Tensor{one, nil}))
	var e *backsweep.Error
	if !errors.Is(err, backsweep.ErrNoGradient) || !errors.As(err, &e) || e.Tensor != "b" {
		t.Errorf("strict: %v", err)
	}
	if want := `backsweep: Adam.Step: parameter "b" has no gradient (unconnected), and the optimizer is strict; leave the parameter out, make the loss depend on it, or set Strict to false`; err != nil && err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if a.Item() != before {
		t.Error("a step that failed changed a parameter")
	}
}

func TestGradientsOfAResetTapeAreAnError(t *testing.T) {
	w := backsweep.NewParam("w", backsweep.Scalar(1.0))
	tape := backsweep.NewTape()
	g, err := tape.Backward(tape.Watch(w).Square())
	if err != nil {
		t.Fatal(err)
	}
	tape.Reset()
	if err := optim.NewSGD(1, w).Step(g); !errors.Is(err, backsweep.ErrReset) {
		t.Errorf("got %v", err)
	}
}

func TestMisuse(t *testing.T) {
	w := backsweep.NewParam("w", backsweep.Scalar(1.0))
	for name, params := range map[string][]*backsweep.Tensor{
		"nil": {nil}, "no parameter": {backsweep.Scalar(1.0)}, "twice": {w, w}, "a view": {backsweep.NewParam("m", backsweep.Zeros(backsweep.Float32, 2, 3)).T()},
	} {
		func() {
			defer func() {
				if e, ok := recover().(*backsweep.Error); !ok || !errors.Is(e, backsweep.ErrValue) {
					t.Errorf("%s was taken", name)
				}
			}()
			optim.NewAdam(0.1, params...)
		}()
	}
}

func BenchmarkAdam(b *testing.B) {
	w := backsweep.NewParam("w", backsweep.Zeros(backsweep.Float32, 1<<16))
	tape := backsweep.NewTape()
	g, err := tape.Backward(tape.Watch(w).AddScalar(1).Sum())
	if err != nil {
		b.Fatal(err)
	}
	adam := optim.NewAdam(1e-3, w)
	b.SetBytes(4 << 16)
	for b.Loop() {
		if err := adam.Step(g); err != nil {
			b.Fatal(err)
		}
	}
}
