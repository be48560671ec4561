package optim

import (
	"math"

	"github.com/backsweep/backsweep"
)

// Adagrad divides each gradient by the root of the sum of its squares so far (J.
// Duchi et al., "Adaptive Subgradient Methods for Online Learning and Stochastic
// Optimization", 2011). The exported fields may be changed between steps.
//
//	d = g + WeightDecay·w                 s = s + d²
//	w = w - LR·d / (√s + Eps)
//
// On a row-sparse gradient all of it happens to the rows that the gradient has
// and to no other.
type Adagrad struct {
	Group
	Initial float64 // what the sums begin with
	Eps     float64 // added to the root
	Strict  bool    // a parameter without a gradient is an error of Step
	steps
}

// NewAdagrad makes an Adagrad with sums that begin at 0 and an Eps of 1e-10. It
// panics with a *backsweep.Error where one of params is not a parameter, or is
// there twice.
func NewAdagrad(lr float64, params ...*backsweep.Tensor) *Adagrad {
	o := &Adagrad{Group: Group{LR: lr}, Eps: 1e-10}
	o.begin("Adagrad", &o.Group, params)
	return o
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *Adagrad) Step(g Gradients) error {
	return o.step(o.Strict, g, func(e *entry, g gradient) { adagrad[float32](o, e, g) }, func(e *entry, g gradient) { adagrad[float64](o, e, g) })
}

func adagrad[T float32 | float64](o *Adagrad, e *entry, s gradient) {
	sum := kept[T](e, 0)
	if e.steps == 0 {
		for i := range sum {
			sum[i] = T(o.Initial)
		}
	}
	e.steps++
	rate, decay, eps := T(e.group.Rate()), T(e.group.WeightDecay), T(o.Eps)
	apply(e.param, s, func(at int, w, g []T) {
		for i, d := range g {
			if decay != 0 {
				d += T(decay * w[i])
			}
			sum[at+i] += T(d * d)
			w[i] -= T(rate*d) / (T(math.Sqrt(float64(sum[at+i]))) + eps)
		}
	})
}

// State returns a copy of what is kept between steps: "updates", and for each
// parameter NAME/steps and NAME/sum. It panics with a *backsweep.Error where two
// parameters have one name.
func (o *Adagrad) State() map[string]*backsweep.Tensor { return o.snapshot([]string{"sum"}) }

// SetState sets what State returned. The error lists what is missing,
// unexpected, or of another shape or element type; then nothing was set.
func (o *Adagrad) SetState(d map[string]*backsweep.Tensor) error {
	return o.restore([]string{"sum"}, d)
}
