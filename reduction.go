package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// reduction is what a reducing kernel needs: x brought to [outer, n, inner],
// reduced over the middle. Axes that are not neighbours are brought together
// by a permuted copy, whose order depends on the shape alone.
type reduction struct {
	x               ref
	outer, n, inner int
	shape           []int // of the result
	keep            []int // of the result with the reduced axes as 1
	perm            []int // which axis of the operand each axis of x is
}

var reduceParams = []param{
	{name: "axes", kind: pInts, optional: true, def: "all"},
	{name: "keepdims", kind: pBool, optional: true, def: "false"},
}

// prepareAxes makes attrs.ints[0] the ascending list of reduced axes; none
// given means all.
func prepareAxes(m *machine) {
	rank := len(m.in[0].l.Shape)
	given := m.at.ints[0]
	axes := make([]int, 0, rank)
	if given == nil {
		for a := range rank {
			axes = append(axes, a)
		}
	}
	for _, a := range given {
		axes = append(axes, m.axis(a))
	}
	slices.Sort(axes)
	for i := 1; i < len(axes); i++ {
		if axes[i] == axes[i-1] {
			throw(fail(ErrValue, m.op.name, "name each axis once", "axis %d is given twice", axes[i]))
		}
	}
	m.at.ints[0] = axes
}

func (m *machine) reduction() reduction {
	m.floats(m.in[0])
	return m.reductionOf(m.in[0])
}

// reductionOf is reduction for a value of any type.
func (m *machine) reductionOf(x ref) reduction {
	return m.reductionOver(x, m.at.ints[0], m.at.b)
}

// reductionOver reduces over ascending axes, which stay as 1 with keepdims.
// Its lists are lent until the machine's next reduction.
func (m *machine) reductionOver(x ref, axes []int, keepdims bool) reduction {
	b := &m.lists
	r := reduction{outer: 1, n: 1, inner: 1, shape: b[0][:0], keep: b[1][:0], perm: b[2][:0]}
	free := b[3][:0]
	for a, d := range x.l.Shape {
		if slices.Contains(axes, a) {
			r.n *= d
			r.keep = append(r.keep, 1)
			if keepdims {
				r.shape = append(r.shape, 1)
			}
			continue
		}
		free = append(free, a)
		r.keep = append(r.keep, d)
		r.shape = append(r.shape, d)
	}
	// Neighbours already: free axes before the run are outer, those after inner.
	if len(axes) > 0 && axes[len(axes)-1]-axes[0] == len(axes)-1 {
		for _, a := range free {
			if a < axes[0] {
				r.outer *= x.l.Shape[a]
			} else {
				r.inner *= x.l.Shape[a]
			}
		}
		for a := range x.l.Shape {
			r.perm = append(r.perm, a)
		}
	} else {
		for _, a := range free {
			r.outer *= x.l.Shape[a]
		}
		r.perm = append(append(r.perm, free...), axes...)
		x.l = x.l.Permute(r.perm)
	}
	r.x = m.packed(x)
	return r
}

type reducer[T Element] func(dst, x []T, outer, n, inner int)

// reduce evaluates a reduction.
func reduce(k32 reducer[float32], k64 reducer[float64], emptyOK bool) func(m *machine) {
	return func(m *machine) {
		r := m.reduction()
		if r.n == 0 && !emptyOK {
			m.misfit("leave empty tensors out", "there is no %s of no elements (shape %s)", m.op.name, array.ShapeString(m.in[0].l.Shape))
		}
		dst := m.produce(m.layout(r.x.l.DType, r.shape...))
		if dst.l.DType == Float32 {
			k32(dense[float32](dst), dense[float32](r.x), r.outer, r.n, r.inner)
		} else {
			k64(dense[float64](dst), dense[float64](r.x), r.outer, r.n, r.inner)
		}
	}
}

// costIn counts n multiply-adds an element of operand 0, costOf one an element
// of operand i.
func costIn(n int64) func(m *machine) int64 {
	return func(m *machine) int64 { return n * int64(m.in[0].l.N) }
}

func costOf(i int) func(m *machine) int64 {
	return func(m *machine) int64 { return int64(m.in[i].l.N) }
}

// keepShape is the shape of the output with the reduced axes as 1, so that it
// broadcasts against the operand.
func (r *rule) keepShape() []int {
	shape := append([]int{}, r.shapeIn(0)...)
	for _, a := range r.at.ints[0] {
		shape[a] = 1
	}
	return shape
}

// reduced is how many elements go into one output element.
func (r *rule) reduced() int {
	n := 1
	for _, a := range r.at.ints[0] {
		n *= r.shapeIn(0)[a]
	}
	return n
}

func reduceSamples(draw func(shape ...int) operand, empty bool) []sample {
	s := []sample{
		on(draw(3, 4)), on(draw(3, 4)).with(attrs{ints: [3][]int{{0}}}), on(draw(3, 4)).with(attrs{ints: [3][]int{{-1}}, b: true}),
		on(draw(2, 3, 4)).with(attrs{ints: [3][]int{{0, 2}}}), on(draw()), on(draw(3, 4)).with(attrs{ints: [3][]int{{}}}),
		on(draw(0, 3)).with(attrs{ints: [3][]int{{1}}}),
	}
	if empty {
		s = append(s, on(draw(0, 3)).with(attrs{ints: [3][]int{{0}}}))
	}
	return s
}

func axesAttrs(axes []int, keep bool) *attrs {
	if len(axes) == 0 {
		axes = nil // in Go no axes at all means all of them
	}
	return &attrs{ints: [3][]int{axes}, b: keep}
}

// sumWhole evaluates the sum of int64 tensors, and the number of elements of
// bool tensors that hold.
func sumWhole(m *machine) {
	x := m.in[0]
	if x.l.DType == Bool {
		ones := m.scratch(m.layout(Int64, x.l.Shape...))
		castInto(ones, m.packed(x))
		x = ones
	}
	r := m.reductionOf(x)
	dst := m.produce(m.layout(Int64, r.shape...))
	kernel.SumInt(dense[int64](dst), dense[int64](r.x), r.outer, r.n, r.inner)
}
