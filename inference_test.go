package backsweep_test

import (
	"slices"
	"sync"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// Without a tape the same code is plain evaluation, from any number of
// goroutines at once, and to the same bits as on a tape.
func TestInferenceFromManyGoroutines(t *testing.T) {
	d := newDAG(*lawSeed)
	forward := func(x *bs.Tensor) *bs.Tensor {
		h := x.MatMul(d.params[matrix].T()).Add(d.params[bias]).Tanh()
		p := h.Split(1, 1, d.cols-1)
		return bs.Concat(1, p[1], p[0]).Mul(d.params[plane]).Softmax(-1).Sum(0)
	}
	tape := bs.NewTape()
	want := bs.Data[float32](forward(tape.Input("x", d.input)))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				y := forward(d.input)
				if y.Tape() != nil || firstBit(want, bs.Data[float32](y)) >= 0 {
					t.Error("plain evaluation is recorded, or gives other bits")
					return
				}
			}
		})
	}
	group.Wait()
}

// Case concurrent-independent: tapes on several goroutines share parameters.
func TestConcurrentIndependent(t *testing.T) {
	d := newDAG(*lawSeed + 1)
	sweep := func(tape *bs.Tape) answer {
		g := d.record(tape, false)
		grads, err := tape.BackwardFrom(g.roots)
		if err != nil {
			t.Error(err)
			return answer{}
		}
		return answerOf(grads, g.asked)
	}
	want := sweep(bs.NewTape())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			tape := bs.NewTape()
			for range 25 {
				tape.Reset()
				if d := want.differs(sweep(tape)); d != "" {
					t.Error(d)
				}
			}
		})
	}
	group.Wait()
}

// Views of a parameter join the tape by themselves, each as what it is, and
// their gradients are the parameter's.
func TestViewsOfParametersJoin(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	tape := bs.NewTape()
	var one *bs.Tensor
	parts := w.Split(1, 1, 2)
	for _, c := range []struct {
		name string
		view *bs.Tensor
		dw   []float32
	}{
		{"itself", w, []float32{1, 1, 1, 1, 1, 1}},
		{"T", w.T(), []float32{1, 1, 1, 1, 1, 1}},
		{"slice of T", w.T().Slice(bs.Range{Start: 1, Stop: bs.End}), []float32{0, 1, 1, 0, 1, 1}},
		{"row", w.Index(1), []float32{0, 0, 0, 1, 1, 1}},
		{"reshape of T", w.T().Reshape(6).Slice(bs.Range{Stop: 2}), []float32{1, 0, 0, 1, 0, 0}},
		{"broadcast", w.Unsqueeze(0).BroadcastTo(2, 2, 3), []float32{2, 2, 2, 2, 2, 2}},
		{"squeeze of unsqueeze", w.Unsqueeze(1).Squeeze(1), []float32{1, 1, 1, 1, 1, 1}},
		{"first part of a split", parts[0], []float32{1, 0, 0, 1, 0, 0}},
		{"second part of a split", parts[1], []float32{0, 1, 1, 0, 1, 1}},
	} {
		tape.Reset()
		one = tape.Input("one", bs.Scalar(float32(1)))
		y := one.Mul(c.view)
		if !slices.Equal(bs.Data[float32](y), bs.Data[float32](c.view)) {
			t.Errorf("%s: joined as %v, but is %v", c.name, y, c.view)
		}
		g, err := tape.Backward(y.Sum())
		if err != nil {
			t.Fatal(err)
		}
		if d := bs.Data[float32](g.Of(w)); !slices.Equal(d, c.dw) {
			t.Errorf("%s: dw is %v, not %v", c.name, d, c.dw)
		}
		verified(t, tape)
	}
	if !w.IsParam() || w.Tape() != nil || w.Version() != 0 {
		t.Error("joining changed the parameter")
	}
}

// Detach forgets where a value came from, on a tape and off it.
func TestDetachForgets(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float32{2, 3}))
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float32{5, 7}))
	loss := x.Mul(w.Detach()).Add(w.Square().Detach()).Add(x.Square().Detach()).Sum()
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	if dx := bs.Data[float32](g.Of(x)); !slices.Equal(dx, []float32{2, 3}) || g.State(w) != bs.Unconnected {
		t.Errorf("dx is %v and w is %s", dx, g.State(w))
	}
	if y := w.Clone().Square(); caught(func() { x = bs.NewTape().Input("y", y) }) != nil {
		t.Error("a copy remembers the parameter")
	}
	// A detached value shares its storage: changing the parameter before the
	// sweep that reads it back is still noticed.
	tape.Reset()
	loss = tape.Watch(bs.New([]float32{5, 7})).Mul(w.Detach()).Sum()
	w.Fill(0)
	if _, err := tape.Backward(loss); err == nil {
		t.Error("a saved value was changed through the parameter that it shares")
	}
}

// What a mask or an index was computed from carries no gradient, so it may meet
// any tape.
func TestMasksOfParametersMeetTapes(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float32{1, -1}))
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float32{5, 7}))
	g, err := tape.Backward(bs.Where(w.Gt(bs.Scalar(float32(0))), x, x.Neg()).Sum())
	if err != nil {
		t.Fatal(err)
	}
	if dx := bs.Data[float32](g.Of(x)); !slices.Equal(dx, []float32{1, -1}) {
		t.Errorf("dx is %v", dx)
	}
}
