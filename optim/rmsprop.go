package optim

import (
	"math"

	"github.com/backsweep/backsweep"
)

// RMSProp divides each gradient by the root of a running mean of its square (T.
// Tieleman and G. Hinton, "Lecture 6.5: rmsprop", 2012). The exported fields may
// be changed between steps.
//
//	d = g + WeightDecay·w                 v = Alpha·v + (1-Alpha)·d²
//	a = √v + Eps                          or, Centered, √(v - m²) + Eps, with m = Alpha·m + (1-Alpha)·d
//	w = w - LR·d/a                        or, with Momentum, b = Momentum·b + d/a and w - LR·b
//
// On a row-sparse gradient all of it happens to the rows that the gradient has
// and to no other.
type RMSProp struct {
	Group
	Alpha    float64 // how much of the mean square a step keeps
	Eps      float64 // added to the root
	Momentum float64 // 0 for none
	Centered bool    // divide by the deviation, not by the root mean square
	Strict   bool    // a parameter without a gradient is an error of Step
	steps
}

// NewRMSProp makes an RMSProp with an Alpha of 0.99 and an Eps of 1e-8. It
// panics with a *backsweep.Error where one of params is not a parameter, or is
// there twice.
func NewRMSProp(lr float64, params ...*backsweep.Tensor) *RMSProp {
	o := &RMSProp{Group: Group{LR: lr}, Alpha: 0.99, Eps: 1e-8}
	o.begin("RMSProp", &o.Group, params)
	return o
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *RMSProp) Step(g Gradients) error {
	return o.step(o.Strict, g, func(e *entry, g gradient) { rmsprop[float32](o, e, g) }, func(e *entry, g gradient) { rmsprop[float64](o, e, g) })
}

func rmsprop[T float32 | float64](o *RMSProp, e *entry, s gradient) {
	e.steps++
	square := kept[T](e, 0)
	var velocity, mean []T
	if o.Momentum != 0 {
		velocity = kept[T](e, 1)
	}
	if o.Centered {
		mean = kept[T](e, 2)
	}
	alpha, rest, eps, momentum := T(o.Alpha), T(1-o.Alpha), T(o.Eps), T(o.Momentum)
	rate, decay := T(e.group.Rate()), T(e.group.WeightDecay)
	apply(e.param, s, func(at int, w, g []T) {
		for i, d := range g {
			if decay != 0 {
				d += T(decay * w[i])
			}
			j := at + i
			square[j] = T(alpha*square[j]) + T(rest*T(d*d))
			v := square[j]
			if mean != nil {
				mean[j] = T(alpha*mean[j]) + T(rest*d)
				v = max(v-T(mean[j]*mean[j]), 0) // rounding may take it below
			}
			d /= T(math.Sqrt(float64(v))) + eps
			if velocity != nil {
				velocity[j] = T(momentum*velocity[j]) + d
				d = velocity[j]
			}
			w[i] -= T(rate * d)
		}
	})
}

// State returns a copy of what is kept between steps: "updates", and for each
// parameter NAME/steps, NAME/square and, where they are used, NAME/velocity and
// NAME/mean. It panics with a *backsweep.Error where two parameters have one
// name.
func (o *RMSProp) State() map[string]*backsweep.Tensor { return o.snapshot(o.names()) }

// SetState sets what State returned. The error lists what is missing,
// unexpected, or of another shape or element type; then nothing was set.
func (o *RMSProp) SetState(d map[string]*backsweep.Tensor) error { return o.restore(o.names(), d) }

func (o *RMSProp) names() []string {
	names := []string{"square", "", ""}
	if o.Momentum != 0 || o.keeps(1) {
		names[1] = "velocity"
	}
	if o.Centered || o.keeps(2) {
		names[2] = "mean"
	}
	return names
}
