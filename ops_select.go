package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// spreadAll views every operand under the common shape and packs what does not
// lie densely then.
func (m *machine) spreadAll() []int {
	shape := m.in[0].l.Shape
	for _, r := range m.in[1:] {
		s, ok := array.BroadcastShapes(shape, r.l.Shape)
		if !ok {
			m.misfit("extents must be equal or 1, aligned at the last axis", "shapes %s do not broadcast", m.shapesText())
		}
		shape = s
	}
	for i, r := range m.in {
		if !array.SameShape(r.l.Shape, shape) {
			r.l, _ = r.l.BroadcastTo(shape)
		}
		m.in[i] = m.packed(r)
	}
	return shape
}

func (m *machine) shapesText() string {
	shapes := make([][]int, len(m.in))
	for i, r := range m.in {
		shapes[i] = r.l.Shape
	}
	return shapesText(shapes...)
}

func init() {
	define(opWhere, op{name: "where", doc: "a where the condition holds, else b", formula: "da = dy where the condition holds, else 0; db the other way round", arity: 3, flags: elementwise,
		nograd: readsIn(0), reads: readsIn(0),
		eval: func(m *machine) {
			m.needs(0, Bool)
			m.sameDType(1, 2)
			shape := m.spreadAll()
			dt := m.in[1].l.DType
			dst := m.produce(m.layout(dt, shape...))
			switch dt {
			case Float32:
				whereAs[float32](dst, m.in)
			case Float64:
				whereAs[float64](dst, m.in)
			case Int64:
				whereAs[int64](dst, m.in)
			case Bool:
				whereAs[bool](dst, m.in)
			}
		},
		grad: func(r *rule) {
			c, dy := r.in(0), r.dout(0)
			none := r.full(0, dy.l.DType, nil)
			if r.want(1) {
				r.give(1, r.do3(opWhere, nil, c, dy, none))
			}
			if r.want(2) {
				r.give(2, r.do3(opWhere, nil, c, none, dy))
			}
		},
		samples: []sample{on(flags(3, 4), f(3, 4), f(3, 4)), on(flags(4), f(3, 4), f(3, 1)), on(flags(), f(2), f(2)), on(flags(2, 0), f(), f(1))},
	})
}

func whereAs[T Element](dst ref, in []ref) {
	kernel.Where(dense[T](dst), dense[bool](in[0]), dense[T](in[1]), dense[T](in[2]))
}

// Where returns a where cond holds and b elsewhere; all three broadcast. The
// side that was not chosen gets a gradient of exactly 0, whatever its value.
func Where(cond, a, b *Tensor) *Tensor { return apply3(opWhere, nil, cond, a, b) }

// compare defines a comparison; of bools only where kb is not nil.
func compare(code opcode, name, doc string, k32 func([]bool, []float32, []float32), k64 func([]bool, []float64, []float64), ki func([]bool, []int64, []int64), kb func(dst, a, b []bool)) {
	define(code, op{name: name, doc: doc, arity: 2, flags: constantOp,
		eval: func(m *machine) {
			m.sameDType(0, 1)
			a, b := m.in[0], m.in[1]
			if a.l.DType == Bool && kb == nil {
				throw(fail(ErrDType, m.op.name, "Cast to int64 first", "bool tensors have no order"))
			}
			la, lb, lo := m.broadcast2(a, b)
			dst := m.produce(m.layout(Bool, lo.Shape...))
			switch a.l.DType {
			case Float32:
				compareAs(dst, a, b, la, lb, k32)
			case Float64:
				compareAs(dst, a, b, la, lb, k64)
			case Int64:
				compareAs(dst, a, b, la, lb, ki)
			default:
				compareAs(dst, a, b, la, lb, kb)
			}
		},
		samples: pairs(f),
	})
}

func compareAs[T Element](dst, a, b ref, la, lb *array.Layout, k func([]bool, []T, []T)) {
	if la.N == 0 {
		return
	}
	if la.Dense && lb.Dense {
		k(dense[bool](dst), dense[T](a), dense[T](b))
		return
	}
	zip(dense[bool](dst), whole[T](a), whole[T](b), la, lb, k)
}

func init() {
	compare(opGt, "gt", "a > b", kernel.Gt[float32], kernel.Gt[float64], kernel.Gt[int64], nil)
	compare(opGe, "ge", "a ≥ b", kernel.Ge[float32], kernel.Ge[float64], kernel.Ge[int64], nil)
	compare(opLt, "lt", "a < b", kernel.Lt[float32], kernel.Lt[float64], kernel.Lt[int64], nil)
	compare(opLe, "le", "a ≤ b", kernel.Le[float32], kernel.Le[float64], kernel.Le[int64], nil)
	compare(opEq, "eq", "a = b", kernel.Eq[float32], kernel.Eq[float64], kernel.Eq[int64], kernel.Same)
	compare(opNe, "ne", "a ≠ b", kernel.Ne[float32], kernel.Ne[float64], kernel.Ne[int64], kernel.Differ)
}

// Gt returns x > y as a bool tensor. Comparisons with NaN are false.
func (x *Tensor) Gt(y *Tensor) *Tensor { return apply2(opGt, nil, x, y) }

// Ge returns x ≥ y as a bool tensor.
func (x *Tensor) Ge(y *Tensor) *Tensor { return apply2(opGe, nil, x, y) }

// Lt returns x < y as a bool tensor.
func (x *Tensor) Lt(y *Tensor) *Tensor { return apply2(opLt, nil, x, y) }

// Le returns x ≤ y as a bool tensor.
func (x *Tensor) Le(y *Tensor) *Tensor { return apply2(opLe, nil, x, y) }

// Eq returns x = y as a bool tensor; x and y may be bool tensors too.
func (x *Tensor) Eq(y *Tensor) *Tensor { return apply2(opEq, nil, x, y) }

// Ne returns x ≠ y as a bool tensor; x and y may be bool tensors too. NaN differs from everything.
func (x *Tensor) Ne(y *Tensor) *Tensor { return apply2(opNe, nil, x, y) }

// ternary evaluates an elementwise op of three float operands.
func ternary(k32 func(dst, a, b, c []float32), k64 func(dst, a, b, c []float64)) func(m *machine) {
	return func(m *machine) {
		m.floats(m.in...)
		m.sameDType(0, 1)
		m.sameDType(0, 2)
		shape := m.spreadAll()
		dst := m.produce(m.layout(m.in[0].l.DType, shape...))
		if dst.l.DType == Float32 {
			k32(dense[float32](dst), dense[float32](m.in[0]), dense[float32](m.in[1]), dense[float32](m.in[2]))
		} else {
			k64(dense[float64](dst), dense[float64](m.in[0]), dense[float64](m.in[1]), dense[float64](m.in[2]))
		}
	}
}

func init() {
	define(opShare, op{name: "share", doc: "dy where a > b, dy/2 where a = b, 0 where a < b", formula: "d(dy) likewise", arity: 3, flags: elementwise | engineOnly,
		nograd: readsIn(1, 2), reads: readsIn(1, 2),
		eval:    ternary(share[float32], share[float64]),
		grad:    func(r *rule) { r.give(0, r.do3(opShare, nil, r.dout(0), r.in(1), r.in(2))) },
		samples: []sample{on(f(3, 4), f(3, 4), f(3, 4)), on(f(3, 4), f(4), f(3, 1))},
	})
}

func share[T float32 | float64](dst, dy, a, b []T) {
	for i, g := range dy {
		switch {
		case a[i] < b[i]:
			dst[i] = 0
		case a[i] == b[i]:
			dst[i] = g / 2
		default: // also where either is NaN
			dst[i] = g
		}
	}
}

func init() {
	define(opPowGradBase, op{name: "pow_grad_base", doc: "dy·b·a^(b-1), 0 where b is 0", formula: "by the product rule", arity: 3, flags: elementwise | engineOnly,
		reads: readsIn(0, 1, 2), cost: costEach(2*transcendental + 2),
		eval: ternary(powGradBase[float32], powGradBase[float64]),
		grad: func(r *rule) {
			g, dy, a, b := r.dout(0), r.in(0), r.in(1), r.in(2)
			less, none := r.plus(b, -1), r.isZero(b)
			if r.want(1) {
				// b·(b-1)·a^(b-2)
				da := r.do3(opPowGradBase, nil, r.mul(r.mul(g, b), dy), a, less)
				r.give(1, r.zeroWhere(none, da))
			}
			if !r.want(0) && !r.want(2) {
				return
			}
			gp := r.mul(g, r.do2(opPow, nil, a, less))
			if r.want(0) {
				r.give(0, r.zeroWhere(none, r.mul(gp, b)))
			}
			if r.want(2) {
				// d/db of b·a^(b-1) is a^(b-1)·(1 + b·ln a)
				r.give(2, r.mul(r.mul(gp, dy), r.plus(r.mul(b, r.logOrZero(a)), 1)))
			}
		},
		samples: []sample{on(f(3, 4), pos(3, 4), f(3, 4))},
	})
	define(opPowGradExp, op{name: "pow_grad_exp", doc: "dy·a^b·ln a, 0 where a is 0 and b is not negative", formula: "by the product rule", arity: 3, flags: elementwise | engineOnly,
		reads: readsIn(0, 1, 2), cost: costEach(3*transcendental + 2),
		eval: ternary(powGradExp[float32], powGradExp[float64]),
		grad: func(r *rule) {
			g, dy, a, b := r.dout(0), r.in(0), r.in(1), r.in(2)
			ddy := r.do3(opPowGradExp, nil, g, a, b)
			if r.want(0) {
				r.give(0, ddy)
			}
			if !r.want(1) && !r.want(2) {
				return
			}
			log := r.logOrZero(a)
			if r.want(1) {
				// d/da of a^b·ln a is a^(b-1)·(1 + b·ln a)
				p := r.mul(r.mul(g, dy), r.do2(opPow, nil, a, r.plus(b, -1)))
				r.give(1, r.mul(p, r.plus(r.mul(b, log), 1)))
			}
			if r.want(2) {
				r.give(2, r.mul(r.mul(ddy, dy), log))
			}
		},
		samples: []sample{on(f(3, 4), pos(3, 4), f(3, 4))},
	})
}

func (r *rule) isZero(x ref) ref { return r.do2(opEq, nil, x, r.full(0, x.l.DType, nil)) }

// zeroWhere is x, but 0 where the condition holds.
func (r *rule) zeroWhere(cond, x ref) ref {
	return r.do3(opWhere, nil, cond, r.full(0, x.l.DType, nil), x)
}

// logOrZero is the logarithm of a, but 0 where a is 0: there a power is 0, or
// constant, and the logarithm beside it counts for nothing.
func (r *rule) logOrZero(a ref) ref { return r.zeroWhere(r.isZero(a), r.do1(opLog, nil, a)) }

func powGradBase[T float32 | float64](dst, dy, a, b []T) {
	for i, g := range dy {
		if b[i] == 0 {
			dst[i] = 0
			continue
		}
		p := T(math.Pow(float64(a[i]), float64(b[i])-1))
		dst[i] = g * (b[i] * p)
	}
}

func powGradExp[T float32 | float64](dst, dy, a, b []T) {
	for i, g := range dy {
		if a[i] == 0 && b[i] >= 0 {
			dst[i] = 0
			continue
		}
		p := T(math.Pow(float64(a[i]), float64(b[i])) * math.Log(float64(a[i])))
		dst[i] = g * p
	}
}
