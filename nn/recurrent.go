package nn

import (
	"math"

	"github.com/backsweep/backsweep"
)

// Recurrent layers read batches of sequences, [n, steps, in]. The product of the
// input with its weights is one for all steps; each step then adds the product
// of the state. States may be nil, for zeros.

// recurrent are the parameters that the recurrent layers share; their gates
// stand side by side.
type recurrent struct {
	W *backsweep.Tensor // [in, gates·width]
	U *backsweep.Tensor // [width, gates·width]
	B *backsweep.Tensor // [gates·width]
}

func newRecurrent(rng backsweep.Normal, name string, in, width, gates int) recurrent {
	scale := 1 / math.Sqrt(float64(max(width, 1)))
	return recurrent{
		W: param(name+".w", backsweep.Randn(rng, in, gates*width).MulScalar(1/math.Sqrt(float64(max(in, 1))))),
		U: param(name+".u", backsweep.Randn(rng, width, gates*width).MulScalar(scale)),
		B: param(name+".b", zeros(gates*width)),
	}
}

// steps is x·W + B, a tensor for each step, [n, gates·width].
func (r *recurrent) steps(x *backsweep.Tensor) []*backsweep.Tensor {
	x = x.Linear(r.W, r.B)
	n, steps, width := x.Dim(0), x.Dim(1), x.Dim(2)
	if steps == 0 {
		misuse(backsweep.ErrShape, "Forward", "pass one step or more", "the sequences have no steps")
	}
	sizes := make([]int, steps)
	for i := range sizes {
		sizes[i] = 1
	}
	parts := x.Split(1, sizes...)
	for i, p := range parts {
		parts[i] = p.Reshape(n, width)
	}
	return parts
}

// start is the state before the first step, on the tape that x is on, since what
// meets the parameters has to be there.
func (r *recurrent) start(h, x *backsweep.Tensor) *backsweep.Tensor {
	if h == nil {
		h = backsweep.Zeros(r.U.DType(), x.Dim(0), r.U.Dim(0))
	}
	if t := x.Tape(); t != nil && h.Tape() == nil {
		return t.Input("", h)
	}
	return h
}

// LSTM is a layer of long short-term memory; see [backsweep.Tensor.LSTMGates].
type LSTM struct {
	W *backsweep.Tensor // [in, 4·width], gates [i f g o]
	U *backsweep.Tensor // [width, 4·width]
	B *backsweep.Tensor // [4·width]
}

// NewLSTM makes a float32 layer with parameters name.w, name.u and name.b. W and
// U are drawn from the normal distribution with mean 0 and variance 1/fan-in; B
// is 0, and 1 for the forget gates, so that states last at first (R. Jozefowicz
// et al., "An Empirical Exploration of Recurrent Network Architectures", 2015).
func NewLSTM(rng backsweep.Normal, name string, in, width int) LSTM {
	l := LSTM(newRecurrent(rng, name, in, width, 4))
	backsweep.Update(l.B, func(b []float32) {
		for i := width; i < 2*width; i++ {
			b[i] = 1
		}
	})
	return l
}

// Forward maps [n, steps, in] to the outputs, [n, steps, width], and the output
// and state after the last step, [n, width] each.
func (l LSTM) Forward(x, h, c *backsweep.Tensor) (ys, y, next *backsweep.Tensor) {
	r := recurrent(l)
	y, next = r.start(h, x), r.start(c, x)
	out := r.steps(x)
	for i, gates := range out {
		y, next = gates.Add(y.MatMul(l.U)).LSTMGates(next)
		out[i] = y
	}
	return backsweep.Stack(1, out...), y, next
}

// Params lists W, U and B.
func (l LSTM) Params() []*backsweep.Tensor { return []*backsweep.Tensor{l.W, l.U, l.B} }

// GRU is a layer of gated recurrent units; see [backsweep.Tensor.GRUGates].
type GRU struct {
	W *backsweep.Tensor // [in, 3·width], gates [r z n]
	U *backsweep.Tensor // [width, 3·width]
	B *backsweep.Tensor // [3·width], of the input's product
	C *backsweep.Tensor // [3·width], of the state's product
}

// NewGRU makes a float32 layer with parameters name.w, name.u, name.b and
// name.c. W and U are drawn from the normal distribution with mean 0 and
// variance 1/fan-in; B and C are 0.
func NewGRU(rng backsweep.Normal, name string, in, width int) GRU {
	r := newRecurrent(rng, name, in, width, 3)
	return GRU{W: r.W, U: r.U, B: r.B, C: param(name+".c", zeros(3*width))}
}

// Forward maps [n, steps, in] to the states after each step, [n, steps, width],
// and after the last one, [n, width].
func (g GRU) Forward(x, h *backsweep.Tensor) (hs, last *backsweep.Tensor) {
	r := recurrent{g.W, g.U, g.B}
	h = r.start(h, x)
	out := r.steps(x)
	for i, gates := range out {
		h = gates.GRUGates(h.Linear(g.U, g.C), h)
		out[i] = h
	}
	return backsweep.Stack(1, out...), h
}

// Params lists W, U, B and C.
func (g GRU) Params() []*backsweep.Tensor { return []*backsweep.Tensor{g.W, g.U, g.B, g.C} }

// RNN is a layer of plain recurrent units: h' = tanh(x·W + h·U + B) (J. Elman,
// "Finding Structure in Time", 1990).
type RNN struct {
	W *backsweep.Tensor // [in, width]
	U *backsweep.Tensor // [width, width]
	B *backsweep.Tensor // [width]
}

// NewRNN makes a float32 layer with parameters name.w, name.u and name.b, drawn
// as those of [NewGRU].
func NewRNN(rng backsweep.Normal, name string, in, width int) RNN {
	return RNN(newRecurrent(rng, name, in, width, 1))
}

// Forward maps [n, steps, in] to the states after each step, [n, steps, width],
// and after the last one, [n, width].
func (l RNN) Forward(x, h *backsweep.Tensor) (hs, last *backsweep.Tensor) {
	r := recurrent(l)
	h = r.start(h, x)
	out := r.steps(x)
	for i, s := range out {
		h = s.Add(h.MatMul(l.U)).Tanh()
		out[i] = h
	}
	return backsweep.Stack(1, out...), h
}

// Params lists W, U and B.
func (l RNN) Params() []*backsweep.Tensor { return []*backsweep.Tensor{l.W, l.U, l.B} }
