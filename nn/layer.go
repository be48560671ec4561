package nn

import "github.com/backsweep/backsweep"

// Layer maps a tensor to a tensor.
type Layer interface {
	Forward(x *backsweep.Tensor) *backsweep.Tensor
	Params() []*backsweep.Tensor
}

// Trainer is a layer that does something else while it is trained: Dropout,
// BatchNorm and what contains them. Which of the two runs is said by the call;
// no layer remembers a mode.
type Trainer interface {
	Train(x *backsweep.Tensor) *backsweep.Tensor
}

// Train runs a layer's Train where it has one, else its Forward.
func Train(l Layer, x *backsweep.Tensor) *backsweep.Tensor {
	if t, ok := l.(Trainer); ok {
		return t.Train(x)
	}
	return l.Forward(x)
}

// Func is a function as a layer without parameters, such as an activation:
// nn.Func((*backsweep.Tensor).Relu).
type Func func(x *backsweep.Tensor) *backsweep.Tensor

// Forward calls f.
func (f Func) Forward(x *backsweep.Tensor) *backsweep.Tensor { return f(x) }

// Params lists nothing.
func (f Func) Params() []*backsweep.Tensor { return nil }

// Sequential runs layers one after the other.
type Sequential []Layer

// Forward passes x through the layers as in inference.
func (s Sequential) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	for _, l := range s {
		x = l.Forward(x)
	}
	return x
}

// Train passes x through the layers as in training.
func (s Sequential) Train(x *backsweep.Tensor) *backsweep.Tensor {
	for _, l := range s {
		x = Train(l, x)
	}
	return x
}

// Params lists the layers' parameters, in their order.
func (s Sequential) Params() []*backsweep.Tensor {
	var ps []*backsweep.Tensor
	for _, l := range s {
		ps = append(ps, l.Params()...)
	}
	return ps
}

// misuse panics with an error of the given kind.
func misuse(kind error, op, do, what string) {
	panic(&backsweep.Error{Kind: kind, Op: op, What: what, Do: do, Node: -1, Consumer: -1})
}

func param(name string, x *backsweep.Tensor) *backsweep.Tensor { return backsweep.NewParam(name, x) }

func zeros(n int) *backsweep.Tensor { return backsweep.Zeros(backsweep.Float32, n) }

func ones(n int) *backsweep.Tensor { return backsweep.Full(backsweep.Float32, 1, n) }
