package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// copied makes the next output a dense copy of operand 0 with the layout l.
func (m *machine) copied(l *array.Layout) {
	dst := m.produce(l)
	src := m.in[0]
	flat := dst
	flat.l = m.like(src)
	copyDense(flat, src)
}

func init() {
	define(opReshape, op{name: "reshape", doc: "the same elements in another shape", formula: "dx = dy, reshaped back", arity: 1, flags: linear | viewing,
		params: []param{{name: "shape", kind: pInts}},
		prepare: func(m *machine) {
			x := m.in[0]
			shape := append([]int{}, m.at.ints[0]...)
			free, n := -1, 1
			for i, d := range shape {
				switch {
				case d == -1 && free < 0:
					free = i
				case d < 0:
					m.misfit("one extent may be -1, the others are 0 or more", "%s is no shape", array.ShapeString(m.at.ints[0]))
				case d > 0 && n > math.MaxInt/d:
					m.misfit("the number of elements stays the same", "shape %s is too large", array.ShapeString(m.at.ints[0]))
				default:
					n *= d
				}
			}
			if free >= 0 && n > 0 && x.l.N%n == 0 {
				shape[free] = x.l.N / n
				n = x.l.N
			}
			if n != x.l.N || free >= 0 && shape[free] < 0 {
				m.misfit("the number of elements stays the same", "shape %s with %d elements does not reshape to %s", array.ShapeString(x.l.Shape), x.l.N, array.ShapeString(m.at.ints[0]))
			}
			m.at.ints[0] = shape
		},
		eval: func(m *machine) {
			x := m.in[0]
			shape := m.at.ints[0]
			if x.l.Plain {
				m.view(m.layout(x.l.DType, shape...))
				return
			}
			if l, ok := x.l.Reshape(shape); ok {
				m.view(l)
				return
			}
			m.copied(m.layout(x.l.DType, shape...))
		},
		grad:    func(r *rule) { r.give(0, r.reshape(r.dout(0), r.shapeIn(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{ints: [3][]int{{2, -1}}}), on(f(1)).with(attrs{ints: [3][]int{{}}}), on(f(0, 4)).with(attrs{ints: [3][]int{{2, 0}}})},
	})
}

// Reshape returns the same elements, in row-major order, in another shape. One
// extent may be -1: it is then worked out.
func (x *Tensor) Reshape(shape ...int) *Tensor {
	return apply1(opReshape, &attrs{ints: [3][]int{shapeOrScalar(shape)}}, x)
}

func init() {
	define(opTranspose, op{name: "transpose", doc: "the axes in another order", formula: "dx = dy, with the axes back", arity: 1, flags: linear | viewing,
		params: []param{{name: "perm", kind: pInts, optional: true, def: "reversed"}},
		prepare: func(m *machine) {
			rank := len(m.in[0].l.Shape)
			perm := make([]int, rank)
			if m.at.ints[0] == nil {
				for i := range perm {
					perm[i] = rank - 1 - i
				}
				m.at.ints[0] = perm
				return
			}
			if len(m.at.ints[0]) != rank {
				m.misfit("name each axis once", "%d axes are named, but shape %s has %d", len(m.at.ints[0]), array.ShapeString(m.in[0].l.Shape), rank)
			}
			seen := make([]bool, rank)
			for i, a := range m.at.ints[0] {
				a = m.axis(a)
				if seen[a] {
					throw(fail(ErrValue, m.op.name, "name each axis once", "axis %d comes twice", a))
				}
				seen[a] = true
				perm[i] = a
			}
			m.at.ints[0] = perm
		},
		eval: func(m *machine) { m.view(m.in[0].l.Permute(m.at.ints[0])) },
		grad: func(r *rule) {
			back := make([]int, len(r.at.ints[0]))
			for i, a := range r.at.ints[0] {
				back[a] = i
			}
			r.give(0, r.permute(r.dout(0), back))
		},
		samples: []sample{on(f(3, 4)), on(f(2, 3, 4)).with(attrs{ints: [3][]int{{1, 2, 0}}}), on(f())},
	})
}

// Transpose returns a view with the axes in another order: axis i of the result
// is axis perm[i]. Without arguments the axes are reversed.
func (x *Tensor) Transpose(perm ...int) *Tensor {
	return apply1(opTranspose, &attrs{ints: [3][]int{perm}}, x)
}

// T swaps the last two axes.
func (x *Tensor) T() *Tensor {
	n := x.Rank()
	if n < 2 {
		throw(fail(ErrShape, "transpose", "reshape it to two axes first", "T needs two axes, not shape %s", array.ShapeString(x.layout().Shape)))
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[n-2], perm[n-1] = n-1, n-2
	return x.Transpose(perm...)
}

func init() {
	define(opBroadcastTo, op{name: "broadcast_to", doc: "the elements repeated to a larger shape", formula: "dx = dy, summed over what was repeated", arity: 1, flags: linear | viewing,
		params: []param{{name: "shape", kind: pInts}}, cost: costEach(1),
		eval: func(m *machine) {
			x := m.in[0]
			if array.SameShape(x.l.Shape, m.at.ints[0]) {
				m.view(x.l)
				return
			}
			for _, d := range m.at.ints[0] {
				if d < 0 {
					m.misfit("extents are 0 or more", "%s is no shape", array.ShapeString(m.at.ints[0]))
				}
			}
			l, ok := x.l.BroadcastTo(m.at.ints[0])
			if !ok {
				m.misfit("extents must be equal or 1, aligned at the last axis", "shape %s does not broadcast to %s", array.ShapeString(x.l.Shape), array.ShapeString(m.at.ints[0]))
			}
			m.view(l)
		},
		grad:    func(r *rule) { r.give(0, r.dout(0)) }, // the engine sums
		tangent: func(r *rule) { r.makes(0, r.spread(r.tan(0), r.shapeOut(0))) },
		samples: []sample{on(f(3, 1)).with(attrs{ints: [3][]int{{2, 3, 4}}}), on(f()).with(attrs{ints: [3][]int{{3}}}), on(f(1, 3)).with(attrs{ints: [3][]int{{0, 3}}})},
	})
}

// BroadcastTo returns a view in which extents of 1 are stretched, by NumPy's
// rules.
func (x *Tensor) BroadcastTo(shape ...int) *Tensor {
	return apply1(opBroadcastTo, &attrs{ints: [3][]int{shapeOrScalar(shape)}}, x)
}

// End, as the stop of a slice, means: to the end of the axis.
const End = math.MaxInt

func init() {
	define(opSlice, op{name: "slice", doc: "start:stop:step of each axis", formula: "dx = dy, in zeros elsewhere", arity: 1, flags: linear | viewing,
		params:  []param{{name: "start", kind: pInts}, {name: "stop", kind: pInts, slot: 1}, {name: "step", kind: pInts, slot: 2, optional: true, def: "1"}},
		prepare: prepareSlice,
		eval: func(m *machine) {
			m.view(m.in[0].l.Narrow(m.at.ints[0], m.at.ints[2], m.at.ints[1]))
		},
		grad: func(r *rule) {
			r.give(0, r.do1(opUnslice, &attrs{ints: [3][]int{r.at.ints[0], r.at.ints[2], r.shapeIn(0)}}, r.dout(0)))
		},
		tangent: func(r *rule) { r.makes(0, r.sliced(r.tan(0), r.at.ints[0], r.at.ints[2], r.at.ints[1])) },
		samples: []sample{
			on(f(5, 4)).with(attrs{ints: [3][]int{{1}, {4}}}), on(f(5, 4)).with(attrs{ints: [3][]int{{-1, 0}, {-6, End}, {-2, 3}}}), on(f(5)).with(attrs{ints: [3][]int{{3}, {3}}}),
		},
	})
	define(opUnslice, op{name: "unslice", doc: "zeros of a larger shape, with x at start:step", formula: "dx = slice of dy", arity: 1, flags: linear | engineOnly, cost: costEach(0),
		params: []param{{name: "start", kind: pInts}, {name: "step", kind: pInts, slot: 1}, {name: "shape", kind: pInts, slot: 2}},
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			dst := m.produce(m.layout(x.l.DType, m.at.ints[2]...))
			zero(dst)
			at := dst.l.Narrow(m.at.ints[0], m.at.ints[1], x.l.Shape)
			if x.l.DType == Float32 {
				kernel.ScatterStrided(dense[float32](dst), at.Offset, at.Shape, at.Strides, dense[float32](x))
			} else {
				kernel.ScatterStrided(dense[float64](dst), at.Offset, at.Shape, at.Strides, dense[float64](x))
			}
		},
		grad: func(r *rule) { r.give(0, r.sliced(r.dout(0), r.at.ints[0], r.at.ints[1], r.shapeIn(0))) },
		tangent: func(r *rule) {
			r.makes(0, r.do1(opUnslice, r.at, r.tan(0)))
		},
		samples: []sample{on(f(3, 2)).with(attrs{ints: [3][]int{{1, 3}, {2, -2}, {6, 4}}})},
	})
}

// sliced takes count elements of each axis from start in steps.
func (r *rule) sliced(x ref, start, step, count []int) ref {
	stop := make([]int, len(start))
	for i, s := range start {
		stop[i] = s + step[i]*count[i]
		if stop[i] < 0 {
			stop[i] = -math.MaxInt // before the first element, not counted from the last
		}
	}
	return r.do1(opSlice, &attrs{ints: [3][]int{start, stop, step}}, x)
}

// prepareSlice resolves start:stop:step by Python's rules and leaves start,
// count and step for every axis.
func prepareSlice(m *machine) {
	shape := m.in[0].l.Shape
	at := m.at
	if len(at.ints[0]) != len(at.ints[1]) || at.ints[2] != nil && len(at.ints[2]) != len(at.ints[0]) {
		throw(fail(ErrIndex, m.op.name, "give each list as many entries as axes are sliced", "start, stop and step have %d, %d and %d entries", len(at.ints[0]), len(at.ints[1]), len(at.ints[2])))
	}
	if len(at.ints[0]) > len(shape) {
		throw(fail(ErrIndex, m.op.name, "slice at most as many axes as there are", "%d axes are sliced, but shape %s has %d", len(at.ints[0]), array.ShapeString(shape), len(shape)))
	}
	start, count, step := make([]int, len(shape)), make([]int, len(shape)), make([]int, len(shape))
	for i, d := range shape {
		start[i], count[i], step[i] = 0, d, 1
		if i >= len(at.ints[0]) {
			continue
		}
		if at.ints[2] != nil {
			step[i] = at.ints[2][i]
		}
		if step[i] == 0 {
			throw(fail(ErrValue, m.op.name, "a step is positive, or negative to go backward", "the step of axis %d is 0", i))
		}
		lo, hi := 0, d // where start and stop may lie
		if step[i] < 0 {
			lo, hi = -1, d-1
		}
		clamp := func(v int) int {
			if v < 0 && v >= -d-1 {
				v += d
			}
			return min(max(v, lo), hi)
		}
		s, e := at.ints[0][i], at.ints[1][i]
		if s < 0 {
			s = max(s+d, lo)
		} else {
			s = min(s, hi)
		}
		if e == End && step[i] < 0 {
			e = -1
		} else {
			e = clamp(e)
		}
		start[i] = s
		count[i] = 0
		if step[i] > 0 && e > s {
			count[i] = (e-s-1)/step[i] + 1
		} else if step[i] < 0 && e < s {
			count[i] = (s-e-1)/-step[i] + 1
		}
		if count[i] == 0 {
			start[i] = 0
		}
	}
	at.ints = [3][]int{start, count, step}
}

// Range is start:stop:step on one axis, by Python's rules: negative positions
// count from the end, positions beyond an end are cut to it. Step 0 means 1.
type Range struct{ Start, Stop, Step int }

// All is the whole axis.
var All = Range{0, End, 1}

// Slice returns a view of a part of each axis; axes that are not named stay
// whole. Stop may be [End].
func (x *Tensor) Slice(ranges ...Range) *Tensor {
	at := &attrs{}
	for k := range at.ints {
		at.ints[k] = make([]int, len(ranges))
	}
	for i, r := range ranges {
		at.ints[0][i], at.ints[1][i], at.ints[2][i] = r.Start, r.Stop, r.Step
		if r.Step == 0 {
			at.ints[2][i] = 1
		}
	}
	return apply1(opSlice, at, x)
}

// Index returns a view of position i of the first axis, which is dropped.
// Negative positions count from the end.
func (x *Tensor) Index(i int) *Tensor {
	n := x.Dim(0)
	if i < -n || i >= n {
		throw(fail(ErrIndex, "slice", "positions run from -n to n-1", "position %d of an axis of extent %d", i, n))
	}
	if i < 0 {
		i += n
	}
	return x.Slice(Range{i, i + 1, 1}).Squeeze(0)
}

func init() {
	define(opSqueeze, op{name: "squeeze", doc: "without axes of extent 1", formula: "dx = dy, reshaped back", arity: 1, flags: linear | viewing,
		params: []param{{name: "axes", kind: pInts, optional: true, def: "all of extent 1"}},
		eval: func(m *machine) {
			x := m.in[0]
			drop := make([]bool, len(x.l.Shape))
			for _, a := range m.at.ints[0] {
				a = m.axis(a)
				if x.l.Shape[a] != 1 {
					m.misfit("only axes of extent 1 can go", "axis %d of shape %s has extent %d", a, array.ShapeString(x.l.Shape), x.l.Shape[a])
				}
				drop[a] = true
			}
			var shape, strides []int
			for a, d := range x.l.Shape {
				if drop[a] || m.at.ints[0] == nil && d == 1 {
					continue
				}
				shape, strides = append(shape, d), append(strides, x.l.Strides[a])
			}
			m.view(array.Strided(x.l.DType, shape, strides, x.l.Offset))
		},
		grad:    func(r *rule) { r.give(0, r.reshape(r.dout(0), r.shapeIn(0))) },
		samples: []sample{on(f(3, 1, 4)).with(attrs{ints: [3][]int{{1}}}), on(f(1, 3, 1))},
	})
	define(opUnsqueeze, op{name: "unsqueeze", doc: "with new axes of extent 1", formula: "dx = dy, reshaped back", arity: 1, flags: linear | viewing,
		params: []param{{name: "axes", kind: pInts}},
		eval: func(m *machine) {
			x := m.in[0]
			rank := len(x.l.Shape) + len(m.at.ints[0])
			fresh := make([]bool, rank)
			for _, a := range m.at.ints[0] {
				b := axisOf(m.op.name, a, rank)
				if fresh[b] {
					throw(fail(ErrValue, m.op.name, "name each new axis once", "axis %d comes twice", b))
				}
				fresh[b] = true
			}
			shape, strides := make([]int, rank), make([]int, rank)
			k := 0
			for a := range shape {
				if fresh[a] {
					shape[a] = 1
					continue
				}
				shape[a], strides[a] = x.l.Shape[k], x.l.Strides[k]
				k++
			}
			m.view(array.Strided(x.l.DType, shape, strides, x.l.Offset))
		},
		grad:    func(r *rule) { r.give(0, r.reshape(r.dout(0), r.shapeIn(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{ints: [3][]int{{0, -1}}}), on(f()).with(attrs{ints: [3][]int{{0}}})},
	})
}

// Squeeze returns a view without the given axes, which have extent 1; without
// arguments, without every axis of extent 1.
func (x *Tensor) Squeeze(axes ...int) *Tensor {
	return apply1(opSqueeze, &attrs{ints: [3][]int{axes}}, x)
}

// Unsqueeze returns a view with new axes of extent 1 at the given places of
// the result.
func (x *Tensor) Unsqueeze(axes ...int) *Tensor {
	return apply1(opUnsqueeze, &attrs{ints: [3][]int{shapeOrScalar(axes)}}, x)
}
