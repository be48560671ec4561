package backsweep

import "github.com/backsweep/backsweep/internal/kernel"

// number throws ErrDType where operand 0 is a bool tensor.
func (m *machine) number() {
	if m.in[0].l.DType == Bool {
		throw(fail(ErrDType, m.op.name, "Cast to int64 first", "bool tensors have no order"))
	}
}

func init() {
	define(opSort, op{name: "sort", doc: "in order along an axis: the values, and where each came from", formula: "dx = dy, put back", arity: 1, outs: 2, reads: readsOut(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "-1"}, {name: "descending", kind: pBool, optional: true, def: "false"}}, prepare: prepareAxis, cost: costEach(1),
		eval: func(m *machine) {
			m.number()
			x := m.packed(m.in[0])
			outer, n, inner := m.alongAxis()
			dst, place := m.produce(m.like(x)), m.produce(m.layout(Int64, x.l.Shape...))
			at := dense[int64](place)
			switch x.l.DType {
			case Float32:
				kernel.Sort(dense[float32](dst), at, dense[float32](x), m.at.b, outer, n, inner)
			case Float64:
				kernel.Sort(dense[float64](dst), at, dense[float64](x), m.at.b, outer, n, inner)
			default:
				kernel.Sort(dense[int64](dst), at, dense[int64](x), m.at.b, outer, n, inner)
			}
		},
		grad: gradOfOrder, tangent: tangentOfOrder,
		samples: []sample{
			on(f(3, 4)).with(attrs{i: -1}), on(f(3, 4)).with(attrs{b: true}), on(f(2, 3, 2)).with(attrs{i: 1}), on(f(0, 3)), on(f(0, 3)).with(attrs{i: 1}),
		},
	})
	define(opTopk, op{name: "topk", doc: "the k largest along an axis, descending: the values, and where each came from", formula: "dx = dy, put back", arity: 1, outs: 2, reads: readsOut(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "-1"}, {name: "k", kind: pInts}},
		prepare: func(m *machine) {
			prepareAxis(m)
			k := m.at.ints[0]
			if n := m.in[0].l.Shape[m.at.i]; len(k) != 1 || k[0] < 0 || k[0] > n {
				throw(fail(ErrValue, m.op.name, "take from 0 to all of them", "%s of the %d elements of axis %d", intsText(k), n, m.at.i))
			}
		},
		cost: costIn(1),
		eval: func(m *machine) {
			m.number()
			x := m.packed(m.in[0])
			outer, n, inner := m.alongAxis()
			k := m.at.ints[0][0]
			shape := append([]int{}, x.l.Shape...)
			shape[m.at.i] = k
			dst, place := m.produce(m.layout(x.l.DType, shape...)), m.produce(m.layout(Int64, shape...))
			at := dense[int64](place)
			switch x.l.DType {
			case Float32:
				kernel.TopK(dense[float32](dst), at, dense[float32](x), k, outer, n, inner)
			case Float64:
				kernel.TopK(dense[float64](dst), at, dense[float64](x), k, outer, n, inner)
			default:
				kernel.TopK(dense[int64](dst), at, dense[int64](x), k, outer, n, inner)
			}
		},
		grad: gradOfOrder, tangent: tangentOfOrder,
		samples: []sample{
			on(f(3, 4)).with(attrs{i: -1, ints: [3][]int{{2}}}), on(f(3, 4)).with(attrs{ints: [3][]int{{3}}}), on(f(2, 3)).with(attrs{ints: [3][]int{{0}}}),
		},
	})
}

func gradOfOrder(r *rule) {
	if !r.has(0) {
		return
	}
	none := r.full(0, r.layoutIn(0).DType, r.shapeIn(0))
	r.give(0, r.do3(opScatterAdd, &attrs{i: r.at.i}, none, r.out(1), r.dout(0)))
}

func tangentOfOrder(r *rule) {
	r.makes(0, r.do2(opGather, &attrs{i: r.at.i}, r.tan(0), r.out(1)))
}

// Sort returns the elements in ascending order along an axis, and where each
// came from (int64). Equal elements stay in order; NaN comes last.
func (x *Tensor) Sort(axis int) (values, places *Tensor) { return x.sorted(axis, false) }

// SortDescending is Sort in descending order: NaN comes first.
func (x *Tensor) SortDescending(axis int) (values, places *Tensor) { return x.sorted(axis, true) }

func (x *Tensor) sorted(axis int, descending bool) (values, places *Tensor) {
	out := applyAll(opSort, &attrs{i: axis, b: descending}, []*Tensor{x})
	return out[0], out[1]
}

// Topk returns the k largest elements along an axis in descending order, and
// where each came from (int64). Of equal elements the first come first; NaN is
// the largest. It panics with ErrValue unless there are k.
func (x *Tensor) Topk(k, axis int) (values, places *Tensor) {
	out := applyAll(opTopk, &attrs{i: axis, ints: [3][]int{{k}}}, []*Tensor{x})
	return out[0], out[1]
}

// extremePlace defines the place of an extreme element along an axis.
func extremePlace(code opcode, name, doc string, k32 func([]int64, []float32, int, int, int), k64 func([]int64, []float64, int, int, int), ki func(dst, x []int64, outer, n, inner int)) {
	define(code, op{name: name, doc: doc, arity: 1, flags: constantOp, params: axisParam, prepare: prepareAxis, cost: costIn(1),
		eval: func(m *machine) {
			m.number()
			x := m.packed(m.in[0])
			outer, n, inner := m.alongAxis()
			if n == 0 {
				m.misfit("leave empty tensors out", "there is no %s of no elements", m.op.name)
			}
			shape := append(append([]int{}, x.l.Shape[:m.at.i]...), x.l.Shape[m.at.i+1:]...)
			dst := dense[int64](m.produce(m.layout(Int64, shape...)))
			switch x.l.DType {
			case Float32:
				k32(dst, dense[float32](x), outer, n, inner)
			case Float64:
				k64(dst, dense[float64](x), outer, n, inner)
			default:
				ki(dst, dense[int64](x), outer, n, inner)
			}
		},
		samples: []sample{on(f(3, 4)).with(attrs{i: -1}), on(f(2, 3, 2)).with(attrs{i: 1})},
	})
}

func init() {
	extremePlace(opArgmax, "argmax", "the place of the largest along an axis", kernel.ArgMax[float32], kernel.ArgMax[float64], kernel.ArgMax[int64])
	extremePlace(opArgmin, "argmin", "the place of the smallest along an axis", kernel.ArgMin[float32], kernel.ArgMin[float64], kernel.ArgMin[int64])
}

// Argmax returns the place of the largest element along an axis (int64), which
// is dropped: the first of equal ones, the first NaN where there is one. It
// panics with ErrShape where the axis is empty.
func (x *Tensor) Argmax(axis int) *Tensor { return apply1(opArgmax, &attrs{i: axis}, x) }

// Argmin returns the place of the smallest element along an axis; see Argmax.
func (x *Tensor) Argmin(axis int) *Tensor { return apply1(opArgmin, &attrs{i: axis}, x) }
