package optim_test

import (
	"slices"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// frozen-parameter: y = w2·(w1·x) with w2 frozen gives w1 the gradient w2·x and
// w2 none, and steps with momentum and decay leave w2 as it is, bit for bit.
func TestFrozenParameter(t *testing.T) {
	for _, k := range keepers {
		w1, w2 := backsweep.NewParam("w1", backsweep.Scalar(0.3)), backsweep.NewParam("w2", backsweep.Scalar(0.7))
		o := k.make(w1, w2)
		// It was not frozen at first, so that there is a momentum to carry it on.
		step(t, o, sweep(t, []*backsweep.Tensor{w1, w2}, []*backsweep.Tensor{backsweep.Scalar(1.0), backsweep.Scalar(1.0)}))
		frozen := bits([]*backsweep.Tensor{w2})
		for range 10 {
			tape := backsweep.NewTape()
			x := tape.Input("x", backsweep.Scalar(2.0))
			g, err := tape.Backward(w2.Detach().Mul(w1.Mul(x)))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := g.Of(w1).Item(), w2.Item()*2; got != want {
				t.Errorf("%s: the gradient of w1 is %v, want %v", k.name, got, want)
			}
			if d, state := g.Lookup(w2); d != nil || state != backsweep.Unconnected {
				t.Errorf("%s: the frozen parameter has a gradient: %v, %v", k.name, d, state)
			}
			step(t, o, g)
		}
		if !slices.Equal(bits([]*backsweep.Tensor{w2}), frozen) {
			t.Errorf("%s: the frozen parameter moved to %v", k.name, w2)
		}
	}
}

// optimizer-step-not-recorded: after 1,000 steps of each optimizer a parameter is
// still a leaf, and the tape holds the nodes of one step.
func TestOptimizerStepNotRecorded(t *testing.T) {
	for _, k := range keepers {
		w := param(backsweep.Float64, 1, 2)
		o := k.make(w)
		tape := backsweep.NewTape()
		nodes := 0
		for n := range 1000 {
			tape.Reset()
			g, err := tape.Backward(tape.Watch(w).Square().Sum())
			if err != nil {
				t.Fatal(err)
			}
			var from optim.Gradients = g
			if n%2 == 0 {
				if from, _, err = optim.ClipNorm(g, 1, 2, w); err != nil {
					t.Fatal(err)
				}
			}
			step(t, o, from)
			if n == 0 {
				nodes = tape.Len()
			}
		}
		if !w.IsParam() || w.Tape() != nil || w.Node() != -1 || tape.Len() != nodes || nodes != 2 {
			t.Errorf("%s: the parameter is on %v, produced by %d; %d nodes, after one step %d", k.name, w.Tape(), w.Node(), tape.Len(), nodes)
		}
	}
}
