package optim

import (
	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/kernel"
)

// SGD is stochastic gradient descent, with momentum where it is asked for. The
// exported fields may be changed between steps.
//
//	d = g + WeightDecay·w
//	b = d at a parameter's first step, then Momentum·b + (1-Dampening)·d
//	w = w - LR·b                          or, with Nesterov, w - LR·(d + Momentum·b)
//
// The Nesterov form is that of I. Sutskever et al., "On the importance of
// initialization and momentum in deep learning" (2013), after the change of
// variables that PyTorch uses too. On a row-sparse gradient all of it, decay
// included, happens to the rows that the gradient has and to no other; a row
// that comes up after the parameter's first step has a b of 0.
type SGD struct {
	Group
	Momentum  float64 // 0 for none
	Dampening float64 // of what a gradient adds to the momentum
	Nesterov  bool    // look ahead along the momentum
	Strict    bool    // a parameter without a gradient is an error of Step
	steps
}

// NewSGD makes plain gradient descent on the parameters. It panics with a
// *backsweep.Error where one of them is not a parameter, or is there twice.
func NewSGD(lr float64, params ...*backsweep.Tensor) *SGD {
	o := &SGD{Group: Group{LR: lr}}
	o.begin("SGD", &o.Group, params)
	return o
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *SGD) Step(g Gradients) error {
	return o.step(o.Strict, g, func(e *entry, g gradient) { sgd[float32](o, e, g) }, func(e *entry, g gradient) { sgd[float64](o, e, g) })
}

func sgd[T float32 | float64](o *SGD, e *entry, g gradient) {
	s := kernel.SGD{Rate: e.group.Rate(), Decay: e.group.WeightDecay, Nesterov: o.Nesterov}
	if o.Momentum == 0 {
		apply(e.param, g, func(_ int, w, g []T) { kernel.SGDStep(w, g, nil, s) })
		return
	}
	s.Momentum, s.Dampening, s.First = o.Momentum, o.Dampening, e.steps == 0
	e.steps++
	b := kept[T](e, 0)
	apply(e.param, g, func(at int, w, g []T) { kernel.SGDStep(w, g, b[at:at+len(g)], s) })
}

// State returns a copy of what is kept between steps: "updates", and for each
// parameter NAME/steps, those with a momentum, and, where there is one,
// NAME/velocity. It panics with a *backsweep.Error where two parameters have one
// name.
func (o *SGD) State() map[string]*backsweep.Tensor { return o.snapshot(o.names()) }

// SetState sets what State returned. The error lists what is missing,
// unexpected, or of another shape or element type; then nothing was set.
func (o *SGD) SetState(d map[string]*backsweep.Tensor) error { return o.restore(o.names(), d) }

func (o *SGD) names() []string {
	if o.Momentum == 0 && !o.keeps(0) {
		return nil
	}
	return []string{"velocity"}
}
