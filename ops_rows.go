package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// indices returns operand i, an int64 tensor, densely, and throws ErrIndex
// unless every index is in [0, n).
func (m *machine) indices(i, n int, axis int) []int64 {
	m.needs(i, Int64)
	idx := dense[int64](m.packed(m.in[i]))
	for k, v := range idx {
		if v < 0 || v >= int64(n) {
			throw(fail(ErrIndex, m.op.name, "indices count from 0; negative ones are not allowed",
				"index %d (element %d of the index tensor) on axis %d of extent %d", v, k, axis, n))
		}
	}
	return idx
}

// block splits a shape at an axis: the elements before it, its extent, and the
// elements after it.
func block(shape []int, axis int) (outer, n, inner int) {
	outer, inner = 1, 1
	for a, d := range shape {
		switch {
		case a < axis:
			outer *= d
		case a == axis:
			n = d
		default:
			inner *= d
		}
	}
	return outer, n, inner
}

func init() {
	define(opTake, op{name: "take", doc: "positions of an axis, by an index of any rank", formula: "dx = dy, added up at the indices", arity: 2, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), cost: costEach(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}}, prepare: prepareAxis,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			outer, n, inner := block(x.l.Shape, m.at.i)
			idx := m.indices(1, n, m.at.i)
			shape := append(append(append([]int{}, x.l.Shape[:m.at.i]...), m.in[1].l.Shape...), x.l.Shape[m.at.i+1:]...)
			dst := m.produce(m.layout(x.l.DType, shape...))
			switch x.l.DType {
			case Float32:
				takeAs[float32](dst, x, idx, outer, n, inner)
			case Float64:
				takeAs[float64](dst, x, idx, outer, n, inner)
			case Int64:
				takeAs[int64](dst, x, idx, outer, n, inner)
			case Bool:
				takeAs[bool](dst, x, idx, outer, n, inner)
			}
		},
		grad: func(r *rule) {
			r.give(0, r.do2(opUntake, &attrs{i: r.at.i, ints: [3][]int{r.shapeIn(0)}}, r.dout(0), r.in(1)))
		},
		samples: []sample{on(f(5, 3), below(5, 2, 4)), on(f(2, 5, 3), below(5, 7)).with(attrs{i: 1}), on(f(5, 3), below(5)), on(f(2, 3), below(3, 0)).with(attrs{i: -1})},
	})
	define(opUntake, op{name: "untake", doc: "zeros of a shape, with x added up at the indices", formula: "dx = dy taken at the indices", arity: 2, flags: linear | engineOnly,
		nograd: readsIn(1), reads: readsIn(1), cost: costIn(1),
		params: []param{{name: "axis", kind: pInt}, {name: "shape", kind: pInts}},
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			outer, n, inner := block(m.at.ints[0], m.at.i)
			idx := m.indices(1, n, m.at.i)
			dst := m.produce(m.layout(x.l.DType, m.at.ints[0]...))
			zero(dst)
			if x.l.DType == Float32 {
				untakeAs[float32](dst, x, idx, outer, n, inner)
			} else {
				untakeAs[float64](dst, x, idx, outer, n, inner)
			}
		},
		grad:    func(r *rule) { r.give(0, r.do2(opTake, &attrs{i: r.at.i}, r.dout(0), r.in(1))) },
		samples: []sample{on(f(2, 4, 3), below(5, 2, 4)).with(attrs{ints: [3][]int{{5, 3}}})},
	})
}

func takeAs[T Element](dst, x ref, idx []int64, outer, n, inner int) {
	d, v := dense[T](dst), dense[T](x)
	for o := range outer {
		kernel.GatherRows(d[o*len(idx)*inner:(o+1)*len(idx)*inner], v[o*n*inner:(o+1)*n*inner], idx, inner)
	}
}

func untakeAs[T float32 | float64](dst, x ref, idx []int64, outer, n, inner int) {
	d, v := dense[T](dst), dense[T](x)
	for o := range outer {
		kernel.ScatterAddRows(d[o*n*inner:(o+1)*n*inner], v[o*len(idx)*inner:(o+1)*len(idx)*inner], idx, inner)
	}
}

// Take returns the positions of an axis that index (int64, of any rank) names;
// the axis is replaced by the index's axes. It panics with ErrIndex.
func (x *Tensor) Take(index *Tensor, axis int) *Tensor {
	return apply2(opTake, &attrs{i: axis}, x, index)
}

// eachIndexed calls f with, for each element k of an index of the given shape,
// the flat positions of the element of base (of shape) that it names along the
// axis, and of the element of a tensor of shape other at the same place.
func eachIndexed(idx []int64, index, shape, other []int, axis int, f func(k, base, at int)) {
	rank := len(index)
	strides, strideOther := array.Contiguous(Bool, shape).Strides, array.Contiguous(Bool, other).Strides
	pos := make([]int, rank)
	for k, v := range idx {
		b, o := 0, 0
		for a, p := range pos {
			if a == axis {
				b += int(v) * strides[a]
			} else {
				b += p * strides[a]
			}
			o += p * strideOther[a]
		}
		f(k, b, o)
		for a := rank - 1; a >= 0; a-- {
			pos[a]++
			if pos[a] < index[a] {
				break
			}
			pos[a] = 0
		}
	}
}

// checkIndex throws unless an index has the rank of a tensor and fits into
// limit on every axis but the one that is indexed.
func (m *machine) checkIndex(index, limit []int, axis int) {
	if len(index) != len(limit) {
		m.misfit("the index has as many axes as the tensor", "an index of shape %s for shape %s", array.ShapeString(index), array.ShapeString(limit))
	}
	for a, d := range index {
		if d > limit[a] && a != axis {
			m.misfit("off the axis the index may only be smaller", "an index of shape %s for shape %s", array.ShapeString(index), array.ShapeString(limit))
		}
	}
}

func init() {
	define(opGather, op{name: "gather", doc: "y[i,j] = x[index[i,j],j] along axis 0, and so on", formula: "dx = dy, added up at the indices", arity: 2, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), cost: costEach(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}}, prepare: prepareAxis,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			index := m.in[1].l.Shape
			m.checkIndex(index, x.l.Shape, m.at.i)
			idx := m.indices(1, x.l.Shape[m.at.i], m.at.i)
			dst := m.produce(m.layout(x.l.DType, index...))
			switch x.l.DType {
			case Float32:
				gatherAs[float32](dst, x, idx, index, m.at.i)
			case Float64:
				gatherAs[float64](dst, x, idx, index, m.at.i)
			case Int64:
				gatherAs[int64](dst, x, idx, index, m.at.i)
			case Bool:
				gatherAs[bool](dst, x, idx, index, m.at.i)
			}
		},
		grad: func(r *rule) {
			none := r.full(0, r.layoutIn(0).DType, r.shapeIn(0))
			r.give(0, r.do3(opScatterAdd, &attrs{i: r.at.i}, none, r.in(1), r.dout(0)))
		},
		samples: []sample{on(f(5, 3), below(5, 2, 3)), on(f(5, 3), below(3, 4, 2)).with(attrs{i: 1}), on(f(5, 3), below(5, 0, 3))},
	})
	define(opScatterAdd, op{name: "scatter_add", doc: "base with src added at the indices: base[index[i,j],j] += src[i,j] along axis 0", formula: "d(base) = dy, d(src) = dy gathered at the indices", arity: 3, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), cost: costOf(1),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}}, prepare: prepareAxis,
		eval: func(m *machine) {
			base, src := m.in[0], m.packed(m.in[2])
			m.floats(base)
			m.sameDType(0, 2)
			index := m.in[1].l.Shape
			m.checkIndex(index, base.l.Shape, m.at.i)
			m.checkIndex(index, src.l.Shape, -1)
			idx := m.indices(1, base.l.Shape[m.at.i], m.at.i)
			dst := m.produce(m.like(base))
			copyDense(dst, base)
			if base.l.DType == Float32 {
				scatterAddAs[float32](dst, src, idx, index, m.at.i)
			} else {
				scatterAddAs[float64](dst, src, idx, index, m.at.i)
			}
		},
		grad: func(r *rule) {
			dy := r.dout(0)
			if r.want(0) {
				r.give(0, dy)
			}
			if r.want(2) {
				g := r.do2(opGather, &attrs{i: r.at.i}, dy, r.in(1))
				r.give(2, r.covered(g, r.shapeIn(2)))
			}
		},
		samples: []sample{on(f(5, 3), below(5, 2, 3), f(2, 3)), on(f(5, 3), below(3, 4, 2), f(5, 4)).with(attrs{i: 1})},
	})
}

func gatherAs[T Element](dst, x ref, idx []int64, index []int, axis int) {
	d, v := dense[T](dst), dense[T](x)
	eachIndexed(idx, index, x.l.Shape, index, axis, func(k, base, _ int) { d[k] = v[base] })
}

func scatterAddAs[T float32 | float64](dst, src ref, idx []int64, index []int, axis int) {
	d, v := dense[T](dst), dense[T](src)
	eachIndexed(idx, index, dst.l.Shape, src.l.Shape, axis, func(_, base, at int) { d[base] += v[at] })
}

// Gather returns y[i,j] = x[index[i,j],j] for axis 0, y[i,j] = x[i,index[i,j]]
// for axis 1, and so on. The index (int64) has x's rank and may be smaller on
// the other axes.
func (x *Tensor) Gather(index *Tensor, axis int) *Tensor {
	return apply2(opGather, &attrs{i: axis}, x, index)
}

// ScatterAdd returns x with src added at the places that index names along an
// axis, in row-major order of the index. Only the part of src that the index
// covers takes part.
func (x *Tensor) ScatterAdd(index, src *Tensor, axis int) *Tensor {
	return apply3(opScatterAdd, &attrs{i: axis}, x, index, src)
}
