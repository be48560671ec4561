package backsweep_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// blocks is a residual network of n blocks, each in a checkpoint or not.
func blocks(tape *bs.Tape, x *bs.Tensor, params []*bs.Tensor, checkpointed bool) *bs.Tensor {
	for _, w := range params {
		block := func() []*bs.Tensor {
			h := x.MatMul(w).Tanh()
			h = h.MatMul(w.T()).Sigmoid().Mul(h)
			return []*bs.Tensor{x.Add(h)}
		}
		if checkpointed {
			x = tape.Checkpoint(block)[0]
		} else {
			x = block()[0]
		}
	}
	return x.Square().Mean()
}

func blockParams(n, width int) (x *bs.Tensor, params []*bs.Tensor) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range n {
		params = append(params, bs.NewParam("w", bs.Randn(rng, width, width).MulScalar(0.3)))
	}
	return bs.Randn(rng, 8, width), params
}

func bitsOf(t *testing.T, g *bs.Grads, params []*bs.Tensor) (bits []uint32) {
	t.Helper()
	for _, p := range params {
		for _, v := range bs.Data[float32](g.Of(p)) {
			bits = append(bits, math.Float32bits(v))
		}
	}
	return bits
}

func TestCheckpointsGiveTheSameBits(t *testing.T) {
	x, params := blockParams(6, 24)
	tape := bs.NewTape()
	loss := blocks(tape, tape.Input("x", x), params, false)
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	want, value := bitsOf(t, g, params), loss.Item()
	for _, options := range [][]bs.SweepOption{
		nil, {bs.Retain()}, {bs.WithOrder(bs.BreadthFirst)}, {bs.WithOrder(bs.RandomOrder(3)), bs.Retain()},
		{bs.Workers(3)}, {bs.Recorded()}, {bs.KeepGrads()},
	} {
		tape.Reset()
		loss := blocks(tape, tape.Input("x", x), params, true)
		if loss.Item() != value {
			t.Fatalf("the loss is %v, not %v", loss.Item(), value)
		}
		verified(t, tape)
		for range 2 {
			replays := 0
			g, err := tape.Backward(loss, append(options, bs.Observe(func(e bs.Event) {
				if e.Kind == record.Replayed {
					replays++
				}
			}))...)
			if errors.Is(err, bs.ErrSwept) {
				break // the second sweep after one that did not retain
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, b := range bitsOf(t, g, params) {
				if b != want[i] {
					t.Fatalf("with checkpoints bit pattern %d is %x, not %x", i, b, want[i])
				}
			}
			verified(t, tape)
			if replays == 0 && len(options) < 2 && options == nil {
				t.Error("nothing was replayed")
			}
		}
	}
}

func TestCheckpointsDifferentiateAgain(t *testing.T) {
	x := bs.New([]float64{0.3, -0.7, 1.1, 0.2, 0.4, -0.1, 0.9, 0.5, -1.3, 0.8})
	f := func(checkpointed bool) bs.Func {
		return func(in ...*bs.Tensor) *bs.Tensor {
			y := in[0]
			part := func() []*bs.Tensor { return []*bs.Tensor{y.Tanh().Mul(y).Exp().Mul(y)} }
			if checkpointed {
				return y.Tape().Checkpoint(part)[0].Square().Sum()
			}
			return part()[0].Square().Sum()
		}
	}
	a, err := bs.Hessian(f(false), x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bs.Hessian(f(true), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range a.Float64s() {
		if math.Float64bits(v) != math.Float64bits(b.Float64s()[i]) {
			t.Fatalf("entry %d is %v with a checkpoint and %v without", i, b.Float64s()[i], v)
		}
	}
}

func TestWhatACheckpointRefuses(t *testing.T) {
	x, params := blockParams(2, 24)
	tape := bs.NewTape()
	var inner *bs.Tensor
	in := tape.Input("x", x)
	out := tape.Checkpoint(func() []*bs.Tensor {
		inner = in.MatMul(params[0]).Tanh()
		return []*bs.Tensor{inner.MatMul(params[1])}
	})[0]
	misuse := func(f func()) (err error) {
		defer bs.Catch(&err)
		f()
		return nil
	}
	if err := misuse(func() { inner.Item() }); err == nil {
		t.Error("a value of another shape was read as one number")
	}
	if err := misuse(func() { bs.Data[float32](inner) }); !errors.Is(err, bs.ErrReleased) {
		t.Errorf("reading a dropped value gave %v", err)
	}
	if err := misuse(func() { inner.Neg() }); !errors.Is(err, bs.ErrReleased) {
		t.Errorf("using a dropped value gave %v", err)
	}
	if err := misuse(func() {
		tape.Checkpoint(func() []*bs.Tensor { return tape.Checkpoint(func() []*bs.Tensor { return nil }) })
	}); !errors.Is(err, bs.ErrUnsupported) {
		t.Errorf("nesting gave %v", err)
	}
	loss := out.Sum()
	params[1].Fill(1)
	if _, err := tape.Backward(loss); !errors.Is(err, bs.ErrChanged) {
		t.Errorf("a leaf changed before the replay gave %v", err)
	}
}

// What the plan says of replays and of what is let go is what happens.
func TestCheckpointsArePlanned(t *testing.T) {
	x, params := blockParams(3, 24)
	for _, o := range []bs.Order{bs.TapeOrder, bs.BreadthFirst, bs.RandomOrder(5)} {
		tape := bs.NewTape()
		loss := blocks(tape, tape.Input("x", x), params, true)
		var replayed, freed []int
		if _, err := tape.Backward(loss, bs.WithOrder(o), bs.Trace(), bs.Observe(func(e bs.Event) {
			switch e.Kind {
			case record.Replayed:
				replayed = append(replayed, e.Node)
			case record.Freed:
				freed = append(freed, e.Storage)
			}
		})); err != nil {
			t.Fatal(err)
		}
		rec, err := tape.Record()
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := rec.Replan(rec.Sweep.Sequence[:1]); err == nil {
			t.Error("a plan of one node was accepted")
		}
		if again, err := rec.Replan(rec.Sweep.Sequence); err != nil || len(again.Steps) != len(rec.Sweep.Steps) {
			t.Errorf("the same sequence planned anew gave %v", err)
		}
		other := slices.Clone(rec.Sweep.Sequence)
		slices.Sort(other)
		slices.Reverse(other)
		if _, err := rec.Replan(other); !slices.Equal(other, rec.Sweep.Sequence) && !errors.Is(err, record.ErrReplays) {
			t.Errorf("replays under another sequence gave %v", err)
		}
		planned, frees := []int{}, append([]int{}, rec.Sweep.Before...)
		for _, s := range rec.Sweep.Steps {
			planned = append(planned, s.Replays...)
			frees = append(frees, s.Frees...)
		}
		if !slices.Equal(planned, replayed) || len(planned) == 0 {
			t.Errorf("%s: planned to replay %v, replayed %v", o, planned, replayed)
		}
		if !slices.Equal(frees, freed) {
			t.Errorf("%s: planned to let go %v, let go %v", o, frees, freed)
		}
	}
}
