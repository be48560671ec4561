package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// The part of a recurrent cell after its products is one row: it keeps the
// pre-activations and the state, and computes the gates again in the sweep.

// cellSize checks a state [..., h] and gates of several times that width.
func (m *machine) cellSize(state int, gates map[int]int, like ...int) (items, h int) {
	x := m.in[state].l
	m.floats(m.in[state])
	rank := len(x.Shape)
	fits := rank > 0
	if fits {
		items, h, _ = block(x.Shape, rank-1)
	}
	for i := range m.in {
		m.sameDType(state, i)
		if n, s := gates[i], m.in[i].l.Shape; n > 0 {
			fits = fits && len(s) == rank && array.SameShape(s[:rank-1], x.Shape[:rank-1]) && s[rank-1] == n*h
		}
	}
	for _, i := range like {
		fits = fits && array.SameShape(m.in[i].l.Shape, x.Shape)
	}
	if !fits {
		m.misfit("states are [..., h] and gates [..., 4h] for the LSTM, [..., 3h] for the GRU", "shapes %s do not fit", m.shapesText())
	}
	return items, h
}

func init() {
	define(opLSTMGates, op{name: "lstm_gates", doc: "an LSTM's next output and state: c' = σ(f)·c + σ(i)·tanh(g), y = σ(o)·tanh(c') (gates [i f g o], c)",
		formula: "s = dy·o·(1 - tanh²c') + dc'; di = s·g·i(1-i), df = s·c·f(1-f), dg = s·i·(1-g²), do = dy·tanh(c')·o(1-o), dc = s·f",
		arity:   2, outs: 2, reads: readsIn(0, 1), cost: costOfEach(1, 5*transcendental+4),
		eval: func(m *machine) {
			items, h := m.cellSize(1, map[int]int{0: 4})
			y, next := m.produce(m.like(m.in[1])), m.produce(m.like(m.in[1]))
			if y.l.DType == Float32 {
				lstmGates[float32](m, y, next, items, h)
			} else {
				lstmGates[float64](m, y, next, items, h)
			}
		},
		grad: func(r *rule) {
			dg := r.doN(opLSTMGatesGrad, nil, []ref{r.doutOrZeros(0), r.doutOrZeros(1), r.in(0), r.in(1)})
			dc := r.second()
			if r.want(0) {
				r.give(0, dg)
			}
			if r.want(1) {
				r.give(1, dc)
			}
		},
		tangent: tangentOfLSTM,
		samples: []sample{on(f(3, 8), f(3, 2)), on(f(4), f(1)), on(f(2, 2, 12), f(2, 2, 3)), on(f(0, 8), f(0, 2))},
	})
	define(opLSTMGatesGrad, op{name: "lstm_gates_grad", doc: "the gradients of lstm_gates (dy, dc', gates, c)", formula: "that of the formulas of lstm_gates",
		arity: 4, outs: 2, flags: engineOnly, reads: readsIn(0, 1, 2, 3), cost: costOfEach(3, 5*transcendental+20),
		eval: func(m *machine) {
			items, h := m.cellSize(3, map[int]int{2: 4}, 0, 1)
			dgates, dc := m.produce(m.like(m.in[2])), m.produce(m.like(m.in[3]))
			if dc.l.DType == Float32 {
				lstmGatesGrad[float32](m, dgates, dc, items, h)
			} else {
				lstmGatesGrad[float64](m, dgates, dc, items, h)
			}
		},
		grad:    gradOfLSTMGrad,
		tangent: tangentOfLSTMGrad,
		samples: []sample{on(f(3, 2), f(3, 2), f(3, 8), f(3, 2)), on(f(1), f(1), f(4), f(1))},
	})
	define(opGRUGates, op{name: "gru_gates", doc: "a GRU's next state: r = σ(xr + ur), z = σ(xz + uz), n = tanh(xn + r·un), y = n + z·(h - n) (x and u, each [r z n], h)",
		formula: "dn = dy·(1-z)·(1-n²), dr = dn·un·r(1-r), dz = dy·(h-n)·z(1-z); dx = [dr dz dn], du = [dr dz dn·r], dh = dy·z",
		arity:   3, reads: readsIn(0, 1, 2), cost: costOfEach(2, 3*transcendental+7),
		eval: func(m *machine) {
			items, h := m.cellSize(2, map[int]int{0: 3, 1: 3})
			y := m.produce(m.like(m.in[2]))
			if y.l.DType == Float32 {
				gruGates[float32](m, y, items, h)
			} else {
				gruGates[float64](m, y, items, h)
			}
		},
		grad: func(r *rule) {
			dx := r.doN(opGRUGatesGrad, nil, []ref{r.dout(0), r.in(0), r.in(1), r.in(2)})
			du, dh := r.m.out[1], r.m.out[2]
			for i, g := range []ref{dx, du, dh} {
				if r.want(i) {
					r.give(i, g)
				}
			}
		},
		tangent: tangentOfGRU,
		samples: []sample{on(f(3, 6), f(3, 6), f(3, 2)), on(f(3), f(3), f(1)), on(f(2, 2, 9), f(2, 2, 9), f(2, 2, 3)), on(f(0, 6), f(0, 6), f(0, 2))},
	})
	define(opGRUGatesGrad, op{name: "gru_gates_grad", doc: "the gradients of gru_gates (dy, x, u, h)", formula: "that of the formulas of gru_gates",
		arity: 4, outs: 3, flags: engineOnly, reads: readsIn(0, 1, 2, 3), cost: costOfEach(0, 3*transcendental+20),
		eval: func(m *machine) {
			items, h := m.cellSize(3, map[int]int{1: 3, 2: 3}, 0)
			dx, du, dh := m.produce(m.like(m.in[1])), m.produce(m.like(m.in[2])), m.produce(m.like(m.in[3]))
			if dx.l.DType == Float32 {
				gruGatesGrad[float32](m, dx, du, dh, items, h)
			} else {
				gruGatesGrad[float64](m, dx, du, dh, items, h)
			}
		},
		grad:    gradOfGRUGrad,
		tangent: tangentOfGRUGrad,
		samples: []sample{on(f(3, 2), f(3, 6), f(3, 6), f(3, 2)), on(f(1), f(3), f(3), f(1))},
	})
}

// costOfEach counts n multiply-adds an element of operand i.
func costOfEach(i int, n int64) func(m *machine) int64 {
	return func(m *machine) int64 { return n * int64(m.in[i].l.N) }
}

// doutOrZeros is output j's cotangent: zeros where nothing consumed it.
func (r *rule) doutOrZeros(j int) ref {
	if r.has(j) {
		return r.dout(j)
	}
	l := r.t.layoutOf(r.firstOut + int32(j))
	return r.full(0, l.DType, l.Shape)
}

func cellWork[T float32 | float64](m *machine, dt DType, n int) []T {
	return dense[T](m.scratch(m.layout(dt, n)))
}

// denseIn is operand i, densely.
func denseIn[T float32 | float64](m *machine, i int) []T { return dense[T](m.packed(m.in[i])) }

func lstmGates[T float32 | float64](m *machine, y, next ref, items, h int) {
	kernel.LSTMGates(dense[T](y), dense[T](next), denseIn[T](m, 0), denseIn[T](m, 1), items, h, cellWork[T](m, y.l.DType, 4*h))
}

func lstmGatesGrad[T float32 | float64](m *machine, dgates, dc ref, items, h int) {
	kernel.LSTMGatesGrad(dense[T](dgates), dense[T](dc), denseIn[T](m, 0), denseIn[T](m, 1), denseIn[T](m, 2), denseIn[T](m, 3),
		items, h, cellWork[T](m, dc.l.DType, 5*h))
}

func gruGates[T float32 | float64](m *machine, y ref, items, h int) {
	kernel.GRUGates(dense[T](y), denseIn[T](m, 0), denseIn[T](m, 1), denseIn[T](m, 2), items, h, cellWork[T](m, y.l.DType, 3*h))
}

func gruGatesGrad[T float32 | float64](m *machine, dx, du, dh ref, items, h int) {
	kernel.GRUGatesGrad(dense[T](dx), dense[T](du), dense[T](dh), denseIn[T](m, 0), denseIn[T](m, 1), denseIn[T](m, 2), denseIn[T](m, 3),
		items, h, cellWork[T](m, dx.l.DType, 3*h))
}

// LSTMGates is the part of an LSTM cell after its products (S. Hochreiter and
// J. Schmidhuber, "Long Short-Term Memory", 1997; with the forget gate of Gers,
// 2000): x holds the pre-activations [i f g o], [..., 4h], and c the state,
// [..., h]. It returns the output y = σ(o)·tanh(c') and the next state
// c' = σ(f)·c + σ(i)·tanh(g).
func (x *Tensor) LSTMGates(c *Tensor) (y, next *Tensor) {
	out := applyAll(opLSTMGates, nil, []*Tensor{x, c})
	return out[0], out[1]
}

// GRUGates is the part of a GRU cell after its products (K. Cho et al.,
// "Learning Phrase Representations using RNN Encoder-Decoder", 2014; the reset
// gate scales the state's product, as in cuDNN): x and u hold the input's and
// the state's products, [r z n], [..., 3h], and h is the state, [..., h]. With
// r = σ(xr + ur), z = σ(xz + uz) and n = tanh(xn + r·un) the next state is
// (1-z)·n + z·h.
func (x *Tensor) GRUGates(u, h *Tensor) *Tensor { return apply3(opGRUGates, nil, x, u, h) }
