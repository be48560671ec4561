package backsweep

import (
	"github.com/backsweep/backsweep/internal/kernel"
)

// stepped defines an elementwise op that is constant between jumps: its
// gradient is computed, and is 0, at a jump too.
func stepped(code opcode, o op) {
	o.arity, o.flags = 1, elementwise
	o.formula = "dx = 0"
	o.grad = func(r *rule) { r.give(0, r.full(0, r.layoutIn(0).DType, r.shapeIn(0))) }
	o.samples = []sample{on(in(0.1, 0.4, 3, 4)), on(in(-3.4, -3.1, 3))}
	define(code, o)
}

func init() {
	stepped(opSign, op{name: "sign", doc: "-1, 0 or 1", un32: kernel.Sign[float32], un64: kernel.Sign[float64]})
	stepped(opFloor, op{name: "floor", doc: "the largest whole number not above x", un32: kernel.Floor[float32], un64: kernel.Floor[float64]})
	stepped(opCeil, op{name: "ceil", doc: "the smallest whole number not below x", un32: kernel.Ceil[float32], un64: kernel.Ceil[float64]})
	stepped(opRound, op{name: "round", doc: "the nearest whole number, halves to even", un32: kernel.Round[float32], un64: kernel.Round[float64]})
	stepped(opTrunc, op{name: "trunc", doc: "x without its fraction", un32: kernel.Trunc[float32], un64: kernel.Trunc[float64]})
}

// Sign returns -1, 0 or 1; a zero keeps its sign, NaN stays NaN. Its gradient
// is 0.
func (x *Tensor) Sign() *Tensor { return apply1(opSign, nil, x) }

// Floor returns the largest whole number that is not above x. Its gradient is
// 0.
func (x *Tensor) Floor() *Tensor { return apply1(opFloor, nil, x) }

// Ceil returns the smallest whole number that is not below x. Its gradient is
// 0.
func (x *Tensor) Ceil() *Tensor { return apply1(opCeil, nil, x) }

// Round returns the nearest whole number, the even one halfway between two. Its
// gradient is 0.
func (x *Tensor) Round() *Tensor { return apply1(opRound, nil, x) }

// Trunc returns x without its fraction. Its gradient is 0.
func (x *Tensor) Trunc() *Tensor { return apply1(opTrunc, nil, x) }

func init() {
	define(opMod, op{name: "mod", doc: "a - b·⌊a/b⌋, of b's sign", formula: "da = dy, db = -dy·⌊a/b⌋", arity: 2, flags: elementwise, reads: readsIn(0, 1) | readsOut(0), cost: costEach(2),
		bin32: kernel.Mod[float32], bin64: kernel.Mod[float64], binI: modInt,
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.dout(0))
			}
			if r.want(1) {
				// a - y is a multiple of b but for rounding.
				q := r.do1(opRound, nil, r.div(r.sub(r.in(0), r.out(0)), r.in(1)))
				r.give(1, r.do2(opNegMul, nil, r.dout(0), q))
			}
		},
		samples: []sample{on(in(2.1, 2.4, 3, 4), in(1.3, 1.9, 3, 4)), on(in(-2.4, -2.1, 3, 4), in(1.3, 1.9, 4)), on(in(0.1, 0.9, 3, 1), in(1.3, 1.9, 2, 1, 4)), on(f(2, 0), pos(1))},
	})
}

// modInt is Mod of whole numbers. Division by 0 is a misuse: there is no NaN to
// give.
func modInt(dst, a, b []int64) {
	for i, v := range a {
		d := b[i]
		if d == 0 {
			throw(fail(ErrValue, "mod", "divide by another number, or Cast to a float type", "element %d is divided by 0", i))
		}
		r := v % d
		if r != 0 && r < 0 != (d < 0) {
			r += d
		}
		dst[i] = r
	}
}

// Mod returns x - y·⌊x/y⌋, which has y's sign, as % has in Python: NaN where y
// is 0. Of int64 tensors too; there it panics with ErrValue where y is 0.
func (x *Tensor) Mod(y *Tensor) *Tensor { return apply2(opMod, nil, x, y) }

// logical defines an op of bool operands.
func logical(code opcode, name, doc string, k func(dst, a, b []bool)) {
	define(code, op{name: name, doc: doc, arity: 2, flags: constantOp,
		eval: func(m *machine) {
			m.needs(0, Bool)
			m.needs(1, Bool)
			la, lb, lo := m.broadcast2(m.in[0], m.in[1])
			compareAs(m.produce(m.layout(Bool, lo.Shape...)), m.in[0], m.in[1], la, lb, k)
		},
		samples: []sample{on(flags(3, 4), flags(4)), on(flags(), flags(2, 3))},
	})
}

func init() {
	logical(opAnd, "and", "whether both hold", kernel.And)
	logical(opOr, "or", "whether one or both hold", kernel.Or)
	define(opNot, op{name: "not", doc: "whether x does not hold", arity: 1, flags: constantOp,
		eval: func(m *machine) {
			m.needs(0, Bool)
			kernel.Not(dense[bool](m.produce(m.like(m.in[0]))), dense[bool](m.packed(m.in[0])))
		},
		samples: []sample{on(flags(3, 4))},
	})
	define(opIsNaN, op{name: "isnan", doc: "whether x is not a number", arity: 1, flags: constantOp,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			m.floats(x)
			dst := dense[bool](m.produce(m.layout(Bool, x.l.Shape...)))
			if x.l.DType == Float32 {
				kernel.Ne(dst, dense[float32](x), dense[float32](x))
			} else {
				kernel.Ne(dst, dense[float64](x), dense[float64](x))
			}
		},
		samples: []sample{on(f(3, 4))},
	})
}

// And returns whether both x and y, which are bool tensors, hold.
func (x *Tensor) And(y *Tensor) *Tensor { return apply2(opAnd, nil, x, y) }

// Or returns whether x, y or both hold.
func (x *Tensor) Or(y *Tensor) *Tensor { return apply2(opOr, nil, x, y) }

// Not returns whether x, a bool tensor, does not hold.
func (x *Tensor) Not() *Tensor { return apply1(opNot, nil, x) }

// IsNaN returns whether x is not a number.
func (x *Tensor) IsNaN() *Tensor { return apply1(opIsNaN, nil, x) }
