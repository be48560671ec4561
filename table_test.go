package backsweep_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

var seed = flag.Uint64("seed", 1, "seed of the table's tests")

// source returns random numbers that depend on the flag -seed alone, and
// prints the seed when the test fails.
func source(t *testing.T) *rand.Rand {
	t.Helper()
	t.Logf("-seed %d", *seed)
	return rand.New(rand.NewPCG(*seed, 0x7461626c65))
}

// eachSample runs f on every sample of every row, in float64.
func eachSample(t *testing.T, f func(t *testing.T, o bs.OpInfo, s bs.Sample)) {
	rng := source(t)
	for _, o := range bs.Ops() {
		for k, s := range bs.Samples(o.Name, rng, bs.Float64) {
			t.Run(fmt.Sprintf("%s/%d", o.Name, k), func(t *testing.T) { f(t, o, s) })
		}
	}
}

// Every row, every sample: reverse and forward against central differences, and
// against each other, once and twice.
func TestEveryRowTwiceInBothModes(t *testing.T) {
	eachSample(t, func(t *testing.T, o bs.OpInfo, s bs.Sample) {
		if o.Constant {
			unconnected(t, o, s)
			return
		}
		if err := gradcheck.Op(o.Name, s.In, s.At, gradcheck.Seed(*seed), gradcheck.Full(), gradcheck.Twice()); err != nil {
			t.Error(err)
		}
	})
}

// unconnected checks that nothing flows through a row: neither a gradient nor a
// tangent, which is not a number that happens to be 0.
func unconnected(t *testing.T, o bs.OpInfo, s bs.Sample) {
	tape := bs.NewTape()
	in := append([]*bs.Tensor{}, s.In...)
	var x *bs.Tensor
	for i := range in {
		if in[i].DType().IsFloat() {
			in[i] = tape.Watch(in[i])
			x = in[i]
		}
	}
	if x == nil {
		return
	}
	out, err := bs.Call(o.Name, in, s.At)
	if err != nil {
		t.Fatal(err)
	}
	y := out[0].Cast(bs.Float64).Sum()
	tangents, err := tape.Forward([]bs.Seed{{Tensor: x, Tangent: x.Clone()}})
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := tangents.Lookup(y); ok {
		t.Errorf("has a tangent: %v", d)
	}
	grads, err := tape.Backward(y)
	if err != nil {
		t.Fatal(err)
	}
	if d, state := grads.Lookup(x); state != bs.Unconnected {
		t.Errorf("has a gradient: %v, %v", d, state)
	}
}

// A row's sweep may cost three times what it cost to record it, counted in
// multiply-adds (Baur and Strassen, "The complexity of partial derivatives",
// 1983, bound it by a small constant for every function).
func TestSweepCostsAtMostThreeTimesItsForward(t *testing.T) {
	eachSample(t, func(t *testing.T, o bs.OpInfo, s bs.Sample) {
		if o.Name == "custom" {
			return // what a user's functions cost is not counted
		}
		tape := bs.NewTape()
		in := append([]*bs.Tensor{}, s.In...)
		for i := range in {
			if in[i].DType().IsFloat() {
				in[i] = tape.Watch(in[i])
			}
		}
		out, err := bs.Call(o.Name, in, s.At)
		if err != nil {
			t.Fatal(err)
		}
		roots := rootsOf(out, source(t))
		if len(roots) == 0 {
			return
		}
		rec, err := tape.Record()
		if err != nil {
			t.Fatal(err)
		}
		forward := rec.Nodes[len(rec.Nodes)-1].ForwardCost
		grads, err := tape.BackwardFrom(roots, bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		if c := grads.Cost(); c > 3*forward {
			t.Errorf("the sweep takes %d multiply-adds, %.1f times the forward's %d", c, float64(c)/float64(forward), forward)
		}
		recorded, err := tape.BackwardFrom(roots, bs.Recorded())
		if err != nil {
			t.Fatal(err)
		}
		if recorded.Cost() != grads.Cost() {
			t.Errorf("recorded, the sweep takes %d multiply-adds, else %d", recorded.Cost(), grads.Cost())
		}
	})
}

// rootsOf gives each float output that is on a tape a random cotangent.
func rootsOf(out []*bs.Tensor, rng *rand.Rand) []bs.Root {
	var roots []bs.Root
	for _, y := range out {
		if y.Tape() != nil && y.DType().IsFloat() {
			c := bs.Rand(rng, -1, 1, y.Shape()...).Cast(y.DType())
			roots = append(roots, bs.Root{Tensor: y, Cotangent: c})
		}
	}
	return roots
}

// What a row declares that its rules read back, a rule does read back on some
// sample; that none reads what it does not declare, the engine checks itself.
func TestPayloadMasksAreHonest(t *testing.T) {
	for _, o := range bs.Ops() {
		what, hide := bs.Reads(o.Name)
		for k := range what {
			restore := hide[k]()
			if !missed(o, source(t)) {
				t.Errorf("%s declares that its rules read %s back, but none does", o.Name, what[k])
			}
			restore()
		}
	}
}

// missed reports whether a rule of the row, on some sample, reads what the row
// does not declare.
func missed(o bs.OpInfo, rng *rand.Rand) (yes bool) {
	for _, s := range bs.Samples(o.Name, rng, bs.Float64) {
		tape := bs.NewTape()
		in := append([]*bs.Tensor{}, s.In...)
		var seeds []bs.Seed
		for i := range in {
			if in[i].DType().IsFloat() {
				in[i] = tape.Watch(in[i])
				seeds = append(seeds, bs.Seed{Tensor: in[i], Tangent: s.In[i]})
			}
		}
		out, err := bs.Call(o.Name, in, s.At)
		if err != nil {
			panic(err)
		}
		roots := rootsOf(out, rng)
		if len(roots) == 0 {
			continue
		}
		if fails(func() { tape.BackwardFrom(roots, bs.Retain()) }) || fails(func() { tape.Forward(seeds) }) {
			return true
		}
	}
	return false
}

// fails reports whether f panics with a fault of the table.
func fails(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return
}

// Operands that do not lie densely: each is a view of a larger tensor, every
// other position backwards, with the axes reversed. Values and derivatives are
// those of the dense operands.
func TestEveryRowOnStridedOperands(t *testing.T) {
	eachSample(t, func(t *testing.T, o bs.OpInfo, s bs.Sample) {
		rng := source(t)
		large := make([]*bs.Tensor, len(s.In))
		view := func(in []*bs.Tensor) []*bs.Tensor {
			out := make([]*bs.Tensor, len(in))
			for i, x := range in {
				out[i] = strided(x)
			}
			return out
		}
		for i, x := range s.In {
			large[i] = enlarge(rng, x)
		}
		views := view(large)
		for i, x := range s.In {
			mustEqual(t, "operand", views[i], x)
		}
		want, err := bs.Call(o.Name, s.In, s.At)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bs.Call(o.Name, views, s.At)
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			mustBeClose(t, "output", got[j], want[j], 1e-14)
		}
		if o.Constant {
			return
		}
		f := func(in []*bs.Tensor) *bs.Tensor { return weighted(t, o, view(in), s.At) }
		if err := gradcheck.Check(f, large, gradcheck.Constant(o.NoGrad...), gradcheck.Twice()); err != nil {
			t.Error(err)
		}
	})
}

// enlarge makes a tensor of which strided gives x back.
func enlarge(rng *rand.Rand, x *bs.Tensor) *bs.Tensor {
	shape := x.Shape()
	slices.Reverse(shape)
	n := 1
	for a := range shape {
		shape[a] = 2*shape[a] + 1
		n *= shape[a]
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = rng.Float64()
	}
	place := bs.New(d, shape...).Cast(x.DType())
	// Where strided looks, by position.
	at := strided(bs.Arange(n).Reshape(shape...))
	flat := place.Reshape(-1).Float64s()
	values := x.Float64s()
	for k, p := range bs.Data[int64](at) {
		flat[p] = values[k]
	}
	return bs.New(flat, shape...).Cast(x.DType())
}

// strided is the view of every other position of each axis, from the last but
// one back, with the axes reversed.
func strided(x *bs.Tensor) *bs.Tensor {
	ranges := make([]bs.Range, x.Rank())
	for a := range ranges {
		ranges[a] = bs.Range{Start: -2, Stop: -bs.End, Step: -2}
	}
	return x.Slice(ranges...).Transpose()
}

// weighted is a scalar in which every element of every float output counts
// differently, and more than linearly.
func weighted(t *testing.T, o bs.OpInfo, in []*bs.Tensor, at bs.Attrs) *bs.Tensor {
	out, err := bs.Call(o.Name, in, at)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(*seed, 7))
	sum := bs.Scalar(0.0)
	for _, y := range out {
		if y.DType().IsFloat() {
			w := bs.Rand(rng, -1, 1, y.Shape()...).Cast(y.DType())
			sum = sum.Add(y.Mul(w).Add(y.Square().MulScalar(0.1)).Sum().Cast(bs.Float64))
		}
	}
	return sum
}

func mustEqual(t *testing.T, what string, got, want *bs.Tensor) {
	t.Helper()
	mustBeClose(t, what, got, want, 0)
}

// mustBeClose compares shapes, types and values; NaN equals NaN.
func mustBeClose(t *testing.T, what string, got, want *bs.Tensor, tol float64) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("%s: %s %v, want %s %v", what, got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	a, b := got.Float64s(), want.Float64s()
	for i := range b {
		if a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i]) || math.Abs(a[i]-b[i]) <= tol*(1+math.Abs(b[i])) {
			continue
		}
		t.Fatalf("%s: element %d is %v, want %v\ngot  %v\nwant %v", what, i, a[i], b[i], got, want)
	}
}
