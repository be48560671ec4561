package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

const (
	padConstant = iota
	padReflect
	padReplicate
)

var padParams = []param{
	{name: "before", kind: pInts}, {name: "after", kind: pInts, slot: 1},
	{name: "mode", kind: pWord, words: []string{"constant", "reflect", "replicate"}, optional: true, def: "constant"},
	{name: "value", kind: pFloat, optional: true, def: "0"},
}

func init() {
	define(opPad, op{name: "pad", doc: "elements added before and after each axis, or taken away where the number is negative", formula: "dx = dy, cropped; added up where elements were repeated", arity: 1,
		params: padParams, prepare: preparePad,
		cost: func(m *machine) int64 {
			if m.at.i == padConstant {
				return 0
			}
			return int64(m.out[0].l.N) * int64(max(1, len(m.at.ints[0])))
		},
		eval: func(m *machine) {
			if m.at.i == padConstant {
				m.padConstant()
				return
			}
			x := m.packed(m.in[0])
			shape := append([]int{}, x.l.Shape...)
			for a := range shape {
				idx := sources(shape[a], m.at.ints[0][a], m.at.ints[1][a], m.at.i)
				outer, n, inner := block(shape, a)
				shape[a] = len(idx)
				l := m.layout(x.l.DType, shape...)
				var dst ref
				if a == len(shape)-1 {
					dst = m.produce(l)
				} else {
					dst = m.scratch(l)
				}
				switch l.DType {
				case Float32:
					takeAs[float32](dst, x, idx, outer, n, inner)
				case Float64:
					takeAs[float64](dst, x, idx, outer, n, inner)
				case Int64:
					takeAs[int64](dst, x, idx, outer, n, inner)
				case Bool:
					takeAs[bool](dst, x, idx, outer, n, inner)
				}
				x = dst
			}
			if len(shape) == 0 {
				copyDense(m.produce(x.l), x)
			}
		},
		grad: func(r *rule) {
			g, shape := r.dout(0), r.shapeIn(0)
			if r.at.i == padConstant {
				r.give(0, r.do1(opPad, &attrs{ints: [3][]int{negated(r.at.ints[0]), negated(r.at.ints[1])}}, g))
				return
			}
			for a := len(shape) - 1; a >= 0; a-- {
				idx := sources(shape[a], r.at.ints[0][a], r.at.ints[1][a], r.at.i)
				to := append([]int{}, g.l.Shape...)
				to[a] = shape[a]
				g = r.do2(opUntake, &attrs{i: a, ints: [3][]int{to}}, g, r.constant(New(idx)))
			}
			r.give(0, g)
		},
		tangent: func(r *rule) {
			at := *r.at
			at.f[0] = 0
			r.makes(0, r.do1(opPad, &at, r.tan(0)))
		},
		samples: []sample{
			on(f(3)).with(attrs{ints: [3][]int{{-1}, {2}}, f: [2]float64{9}}), on(f(3, 4)).with(attrs{ints: [3][]int{{2, 1}, {1, 3}}, i: padReflect}),
			on(f(3, 4)).with(attrs{ints: [3][]int{{2, -1}, {-1, 3}}, i: padReplicate}), on(f(2, 3)).with(attrs{ints: [3][]int{{1, 0}, {0, -2}}}),
			on(f(0, 3)).with(attrs{ints: [3][]int{{1, 1}, {1, 0}}, f: [2]float64{2}}), on(f()).with(attrs{ints: [3][]int{{}, {}}}),
		},
	})
}

func negated(v []int) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

func preparePad(m *machine) {
	shape := m.in[0].l.Shape
	before, after := m.at.ints[0], m.at.ints[1]
	if len(before) != len(shape) || len(after) != len(shape) {
		m.misfit("give a pair of numbers for each axis", "%d and %d numbers for shape %s", len(before), len(after), array.ShapeString(shape))
	}
	for a, d := range shape {
		b, e := before[a], after[a]
		// What is left of the axis after cropping.
		left := d + min(0, b) + min(0, e)
		switch {
		case left < 0:
			m.misfit("crop no more than there is", "axis %d of extent %d is padded by %d and %d", a, d, b, e)
		case b > math.MaxInt32 || e > math.MaxInt32:
			m.misfit("pad by less", "axis %d of extent %d is padded by %d and %d", a, d, b, e)
		case m.at.i == padReflect && max(b, e) > 0 && max(b, e) >= left:
			m.misfit("reflect less than there is", "axis %d of extent %d is padded by %d and %d, but its end is not repeated", a, d, b, e)
		case m.at.i == padReplicate && max(b, e) > 0 && left == 0:
			m.misfit("replicate an element that is there", "axis %d has no element to replicate", a)
		}
	}
}

// sources is where each position of a padded axis comes from. What cropping
// takes away is not reflected.
func sources(n, before, after, mode int) []int64 {
	first, last := max(0, -before), n-1+min(0, after)
	idx := make([]int64, 0, n+before+after)
	for p := -before; p < n+after; p++ {
		q := p
		if mode == padReflect {
			if q < first {
				q = 2*first - q
			}
			if q > last {
				q = 2*last - q
			}
		}
		idx = append(idx, int64(min(max(q, first), last)))
	}
	return idx
}

func (m *machine) padConstant() {
	x := m.in[0]
	shape, start, from, step, count := []int{}, []int{}, []int{}, []int{}, []int{}
	for a, d := range x.l.Shape {
		b, e := m.at.ints[0][a], m.at.ints[1][a]
		shape = append(shape, d+b+e)
		start, from = append(start, max(0, b)), append(from, max(0, -b))
		step, count = append(step, 1), append(count, d+min(0, b)+min(0, e))
	}
	dst := m.produce(m.layout(x.l.DType, shape...))
	if v := m.at.f[0]; x.l.DType == Int64 && v != math.Trunc(v) {
		throw(fail(ErrDType, m.op.name, "Cast the tensor to a float type first", "%v is no int64", v))
	}
	fillDense(dst.p, dst.l, m.at.f[0])
	x.l = x.l.Narrow(from, step, count)
	if x.l.N == 0 {
		return
	}
	x = m.packed(x)
	at := dst.l.Narrow(start, step, count)
	switch x.l.DType {
	case Float32:
		kernel.ScatterStrided(dense[float32](dst), at.Offset, at.Shape, at.Strides, dense[float32](x))
	case Float64:
		kernel.ScatterStrided(dense[float64](dst), at.Offset, at.Shape, at.Strides, dense[float64](x))
	case Int64:
		kernel.ScatterStrided(dense[int64](dst), at.Offset, at.Shape, at.Strides, dense[int64](x))
	case Bool:
		kernel.ScatterStrided(dense[bool](dst), at.Offset, at.Shape, at.Strides, dense[bool](x))
	}
}

func padAttrs(mode int, value float64, pads [][2]int) *attrs {
	before, after := make([]int, len(pads)), make([]int, len(pads))
	for i, p := range pads {
		before[i], after[i] = p[0], p[1]
	}
	return &attrs{ints: [3][]int{before, after}, i: mode, f: [2]float64{value}}
}

// Pad returns x with value before and after the elements of each axis: pads has
// a pair for every axis, and a negative number takes elements away. It panics
// with ErrShape where there are not that many.
func (x *Tensor) Pad(value float64, pads ...[2]int) *Tensor {
	return apply1(opPad, padAttrs(padConstant, value, pads), x)
}

// PadReflect is Pad with the elements mirrored at the first and the last one,
// which are not repeated. It panics with ErrShape where there are too few.
func (x *Tensor) PadReflect(pads ...[2]int) *Tensor {
	return apply1(opPad, padAttrs(padReflect, 0, pads), x)
}

// PadReplicate is Pad with the first and the last element repeated.
func (x *Tensor) PadReplicate(pads ...[2]int) *Tensor {
	return apply1(opPad, padAttrs(padReplicate, 0, pads), x)
}
