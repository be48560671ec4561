package optim_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

func rates(t *testing.T, name string, s optim.Schedule, want ...float64) {
	t.Helper()
	for i, w := range want {
		if got := s(i); math.Abs(got-w) > 1e-12 {
			t.Errorf("%s: the rate of update %d is %v, want %v", name, i, got, w)
		}
	}
}

func TestSchedules(t *testing.T) {
	rates(t, "step", optim.StepDecay(1, 0.5, 2), 1, 1, 0.5, 0.5, 0.25)
	rates(t, "multistep", optim.MultiStep(1, 0.1, 3, 1, 3), 1, 0.1, 0.1, 0.001)
	rates(t, "cosine", optim.Cosine(1, 0, 2), 1, 0.5, 0, 0.5)
	rates(t, "restarts", optim.CosineRestarts(1, 0, 2, 2), 1, 0.5, 1, (1+math.Sqrt(0.5))/2, 0.5, (1-math.Sqrt(0.5))/2, 1)
	rates(t, "restarts of one length", optim.CosineRestarts(1, 0, 2, 1), 1, 0.5, 1, 0.5, 1)
	rates(t, "warm-up", optim.WarmUp(3, optim.StepDecay(1, 0.5, 1)), 0.25, 0.5, 0.75, 1, 0.5)
	rates(t, "one cycle", optim.OneCycle(optim.Cycle{Max: 1, Total: 10, FinalDiv: 4}), 0.04, 0.52, 1)
	if got := optim.OneCycle(optim.Cycle{Max: 1, Total: 10, FinalDiv: 4})(100); got != 0.01 {
		t.Errorf("one cycle: long after the end the rate is %v", got)
	}
	if got := optim.CosineRestarts(1, 0, 1, 3)(math.MaxInt); !(got >= 0 && got <= 1) {
		t.Errorf("restarts: after very long the rate is %v", got)
	}
}

// schedule-first-step: the first update uses the initial rate, and reading the
// rate does not advance it.
func TestScheduleFirstStep(t *testing.T) {
	w := param(backsweep.Float64, 0)
	sgd := optim.NewSGD(0, w)
	sgd.Schedule = optim.StepDecay(1, 0.5, 1)
	for _, want := range []float64{1, 0.5, 0.25} {
		for range 3 {
			if sgd.Rate() != want {
				t.Errorf("the rate is %v, want %v", sgd.Rate(), want)
			}
		}
		before := w.Item()
		step(t, sgd, sweep(t, []*backsweep.Tensor{w}, []*backsweep.Tensor{backsweep.New([]float64{1})}))
		if used := before - w.Item(); used != want {
			t.Errorf("the update used %v, want %v", used, want)
		}
	}
}

func TestEverySizeOfCycleStaysBetweenItsRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := optim.Cycle{Max: 1, Total: rapid.IntRange(1, 50).Draw(t, "total"), Up: rapid.Float64Range(0.01, 0.99).Draw(t, "up")}
		s := optim.OneCycle(c)
		for u := range c.Total + 3 {
			if r := s(u); !(r >= 0.04/1e4*(1-1e-9) && r <= 1+1e-12) {
				t.Fatalf("update %d of %+v: %v", u, c, r)
			}
		}
		if r := s(c.Total - 1); math.Abs(r-0.04/1e4) > 1e-15 {
			t.Fatalf("the last rate is %v", r)
		}
	})
}

func TestGroupsHaveRatesAndDecaysOfTheirOwn(t *testing.T) {
	a, b := backsweep.NewParam("a", backsweep.Scalar(1.0)), backsweep.NewParam("b", backsweep.Scalar(1.0))
	sgd := optim.NewSGD(0.5, a)
	sgd.WeightDecay = 0.1
	g := sgd.AddGroup(b)
	if g.LR != 0.5 || g.WeightDecay != 0.1 {
		t.Errorf("a new group begins with %+v", g)
	}
	g.LR, g.WeightDecay = 0.25, 0
	one := backsweep.Scalar(1.0)
	step(t, sgd, sweep(t, sgd.Params(), []*backsweep.Tensor{one, one}))
	near(t, "a", a, 1-0.5*1.1)
	near(t, "b", b, 0.75)
	g.Schedule = optim.Constant(0.125)
	step(t, sgd, sweep(t, sgd.Params(), []*backsweep.Tensor{nil, one}))
	near(t, "b", b, 0.625)
}
