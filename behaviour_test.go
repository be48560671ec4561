package backsweep_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// Cases of the behaviour list that concern the engine, each named after its id.
//
// Behaviour case caller-buffer-reuse.
func TestCallerBufferReuse(t *testing.T) {
	buf := []float64{1, 2}
	tape := bs.NewTape()
	x := tape.Watch(bs.New(buf))
	loss := x.Mul(x).Sum()
	buf[0], buf[1] = 9, 9
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	dx := bs.Data[float64](g.Of(x))
	if !slices.Equal(dx, []float64{2, 4}) {
		t.Errorf("dx is %v", dx)
	}
	dx[0] = 7 // what Data returns is a copy
	if again := g.Of(x).At(0); again != 2 {
		t.Errorf("dx is %v after a copy of it was changed", again)
	}
}

// Behaviour case saved-output-modified.
func TestSavedOutputModified(t *testing.T) {
	for name, set := range map[string]func(y *bs.Tensor){
		"Fill":    func(y *bs.Tensor) { y.Fill(0) },
		"SetAt":   func(y *bs.Tensor) { y.SetAt(0, 0) },
		"SetData": func(y *bs.Tensor) { bs.SetData(y, []float64{0, 0}) },
		"Update":  func(y *bs.Tensor) { bs.Update(y, func(d []float64) { clear(d) }) },
	} {
		tape := bs.NewTape()
		x := tape.Watch(bs.New([]float64{0, 1}))
		y := x.Exp()
		if err := caught(func() { set(y) }); !errors.Is(err, bs.ErrNotALeaf) {
			t.Errorf("%s on a saved output: %v", name, err)
		}
		g, err := tape.Backward(y.Sum())
		if err != nil {
			t.Fatal(err)
		}
		if dx := bs.Data[float64](g.Of(x)); !slices.Equal(dx, []float64{1, math.E}) {
			t.Errorf("%s: dx is %v", name, dx)
		}
		// A saved input may be set, and the sweep then refuses.
		tape.Reset()
		x = tape.Watch(bs.New([]float64{0, 1}))
		loss := x.Mul(x).Sum()
		set(x)
		if _, err := tape.Backward(loss); !errors.Is(err, bs.ErrChanged) {
			t.Errorf("%s on a saved input: %v", name, err)
		}
		// One that no rule reads back may be changed freely.
		tape.Reset()
		x = tape.Watch(bs.New([]float64{0, 1}))
		loss = x.Neg().Sum()
		set(x)
		if _, err := tape.Backward(loss); err != nil {
			t.Errorf("%s on an input that nothing saved: %v", name, err)
		}
	}
}

// Behaviour case backward-retained.
func TestBackwardRetained(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.Scalar(2.0))
	loss := x.Mul(x).Mul(x)
	for pass := range 3 {
		g, err := tape.Backward(loss, bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		if d := g.Of(x).Item(); d != 12 {
			t.Errorf("pass %d: dx is %v", pass, d)
		}
	}
}

// Behaviour case backward-twice.
func TestBackwardTwice(t *testing.T) {
	for name, f := range map[string]func(x *bs.Tensor) *bs.Tensor{
		"2x": func(x *bs.Tensor) *bs.Tensor { return x.MulScalar(2) }, "exp": (*bs.Tensor).Exp, "x": func(x *bs.Tensor) *bs.Tensor { return x },
	} {
		tape := bs.NewTape()
		x := tape.Watch(bs.Scalar(1.0))
		y := f(x)
		g, err := tape.Backward(y)
		if err != nil {
			t.Fatal(err)
		}
		before := g.Of(x).Item()
		if _, err := tape.Backward(y); !errors.Is(err, bs.ErrSwept) {
			t.Errorf("%s: the second sweep says %v", name, err)
		}
		if after := g.Of(x).Item(); after != before {
			t.Errorf("%s: the second sweep changed the gradient from %v to %v", name, before, after)
		}
	}
}

// Behaviour case seed-missing and seed-shape.
func TestSeedMissingAndSeedShape(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.Zeros(bs.Float32, 2, 3))
	for _, shape := range [][]int{{2, 3}, {1, 6}, {6}} {
		if _, err := tape.Backward(x.Reshape(shape...)); !errors.Is(err, bs.ErrCotangent) {
			t.Errorf("a root of shape %v without a cotangent: %v", shape, err)
		}
	}
	for _, shape := range [][]int{{3}, {2, 1}, {}, {3, 2}} {
		var e *bs.Error
		_, err := tape.Backward(x, bs.Cotangent(bs.Zeros(bs.Float32, shape...)))
		if !errors.Is(err, bs.ErrCotangent) || !errors.As(err, &e) || len(e.Shapes) != 2 || !slices.Equal(e.Shapes[1], shape) {
			t.Errorf("a cotangent of shape %v: %v", shape, err)
		}
	}
	if _, err := tape.Backward(x.Sum(), bs.Cotangent(bs.Zeros(bs.Float32, 10, 2))); !errors.Is(err, bs.ErrCotangent) {
		t.Errorf("a scalar's cotangent of shape [10,2]: %v", err)
	}
	verified(t, tape)
}

// Behaviour case visit-once-counter.
func TestVisitOnceCounter(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.Scalar(3.0))
	a := x.Square()
	loss := a.Exp().Mul(a.Tanh()).Neg()
	var first float64
	visits := map[int]int{}
	for pass := range 3 {
		g, err := tape.Backward(loss, bs.Retain(), bs.Observe(func(e bs.Event) {
			if e.Kind == record.Visited {
				visits[e.Node]++
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if d := g.Of(x).Item(); pass == 0 {
			first = d
		} else if d != first {
			t.Errorf("pass %d: %v, not %v", pass, d, first)
		}
	}
	for n := range tape.Len() {
		if visits[n] != 3 {
			t.Errorf("node %d was visited %d times in 3 sweeps", n, visits[n])
		}
	}
}

// Behaviour case bitwise-determinism.
func TestBitwiseDeterminism(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float32{0.1, -0.7, 1.3}))
	var want []float32
	for run := range 200 {
		tape := bs.NewTape()
		x := tape.Input("x", bs.New([]float32{0.3, 0.2, 0.9}))
		var terms []*bs.Tensor
		for i := range 50 {
			terms = append(terms, w.Mul(x).MulScalar(1/float64(i+3)).Tanh())
		}
		g, err := tape.Backward(bs.Stack(0, terms...).Sum(), bs.Workers(1+run%4))
		if err != nil {
			t.Fatal(err)
		}
		got := bs.Data[float32](g.Of(w))
		if want == nil {
			want = got
		}
		if firstBit(want, got) >= 0 {
			t.Fatalf("run %d: %v, not %v", run, got, want)
		}
	}
	// Other processes, with other numbers of processors, print the same bits.
	line := fmt.Sprintf("bits %08x", bits32(want))
	if os.Getenv("BACKSWEEP_TEST_BITS") != "" {
		fmt.Println(line)
		return
	}
	for procs := 1; procs <= 5; procs++ {
		again := exec.Command(os.Args[0], "-test.run=^TestBitwiseDeterminism$")
		again.Env = append(os.Environ(), "BACKSWEEP_TEST_BITS=1", fmt.Sprintf("GOMAXPROCS=%d", procs))
		out, err := again.Output()
		if err != nil || !strings.Contains(string(out), line) {
			t.Errorf("a process with %d processors gave %q (%v), not %q", procs, out, err, line)
		}
	}
}

func bits32(x []float32) (bits []uint32) {
	for _, v := range x {
		bits = append(bits, math.Float32bits(v))
	}
	return bits
}

func TestUnusedGradientDetached(t *testing.T) {
	v := bs.NewParam("v", bs.Zeros(bs.Float64, 2, 3))
	tape := bs.NewTape()
	x := tape.Watch(bs.Scalar(1.0))
	g, err := tape.Backward(x.Exp())
	if err != nil {
		t.Fatal(err)
	}
	z := g.OrZeros(v)
	if z.Tape() != nil || z.Node() != -1 || z.DType() != bs.Float64 || !slices.Equal(z.Shape(), []int{2, 3}) || z.IsParam() {
		t.Errorf("the zeros are %v on %v", z, z.Tape())
	}
	bs.NewTape().Input("z", z) // they were computed from nothing
}

// Behaviour case size-beyond-int32.
func TestSizeBeyondInt32(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.Scalar(float32(1))).BroadcastTo(4740, 840, 840)
	if n := x.Len(); n != 3344544000 {
		t.Errorf("%d elements", n)
	}
	if v := x.At(4739, 839, 839); v != 1 {
		t.Errorf("the last element is %v", v)
	}
	verified(t, tape)
}

// A second derivative through a recorded sweep, and a third.
func TestGradientsCanBeDifferentiatedAgain(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.Scalar(1.5))
	y := x.Square().Square() // x⁴
	for _, want := range []float64{4 * 1.5 * 1.5 * 1.5, 12 * 1.5 * 1.5, 24 * 1.5, 24} {
		g, err := tape.Backward(y, bs.Recorded())
		if err != nil {
			t.Fatal(err)
		}
		y = g.Of(x)
		if got := y.Item(); got != want {
			t.Errorf("%v, not %v", got, want)
		}
		verified(t, tape)
	}
}

// The values that a sweep must keep: the loss, what Keep names, leaves.
func TestWhatLivesOnAfterASweep(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float32{1, 2}))
	h := x.MulScalar(3).Keep()
	v := h.Reshape(2, 1) // shares the storage of what is kept
	y := h.Square()
	loss := y.Sum()
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*bs.Tensor{x, h, v, loss, g.Of(x)} {
		if err := caught(func() { x.Float64s() }); err != nil {
			t.Error(err)
		}
	}
	if err := caught(func() { y.Float64s() }); !errors.Is(err, bs.ErrReleased) {
		t.Errorf("reading what was let go says %v", err)
	}
	if s := y.String(); s != "float32[2] (let go)" {
		t.Errorf("prints %q", s)
	}
}
