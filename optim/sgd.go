package optim

import (
	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/kernel"
)

// SGD is stochastic gradient descent, with momentum where it is asked for. The
// exported fields may be changed between steps.
//
//	d = g + WeightDecay·w
//	b = Momentum·b + d                    (b starts as 0)
//	w = w - LR·b                          or, with Nesterov, w - LR·(d + Momentum·b)
//
// The Nesterov form is that of I. Sutskever et al., "On the importance of
// initialization and momentum in deep learning" (2013), after the change of
// variables that PyTorch uses too. On a row-sparse gradient all of it, decay
// included, happens to the rows that the gradient has and to no other.
type SGD struct {
	LR          float64 // learning rate
	Momentum    float64 // 0 for none
	Nesterov    bool    // look ahead along the momentum
	WeightDecay float64 // 0 for none
	Strict      bool    // a parameter without a gradient is an error of Step

	params []*backsweep.Tensor
	state  []buffers
}

// NewSGD makes plain gradient descent on the parameters. It panics with a
// *backsweep.Error where one of them is not a parameter, or is there twice.
func NewSGD(lr float64, params ...*backsweep.Tensor) *SGD {
	params = checked("NewSGD", params)
	return &SGD{LR: lr, params: params, state: make([]buffers, len(params))}
}

// Step changes every parameter that has a gradient. On an error it has changed
// none.
func (o *SGD) Step(g *backsweep.Grads) (err error) {
	defer backsweep.Catch(&err)
	found, err := slots("SGD.Step", o.params, g, o.Strict)
	if err != nil {
		return err
	}
	for i, s := range found {
		switch {
		case s.values == nil:
		case s.param.DType() == backsweep.Float32:
			sgd[float32](o, &o.state[i], s)
		default:
			sgd[float64](o, &o.state[i], s)
		}
	}
	return nil
}

func sgd[T float32 | float64](o *SGD, b *buffers, s slot) {
	step := kernel.SGD{Rate: o.LR, Momentum: o.Momentum, Decay: o.WeightDecay, Nesterov: o.Nesterov}
	var velocity []T
	if o.Momentum != 0 {
		velocity, _ = of[T](b, s.param.Len(), false)
	}
	pieces(s, func(at int, w, g []T) {
		if velocity == nil {
			kernel.SGDStep(w, g, nil, step)
			return
		}
		kernel.SGDStep(w, g, velocity[at:at+len(g)], step)
	})
}
