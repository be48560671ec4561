package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// An equation of two operands is evaluated as a batch of matrix products: what
// only one of them has is summed up before, and the axes that both have are put
// in order.

// term is an operand of a contraction, whose axes have one label each.
type term struct {
	x      ref
	labels []rune
}

// diagonals brings operand i to labels that come once: axes of one label become
// their diagonal, axes along which it is broadcast are dropped.
func (m *machine) diagonals(e *equation, i int, ext map[rune]int) term {
	x := m.in[i]
	t := term{x: x, labels: e.own(i, x.l.Shape, ext)}
	shape, strides := make([]int, len(t.labels)), make([]int, len(t.labels))
	for a, c := range e.in[i] {
		if k := slices.Index(t.labels, c); k >= 0 {
			shape[k] = x.l.Shape[a]
			strides[k] += x.l.Strides[a]
		}
	}
	t.x.l = array.Strided(x.l.DType, shape, strides, x.l.Offset)
	return t
}

// inOrder views a term with its axes in the order of the labels, which are all
// of its own.
func (t term) inOrder(labels []rune) term {
	perm := make([]int, len(labels))
	for i, c := range labels {
		perm[i] = slices.Index(t.labels, c)
	}
	t.x.l = t.x.l.Permute(perm)
	t.labels = labels
	return t
}

// only sums over the axes of a term that keep does not have.
func (m *machine) only(t term, keep func(c rune) bool) term {
	var kept, gone []rune
	outer, n := 1, 1
	shape := []int{}
	for a, c := range t.labels {
		if d := t.x.l.Shape[a]; keep(c) {
			kept, shape, outer = append(kept, c), append(shape, d), outer*d
		} else {
			gone, n = append(gone, c), n*d
		}
	}
	if len(gone) == 0 {
		return t
	}
	x := m.packed(t.inOrder(append(slices.Clone(kept), gone...)).x)
	sum := m.scratch(m.layout(x.l.DType, shape...))
	if x.l.DType == Float32 {
		kernel.Sum(dense[float32](sum), dense[float32](x), outer, n, 1)
	} else {
		kernel.Sum(dense[float64](sum), dense[float64](x), outer, n, 1)
	}
	return term{sum, kept}
}

// contraction sorts the labels of two terms: in both and the result, in one and
// the result, in both alone.
type contraction struct{ batch, freeA, freeB, inner []rune }

func contract(a, b, out []rune) (c contraction) {
	for _, l := range out {
		inA, inB := slices.Contains(a, l), slices.Contains(b, l)
		switch {
		case inA && inB:
			c.batch = append(c.batch, l)
		case inA:
			c.freeA = append(c.freeA, l)
		default:
			c.freeB = append(c.freeB, l)
		}
	}
	for _, l := range a {
		if slices.Contains(b, l) && !slices.Contains(out, l) {
			c.inner = append(c.inner, l)
		}
	}
	return c
}

func volume(labels []rune, ext map[rune]int) int {
	n := 1
	for _, c := range labels {
		n *= ext[c]
	}
	return n
}

// sum evaluates an equation of one or two operands.
func (m *machine) sum(e *equation) {
	m.floats(m.in...)
	for i := range m.in {
		m.sameDType(0, i)
	}
	ext := m.extents(e)
	shape := []int{}
	for _, c := range e.out {
		shape = append(shape, ext[c])
	}
	a := m.diagonals(e, 0, ext)
	if len(m.in) == 1 {
		a = m.only(a, func(c rune) bool { return slices.Contains(e.out, c) })
		copyDense(m.produce(m.layout(a.x.l.DType, shape...)), a.inOrder(e.out).x)
		return
	}
	b := m.diagonals(e, 1, ext)
	mine, theirs := a.labels, b.labels
	a = m.only(a, func(c rune) bool { return slices.Contains(e.out, c) || slices.Contains(theirs, c) })
	b = m.only(b, func(c rune) bool { return slices.Contains(e.out, c) || slices.Contains(mine, c) })
	c := contract(a.labels, b.labels, e.out)
	x := m.packed(a.inOrder(slices.Concat(c.batch, c.freeA, c.inner)).x)
	y := m.packed(b.inOrder(slices.Concat(c.batch, c.inner, c.freeB)).x)
	made := slices.Concat(c.batch, c.freeA, c.freeB)
	var product ref
	if slices.Equal(made, e.out) {
		product = m.produce(m.layout(x.l.DType, shape...))
	} else {
		wide := []int{}
		for _, l := range made {
			wide = append(wide, ext[l])
		}
		product = m.scratch(m.layout(x.l.DType, wide...))
	}
	batches, rows, cols, depth := volume(c.batch, ext), volume(c.freeA, ext), volume(c.freeB, ext), volume(c.inner, ext)
	if x.l.DType == Float32 {
		multiplyEach[float32](product, x, y, batches, rows, cols, depth)
	} else {
		multiplyEach[float64](product, x, y, batches, rows, cols, depth)
	}
	if !slices.Equal(made, e.out) {
		copyDense(m.produce(m.layout(x.l.DType, shape...)), term{product, made}.inOrder(e.out).x)
	}
}

func multiplyEach[T float32 | float64](dst, a, b ref, batches, rows, cols, depth int) {
	d, x, y := dense[T](dst), dense[T](a), dense[T](b)
	for i := range batches {
		kernel.Gemm(rows, cols, depth, x[i*rows*depth:(i+1)*rows*depth], depth, 1, y[i*depth*cols:(i+1)*depth*cols], cols, 1, d[i*rows*cols:(i+1)*rows*cols], cols)
	}
}

// costSum counts the products of an equation, and the elements of operands that
// are summed up before.
func costSum(m *machine, e *equation) int64 {
	ext := m.extents(e)
	var n int64
	labels := [2][]rune{}
	for i := range m.in {
		labels[i] = e.own(i, m.in[i].l.Shape, ext)
	}
	for i := range m.in {
		for _, c := range labels[i] {
			if !slices.Contains(e.out, c) && !slices.Contains(labels[1-i], c) {
				n += int64(volume(labels[i], ext))
				break
			}
		}
	}
	if len(m.in) == 2 {
		c := contract(labels[0], labels[1], e.out)
		n += int64(volume(slices.Concat(c.batch, c.freeA, c.freeB, c.inner), ext))
	}
	return n
}
