package optim

import (
	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/kernel"
)

// Adam is the method of D. Kingma and J. Ba, "Adam: A Method for Stochastic
// Optimization" (2015), with its bias correction. The exported fields may be
// changed between steps.
//
//	g = g + WeightDecay·w
//	m = Beta1·m + (1-Beta1)·g             v = Beta2·v + (1-Beta2)·g²
//	w = w - LR · (m/(1-Beta1^t)) / (√(v/(1-Beta2^t)) + Eps)
//
// t counts a parameter's own steps: those in which it had a gradient. On a
// row-sparse gradient all of it happens to the rows that the gradient has and
// to no other: an untouched row's moments do not decay, while t counts on for
// the parameter as a whole, as in PyTorch's SparseAdam.
type Adam struct {
	LR          float64 // learning rate
	Beta1       float64 // how much of the mean gradient a step keeps
	Beta2       float64 // how much of the mean square a step keeps
	Eps         float64 // added to the root, after its correction
	WeightDecay float64 // coupled (L2): it passes through the moments; 0 for none
	Strict      bool    // a parameter without a gradient is an error of Step

	params []*backsweep.Tensor
	state  []buffers
}

// NewAdam makes an Adam with the paper's constants, 0.9, 0.999 and 1e-8. It
// panics with a *backsweep.Error where one of params is not a parameter, or is
// there twice.
func NewAdam(lr float64, params ...*backsweep.Tensor) *Adam {
	params = checked("NewAdam", params)
	return &Adam{LR: lr, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, params: params, state: make([]buffers, len(params))}
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *Adam) Step(g *backsweep.Grads) (err error) {
	defer backsweep.Catch(&err)
	found, err := slots("Adam.Step", o.params, g, o.Strict)
	if err != nil {
		return err
	}
	for i, s := range found {
		switch {
		case s.values == nil:
		case s.param.DType() == backsweep.Float32:
			adam[float32](o, &o.state[i], s)
		default:
			adam[float64](o, &o.state[i], s)
		}
	}
	return nil
}

func adam[T float32 | float64](o *Adam, b *buffers, s slot) {
	first, second := of[T](b, s.param.Len(), true)
	b.steps++
	step := kernel.Adam{Rate: o.LR, Beta1: o.Beta1, Beta2: o.Beta2, Eps: o.Eps, Decay: o.WeightDecay, Step: b.steps}
	backsweep.Update(s.param, func(w []T) {
		backsweep.Read(s.values, func(g []T) {
			if s.rows == nil {
				kernel.AdamStep(w, g, first, second, step)
				return
			}
			backsweep.Read(s.rows, func(rows []int64) {
				if len(rows) > 0 {
					kernel.AdamRows(w, g, first, second, rows, len(g)/len(rows), step)
				}
			})
		})
	})
}
