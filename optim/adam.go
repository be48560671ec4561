package optim

import (
	"math"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/kernel"
)

// Adam is the method of D. Kingma and J. Ba, "Adam: A Method for Stochastic
// Optimization" (2015), with its bias correction. The exported fields may be
// changed between steps.
//
//	g = g + WeightDecay·w                 or, with Decoupled, w = w - LR·WeightDecay·w
//	m = Beta1·m + (1-Beta1)·g             v = Beta2·v + (1-Beta2)·g²
//	w = w - LR · (m/(1-Beta1^t)) / (√(v/(1-Beta2^t)) + Eps)
//
// With AMSGrad the largest v so far stands in v's place in the last line (S.
// Reddi et al., "On the Convergence of Adam and Beyond", 2018). t counts a
// parameter's own steps: those in which it had a gradient. On a row-sparse
// gradient all of it happens to the rows that the gradient has and to no other:
// an untouched row's moments do not decay, while t counts on for the parameter
// as a whole, as in PyTorch's SparseAdam.
type Adam struct {
	Group
	Beta1     float64 // how much of the mean gradient a step keeps
	Beta2     float64 // how much of the mean square a step keeps
	Eps       float64 // added to the root, after its correction
	Decoupled bool    // decay the weights themselves, past the moments (AdamW)
	AMSGrad   bool    // divide by the largest mean square so far
	Strict    bool    // a parameter without a gradient is an error of Step
	steps
}

// NewAdam makes an Adam with the paper's constants, 0.9, 0.999 and 1e-8. It
// panics with a *backsweep.Error where one of params is not a parameter, or is
// there twice.
func NewAdam(lr float64, params ...*backsweep.Tensor) *Adam {
	o := &Adam{Group: Group{LR: lr}, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8}
	o.begin("Adam", &o.Group, params)
	return o
}

// NewAdamW makes an Adam whose decay, 0.01, is decoupled (I. Loshchilov and F.
// Hutter, "Decoupled Weight Decay Regularization", 2019).
func NewAdamW(lr float64, params ...*backsweep.Tensor) *Adam {
	o := NewAdam(lr, params...)
	o.name, o.Decoupled, o.WeightDecay = "AdamW", true, 0.01
	return o
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *Adam) Step(g Gradients) error {
	return o.step(o.Strict, g, func(e *entry, g gradient) { adam[float32](o, e, g) }, func(e *entry, g gradient) { adam[float64](o, e, g) })
}

func adam[T float32 | float64](o *Adam, e *entry, s gradient) {
	e.steps++
	mean, square := kept[T](e, 0), kept[T](e, 1)
	k := kernel.Adam{
		Rate: e.group.Rate(), Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps,
		Decay: e.group.WeightDecay, Decoupled: o.Decoupled, Step: e.steps,
	}
	switch {
	case o.AMSGrad:
		amsgrad(k, e, s, mean, square, kept[T](e, 2))
	case s.rows == nil:
		apply(e.param, s, func(_ int, w, g []T) { kernel.AdamStep(w, g, mean, square, k) })
	default:
		backsweep.UpdateAs("Step of an optimizer", e.param, func(w []T) {
			backsweep.Read(s.values, func(g []T) {
				backsweep.Read(s.rows, func(rows []int64) {
					kernel.AdamRows(w, g, mean, square, rows, len(g)/max(len(rows), 1), k)
				})
			})
		})
	}
}

func amsgrad[T float32 | float64](k kernel.Adam, e *entry, s gradient, mean, square, top []T) {
	t := float64(k.Step)
	beta1, rest1, beta2, rest2 := T(k.Beta1), T(1-k.Beta1), T(k.Beta2), T(1-k.Beta2)
	rate, root := T(k.Rate/(1-math.Pow(k.Beta1, t))), T(1/math.Sqrt(1-math.Pow(k.Beta2, t)))
	eps, decay, shrink := T(k.Eps), T(k.Decay), T(1)
	if k.Decoupled {
		decay, shrink = 0, T(1-float64(k.Rate*k.Decay))
	}
	apply(e.param, s, func(at int, w, g []T) {
		m, v, high := mean[at:at+len(g)], square[at:at+len(g)], top[at:at+len(g)]
		for i, d := range g {
			if decay != 0 {
				d += T(decay * w[i])
			}
			m[i] = T(beta1*m[i]) + T(rest1*d)
			v[i] = T(beta2*v[i]) + T(rest2*T(d*d))
			high[i] = max(high[i], v[i])
			w[i] = T(w[i]*shrink) - T(rate*m[i])/(T(T(math.Sqrt(float64(high[i])))*root)+eps)
		}
	})
}

// State returns a copy of what is kept between steps: "updates", and for each
// parameter NAME/steps, NAME/mean, NAME/square and, with AMSGrad, NAME/top. It
// panics with a *backsweep.Error where two parameters have one name.
func (o *Adam) State() map[string]*backsweep.Tensor { return o.snapshot(o.names()) }

// SetState sets what State returned. The error lists what is missing,
// unexpected, or of another shape or element type; then nothing was set.
func (o *Adam) SetState(d map[string]*backsweep.Tensor) error { return o.restore(o.names(), d) }

func (o *Adam) names() []string {
	if o.AMSGrad || o.keeps(2) {
		return []string{"mean", "square", "top"}
	}
	return []string{"mean", "square"}
}
