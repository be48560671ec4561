package optim_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// Behaviour case accumulate-and-clear: sums over separate losses are a Total's.
func TestAccumulateAndClear(t *testing.T) {
	x := backsweep.NewParam("x", backsweep.New([]float64{1, 2}))
	sum := optim.NewTotal(x)
	sweep := func(f func(x *backsweep.Tensor) *backsweep.Tensor) {
		t.Helper()
		tape := backsweep.NewTape()
		g, err := tape.Backward(f(tape.Watch(x)))
		if err != nil {
			t.Fatal(err)
		}
		if err := sum.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...float64) {
		t.Helper()
		g, state := sum.Lookup(x)
		if state != backsweep.Computed || !slices.Equal(backsweep.Data[float64](g), want) {
			t.Errorf("the total is %v (%s), not %v", g, state, want)
		}
	}
	square := func(x *backsweep.Tensor) *backsweep.Tensor { return x.Mul(x).Sum() }
	sweep(func(x *backsweep.Tensor) *backsweep.Tensor { return x.Mul(backsweep.New([]float64{10, 20})).Sum() })
	sweep(square)
	expect(12, 24)
	sum.Clear()
	sweep(func(x *backsweep.Tensor) *backsweep.Tensor { return x.MulScalar(3).Sum() })
	expect(3, 3)
}

// Behaviour case concurrent-accumulate: sweeps on eight goroutines return their
// gradients as values; a Total belongs to one goroutine at a time, so adding
// takes a lock.
func TestConcurrentAccumulate(t *testing.T) {
	x := backsweep.NewParam("x", backsweep.Scalar(2.0))
	sum := optim.NewTotal(x)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			tape := backsweep.NewTape()
			for range 1000 {
				tape.Reset()
				g, err := tape.Backward(tape.Watch(x).MulScalar(1))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				err = sum.Add(g)
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	if g, _ := sum.Lookup(x); g.Item() != 8000 {
		t.Errorf("8 x 1,000 gradients of 1 add up to %v", g.Item())
	}
}
