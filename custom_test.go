package backsweep_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// cube is x³ with rules in ops.
var cube = &bs.Custom{
	Name: "cube",
	Eval: func(in []*bs.Tensor) []*bs.Tensor { return []*bs.Tensor{in[0].Mul(in[0]).Mul(in[0])} },
	Grad: func(v bs.CustomValues, douts []*bs.Tensor) []*bs.Tensor {
		return []*bs.Tensor{douts[0].Mul(v.In[0].Square().MulScalar(3))}
	},
}

func TestCustomOpDifferentiatesAgain(t *testing.T) {
	f := func(in ...*bs.Tensor) *bs.Tensor { return cube.Apply(in[0])[0].Sum() }
	x := bs.New([]float64{2, -1})
	h, err := bs.Hessian(f, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{12, 0, 0, -6} {
		wants(t, "an entry of the Hessian", h.Float64s()[i], want)
	}
}

// behaviour case custom-op-double-backward: an intermediate that Eval keeps
// outside the graph is a constant of the second pass; that must not pass.
func TestCustomOpWithAHiddenIntermediate(t *testing.T) {
	var hidden *bs.Tensor
	c := &bs.Custom{
		Name: "tenfold",
		Eval: func(in []*bs.Tensor) []*bs.Tensor {
			hidden = in[0].MulScalar(5)
			return []*bs.Tensor{in[0].MulScalar(10)}
		},
		Grad: func(v bs.CustomValues, douts []*bs.Tensor) []*bs.Tensor {
			return []*bs.Tensor{douts[0].Mul(hidden.MulScalar(2)).Div(v.In[0])}
		},
	}
	f := func(in ...*bs.Tensor) *bs.Tensor { return c.Apply(in[0])[0] }
	x := bs.Scalar(3.0)
	g, err := bs.Grad(f, x)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, "the first derivative", g[0].Item(), 10)
	if _, err := bs.Hessian(f, x); !errors.Is(err, bs.ErrOffTape) {
		t.Errorf("the second derivative gave %v", err)
	}
}

func TestCustomOpIsHeldToShapesAndToItsCall(t *testing.T) {
	var kept *bs.Tensor
	c := &bs.Custom{
		Name: "odd",
		Eval: func(in []*bs.Tensor) []*bs.Tensor {
			kept = in[0]
			return []*bs.Tensor{in[0].MulScalar(2)}
		},
		Grad: func(v bs.CustomValues, douts []*bs.Tensor) []*bs.Tensor { return []*bs.Tensor{douts[0].Sum()} },
	}
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float32{1, 2}))
	y := c.Apply(x)[0].Sum()
	if _, err := tape.Backward(y, bs.Retain()); !errors.Is(err, bs.ErrRule) {
		t.Errorf("a gradient of another shape gave %v", err)
	}
	read := func() (err error) {
		defer bs.Catch(&err)
		kept.At(0)
		return nil
	}
	if err := read(); !errors.Is(err, bs.ErrReleased) {
		t.Errorf("reading what was lent gave %v", err)
	}
	if _, err := tape.Forward([]bs.Seed{{Tensor: x, Tangent: bs.New([]float32{1, 1})}}); !errors.Is(err, bs.ErrUnsupported) {
		t.Errorf("a forward sweep gave %v", err)
	}
	if n := tape.Len(); n != 2 {
		t.Errorf("the tape has %d nodes", n)
	}
}

// A custom op gives the same bits under every order, worker count and batch.
func TestCustomOpAmongOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := normal64(rng, 20)
	f := func(in ...*bs.Tensor) *bs.Tensor {
		a := cube.Apply(in[0].Tanh())[0]
		return a.Mul(in[0]).Add(cube.Apply(a)[0])
	}
	j, _, err := bs.Jacobian(f, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		_, g, err := bs.VJP(f, bs.Zeros(bs.Float64, 20).Add(bs.Arange(20).Eq(bs.Full(bs.Int64, float64(i))).Cast(bs.Float64)), x)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "an entry of the Jacobian", j.At(i, i), g[0].At(i))
	}
}
