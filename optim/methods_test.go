package optim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// Each method beside its formula, one number at a time.
func TestMethodsFollowTheirFormulas(t *testing.T) {
	type keep [3]float64
	for name, m := range map[string]struct {
		make func(w *backsweep.Tensor) optimizer
		step func(n int, w, g float64, k *keep) float64
	}{
		"adamw": {
			func(w *backsweep.Tensor) optimizer { return optim.NewAdamW(0.1, w) },
			func(n int, w, g float64, k *keep) float64 {
				w *= 1 - 0.1*0.01
				k[0], k[1] = 0.9*k[0]+0.1*g, 0.999*k[1]+0.001*g*g
				return w - 0.1*(k[0]/(1-math.Pow(0.9, float64(n))))/(math.Sqrt(k[1]/(1-math.Pow(0.999, float64(n))))+1e-8)
			},
		},
		"amsgrad": {
			func(w *backsweep.Tensor) optimizer {
				o := optim.NewAdam(0.1, w)
				o.AMSGrad, o.Beta2, o.WeightDecay = true, 0.5, 0.2
				return o
			},
			func(n int, w, g float64, k *keep) float64 {
				g += 0.2 * w
				k[0], k[1] = 0.9*k[0]+0.1*g, 0.5*k[1]+0.5*g*g
				k[2] = max(k[2], k[1])
				return w - 0.1*(k[0]/(1-math.Pow(0.9, float64(n))))/(math.Sqrt(k[2]/(1-math.Pow(0.5, float64(n))))+1e-8)
			},
		},
		"rmsprop": {
			func(w *backsweep.Tensor) optimizer { o := optim.NewRMSProp(0.1, w); o.WeightDecay = 0.3; return o },
			func(n int, w, g float64, k *keep) float64 {
				g += 0.3 * w
				k[0] = 0.99*k[0] + 0.01*g*g
				return w - 0.1*g/(math.Sqrt(k[0])+1e-8)
			},
		},
		"rmsprop, centered, momentum": {
			func(w *backsweep.Tensor) optimizer {
				o := optim.NewRMSProp(0.1, w)
				o.Centered, o.Momentum = true, 0.5
				return o
			},
			func(n int, w, g float64, k *keep) float64 {
				k[0], k[1] = 0.99*k[0]+0.01*g*g, 0.99*k[1]+0.01*g
				k[2] = 0.5*k[2] + g/(math.Sqrt(k[0]-k[1]*k[1])+1e-8)
				return w - 0.1*k[2]
			},
		},
		"adagrad": {
			func(w *backsweep.Tensor) optimizer { o := optim.NewAdagrad(0.1, w); o.Initial = 0.25; return o },
			func(n int, w, g float64, k *keep) float64 {
				if n == 1 {
					k[0] = 0.25
				}
				k[0] += g * g
				return w - 0.1*g/(math.Sqrt(k[0])+1e-10)
			},
		},
		"momentum with dampening": {
			func(w *backsweep.Tensor) optimizer {
				o := optim.NewSGD(0.1, w)
				o.Momentum, o.Dampening = 0.9, 0.4
				return o
			},
			func(n int, w, g float64, k *keep) float64 {
				if n == 1 {
					k[0] = g
				} else {
					k[0] = 0.9*k[0] + 0.6*g
				}
				return w - 0.1*k[0]
			},
		},
	} {
		for _, dt := range floats {
			rng := rand.New(rand.NewPCG(11, 3))
			w := backsweep.NewParam("w", backsweep.Randn(rng, 100).Cast(dt)) // long enough for the vector kernels
			o := m.make(w)
			want, keeps := w.Float64s(), make([]keep, 100)
			for n := 1; n <= 5; n++ {
				g := backsweep.Randn(rng, 100).Cast(dt)
				step(t, o, sweep(t, []*backsweep.Tensor{w}, []*backsweep.Tensor{g}))
				for i, d := range g.Float64s() {
					want[i] = m.step(n, want[i], d, &keeps[i])
				}
			}
			tol := 1e-12
			if dt == backsweep.Float32 {
				tol = 2e-4 // what rounding in float32 leaves of a small root
			}
			for i, v := range w.Float64s() {
				if math.Abs(v-want[i]) > tol*(1+math.Abs(want[i])) {
					t.Errorf("%s %s: element %d is %v, want %v", name, dt, i, v, want[i])
					break
				}
			}
		}
	}
}

// Every method takes row-sparse gradients: where they have all rows, as dense
// ones.
func TestEveryMethodTakesRows(t *testing.T) {
	for _, k := range keepers {
		rng := rand.New(rand.NewPCG(3, 4))
		start, scale := backsweep.Randn(rng, 4, 3), backsweep.Randn(rng, 4, 3)
		a, b := backsweep.NewParam("a", start), backsweep.NewParam("b", start)
		oa, ob := k.make(a), k.make(b)
		for range 3 {
			tape := backsweep.NewTape()
			loss := tape.Watch(a).Embedding(backsweep.Arange(4)).Mul(scale).Sum().Add(tape.Watch(b).Mul(scale).Sum())
			g, err := tape.Backward(loss)
			if err != nil {
				t.Fatal(err)
			}
			step(t, oa, g)
			step(t, ob, g)
		}
		near(t, k.name, a, b.Float64s()...)
	}
}
