package backsweep_test

import (
	"errors"
	"testing"

	bs "github.com/backsweep/backsweep"
)

func TestHooksSeeAndReplaceAGradientOnce(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float64{1, 2}))
	tape := bs.NewTape()
	x := tape.Input("x", bs.New([]float64{3, 4}))
	h := x.Mul(w)
	loss := h.Mul(h).Add(h).Sum() // dh = 2h + 1
	calls := 0
	tape.Hook(h, func(g *bs.Tensor) *bs.Tensor {
		calls++
		wants(t, "the gradient of h", g.At(1), 2*8+1)
		return g.MulScalar(10)
	})
	tape.Hook(w, func(g *bs.Tensor) *bs.Tensor { return g.AddScalar(1) })
	for _, options := range [][]bs.SweepOption{{bs.Retain()}, {bs.Retain(), bs.Workers(2)}, {bs.Retain(), bs.WithOrder(bs.BreadthFirst)}, {bs.Recorded()}} {
		g, err := tape.Backward(loss, options...)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, "the gradient of w", g.Of(w).At(0), 10*(2*3+1)*3+1)
		wants(t, "the gradient of h", g.Of(h).At(0), 10*(2*3+1))
	}
	if calls != 4 {
		t.Errorf("the hook was called %d times in 4 sweeps", calls)
	}
	tape.Hook(h, func(g *bs.Tensor) *bs.Tensor { return g.Sum() })
	if _, err := tape.Backward(loss, bs.Retain()); !errors.Is(err, bs.ErrRule) {
		t.Errorf("a hook that returned another shape gave %v", err)
	}
}
