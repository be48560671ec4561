package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/kernel"
)

// bell is dy·(2/√π)·e^(-x²).
func (r *rule) bell(dy, x ref) ref {
	return r.mul(r.scale(dy, 2/math.Sqrt(math.Pi)), r.do1(opExp, nil, r.neg(r.square(x))))
}

func init() {
	smooth(opErf, op{name: "erf", doc: "error function", formula: "dx = dy·(2/√π)·e^(-x²)", reads: readsIn(0),
		un32: kernel.Erf[float32], un64: kernel.Erf[float64],
		grad: func(r *rule) { r.give(0, r.bell(r.dout(0), r.in(0))) },
	})
	smooth(opErfc, op{name: "erfc", doc: "1 minus the error function", formula: "dx = -dy·(2/√π)·e^(-x²)", reads: readsIn(0),
		un32: kernel.Erfc[float32], un64: kernel.Erfc[float64],
		grad: func(r *rule) { r.give(0, r.neg(r.bell(r.dout(0), r.in(0)))) },
	})
}

// Erf returns the error function of x.
func (x *Tensor) Erf() *Tensor { return apply1(opErf, nil, x) }

// Erfc returns 1 - erf(x), with all its digits where erf is near 1.
func (x *Tensor) Erfc() *Tensor { return apply1(opErfc, nil, x) }

func init() {
	smooth(opLgamma, op{name: "lgamma", doc: "logarithm of |Γ(x)|", formula: "dx = dy·ψ(x), the digamma function", reads: readsIn(0),
		un32: kernel.Lgamma[float32], un64: kernel.Lgamma[float64],
		grad:    func(r *rule) { r.give(0, r.mul(r.dout(0), r.do1(opDigamma, nil, r.in(0)))) },
		samples: []sample{on(pos(3, 4)), on(in(-0.8, -0.2, 3))},
	})
	smooth(opDigamma, op{name: "digamma", doc: "derivative of lgamma", formula: "dx = dy·ψ'(x)", reads: readsIn(0),
		un32: kernel.Digamma[float32], un64: kernel.Digamma[float64],
		grad: func(r *rule) {
			r.give(0, r.mul(r.dout(0), r.do1(opPolygamma, &attrs{i: 1}, r.in(0))))
		},
		samples: []sample{on(pos(3, 4)), on(in(-0.8, -0.2, 3))},
	})
	smooth(opPolygamma, op{name: "polygamma", doc: "derivative of order n of digamma", formula: "dx = dy·polygamma(n+1, x)", reads: readsIn(0),
		params: []param{{name: "n", kind: pInt}},
		eval: func(m *machine) {
			n := m.at.i
			if n < 0 {
				throw(fail(ErrValue, m.op.name, "an order is 0 or more", "order %d", n))
			}
			m.elementwise(
				func(dst, x []float32) { kernel.Polygamma(dst, x, n) },
				func(dst, x []float64) { kernel.Polygamma(dst, x, n) })
		},
		grad: func(r *rule) {
			r.give(0, r.mul(r.dout(0), r.do1(opPolygamma, &attrs{i: r.at.i + 1}, r.in(0))))
		},
		samples: []sample{on(in(0.7, 3, 3, 4)).with(attrs{i: 1}), on(in(0.7, 3, 3)).with(attrs{i: 2}), on(in(0.7, 3, 3)), on(in(-0.7, -0.3, 3)).with(attrs{i: 1})},
	})
}

// elementwise evaluates an op of one float operand whose kernel depends on the
// attributes.
func (m *machine) elementwise(k32 func(dst, x []float32), k64 func(dst, x []float64)) {
	x := m.in[0]
	m.floats(x)
	dst := m.produce(m.like(x))
	if !x.l.Dense {
		copyDense(dst, x)
		x = dst
	}
	if x.l.DType == Float32 {
		k32(dense[float32](dst), dense[float32](x))
	} else {
		k64(dense[float64](dst), dense[float64](x))
	}
}

// elementwise2 is elementwise for two operands.
func (m *machine) elementwise2(k32 func(dst, a, b []float32), k64 func(dst, a, b []float64)) {
	m.floats(m.in...)
	m.sameDType(0, 1)
	shape := m.spreadAll()
	dst := m.produce(m.layout(m.in[0].l.DType, shape...))
	if dst.l.DType == Float32 {
		k32(dense[float32](dst), dense[float32](m.in[0]), dense[float32](m.in[1]))
	} else {
		k64(dense[float64](dst), dense[float64](m.in[0]), dense[float64](m.in[1]))
	}
}

// Lgamma returns the logarithm of |Γ(x)|: +Inf at 0, at negative whole numbers
// and at both infinities.
func (x *Tensor) Lgamma() *Tensor { return apply1(opLgamma, nil, x) }

// Digamma returns Γ'(x)/Γ(x): an infinity of the other sign at a zero, NaN at
// negative whole numbers.
func (x *Tensor) Digamma() *Tensor { return apply1(opDigamma, nil, x) }

// Polygamma returns the derivative of order n ≥ 0 of [Tensor.Digamma]. It
// panics with ErrValue for a negative order.
func (x *Tensor) Polygamma(n int) *Tensor { return apply1(opPolygamma, &attrs{i: n}, x) }
