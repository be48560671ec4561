package backsweep_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	bs "github.com/backsweep/backsweep"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bench is a small graph to misuse.
type bench struct {
	w       *bs.Tensor // param, 2x2
	tape    *bs.Tape
	x, h, y *bs.Tensor // x 1x2 input, h = x·w, y = tanh(h)
	loss    *bs.Tensor
}

func newBench(opts ...bs.TapeOption) *bench {
	b := &bench{w: bs.NewParam("w", bs.New([]float32{1, 2, 3, 4}, 2, 2)), tape: bs.NewTape(opts...)}
	b.x = b.tape.Input("x", bs.New([]float32{0.5, -1}, 1, 2))
	b.h = b.x.MatMul(b.w).Named("h")
	b.y = b.h.Tanh()
	b.loss = b.y.Sum().Named("loss")
	return b
}

func (b *bench) sweep(opts ...bs.SweepOption) *bs.Grads {
	g, err := b.tape.Backward(b.loss, opts...)
	if err != nil {
		panic(err)
	}
	return g
}

func sweepError(_ *bs.Grads, err error) error { return err }

func f32(shape ...int) *bs.Tensor { return bs.Full(bs.Float32, 1, shape...) }

// misuses lists each wrong use once: its kind, and what brings it about.
var misuses = []struct {
	name string
	kind error
	do   func(b *bench) error
}{
	// Saved values and swept tapes.
	{"saved leaf changed after saving", bs.ErrChanged, func(b *bench) error {
		b.w.Fill(0)
		return sweepError(b.tape.Backward(b.loss))
	}},
	{"saved input changed after saving", bs.ErrChanged, func(b *bench) error {
		bs.SetData(b.x, []float32{9, 9})
		return sweepError(b.tape.Backward(b.loss))
	}},
	{"parameter changed between two uses on one tape", bs.ErrChanged, func(b *bench) error {
		bs.Update(b.w, func(d []float32) { d[0] = 7 })
		b.x.MatMul(b.w)
		return nil
	}},
	{"second sweep", bs.ErrSwept, func(b *bench) error {
		b.sweep()
		return sweepError(b.tape.Backward(b.loss))
	}},
	{"second sweep over what saved nothing", bs.ErrSwept, func(b *bench) error {
		b.tape.Reset()
		loss := b.tape.Watch(bs.Scalar(float32(3))).MulScalar(2)
		if _, err := b.tape.Backward(loss); err != nil {
			return err
		}
		return sweepError(b.tape.Backward(loss))
	}},
	{"forward sweep over a swept tape", bs.ErrSwept, func(b *bench) error {
		b.sweep()
		_, err := b.tape.Forward([]bs.Seed{{Tensor: b.x, Tangent: f32(1, 2)}})
		return err
	}},
	{"going on with a swept tape", bs.ErrSwept, func(b *bench) error {
		b.sweep()
		b.loss.MulScalar(2)
		return nil
	}},
	{"an input for a swept tape", bs.ErrSwept, func(b *bench) error {
		b.sweep()
		b.tape.Input("next", f32(1, 2))
		return nil
	}},
	{"reading an intermediate after the sweep", bs.ErrReleased, func(b *bench) error {
		b.sweep()
		b.h.Float64s()
		return nil
	}},
	{"computing with an intermediate after the sweep", bs.ErrReleased, func(b *bench) error {
		b.sweep()
		b.y.Add(b.y)
		return nil
	}},
	{"keeping an intermediate after the sweep", bs.ErrReleased, func(b *bench) error {
		b.sweep()
		b.h.Keep()
		return nil
	}},
	{"sweep after one that did not finish", bs.ErrSwept, func(b *bench) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b.tape.Backward(b.loss, bs.Context(ctx))
		return sweepError(b.tape.Backward(b.loss))
	}},

	// Tapes.
	{"tensor of a reset tape in an op", bs.ErrReset, func(b *bench) error {
		b.tape.Reset()
		b.x.Add(b.h)
		return nil
	}},
	{"reading a tensor of a reset tape", bs.ErrReset, func(b *bench) error {
		b.tape.Reset()
		bs.Data[float32](b.h)
		return nil
	}},
	{"shape of a tensor of a reset tape", bs.ErrReset, func(b *bench) error {
		b.tape.Reset()
		b.h.Shape()
		return nil
	}},
	{"loss of a reset tape", bs.ErrReset, func(b *bench) error {
		b.tape.Reset()
		return sweepError(b.tape.Backward(b.loss))
	}},
	{"gradients of a reset tape", bs.ErrReset, func(b *bench) error {
		g := b.sweep()
		b.tape.Reset()
		g.Of(b.w)
		return nil
	}},
	{"a gradient of a reset tape", bs.ErrReset, func(b *bench) error {
		d := b.sweep().Of(b.w)
		b.tape.Reset()
		d.Float64s()
		return nil
	}},
	{"a view of a gradient of a reset tape", bs.ErrReset, func(b *bench) error {
		d := b.sweep().Of(b.w).T()
		b.tape.Reset()
		d.Float64s()
		return nil
	}},
	{"two tapes in one op", bs.ErrTwoTapes, func(b *bench) error {
		b.x.Add(bs.NewTape().Input("other", f32(1, 2)))
		return nil
	}},
	{"tensor of another tape as input", bs.ErrTwoTapes, func(b *bench) error {
		bs.NewTape().Input("other", b.h)
		return nil
	}},
	{"loss of another tape", bs.ErrTwoTapes, func(b *bench) error {
		return sweepError(bs.NewTape().Backward(b.loss))
	}},
	{"cotangent of another tape", bs.ErrTwoTapes, func(b *bench) error {
		return sweepError(b.tape.Backward(b.h, bs.Cotangent(bs.NewTape().Input("c", f32(1, 2)))))
	}},
	{"cotangent of another tape, recorded", bs.ErrTwoTapes, func(b *bench) error {
		return sweepError(b.tape.Backward(b.h, bs.Recorded(), bs.Cotangent(bs.NewTape().Input("c", f32(1, 2)))))
	}},
	{"tangent of another tape", bs.ErrTwoTapes, func(b *bench) error {
		_, err := b.tape.Forward([]bs.Seed{{Tensor: b.x, Tangent: bs.NewTape().Input("c", f32(1, 2))}})
		return err
	}},
	{"gradient of a tensor of another tape", bs.ErrTwoTapes, func(b *bench) error {
		b.sweep().Of(newBench().x)
		return nil
	}},
	{"used from two goroutines at once", bs.ErrGoroutine, func(b *bench) error {
		var inner error
		b.sweep(bs.Retain(), bs.Observe(func(bs.Event) {
			done := make(chan error)
			go func() { done <- caught(func() { b.x.Add(b.x) }) }()
			inner = <-done
		}))
		return inner
	}},

	// Off the tape.
	{"computed from a parameter off the tape", bs.ErrOffTape, func(b *bench) error {
		b.loss.Add(b.w.Square().Sum())
		return nil
	}},
	{"computed from a view of a parameter off the tape", bs.ErrOffTape, func(b *bench) error {
		b.loss.Add(b.w.T().Mul(b.w).Mean())
		return nil
	}},
	{"off the tape through Input", bs.ErrOffTape, func(b *bench) error {
		b.tape.Input("penalty", b.w.Square())
		return nil
	}},
	{"off the tape through Watch", bs.ErrOffTape, func(b *bench) error {
		b.tape.Watch(b.w.Square())
		return nil
	}},
	{"off the tape through a cotangent", bs.ErrOffTape, func(b *bench) error {
		return sweepError(b.tape.Backward(b.h, bs.Cotangent(b.w.Square().Sum(0).Reshape(1, 2))))
	}},
	{"off the tape through a tangent", bs.ErrOffTape, func(b *bench) error {
		_, err := b.tape.Forward([]bs.Seed{{Tensor: b.x, Tangent: b.w.Square().Sum(0).Reshape(1, 2)}})
		return err
	}},
	{"a gradient that was not recorded", bs.ErrOffTape, func(b *bench) error {
		d := b.sweep(bs.Retain()).Of(b.w)
		b.loss.Add(d.Square().Sum())
		return nil
	}},
	{"a view of a gradient that was not recorded", bs.ErrOffTape, func(b *bench) error {
		d := b.sweep(bs.Retain()).Of(b.w)
		b.x.MatMul(d.T())
		return nil
	}},
	{"loss not on a tape", bs.ErrNotOnTape, func(b *bench) error {
		return sweepError(b.tape.Backward(b.w.Sum()))
	}},
	{"seed that the tape never met", bs.ErrNotOnTape, func(b *bench) error {
		_, err := b.tape.Forward([]bs.Seed{{Tensor: bs.NewParam("v", f32(2)), Tangent: f32(2)}})
		return err
	}},
	{"gradient of a view of a parameter", bs.ErrNotOnTape, func(b *bench) error {
		b.sweep().Of(b.w.T())
		return nil
	}},

	// Ops.
	{"wrong shape, elementwise", bs.ErrShape, func(b *bench) error { b.x.Add(f32(3)); return nil }},
	{"wrong shape, product", bs.ErrShape, func(b *bench) error { b.x.MatMul(f32(3, 2)); return nil }},
	{"wrong shape, off the tape", bs.ErrShape, func(b *bench) error { f32(2, 3).MatMul(f32(2, 3)); return nil }},
	{"wrong shape, reshape", bs.ErrShape, func(b *bench) error { b.x.Reshape(3); return nil }},
	{"wrong number of values", bs.ErrShape, func(b *bench) error { bs.New([]float32{1, 2, 3}, 2, 2); return nil }},
	{"item of many", bs.ErrShape, func(b *bench) error { b.x.Item(); return nil }},
	{"wrong dtype, mixed", bs.ErrDType, func(b *bench) error { b.x.Add(bs.New([]float64{1, 2})); return nil }},
	{"wrong dtype, integers", bs.ErrDType, func(b *bench) error { b.tape.Input("i", bs.Arange(3)).Tanh(); return nil }},
	{"wrong dtype, index", bs.ErrDType, func(b *bench) error { b.x.Take(f32(1), 0); return nil }},
	{"wrong dtype, read", bs.ErrDType, func(b *bench) error { bs.Data[float64](b.x); return nil }},
	{"watching integers", bs.ErrDType, func(b *bench) error { b.tape.Watch(bs.Arange(3)); return nil }},
	{"parameter of integers", bs.ErrDType, func(b *bench) error { bs.NewParam("i", bs.Arange(3)); return nil }},
	{"bad axis", bs.ErrIndex, func(b *bench) error { b.x.Sum(2); return nil }},
	{"axis of a scalar", bs.ErrIndex, func(b *bench) error { b.loss.Softmax(0); return nil }},
	{"index out of range", bs.ErrIndex, func(b *bench) error { b.w.Embedding(bs.New([]int64{0, 2})); return nil }},
	{"index out of range, on a tape", bs.ErrIndex, func(b *bench) error { b.y.Take(bs.New([]int64{-3}), 1); return nil }},
	{"element out of range", bs.ErrIndex, func(b *bench) error { b.x.At(0, 2); return nil }},
	{"nil tensor in an op", bs.ErrValue, func(b *bench) error { b.x.Add(nil); return nil }},
	{"nil tensor as input", bs.ErrValue, func(b *bench) error { b.tape.Input("nil", nil); return nil }},
	{"nil loss", bs.ErrValue, func(b *bench) error { return sweepError(b.tape.Backward(nil)) }},
	{"parameter without a name", bs.ErrValue, func(b *bench) error { bs.NewParam("", f32(1)); return nil }},
	{"setting what an op produced", bs.ErrNotALeaf, func(b *bench) error { b.h.Fill(0); return nil }},
	{"setting a view of a parameter", bs.ErrNotALeaf, func(b *bench) error { b.w.T().SetAt(1, 0, 0); return nil }},
	{"setting a gradient", bs.ErrNotALeaf, func(b *bench) error { b.sweep().Of(b.w).Fill(0); return nil }},
	{"op that does not exist", bs.ErrValue, func(b *bench) error {
		_, err := bs.Call("frobnicate", []*bs.Tensor{b.x}, nil)
		return err
	}},

	// Sweeps.
	{"non-scalar loss without a cotangent", bs.ErrCotangent, func(b *bench) error { return sweepError(b.tape.Backward(b.h)) }},
	{"cotangent of another shape", bs.ErrCotangent, func(b *bench) error {
		return sweepError(b.tape.Backward(b.h, bs.Cotangent(f32(2))))
	}},
	{"cotangent of another dtype", bs.ErrDType, func(b *bench) error {
		return sweepError(b.tape.Backward(b.h, bs.Cotangent(bs.Full(bs.Float64, 1, 1, 2))))
	}},
	{"loss of integers", bs.ErrDType, func(b *bench) error {
		return sweepError(b.tape.Backward(b.tape.Input("i", bs.Arange(1))))
	}},
	{"tangent of another shape", bs.ErrCotangent, func(b *bench) error {
		_, err := b.tape.Forward([]bs.Seed{{Tensor: b.x, Tangent: f32(2)}})
		return err
	}},
	{"no root", bs.ErrValue, func(b *bench) error { return sweepError(b.tape.BackwardFrom(nil)) }},
	{"illegal order", bs.ErrOrder, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.WithOrder(bs.GivenOrder(2, 0, 1))))
	}},
	{"order with a missing node", bs.ErrOrder, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.WithOrder(bs.GivenOrder(2, 1))))
	}},
	{"order with a node twice", bs.ErrOrder, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.WithOrder(bs.GivenOrder(2, 1, 1, 0))))
	}},
	{"order with an unknown node", bs.ErrOrder, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.WithOrder(bs.GivenOrder(2, 1, 0, 7))))
	}},
	{"recorded sweep with workers", bs.ErrUnsupported, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.Recorded(), bs.Workers(2)))
	}},
	{"recorded sweep in another order", bs.ErrUnsupported, func(b *bench) error {
		return sweepError(b.tape.Backward(b.loss, bs.Recorded(), bs.WithOrder(bs.DepthFirst)))
	}},
	{"no workers", bs.ErrValue, func(b *bench) error { return sweepError(b.tape.Backward(b.loss, bs.Workers(0))) }},
	{"cancelled context", context.Canceled, func(b *bench) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return sweepError(b.tape.Backward(b.loss, bs.Context(ctx)))
	}},

	// Gradients.
	{"gradient that was not asked for", bs.ErrNoGradient, func(b *bench) error { b.sweep().Of(b.x); return nil }},
	{"gradient of what is not connected", bs.ErrNoGradient, func(b *bench) error {
		b.sweep().Of(bs.NewParam("v", f32(2)))
		return nil
	}},
	{"gradient that was let go", bs.ErrNoGradient, func(b *bench) error { b.sweep().Of(b.h); return nil }},
	{"zeros for a gradient that was let go", bs.ErrNoGradient, func(b *bench) error { b.sweep().OrZeros(b.h); return nil }},
	{"tangent of what depends on no seed", bs.ErrNoGradient, func(b *bench) error {
		g, err := b.tape.Forward([]bs.Seed{{Tensor: b.x, Tangent: f32(1, 2)}})
		if err == nil {
			g.Of(b.w)
		}
		return err
	}},
}

// lines makes a text independent of where the checkout and the call stand.
var lines = regexp.MustCompile(`\S*?(\w+\.go):\d+`)

// Law 8: each misuse has its kind, its text says what is wrong, where, and what
// to do, and the tape is none the worse.
func TestEachMisuseHasItsError(t *testing.T) {
	var text strings.Builder
	for _, m := range misuses {
		b := newBench()
		nodes := b.tape.Len()
		var err error
		if thrown := caught(func() { err = m.do(b) }); thrown != nil {
			err = thrown
		}
		var e *bs.Error
		if !errors.Is(err, m.kind) || !errors.As(err, &e) {
			t.Errorf("%s: %v, not of the kind %q", m.name, err, m.kind)
			continue
		}
		if e.Do == "" || e.What == "" {
			t.Errorf("%s: %v does not say what to do", m.name, err)
		}
		if !strings.Contains(e.Site, "misuse_test.go:") {
			t.Errorf("%s: %v does not say where (%q)", m.name, err, e.Site)
		}
		if e.Kind == bs.ErrShape && len(e.Shapes) == 0 && !strings.Contains(e.What, "[") && e.Op != "Item" {
			t.Errorf("%s: %v does not say the shapes", m.name, err)
		}
		if b.tape.Len() > nodes {
			t.Errorf("%s: the tape grew from %d to %d nodes", m.name, nodes, b.tape.Len())
		}
		verified(t, b.tape)
		fmt.Fprintf(&text, "# %s\n%s\n\n", m.name, lines.ReplaceAllString(err.Error(), "$1:N"))
	}
	golden(t, "misuse.golden", text.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		a, b := strings.Split(string(want), "\n"), strings.Split(got, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("%s, line %d: want\n%s\ngot\n%s\n(-update rewrites it)", path, i+1, a[i], b[i])
			}
		}
		t.Fatalf("%s has %d lines, the test made %d (-update rewrites it)", path, len(a), len(b))
	}
}

// An op that fails takes back all that it had added: leaves that joined, views
// that were recorded again, outputs. What comes after is as if it had not been.
func TestFailedOpsLeaveTheTapeUnchanged(t *testing.T) {
	want := newBench()
	wanted := bs.Data[float32](want.sweep().Of(want.w))

	b := newBench(bs.Sites())
	v := bs.NewParam("v", f32(3, 5))
	bad := []func(){
		func() { b.x.Add(v) },                                 // a parameter joined
		func() { b.x.MatMul(v.T()) },                          // a view was recorded
		func() { b.x.MatMul(v.T().Slice(bs.Range{Stop: 4})) }, // two views were
		func() { b.x.Add(f32(1, 2).Cast(bs.Float64)) },        // a constant joined
		func() { b.x.Linear(b.w, v.Index(0)) },                // some joined, some had before
		func() { bs.Concat(0, b.x, b.w.T(), v) },
		func() { b.x.Split(1, 1, 2) },
		func() { b.w.Embedding(b.tape.Input("i", bs.New([]int64{0}))).Add(v) },
		func() { b.y.Softmax(4) },
		func() { b.x.Take(bs.New([]int64{9}), 1) },
	}
	for i, f := range bad {
		n := b.tape.Len()
		if i == 7 {
			n++ // the lookup itself succeeds
		}
		if err := caught(f); err == nil {
			t.Errorf("op %d did not fail", i)
		}
		if b.tape.Len() != n {
			t.Errorf("op %d left %d nodes, not %d", i, b.tape.Len(), n)
		}
		verified(t, b.tape)
	}
	g := b.sweep()
	if got := bs.Data[float32](g.Of(b.w)); firstBit(wanted, got) >= 0 {
		t.Errorf("dw is %v after failed ops, not %v", got, wanted)
	}
	if s := g.State(v); s != bs.Unconnected {
		t.Errorf("a parameter whose ops all failed is %s", s)
	}
	verified(t, b.tape)
}

// A recorded sweep that fails takes its own nodes back.
func TestFailedRecordedSweepTakesItsNodesBack(t *testing.T) {
	b := newBench()
	n := b.tape.Len()
	visits := 0
	err := caughtAny(func() {
		b.tape.Backward(b.loss, bs.Recorded(), bs.Observe(func(bs.Event) {
			if visits++; visits == 4 {
				panic("enough")
			}
		}))
	})
	if err != "enough" || b.tape.Len() != n {
		t.Errorf("panicked with %v and left %d nodes, not %d", err, b.tape.Len(), n)
	}
	verified(t, b.tape)
	if _, err := b.tape.Backward(b.loss, bs.Recorded()); err != nil {
		t.Error(err)
	}
	verified(t, b.tape)
}

func caughtAny(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// A panic in an observer, at whatever event and on whatever worker, surfaces at
// the caller; after Reset the tape gives the same bits as before.
func TestObserverPanicsSurface(t *testing.T) {
	d := newDAG(*lawSeed)
	tape := bs.NewTape()
	g := d.record(tape, false)
	grads, err := tape.BackwardFrom(g.roots, bs.Retain())
	if err != nil {
		t.Fatal(err)
	}
	want := answerOf(grads, g.asked)
	for _, workers := range []int{1, 2, 8} {
		for at := 0; at < 60; at += 7 {
			for _, retain := range []bool{false, true} {
				tape.Reset()
				g = d.record(tape, false)
				seen := 0
				opts := []bs.SweepOption{bs.Workers(workers), bs.Observe(func(bs.Event) {
					if seen++; seen > at {
						panic(at)
					}
				})}
				if retain {
					opts = append(opts, bs.Retain())
				}
				if r := caughtAny(func() { tape.BackwardFrom(g.roots, opts...) }); r != at {
					t.Fatalf("%d workers: event %d panicked with %v", workers, at, r)
				}
				if seen != at+1 {
					t.Errorf("%d workers: the observer was called %d times after it had panicked", workers, seen-at-1)
				}
				if !retain {
					tape.Reset()
					g = d.record(tape, false)
				}
				verified(t, tape)
				grads, err := tape.BackwardFrom(g.roots)
				if err != nil {
					t.Fatal(err)
				}
				if d := want.differs(answerOf(grads, g.asked)); d != "" {
					t.Fatalf("%d workers, after a panic at event %d: %s", workers, at, d)
				}
			}
		}
	}
}

// An observer that ends its goroutine ends the sweep, and nothing waits for it.
func TestObserverThatEndsItsGoroutine(t *testing.T) {
	for _, workers := range []int{1, 4} {
		b := newBench()
		done := make(chan any, 1)
		go func() {
			defer close(done)
			defer func() { done <- recover() }()
			b.tape.Backward(b.loss, bs.Workers(workers), bs.Observe(func(bs.Event) { runtime.Goexit() }))
		}()
		<-done
		b.tape.Reset()
		verified(t, b.tape)
	}
}

// Catch takes misuses and nothing else.
func TestCatchTakesMisusesAlone(t *testing.T) {
	own := errors.New("mine")
	for _, p := range []any{own, "text", &bs.Error{Kind: bs.ErrShape}, 7} {
		if r := caughtAny(func() { _ = caught(func() { panic(p) }) }); r != p {
			t.Errorf("panic %v came out as %v", p, r)
		}
	}
	var none *bs.Tape
	if r := caughtAny(func() { _ = caught(func() { none.Len() }) }); r == nil {
		t.Error("a nil dereference was taken for a misuse")
	}
	err := caught(func() { f32(2).Add(f32(3)) })
	if r := caughtAny(func() { _ = caught(func() { panic(err) }) }); r != err {
		t.Error("an error that was caught once is caught again when someone panics with it")
	}
}

// The text of a recording error names op, shapes and place.
func TestRecordingErrorsNameOpShapesAndPlace(t *testing.T) {
	b := newBench()
	err := caught(func() { b.x.MatMul(f32(3, 4)) })
	var e *bs.Error
	if !errors.As(err, &e) || e.Op != "matmul" || len(e.Shapes) != 2 || !slices.Equal(e.Shapes[0], []int{1, 2}) || !strings.HasPrefix(e.Site[strings.LastIndex(e.Site, "/")+1:], "misuse_test.go:") {
		t.Errorf("%+v", e)
	}
}
