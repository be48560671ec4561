package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// pairs are the samples of an op of two operands: equal shapes, broadcasting
// either way, a scalar, and no elements at all.
func pairs(draw func(shape ...int) operand) []sample {
	return []sample{
		on(draw(3, 4), draw(3, 4)), on(draw(3, 4), draw(4)), on(draw(3, 1), draw(2, 1, 4)),
		on(draw(), draw(2, 3)), on(draw(2, 0), draw(1)),
	}
}

func init() {
	define(opAdd, op{name: "add", doc: "a + b", formula: "da = dy, db = dy", arity: 2, flags: elementwise | linear,
		bin32: kernel.Add[float32], bin64: kernel.Add[float64], binI: kernel.Add[int64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.dout(0))
			}
			if r.want(1) {
				r.give(1, r.dout(0))
			}
		},
		tangent: tangentOfSum(opAdd),
		samples: pairs(f),
	})
}

// tangentOfSum is the tangent rule of a + b and a - b: where only one operand
// has a tangent, the other's zeros are left out.
func tangentOfSum(code opcode) func(r *rule) {
	return func(r *rule) {
		shape := r.shapeOut(0)
		whole := func(x ref) ref {
			if array.SameShape(x.l.Shape, shape) {
				return x
			}
			return r.spread(x, shape)
		}
		switch {
		case r.hasTan(0) && r.hasTan(1):
			r.makes(0, r.do2(code, nil, r.tan(0), r.tan(1)))
		case r.hasTan(0):
			r.makes(0, whole(r.tan(0)))
		case code == opSub:
			r.makes(0, r.neg(whole(r.tan(1))))
		default:
			r.makes(0, whole(r.tan(1)))
		}
	}
}

// Add returns x + y.
func (x *Tensor) Add(y *Tensor) *Tensor { return apply2(opAdd, nil, x, y) }

func init() {
	define(opSub, op{name: "sub", doc: "a - b", formula: "da = dy, db = -dy", arity: 2, flags: elementwise | linear,
		bin32: kernel.Sub[float32], bin64: kernel.Sub[float64], binI: kernel.Sub[int64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.dout(0))
			}
			if r.want(1) {
				r.give(1, r.neg(r.dout(0)))
			}
		},
		tangent: tangentOfSum(opSub),
		samples: pairs(f),
	})
}

// Sub returns x - y.
func (x *Tensor) Sub(y *Tensor) *Tensor { return apply2(opSub, nil, x, y) }

func init() {
	define(opMul, op{name: "mul", doc: "a·b", formula: "da = dy·b, db = dy·a", arity: 2, flags: elementwise, reads: readsIn(0, 1),
		bin32: kernel.Mul[float32], bin64: kernel.Mul[float64], binI: kernel.Mul[int64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.mul(r.dout(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.mul(r.dout(0), r.in(0)))
			}
		},
		samples: pairs(f),
	})
}

// Mul returns x·y, element by element.
func (x *Tensor) Mul(y *Tensor) *Tensor { return apply2(opMul, nil, x, y) }

func init() {
	define(opNegMul, op{name: "neg_mul", doc: "-(a·b)", formula: "da = -(dy·b), db = -(dy·a)", arity: 2, flags: elementwise | engineOnly, reads: readsIn(0, 1),
		bin32: negMul[float32], bin64: negMul[float64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do2(opNegMul, nil, r.dout(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do2(opNegMul, nil, r.dout(0), r.in(0)))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

func negMul[T float32 | float64](dst, a, b []T) {
	kernel.Mul(dst, a, b)
	kernel.Neg(dst, dst)
}

func init() {
	define(opDiv, op{name: "div", doc: "a/b", formula: "da = dy/b, db = -(dy/b)·y", arity: 2, flags: elementwise, reads: readsIn(1) | readsOut(0),
		bin32: kernel.Div[float32], bin64: kernel.Div[float64],
		grad: func(r *rule) {
			da := r.div(r.dout(0), r.in(1))
			if r.want(0) {
				r.give(0, da)
			}
			if r.want(1) {
				r.give(1, r.do2(opNegMul, nil, da, r.out(0)))
			}
		},
		samples: pairs(pos),
	})
}

// Div returns x/y, by IEEE 754 where y is 0.
func (x *Tensor) Div(y *Tensor) *Tensor { return apply2(opDiv, nil, x, y) }

func init() {
	define(opPow, op{name: "pow", doc: "a to the power b", formula: "da = dy·b·a^(b-1), 0 where b is 0; db = dy·y·ln a, 0 where a is 0 and b is not negative", arity: 2, flags: elementwise,
		reads: readsIn(0, 1), cost: costEach(2 * transcendental),
		bin32: kernel.Pow[float32], bin64: kernel.Pow[float64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do3(opPowGradBase, nil, r.dout(0), r.in(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do3(opPowGradExp, nil, r.dout(0), r.in(0), r.in(1)))
			}
		},
		samples: pairs(pos),
	})
}

// Pow returns x to the power y, by IEEE 754 at the edges. The gradient of x is
// 0 where y is 0; that of y is 0 where x is 0 and y is not negative.
func (x *Tensor) Pow(y *Tensor) *Tensor { return apply2(opPow, nil, x, y) }

func init() {
	define(opMaximum, op{name: "maximum", doc: "the larger of a and b", formula: "dy to the larger, half to each where equal", arity: 2, flags: elementwise, reads: readsIn(0, 1),
		bin32: kernel.Max[float32], bin64: kernel.Max[float64], binI: kernel.Max[int64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do3(opShare, nil, r.dout(0), r.in(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do3(opShare, nil, r.dout(0), r.in(1), r.in(0)))
			}
		},
		samples: pairs(f),
	})
}

// Maximum returns the larger of x and y; NaN if either is. Equal elements
// share the gradient in halves.
func (x *Tensor) Maximum(y *Tensor) *Tensor { return apply2(opMaximum, nil, x, y) }

func init() {
	define(opMinimum, op{name: "minimum", doc: "the smaller of a and b", formula: "dy to the smaller, half to each where equal", arity: 2, flags: elementwise, reads: readsIn(0, 1),
		bin32: kernel.Min[float32], bin64: kernel.Min[float64], binI: kernel.Min[int64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do3(opShare, nil, r.dout(0), r.in(1), r.in(0)))
			}
			if r.want(1) {
				r.give(1, r.do3(opShare, nil, r.dout(0), r.in(0), r.in(1)))
			}
		},
		samples: pairs(f),
	})
}

// Minimum returns the smaller of x and y; NaN if either is. Equal elements
// share the gradient in halves.
func (x *Tensor) Minimum(y *Tensor) *Tensor { return apply2(opMinimum, nil, x, y) }
