package backsweep

import "github.com/backsweep/backsweep/internal/kernel"

// alongAxis brings operands to [outer, n, inner] around the axis attrs.i and
// runs a kernel on dense copies.
func (m *machine) alongAxis() (outer, n, inner int) {
	outer, inner = 1, 1
	for a, d := range m.in[0].l.Shape {
		switch {
		case a < m.at.i:
			outer *= d
		case a == m.at.i:
			n = d
		default:
			inner *= d
		}
	}
	return outer, n, inner
}

var axisParam = []param{{name: "axis", kind: pInt, optional: true, def: "-1"}}

func prepareAxis(m *machine) { m.at.i = m.axis(m.at.i) }

func evalAlong(k32 func(dst, x []float32, outer, n, inner int), k64 func(dst, x []float64, outer, n, inner int)) func(m *machine) {
	return func(m *machine) {
		m.floats(m.in[0])
		x := m.packed(m.in[0])
		outer, n, inner := m.alongAxis()
		dst := m.produce(m.like(x))
		if x.l.DType == Float32 {
			k32(dense[float32](dst), dense[float32](x), outer, n, inner)
		} else {
			k64(dense[float64](dst), dense[float64](x), outer, n, inner)
		}
	}
}

func evalAlong2(k32 func(dst, a, b []float32, outer, n, inner int), k64 func(dst, a, b []float64, outer, n, inner int)) func(m *machine) {
	return func(m *machine) {
		m.sameDType(0, 1)
		a, b := m.packed(m.in[0]), m.packed(m.in[1])
		outer, n, inner := m.alongAxis()
		dst := m.produce(m.like(a))
		if a.l.DType == Float32 {
			k32(dense[float32](dst), dense[float32](a), dense[float32](b), outer, n, inner)
		} else {
			k64(dense[float64](dst), dense[float64](a), dense[float64](b), outer, n, inner)
		}
	}
}

func axisSamples(count int) []sample {
	var s []sample
	for _, c := range []struct {
		shape []int
		axis  int
	}{{[]int{3, 4}, -1}, {[]int{3, 4}, 0}, {[]int{2, 3, 2}, 1}, {[]int{0, 3}, 1}} {
		x := sample{at: attrs{i: c.axis}}
		for range count {
			x.in = append(x.in, f(c.shape...))
		}
		s = append(s, x)
	}
	return s
}

func init() {
	define(opSoftmax, op{name: "softmax", doc: "exp(x) over its sum along an axis", formula: "dx = y·(dy - Σ dy·y)", arity: 1, reads: readsOut(0),
		params: axisParam, prepare: prepareAxis, cost: costEach(transcendental),
		eval:    evalAlong(kernel.Softmax[float32], kernel.Softmax[float64]),
		grad:    func(r *rule) { r.give(0, r.do2(opSoftmaxGrad, &attrs{i: r.at.i}, r.dout(0), r.out(0))) },
		tangent: func(r *rule) { r.makes(0, r.do2(opSoftmaxGrad, &attrs{i: r.at.i}, r.tan(0), r.out(0))) },
		samples: axisSamples(1),
	})
	define(opSoftmaxGrad, op{name: "softmax_grad", doc: "y·(dy - Σ dy·y) along an axis", formula: "d(dy) = y·(g - Σ g·y), d(y) = g·(dy - Σ dy·y) - dy·Σ g·y", arity: 2, flags: engineOnly, reads: readsIn(0, 1),
		params: axisParam, prepare: prepareAxis, cost: costEach(4),
		eval: evalAlong2(kernel.SoftmaxGrad[float32], kernel.SoftmaxGrad[float64]),
		grad: func(r *rule) {
			g, dy, y := r.dout(0), r.in(0), r.in(1)
			if r.want(0) {
				r.give(0, r.do2(opSoftmaxGrad, r.at, g, y))
			}
			if r.want(1) {
				axis := []int{r.at.i}
				a := r.mul(g, r.sub(dy, r.sumOver(r.mul(dy, y), axis, true)))
				r.give(1, r.sub(a, r.mul(dy, r.sumOver(r.mul(g, y), axis, true))))
			}
		},
		tangent: func(r *rule) {
			dy, y := r.in(0), r.in(1)
			axis := []int{r.at.i}
			var t ref
			if r.hasTan(0) {
				t = r.do2(opSoftmaxGrad, r.at, r.tan(0), y)
			}
			if r.hasTan(1) {
				ty := r.tan(1)
				a := r.mul(ty, r.sub(dy, r.sumOver(r.mul(dy, y), axis, true)))
				u := r.sub(a, r.mul(y, r.sumOver(r.mul(dy, ty), axis, true)))
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, t)
		},
		samples: axisSamples(2),
	})
}

// Softmax returns exp(x)/Σ exp(x) along an axis, which may be negative. It does
// not overflow; a row of -Inf gives NaN.
func (x *Tensor) Softmax(axis int) *Tensor { return apply1(opSoftmax, &attrs{i: axis}, x) }

func init() {
	define(opLogSoftmax, op{name: "log_softmax", doc: "x minus the log of the sum of exponentials along an axis", formula: "dx = dy - exp(y)·Σ dy", arity: 1, reads: readsOut(0),
		params: axisParam, prepare: prepareAxis, cost: costEach(transcendental),
		eval: evalAlong(kernel.LogSoftmax[float32], kernel.LogSoftmax[float64]),
		grad: func(r *rule) {
			r.give(0, r.do2(opLogSoftmaxGrad, &attrs{i: r.at.i}, r.dout(0), r.out(0)))
		},
		tangent: func(r *rule) {
			t := r.tan(0)
			s := r.sumOver(r.mul(r.do1(opExp, nil, r.out(0)), t), []int{r.at.i}, true)
			r.makes(0, r.sub(t, s))
		},
		samples: axisSamples(1),
	})
	define(opLogSoftmaxGrad, op{name: "log_softmax_grad", doc: "dy - exp(y)·Σ dy along an axis", formula: "d(dy) = g - Σ g·exp(y), d(y) = -g·exp(y)·Σ dy", arity: 2, flags: engineOnly, reads: readsIn(0, 1),
		params: axisParam, prepare: prepareAxis, cost: costEach(transcendental),
		eval: evalAlong2(kernel.LogSoftmaxGrad[float32], kernel.LogSoftmaxGrad[float64]),
		grad: func(r *rule) {
			axis := []int{r.at.i}
			ge := r.mul(r.dout(0), r.do1(opExp, nil, r.in(1)))
			if r.want(0) {
				r.give(0, r.sub(r.dout(0), r.sumOver(ge, axis, true)))
			}
			if r.want(1) {
				r.give(1, r.do2(opNegMul, nil, ge, r.sumOver(r.in(0), axis, true)))
			}
		},
		tangent: func(r *rule) {
			axis := []int{r.at.i}
			e := r.do1(opExp, nil, r.in(1))
			var t ref
			if r.hasTan(0) {
				t = r.sub(r.tan(0), r.mul(e, r.sumOver(r.tan(0), axis, true)))
			}
			if r.hasTan(1) {
				u := r.do2(opNegMul, nil, r.mul(e, r.tan(1)), r.sumOver(r.in(0), axis, true))
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, t)
		},
		samples: axisSamples(2),
	})
}

// LogSoftmax returns the logarithm of the softmax along an axis, computed
// without losing small probabilities.
func (x *Tensor) LogSoftmax(axis int) *Tensor { return apply1(opLogSoftmax, &attrs{i: axis}, x) }
