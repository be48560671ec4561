package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opConcat, op{name: "concat", doc: "tensors one after the other along an axis", formula: "each dx = its part of dy", arity: -1, flags: linear, cost: costEach(0),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}}, prepare: prepareAxis,
		eval: func(m *machine) {
			x := m.in[0]
			shape := append([]int{}, x.l.Shape...)
			for i, y := range m.in[1:] {
				m.sameDType(0, i+1)
				if len(y.l.Shape) != len(shape) {
					m.misfit("all need the same number of axes", "shapes %s do not concatenate", m.shapesText())
				}
				for a, d := range y.l.Shape {
					if a == m.at.i {
						shape[a] += d
					} else if d != shape[a] {
						m.misfit("extents off the axis must be equal", "shapes %s do not concatenate along axis %d", m.shapesText(), m.at.i)
					}
				}
			}
			dst := m.produce(m.layout(x.l.DType, shape...))
			at := 0
			for _, y := range m.in {
				m.paste(dst, y, m.at.i, at)
				at += y.l.Shape[m.at.i]
			}
		},
		grad: func(r *rule) {
			dy := r.dout(0)
			at := 0
			for i := range int(r.nIn) {
				n := r.shapeIn(i)[r.at.i]
				if r.want(i) {
					r.give(i, r.part(dy, r.at.i, at, n))
				}
				at += n
			}
		},
		samples: []sample{on(f(2, 3), f(4, 3)), on(f(2, 3), f(2, 1), f(2, 0)).with(attrs{i: -1}), on(f(3))},
	})
	define(opStack, op{name: "stack", doc: "tensors of one shape along a new axis", formula: "each dx = its part of dy", arity: -1, flags: linear, cost: costEach(0),
		params: []param{{name: "axis", kind: pInt, optional: true, def: "0"}},
		prepare: func(m *machine) {
			m.at.i = axisOf(m.op.name, m.at.i, len(m.in[0].l.Shape)+1)
		},
		eval: func(m *machine) {
			x := m.in[0]
			for i, y := range m.in[1:] {
				m.sameDType(0, i+1)
				if !array.SameShape(x.l.Shape, y.l.Shape) {
					m.misfit("all need the same shape", "shapes %s do not stack", m.shapesText())
				}
			}
			shape := append(append(append([]int{}, x.l.Shape[:m.at.i]...), len(m.in)), x.l.Shape[m.at.i:]...)
			dst := m.produce(m.layout(x.l.DType, shape...))
			for k, y := range m.in {
				s := append(append(append([]int{}, y.l.Shape[:m.at.i]...), 1), y.l.Shape[m.at.i:]...)
				st := append(append(append([]int{}, y.l.Strides[:m.at.i]...), 0), y.l.Strides[m.at.i:]...)
				y.l = array.Strided(y.l.DType, s, st, y.l.Offset)
				m.paste(dst, y, m.at.i, k)
			}
		},
		grad: func(r *rule) {
			for i := range int(r.nIn) {
				if r.want(i) {
					r.give(i, r.reshape(r.part(r.dout(0), r.at.i, i, 1), r.shapeIn(i)))
				}
			}
		},
		samples: []sample{on(f(2, 3), f(2, 3)), on(f(2, 3), f(2, 3), f(2, 3)).with(attrs{i: -1}), on(f(), f())},
	})
	define(opSplit, op{name: "split", doc: "parts of the given sizes along an axis", formula: "dx = the parts' cotangents, one after the other", arity: 1, outs: -1, flags: linear | viewing,
		params: []param{{name: "axis", kind: pInt}, {name: "sizes", kind: pInts}},
		prepare: func(m *machine) {
			m.at.i = m.axis(m.at.i)
			n := 0
			for _, s := range m.at.ints[0] {
				if s < 0 {
					throw(fail(ErrValue, m.op.name, "sizes are 0 or more", "a part of size %d", s))
				}
				n += s
			}
			if d := m.in[0].l.Shape[m.at.i]; n != d || len(m.at.ints[0]) == 0 {
				m.misfit("the sizes add up to the extent", "sizes %s add up to %d, but axis %d has extent %d", array.ShapeString(m.at.ints[0]), n, m.at.i, d)
			}
		},
		eval: func(m *machine) {
			l := m.in[0].l
			rank := len(l.Shape)
			start, step := make([]int, rank), make([]int, rank)
			for i := range step {
				step[i] = 1
			}
			for _, s := range m.at.ints[0] {
				count := append([]int{}, l.Shape...)
				count[m.at.i] = s
				m.view(l.Narrow(start, step, count))
				start[m.at.i] += s
			}
		},
		grad: func(r *rule) {
			parts := make([]ref, r.nOut)
			for j := range parts {
				if r.has(j) {
					parts[j] = r.dout(j)
				} else {
					// Not consumed: unconnected, so zero by mathematics.
					parts[j] = r.full(0, r.layoutIn(0).DType, r.shapeOut(j))
				}
			}
			r.give(0, r.doN(opConcat, &attrs{i: r.at.i}, parts))
		},
		samples: []sample{on(f(5, 2)).with(attrs{ints: [3][]int{{1, 3, 1}}}), on(f(2, 4)).with(attrs{i: -1, ints: [3][]int{{4, 0}}})},
	})
}

// paste copies y into dst at a position of an axis.
func (m *machine) paste(dst, y ref, axis, at int) {
	if y.l.N == 0 {
		return
	}
	y = m.packed(y)
	to := y.l
	offset := dst.l.Offset + at*dst.l.Strides[axis]
	switch y.l.DType {
	case Float32:
		kernel.ScatterStrided(whole[float32](dst), offset, to.Shape, dst.l.Strides, dense[float32](y))
	case Float64:
		kernel.ScatterStrided(whole[float64](dst), offset, to.Shape, dst.l.Strides, dense[float64](y))
	case Int64:
		kernel.ScatterStrided(whole[int64](dst), offset, to.Shape, dst.l.Strides, dense[int64](y))
	case Bool:
		kernel.ScatterStrided(whole[bool](dst), offset, to.Shape, dst.l.Strides, dense[bool](y))
	}
}

// part takes n positions of an axis from at on.
func (r *rule) part(x ref, axis, at, n int) ref {
	rank := len(x.l.Shape)
	start, step, count := make([]int, rank), make([]int, rank), append([]int{}, x.l.Shape...)
	for i := range step {
		step[i] = 1
	}
	start[axis], count[axis] = at, n
	return r.sliced(x, start, step, count)
}

// Concat joins tensors along an axis. It panics with ErrShape when another
// extent differs.
func Concat(axis int, xs ...*Tensor) *Tensor {
	mustSome("concat", xs)
	return apply(opConcat, &attrs{i: axis}, xs)
}

// Stack joins tensors of one shape along a new axis.
func Stack(axis int, xs ...*Tensor) *Tensor {
	mustSome("stack", xs)
	return apply(opStack, &attrs{i: axis}, xs)
}

func mustSome(opName string, xs []*Tensor) {
	if len(xs) == 0 {
		throw(fail(ErrValue, opName, "pass one tensor or more", "there are no tensors"))
	}
}

// Split returns views of the given sizes, one after the other along an axis.
// The sizes add up to the axis's extent.
func (x *Tensor) Split(axis int, sizes ...int) []*Tensor {
	return applyAll(opSplit, &attrs{i: axis, ints: [3][]int{shapeOrScalar(sizes)}}, []*Tensor{x})
}
