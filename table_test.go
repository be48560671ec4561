package backsweep_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
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
		grads, err := tape.BackwardFrom(roots)
		if err != nil {
			t.Fatal(err)
		}
		if c := grads.Cost(); c > 3*forward {
			t.Errorf("the sweep takes %d multiply-adds, %.1f times the forward's %d", c, float64(c)/float64(forward), forward)
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
