package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
)

// zipChunk is how many elements of an operand that does not lie densely are
// gathered at a time, so that one kernel on dense runs serves every stride.
const zipChunk = 256

// zip runs a kernel on dense runs over two operands that were broadcast to
// dst's shape. a and b are whole storages; la and lb have the shape of dst.
// dst may be a itself when la is dense.
func zip[T, U any](dst []U, a, b []T, la, lb *array.Layout, k func(dst []U, a, b []T)) {
	if la.N == 0 {
		return
	}
	shape, sa, sb := collapse(la, lb)
	last := len(shape) - 1
	run := shape[last]
	ra, rb := sa[last], sb[last]
	oa, ob := la.Offset, lb.Offset
	var bufA, bufB []T
	if ra != 1 {
		bufA = make([]T, min(run, zipChunk))
	}
	if rb != 1 {
		bufB = make([]T, min(run, zipChunk))
	}
	index := make([]int, last)
	for done := 0; ; {
		for i := 0; i < run; {
			n := run - i
			if ra != 1 || rb != 1 {
				n = min(n, zipChunk)
			}
			xa := runOf(a, oa+i*ra, ra, bufA, n)
			xb := runOf(b, ob+i*rb, rb, bufB, n)
			k(dst[done:done+n], xa, xb)
			done, i = done+n, i+n
		}
		axis := last - 1
		for ; axis >= 0; axis-- {
			index[axis]++
			oa, ob = oa+sa[axis], ob+sb[axis]
			if index[axis] < shape[axis] {
				break
			}
			oa, ob = oa-shape[axis]*sa[axis], ob-shape[axis]*sb[axis]
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}

// runOf returns n elements of x from offset on, at a stride, gathered into buf
// unless they lie densely.
func runOf[T any](x []T, offset, stride int, buf []T, n int) []T {
	if stride == 1 {
		return x[offset : offset+n]
	}
	buf = buf[:n]
	if stride == 0 {
		fillSlice(buf, x[offset])
		return buf
	}
	for i := range buf {
		buf[i] = x[offset]
		offset += stride
	}
	return buf
}

// collapse merges neighbouring axes that both operands step through evenly and
// drops axes of extent 1. The result has at least one axis.
func collapse(la, lb *array.Layout) (shape, sa, sb []int) {
	for i, d := range la.Shape {
		if d == 1 {
			continue
		}
		if k := len(shape) - 1; k >= 0 && sa[k] == la.Strides[i]*d && sb[k] == lb.Strides[i]*d {
			shape[k] *= d
			sa[k], sb[k] = la.Strides[i], lb.Strides[i]
			continue
		}
		shape = append(shape, d)
		sa = append(sa, la.Strides[i])
		sb = append(sb, lb.Strides[i])
	}
	if len(shape) == 0 {
		shape, sa, sb = append(shape, 1), append(sa, 1), append(sb, 1)
	}
	return shape, sa, sb
}
