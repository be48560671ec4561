package backsweep

import "github.com/backsweep/backsweep/internal/kernel"

// smooth defines an elementwise op of one operand that costs as much as exp.
func smooth(code opcode, o op) {
	o.arity, o.flags, o.cost = 1, elementwise, costEach(transcendental)
	if o.samples == nil {
		o.samples = []sample{on(f(3, 4)), on(f())}
	}
	define(code, o)
}

// square is x·x.
func (r *rule) square(x ref) ref { return r.do1(opSquare, nil, x) }

// minus is c - x.
func (r *rule) minus(c float64, x ref) ref { return r.plus(r.neg(x), c) }

// rest is 1 - x² as (1 - x)·(1 + x), which keeps its digits near ±1.
func (r *rule) rest(x ref) ref { return r.mul(r.minus(1, x), r.plus(x, 1)) }

func init() {
	smooth(opSin, op{name: "sin", doc: "sine of x radians", formula: "dx = dy·cos x", reads: readsIn(0),
		un32: kernel.Sin[float32], un64: kernel.Sin[float64],
		grad: func(r *rule) { r.give(0, r.mul(r.dout(0), r.do1(opCos, nil, r.in(0)))) },
	})
	smooth(opCos, op{name: "cos", doc: "cosine of x radians", formula: "dx = -dy·sin x", reads: readsIn(0),
		un32: kernel.Cos[float32], un64: kernel.Cos[float64],
		grad: func(r *rule) { r.give(0, r.do2(opNegMul, nil, r.dout(0), r.do1(opSin, nil, r.in(0)))) },
	})
	smooth(opTan, op{name: "tan", doc: "tangent of x radians", formula: "dx = dy·(1 + y²)", reads: readsOut(0),
		un32: kernel.Tan[float32], un64: kernel.Tan[float64],
		grad:    func(r *rule) { r.give(0, r.mul(r.dout(0), r.plus(r.square(r.out(0)), 1))) },
		samples: []sample{on(in(-1, 1, 3, 4))},
	})
}

// Sin returns the sine of x radians, NaN at the infinities.
func (x *Tensor) Sin() *Tensor { return apply1(opSin, nil, x) }

// Cos returns the cosine of x radians, NaN at the infinities.
func (x *Tensor) Cos() *Tensor { return apply1(opCos, nil, x) }

// Tan returns the tangent of x radians, NaN at the infinities.
func (x *Tensor) Tan() *Tensor { return apply1(opTan, nil, x) }

func init() {
	smooth(opAsin, op{name: "asin", doc: "arcsine in radians", formula: "dx = dy/√(1 - x²)", reads: readsIn(0),
		un32: kernel.Asin[float32], un64: kernel.Asin[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.dout(0), r.do1(opSqrt, nil, r.rest(r.in(0))))) },
		samples: []sample{on(in(-0.9, 0.9, 3, 4))},
	})
	smooth(opAcos, op{name: "acos", doc: "arccosine in radians", formula: "dx = -dy/√(1 - x²)", reads: readsIn(0),
		un32: kernel.Acos[float32], un64: kernel.Acos[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.neg(r.dout(0)), r.do1(opSqrt, nil, r.rest(r.in(0))))) },
		samples: []sample{on(in(-0.9, 0.9, 3, 4))},
	})
	smooth(opAtan, op{name: "atan", doc: "arctangent in radians", formula: "dx = dy/(1 + x²)", reads: readsIn(0),
		un32: kernel.Atan[float32], un64: kernel.Atan[float64],
		grad: func(r *rule) { r.give(0, r.div(r.dout(0), r.plus(r.square(r.in(0)), 1))) },
	})
}

// Asin returns the arcsine of x in radians, NaN outside [-1, 1]. Its gradient
// at ±1 is +Inf.
func (x *Tensor) Asin() *Tensor { return apply1(opAsin, nil, x) }

// Acos returns the arccosine of x in radians, NaN outside [-1, 1]. Its gradient
// at ±1 is -Inf.
func (x *Tensor) Acos() *Tensor { return apply1(opAcos, nil, x) }

// Atan returns the arctangent of x in radians, ±π/2 at the infinities.
func (x *Tensor) Atan() *Tensor { return apply1(opAtan, nil, x) }

func init() {
	smooth(opSinh, op{name: "sinh", doc: "hyperbolic sine", formula: "dx = dy·cosh x", reads: readsIn(0),
		un32: kernel.Sinh[float32], un64: kernel.Sinh[float64],
		grad: func(r *rule) { r.give(0, r.mul(r.dout(0), r.do1(opCosh, nil, r.in(0)))) },
	})
	smooth(opCosh, op{name: "cosh", doc: "hyperbolic cosine", formula: "dx = dy·sinh x", reads: readsIn(0),
		un32: kernel.Cosh[float32], un64: kernel.Cosh[float64],
		grad: func(r *rule) { r.give(0, r.mul(r.dout(0), r.do1(opSinh, nil, r.in(0)))) },
	})
	smooth(opAsinh, op{name: "asinh", doc: "inverse hyperbolic sine", formula: "dx = dy/√(1 + x²)", reads: readsIn(0),
		un32: kernel.Asinh[float32], un64: kernel.Asinh[float64],
		grad: func(r *rule) { r.give(0, r.do2(opAsinhGrad, nil, r.dout(0), r.in(0))) },
	})
	define(opAsinhGrad, op{name: "asinh_grad", doc: "dy/√(1 + x²)", formula: "d(dy) = g/√(1 + x²), dx = -g·dy·x/(1 + x²)^(3/2)", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(3),
		bin32: kernel.AsinhGrad[float32], bin64: kernel.AsinhGrad[float64],
		grad: func(r *rule) {
			g, dy, x := r.dout(0), r.in(0), r.in(1)
			s := r.do2(opAsinhGrad, nil, r.full(1, x.l.DType, nil), x)
			part := r.mul(g, s)
			if r.want(0) {
				r.give(0, part)
			}
			if r.want(1) {
				// x·s is at most 1, and so nothing overflows.
				r.give(1, r.do2(opNegMul, nil, r.mul(r.mul(part, dy), s), r.mul(x, s)))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
	smooth(opAcosh, op{name: "acosh", doc: "inverse hyperbolic cosine", formula: "dx = dy/(√(x-1)·√(x+1))", reads: readsIn(0),
		un32: kernel.Acosh[float32], un64: kernel.Acosh[float64],
		grad: func(r *rule) {
			x := r.in(0)
			below, above := r.do1(opSqrt, nil, r.plus(x, -1)), r.do1(opSqrt, nil, r.plus(x, 1))
			r.give(0, r.div(r.div(r.dout(0), below), above))
		},
		samples: []sample{on(in(1.2, 4, 3, 4))},
	})
	smooth(opAtanh, op{name: "atanh", doc: "inverse hyperbolic tangent", formula: "dx = dy/(1 - x²)", reads: readsIn(0),
		un32: kernel.Atanh[float32], un64: kernel.Atanh[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.dout(0), r.rest(r.in(0)))) },
		samples: []sample{on(in(-0.9, 0.9, 3, 4))},
	})
}

// Sinh returns the hyperbolic sine of x.
func (x *Tensor) Sinh() *Tensor { return apply1(opSinh, nil, x) }

// Cosh returns the hyperbolic cosine of x.
func (x *Tensor) Cosh() *Tensor { return apply1(opCosh, nil, x) }

// Asinh returns the inverse hyperbolic sine of x. Its gradient does not
// overflow where x² does.
func (x *Tensor) Asinh() *Tensor { return apply1(opAsinh, nil, x) }

// Acosh returns the inverse hyperbolic cosine of x, NaN below 1. Its gradient
// at 1 is +Inf.
func (x *Tensor) Acosh() *Tensor { return apply1(opAcosh, nil, x) }

// Atanh returns the inverse hyperbolic tangent of x, ±Inf at ±1 and NaN beyond.
func (x *Tensor) Atanh() *Tensor { return apply1(opAtanh, nil, x) }

func init() {
	define(opAtan2, op{name: "atan2", doc: "angle of the point (b, a) in radians", formula: "da = dy·b/(a² + b²), db = -dy·a/(a² + b²)", arity: 2, flags: elementwise,
		reads: readsIn(0, 1), cost: costEach(transcendental),
		bin32: kernel.Atan2[float32], bin64: kernel.Atan2[float64],
		grad: func(r *rule) {
			a, b := r.in(0), r.in(1)
			if r.want(0) {
				r.give(0, r.do3(opAtan2Grad, nil, r.dout(0), b, a))
			}
			if r.want(1) {
				r.give(1, r.neg(r.do3(opAtan2Grad, nil, r.dout(0), a, b)))
			}
		},
		samples: pairs(pos),
	})
	define(opAtan2Grad, op{name: "atan2_grad", doc: "dy·p/(p² + q²)", formula: "d(dy) = g·p/h, dp = g·dy·(q² - p²)/h², dq = -2·g·dy·p·q/h², h = p² + q²", arity: 3, flags: elementwise | engineOnly,
		reads: readsIn(0, 1, 2), cost: costEach(transcendental),
		eval: ternary(kernel.Atan2Grad[float32], kernel.Atan2Grad[float64]),
		grad: func(r *rule) {
			g, dy, p, q := r.dout(0), r.in(0), r.in(1), r.in(2)
			// With u = p/h and v = q/h the derivatives are u, v² - u² and -2·u·v.
			u := r.do3(opAtan2Grad, nil, r.full(1, p.l.DType, nil), p, q)
			if r.want(0) {
				r.give(0, r.mul(g, u))
			}
			if !r.want(1) && !r.want(2) {
				return
			}
			gy := r.mul(g, dy)
			v := r.do3(opAtan2Grad, nil, r.full(1, p.l.DType, nil), q, p)
			if r.want(1) {
				r.give(1, r.mul(gy, r.mul(r.sub(v, u), r.add(v, u))))
			}
			if r.want(2) {
				r.give(2, r.mul(r.mul(r.scale(gy, -2), u), v))
			}
		},
		samples: []sample{on(f(3, 4), pos(3, 4), pos(3, 4))},
	})
}

// Atan2 returns the angle of the point (y, x) in radians, from -π to π: x is
// the ordinate, y the abscissa, as in math.Atan2. Its gradients do not overflow
// where squares do; at the origin they are NaN.
func (x *Tensor) Atan2(y *Tensor) *Tensor { return apply2(opAtan2, nil, x, y) }
