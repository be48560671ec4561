package optim_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/fit"
	"github.com/backsweep/backsweep/optim"
)

// keeper is an optimizer whose state can be saved.
type keeper interface {
	Step(optim.Gradients) error
	State() map[string]*backsweep.Tensor
	SetState(map[string]*backsweep.Tensor) error
	Params() []*backsweep.Tensor
	AddGroup(...*backsweep.Tensor) *optim.Group
}

var keepers = []struct {
	name string
	make func(params ...*backsweep.Tensor) keeper
}{
	{"sgd", func(p ...*backsweep.Tensor) keeper { return optim.NewSGD(0.1, p...) }},
	{"sgd with momentum", func(p ...*backsweep.Tensor) keeper {
		o := optim.NewSGD(0.1, p...)
		o.Momentum, o.Dampening, o.WeightDecay = 0.9, 0.3, 0.01
		return o
	}},
	{"nesterov", func(p ...*backsweep.Tensor) keeper {
		o := optim.NewSGD(0.1, p...)
		o.Momentum, o.Nesterov = 0.9, true
		return o
	}},
	{"adam", func(p ...*backsweep.Tensor) keeper { return optim.NewAdam(0.1, p...) }},
	{"adamw by a schedule", func(p ...*backsweep.Tensor) keeper {
		o := optim.NewAdamW(0, p...)
		o.Schedule = optim.WarmUp(2, optim.Cosine(0.1, 0.01, 6))
		return o
	}},
	{"amsgrad", func(p ...*backsweep.Tensor) keeper {
		o := optim.NewAdam(0.1, p...)
		o.AMSGrad, o.WeightDecay = true, 0.01
		return o
	}},
	{"rmsprop", func(p ...*backsweep.Tensor) keeper { return optim.NewRMSProp(0.01, p...) }},
	{"centered rmsprop with momentum", func(p ...*backsweep.Tensor) keeper {
		o := optim.NewRMSProp(0.01, p...)
		o.Centered, o.Momentum, o.WeightDecay = true, 0.5, 0.01
		return o
	}},
	{"adagrad", func(p ...*backsweep.Tensor) keeper { o := optim.NewAdagrad(0.1, p...); o.Initial = 0.1; return o }},
}

// run is a small training: a dense float64 parameter, a row-sparse float32 one,
// and one that has a gradient in even steps only.
type run struct {
	params []*backsweep.Tensor
	tape   *backsweep.Tape
}

func newRun() *run {
	rng := rand.New(rand.NewPCG(7, 7))
	return &run{tape: backsweep.NewTape(), params: []*backsweep.Tensor{
		backsweep.NewParam("dense", backsweep.Randn(rng, 3).Cast(backsweep.Float64)),
		backsweep.NewParam("table", backsweep.Randn(rng, 5, 2)),
		backsweep.NewParam("rare", backsweep.Randn(rng, 2)),
	}}
}

func (r *run) step(t *testing.T, o keeper, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	draw := func(dt backsweep.DType, shape ...int) *backsweep.Tensor {
		return backsweep.Randn(rng, shape...).Cast(dt)
	}
	loss := r.tape.Watch(r.params[0]).Mul(draw(backsweep.Float64, 3)).Sum().Cast(backsweep.Float32)
	index := backsweep.New([]int64{int64(n % 5), int64(n * 3 % 5)})
	loss = loss.Add(r.tape.Watch(r.params[1]).Embedding(index).Mul(draw(backsweep.Float32, 2, 2)).Sum())
	if n%2 == 0 {
		loss = loss.Add(r.tape.Watch(r.params[2]).Mul(draw(backsweep.Float32, 2)).Sum())
	}
	g, err := r.tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	step(t, o, g)
	r.tape.Reset()
}

// bits are all values of tensors, for a comparison that knows -0 and NaN.
func bits(params []*backsweep.Tensor) (out []uint64) {
	for _, p := range params {
		for _, v := range p.Float64s() {
			out = append(out, math.Float64bits(v))
		}
	}
	return out
}

func TestGoingOnFromAStateIsNeverHavingStopped(t *testing.T) {
	for _, k := range keepers {
		for stop := range 5 {
			through := newRun()
			o := k.make(through.params[:2]...)
			o.AddGroup(through.params[2]).LR = 0.05
			var saved map[string]*backsweep.Tensor
			var values []*backsweep.Tensor
			for n := range 8 {
				if n == stop {
					saved = o.State()
					for _, p := range through.params {
						values = append(values, p.Clone())
					}
				}
				through.step(t, o, n)
			}

			again := newRun()
			for i, p := range again.params {
				again.params[i] = backsweep.NewParam(p.Name(), values[i])
			}
			o = k.make(again.params[:2]...)
			o.AddGroup(again.params[2]).LR = 0.05
			if err := o.SetState(saved); err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			for n := stop; n < 8; n++ {
				again.step(t, o, n)
			}
			if !slices.Equal(bits(through.params), bits(again.params)) {
				t.Errorf("%s: stopped after %d steps: %v, without: %v", k.name, stop, again.params, through.params)
			}
		}
	}
}

func TestStateNamesWhatItKeeps(t *testing.T) {
	w := param(backsweep.Float64, 1, 2)
	for name, want := range map[string][]string{
		"sgd":               {"updates", "w/steps"},
		"sgd with momentum": {"updates", "w/steps", "w/velocity"},
		"adam":              {"updates", "w/mean", "w/square", "w/steps"},
		"amsgrad":           {"updates", "w/mean", "w/square", "w/steps", "w/top"},
		"adagrad":           {"updates", "w/steps", "w/sum"},
	} {
		for _, k := range keepers {
			if k.name != name {
				continue
			}
			if got := slices.Sorted(maps.Keys(k.make(w).State())); !slices.Equal(got, want) {
				t.Errorf("%s keeps %v, want %v", name, got, want)
			}
		}
	}
}

func TestAStateThatDoesNotFitIsListed(t *testing.T) {
	w := param(backsweep.Float64, 1, 2)
	o := optim.NewAdam(0.1, w)
	d := o.State()
	delete(d, "w/mean")
	d["x/mean"] = backsweep.Scalar(1.0)
	d["w/square"] = backsweep.Zeros(backsweep.Float64, 3)
	d["w/steps"] = backsweep.Scalar(1.0)
	err := o.SetState(d)
	want := `Adam.SetState: the tensors do not fit: missing: "w/mean"; unexpected: "x/mean"; "w/square" is [3], not [2]; "w/steps" is float64[], not int64[]`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	d = o.State()
	d["updates"] = backsweep.Scalar(int64(-1))
	if err := o.SetState(d); err == nil {
		t.Error("a negative number of updates was taken")
	}
}

func TestStateIsACopy(t *testing.T) {
	r := newRun()
	o := optim.NewAdam(0.1, r.params...)
	r.step(t, o, 0)
	d := o.State()
	before := d["dense/mean"].Float64s()
	r.step(t, o, 1)
	if !slices.Equal(before, d["dense/mean"].Float64s()) || fit.Check(d, o.State()) != nil {
		t.Error("a step changed a state that was taken before")
	}
}
