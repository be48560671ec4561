package backsweep

import (
	"math"
	"slices"

	"github.com/backsweep/backsweep/internal/array"
)

func init() {
	define(opMaskedFill, op{name: "masked_fill", doc: "x, with a number where the mask holds (x, mask)", formula: "dx = dy, 0 where the mask holds", arity: 2, flags: elementwise,
		nograd: readsIn(1), reads: readsIn(1),
		params: []param{{name: "value", kind: pFloat, optional: true, def: "0"}},
		eval: func(m *machine) {
			m.needs(1, Bool)
			shape := m.spreadAll()
			dt := m.in[0].l.DType
			dst := m.produce(m.layout(dt, shape...))
			mask, v := dense[bool](m.in[1]), m.at.f[0]
			switch dt {
			case Float32:
				maskedFillAs(dst, m.in[0], mask, float32(v))
			case Float64:
				maskedFillAs(dst, m.in[0], mask, v)
			case Int64:
				if v != math.Trunc(v) {
					throw(fail(ErrDType, m.op.name, "Cast the tensor to a float type first", "%v is no int64", v))
				}
				maskedFillAs(dst, m.in[0], mask, int64(v))
			case Bool:
				maskedFillAs(dst, m.in[0], mask, v != 0)
			}
		},
		grad: func(r *rule) { r.give(0, r.zeroWhere(r.in(1), r.dout(0))) },
		samples: []sample{
			on(f(3, 4), flags(3, 4)).with(attrs{f: [2]float64{-7}}), on(f(3, 1), flags(4)).with(attrs{f: [2]float64{2}}), on(f(), flags(2)), on(f(1), flags(2, 0)),
		},
	})
}

func maskedFillAs[T Element](dst, x ref, mask []bool, v T) {
	d, from := dense[T](dst), dense[T](x)
	for i, hit := range mask {
		if hit {
			d[i] = v
		} else {
			d[i] = from[i]
		}
	}
}

// MaskedFill returns x with value where mask, a bool tensor, holds; both
// broadcast. Where it holds no gradient flows.
func (x *Tensor) MaskedFill(mask *Tensor, value float64) *Tensor {
	return apply2(opMaskedFill, &attrs{f: [2]float64{value}}, x, mask)
}

func init() {
	define(opMaskedSelect, op{name: "masked_select", doc: "the elements where the mask holds, one after the other (x, mask)", formula: "dx = dy, put back, in zeros", arity: 2,
		nograd: readsIn(1), reads: readsIn(1),
		cost: func(m *machine) int64 {
			shape, _ := array.BroadcastShapes(m.in[0].l.Shape, m.in[1].l.Shape)
			n, _ := array.Count(shape)
			return int64(n)
		},
		eval: func(m *machine) {
			m.needs(1, Bool)
			m.spreadAll()
			mask := dense[bool](m.in[1])
			n := 0
			for _, hit := range mask {
				if hit {
					n++
				}
			}
			dst := m.produce(m.layout(m.in[0].l.DType, n))
			switch dst.l.DType {
			case Float32:
				maskedSelectAs[float32](dst, m.in[0], mask)
			case Float64:
				maskedSelectAs[float64](dst, m.in[0], mask)
			case Int64:
				maskedSelectAs[int64](dst, m.in[0], mask)
			case Bool:
				maskedSelectAs[bool](dst, m.in[0], mask)
			}
		},
		grad: func(r *rule) {
			shape, _ := array.BroadcastShapes(r.shapeIn(0), r.shapeIn(1))
			r.give(0, r.do2(opMaskedPut, &attrs{ints: [3][]int{shape}}, r.dout(0), r.in(1)))
		},
		tangent: func(r *rule) { r.makes(0, r.do2(opMaskedSelect, nil, r.tan(0), r.in(1))) },
		samples: []sample{on(f(3, 4), flags(3, 4)), on(f(3, 1), flags(4)), on(f(), flags(3)), on(f(0, 2), flags(2))},
	})
	define(opMaskedPut, op{name: "masked_put", doc: "zeros of a shape, with x one after the other where the mask holds", formula: "dx = dy where the mask holds", arity: 2, flags: engineOnly,
		nograd: readsIn(1), reads: readsIn(1),
		params: []param{{name: "shape", kind: pInts}},
		eval: func(m *machine) {
			m.needs(1, Bool)
			x, mask := m.packed(m.in[0]), m.in[1]
			mask.l, _ = mask.l.BroadcastTo(m.at.ints[0])
			hits := dense[bool](m.packed(mask))
			dst := m.produce(m.layout(x.l.DType, m.at.ints[0]...))
			zero(dst)
			if x.l.DType == Float32 {
				maskedPutAs[float32](dst, x, hits)
			} else {
				maskedPutAs[float64](dst, x, hits)
			}
		},
		grad:    func(r *rule) { r.give(0, r.do2(opMaskedSelect, nil, r.dout(0), r.in(1))) },
		tangent: func(r *rule) { r.makes(0, r.do2(opMaskedPut, r.at, r.tan(0), r.in(1))) },
		samples: []sample{on(f(3), ones(3)).with(attrs{ints: [3][]int{{3}}}), on(f(4), ones(2)).with(attrs{ints: [3][]int{{2, 2}}})},
	})
}

func maskedSelectAs[T Element](dst, x ref, mask []bool) {
	d, from := dense[T](dst), dense[T](x)
	k := 0
	for i, hit := range mask {
		if hit {
			d[k] = from[i]
			k++
		}
	}
}

func maskedPutAs[T Element](dst, x ref, mask []bool) {
	d, from := dense[T](dst), dense[T](x)
	k := 0
	for i, hit := range mask {
		if hit {
			d[i] = from[k]
			k++
		}
	}
}

// MaskedSelect returns the elements where mask, a bool tensor, holds, in
// row-major order, as one axis; x and mask broadcast.
func (x *Tensor) MaskedSelect(mask *Tensor) *Tensor { return apply2(opMaskedSelect, nil, x, mask) }

func init() {
	define(opScatter, op{name: "scatter", doc: "base with src written at the indices: base[index[i,j],j] = src[i,j] along axis 0", formula: "d(base) = dy where nothing was written, d(src) = dy gathered where it was the last", arity: 3, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), cost: costOf(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}}, prepare: prepareAxis,
		eval: func(m *machine) {
			base, src := m.in[0], m.packed(m.in[2])
			m.sameDType(0, 2)
			index := m.in[1].l.Shape
			m.checkIndex(index, base.l.Shape, m.at.i)
			m.checkIndex(index, src.l.Shape, -1)
			idx := m.indices(1, base.l.Shape[m.at.i], m.at.i)
			dst := m.produce(m.like(base))
			copyDense(dst, base)
			switch base.l.DType {
			case Float32:
				scatterAs[float32](dst, src, idx, index, m.at.i)
			case Float64:
				scatterAs[float64](dst, src, idx, index, m.at.i)
			case Int64:
				scatterAs[int64](dst, src, idx, index, m.at.i)
			case Bool:
				scatterAs[bool](dst, src, idx, index, m.at.i)
			}
		},
		grad: func(r *rule) {
			dy, index := r.dout(0), r.in(1)
			at := &attrs{i: r.at.i}
			if r.want(0) {
				r.give(0, r.do3(opScatter, at, dy, index, r.full(0, dy.l.DType, index.l.Shape)))
			}
			if r.want(2) {
				last := r.do1(opLastWrite, &attrs{i: r.at.i, ints: [3][]int{dy.l.Shape}}, index)
				g := r.do3(opWhere, nil, last, r.do2(opGather, at, dy, index), r.full(0, dy.l.DType, nil))
				r.give(2, r.covered(g, r.shapeIn(2)))
			}
		},
		samples: []sample{on(f(5, 3), below(5, 2, 3), f(2, 3)), on(f(3, 2), below(3, 6, 2), f(6, 2)), on(f(5, 3), below(3, 4, 2), f(5, 4)).with(attrs{i: 1})},
	})
	define(opLastWrite, op{name: "last_write", doc: "whether each element of an index is the last to name its place", arity: 1, flags: constantOp | engineOnly, cost: costEach(0),
		params: []param{{name: "axis", kind: pInt}, {name: "shape", kind: pInts}},
		eval: func(m *machine) {
			shape, index := m.at.ints[0], m.in[0].l.Shape
			idx := m.indices(0, shape[m.at.i], m.at.i)
			n, _ := array.Count(shape)
			writer := make([]int, n)
			eachIndexed(idx, index, shape, index, m.at.i, func(k, base, _ int) { writer[base] = k })
			dst := dense[bool](m.produce(m.layout(Bool, index...)))
			eachIndexed(idx, index, shape, index, m.at.i, func(k, base, _ int) { dst[k] = writer[base] == k })
		},
		samples: []sample{on(below(2, 4, 3)).with(attrs{ints: [3][]int{{2, 3}}})},
	})
}

// covered is g in a larger shape, whose other elements did not take part.
func (r *rule) covered(g ref, shape []int) ref {
	if array.SameShape(g.l.Shape, shape) {
		return g
	}
	start, step := make([]int, len(shape)), make([]int, len(shape))
	for i := range step {
		step[i] = 1
	}
	return r.do1(opUnslice, &attrs{ints: [3][]int{start, step, shape}}, g)
}

func scatterAs[T Element](dst, src ref, idx []int64, index []int, axis int) {
	d, v := dense[T](dst), dense[T](src)
	eachIndexed(idx, index, dst.l.Shape, src.l.Shape, axis, func(_, base, at int) { d[base] = v[at] })
}

// Scatter returns x with src written at the places that index names along an
// axis, in row-major order of the index: of several writes to one place the last
// one stands, and it alone gets the gradient. Only the part of src that the
// index covers takes part.
func (x *Tensor) Scatter(index, src *Tensor, axis int) *Tensor {
	return apply3(opScatter, &attrs{i: axis}, x, index, src)
}

func init() {
	define(opOneHot, op{name: "one_hot", doc: "1 at the class of each element along a new last axis, 0 elsewhere", arity: 1, flags: constantOp,
		params: []param{{name: "classes", kind: pInt}},
		eval: func(m *machine) {
			n := m.at.i
			if n < 0 {
				throw(fail(ErrValue, m.op.name, "there are 0 classes or more", "%d classes", n))
			}
			idx := m.indices(0, n, 0)
			dst := dense[int64](m.produce(m.layout(Int64, append(slices.Clone(m.in[0].l.Shape), n)...)))
			clear(dst)
			for i, c := range idx {
				dst[i*n+int(c)] = 1
			}
		},
		samples: []sample{on(below(4, 2, 3)).with(attrs{i: 4}), on(below(4)).with(attrs{i: 4})},
	})
}

// OneHot returns an int64 tensor with a new last axis of extent classes: 1 at
// the class number that each element of x (int64) is, 0 elsewhere. It panics
// with ErrIndex for a number that is no class.
func (x *Tensor) OneHot(classes int) *Tensor { return apply1(opOneHot, &attrs{i: classes}, x) }
