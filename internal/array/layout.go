package array

import (
	"fmt"
	"math"
)

// Layout says how the elements of a tensor lie in its storage: element
// (i0, i1, ...) is at Offset + i0*Strides[0] + i1*Strides[1] + ..., counted in
// elements. A Layout is immutable and may be shared by any number of tensors.
type Layout struct {
	Shape   []int
	Strides []int
	Offset  int
	N       int // number of elements
	DType   DType
	Dense   bool // row-major without gaps: elements lie at Offset .. Offset+N-1
	Plain   bool // Dense, and Offset is 0
}

// Contiguous returns the row-major layout of a shape. It keeps no reference to
// the argument.
func Contiguous(dt DType, shape []int) *Layout {
	l := &Layout{DType: dt, N: 1, Dense: true, Plain: true}
	buf := make([]int, 2*len(shape))
	l.Shape, l.Strides = buf[:len(shape):len(shape)], buf[len(shape):]
	copy(l.Shape, shape)
	for i := len(shape) - 1; i >= 0; i-- {
		l.Strides[i] = l.N
		l.N *= shape[i]
	}
	return l
}

// Strided returns the layout with the given strides and offset. It keeps
// references to the arguments.
func Strided(dt DType, shape, strides []int, offset int) *Layout {
	l := &Layout{DType: dt, Shape: shape, Strides: strides, Offset: offset, N: 1}
	for _, d := range shape {
		l.N *= d
	}
	if l.N == 0 {
		l.Offset = 0 // an empty view at the end of its storage would begin past it
	}
	l.Dense = true
	want := 1
	for i := len(shape) - 1; i >= 0 && l.N > 0; i-- {
		if shape[i] != 1 && strides[i] != want {
			l.Dense = false
			break
		}
		want *= shape[i]
	}
	l.Plain = l.Dense && l.Offset == 0
	return l
}

// Count multiplies the extents of a shape. It reports false for a negative
// extent and for a product that overflows an int.
func Count(shape []int) (int, bool) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d != 0 && n > math.MaxInt/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// Bytes is the number of bytes that the elements take when they lie densely.
func (l *Layout) Bytes() int { return l.N * l.DType.Size() }

// Rank is the number of axes.
func (l *Layout) Rank() int { return len(l.Shape) }

// With returns the contiguous layout of the same shape with another element
// type.
func (l *Layout) With(dt DType) *Layout { return Contiguous(dt, l.Shape) }

// SameShape reports whether two shapes are equal.
func SameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i, d := range a {
		if d != b[i] {
			return false
		}
	}
	return true
}

// BroadcastShapes returns the shape of which both arguments are broadcasts by
// NumPy's rules: shapes are aligned at the last axis, and an extent of 1
// stretches. It reports false when two extents differ and neither is 1.
func BroadcastShapes(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make([]int, len(a))
	copy(out, a)
	k := len(a) - len(b)
	for i, d := range b {
		switch e := out[k+i]; {
		case e == d || d == 1:
		case e == 1:
			out[k+i] = d
		default:
			return nil, false
		}
	}
	return out, true
}

// BroadcastTo views the layout under a larger shape, with stride 0 where an
// extent of 1 stretches. It reports false where the rules do not allow it.
func (l *Layout) BroadcastTo(shape []int) (*Layout, bool) {
	k := len(shape) - len(l.Shape)
	if k < 0 {
		return nil, false
	}
	strides := make([]int, len(shape))
	for i, d := range l.Shape {
		switch {
		case shape[k+i] == d:
			strides[k+i] = l.Strides[i]
		case d != 1:
			return nil, false
		}
	}
	return Strided(l.DType, append([]int(nil), shape...), strides, l.Offset), true
}

// Permute reorders the axes: axis i of the result is axis perm[i]. The caller
// has checked that perm is a permutation.
func (l *Layout) Permute(perm []int) *Layout {
	shape, strides := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		shape[i], strides[i] = l.Shape[p], l.Strides[p]
	}
	return Strided(l.DType, shape, strides, l.Offset)
}

// Narrow keeps count[i] elements of each axis i, from start[i] in steps of
// step[i] (which may be negative). The caller has checked the ranges.
func (l *Layout) Narrow(start, step, count []int) *Layout {
	shape, strides := make([]int, len(count)), make([]int, len(count))
	offset := l.Offset
	for i, c := range count {
		shape[i] = c
		strides[i] = l.Strides[i] * step[i]
		if c > 0 {
			offset += start[i] * l.Strides[i]
		}
	}
	return Strided(l.DType, shape, strides, offset)
}

// Reshape views the elements under another shape with the same number of
// elements. It reports false where that takes a copy.
func (l *Layout) Reshape(shape []int) (*Layout, bool) {
	if l.Dense {
		c := Contiguous(l.DType, shape)
		c.Offset, c.Plain = l.Offset, l.Offset == 0
		return c, true
	}
	// Group the old axes greedily: a run of old axes that is itself contiguous
	// can be split into any run of new axes with the same product.
	strides := make([]int, len(shape))
	i, j := 0, 0
	for i < len(l.Shape) && j < len(shape) {
		oi, nj := l.Shape[i], shape[j]
		i0, j0 := i, j
		for oi != nj {
			if oi < nj {
				i++
				if i == len(l.Shape) {
					return nil, false
				}
				oi *= l.Shape[i]
			} else {
				j++
				if j == len(shape) {
					return nil, false
				}
				nj *= shape[j]
			}
		}
		last := -1 // the last axis of the run whose extent is not 1
		for k := i0; k <= i; k++ {
			if l.Shape[k] == 1 {
				continue
			}
			if last >= 0 && l.Strides[last] != l.Strides[k]*l.Shape[k] {
				return nil, false
			}
			last = k
		}
		s := 0
		if last >= 0 {
			s = l.Strides[last]
		}
		for k := j; k >= j0; k-- {
			strides[k] = s
			s *= shape[k]
		}
		i, j = i+1, j+1
	}
	for ; i < len(l.Shape); i++ {
		if l.Shape[i] != 1 {
			return nil, false
		}
	}
	for ; j < len(shape); j++ {
		if shape[j] != 1 {
			return nil, false
		}
	}
	return Strided(l.DType, append([]int(nil), shape...), strides, l.Offset), true
}

// ShapeString prints a shape as in an error text: [2,3], or [] for 0-d.
func ShapeString(shape []int) string {
	b := []byte{'['}
	for i, d := range shape {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%d", d)
	}
	return string(append(b, ']'))
}
