package state_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
	"github.com/backsweep/backsweep/state"
)

// trainee is a small classifier with running statistics.
type trainee struct {
	Words nn.Embedding
	Norm  nn.BatchNorm
	Out   nn.Linear
}

func newTrainee(seed uint64) *trainee {
	rng := rand.New(rand.NewPCG(seed, 0))
	return &trainee{nn.NewEmbedding(rng, "words", 20, 4, 1), nn.NewBatchNorm("norm", 4), nn.NewLinear(rng, "out", 4, 3)}
}

func (m *trainee) params() []*backsweep.Tensor {
	return append(append(m.Words.Params(), m.Norm.Params()...), m.Out.Params()...)
}

// optimizer is any of package optim.
type optimizer interface {
	Step(optim.Gradients) error
	State() map[string]*backsweep.Tensor
	SetState(map[string]*backsweep.Tensor) error
}

func (m *trainee) train(t *testing.T, o optimizer, from, to int) {
	t.Helper()
	tape := backsweep.NewTape()
	for n := from; n < to; n++ {
		rng := rand.New(rand.NewPCG(99, uint64(n)))
		index, class := make([]int64, 8), make([]int64, 8)
		for i := range index {
			index[i] = rng.Int64N(20)
			class[i] = index[i] % 3
		}
		x := tape.Watch(m.Words.Table).Embedding(backsweep.New(index))
		loss := m.Out.Forward(m.Norm.Train(x).Tanh()).CrossEntropy(backsweep.New(class))
		g, err := tape.Backward(loss)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Step(g); err != nil {
			t.Fatal(err)
		}
		tape.Reset()
	}
}

// Save, load, continue: through a file of either format, with every optimizer,
// the bits are those of never having stopped.
func TestSaveLoadContinue(t *testing.T) {
	for name, make := range map[string]func(p []*backsweep.Tensor) optimizer{
		"sgd":      func(p []*backsweep.Tensor) optimizer { return optim.NewSGD(0.1, p...) },
		"momentum": func(p []*backsweep.Tensor) optimizer { o := optim.NewSGD(0.1, p...); o.Momentum = 0.9; return o },
		"adam":     func(p []*backsweep.Tensor) optimizer { return optim.NewAdam(0.01, p...) },
		"adamw by a schedule": func(p []*backsweep.Tensor) optimizer {
			o := optim.NewAdamW(0, p...)
			o.Schedule = optim.OneCycle(optim.Cycle{Max: 0.1, Total: 20})
			return o
		},
		"amsgrad": func(p []*backsweep.Tensor) optimizer { o := optim.NewAdam(0.01, p...); o.AMSGrad = true; return o },
		"rmsprop": func(p []*backsweep.Tensor) optimizer { o := optim.NewRMSProp(0.01, p...); o.Momentum = 0.5; return o },
		"adagrad": func(p []*backsweep.Tensor) optimizer { return optim.NewAdagrad(0.1, p...) },
	} {
		for _, format := range formats {
			through := newTrainee(1)
			o := make(through.params())
			through.train(t, o, 0, 7)
			d := state.Dict{}
			d.Add("model/", nn.State(through))
			d.Add("optimizer/", o.State())
			path := filepath.Join(t.TempDir(), format)
			if err := state.Save(path, d); err != nil {
				t.Fatal(err)
			}
			through.train(t, o, 7, 15)

			again := newTrainee(2)
			o = make(again.params())
			d, err := state.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := state.Restore(nn.State(again), d.Under("model/")); err != nil {
				t.Fatal(err)
			}
			if err := o.SetState(d.Under("optimizer/")); err != nil {
				t.Fatal(err)
			}
			again.train(t, o, 7, 15)
			want := nn.State(through)
			for n, x := range nn.State(again) {
				if !same(x, want[n]) {
					t.Errorf("%s through %s: %s is %v, want %v", name, format, n, x, want[n])
				}
			}
		}
	}
}
