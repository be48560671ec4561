package kernel

import "math"

// Pools slide a window over planes: images of one channel each, side by side.
// The window's Channels is 1, its Dilate is 1.

// extent is a range of positions along an axis of the image.
type extent struct{ lo, hi int }

// sees is what window o sees along an axis: nothing when lo ≥ hi.
func (w *Window) sees(axis, o int) extent {
	from := o*w.Stride[axis] - w.Before[axis]
	return extent{max(0, from), min(w.In[axis], from+w.Kernel[axis])}
}

// eachRow calls f for each plane and row of positions: the first position,
// counted over all planes, where the plane begins, and what the row's windows
// see along the first two axes.
func (w *Window) eachRow(planes int, f func(at, plane int, d, h extent)) {
	at, size := 0, w.Size()
	for p := range planes {
		for d := range w.Out[0] {
			deep := w.sees(0, d)
			for h := range w.Out[1] {
				f(at, p*size, deep, w.sees(1, h))
				at += w.Out[2]
			}
		}
	}
}

// MaxPool writes the largest element that each window sees and where it lies in
// its plane. Of several equal ones the first in row-major order wins, and NaN
// before all; a window that sees nothing gets -Inf from place -1.
func MaxPool[T Float](dst []T, place []int64, x []T, planes int, w *Window) {
	n, s := w.Out[2], w.Stride[2]
	w.eachRow(planes, func(at, plane int, d, h extent) {
		first, from := int64((d.lo*w.In[1]+h.lo)*w.In[2]), x[plane:]
		where := place[at : at+n]
		for o := range where {
			where[o] = -1
			if e := w.sees(2, o); e.lo < e.hi && d.lo < d.hi && h.lo < h.hi {
				where[o] = first + int64(e.lo)
			}
		}
		w.eachInRow(0, d, h, func(lo, hi, i int) {
			for o, best := range where[lo:hi] {
				b, v := from[best], from[i]
				if v != v {
					if b == b {
						where[lo+o] = int64(i)
					}
				} else {
					// Which is larger cannot be foreseen: select without a branch.
					larger := int64(0)
					if v > b {
						larger = 1
					}
					where[lo+o] = best + -larger&(int64(i)-best)
				}
				i += s
			}
		})
		for o, p := range where {
			dst[at+o] = T(math.Inf(-1))
			if p >= 0 {
				dst[at+o] = from[p]
			}
		}
	})
}

// PoolTake reads each plane of x, of in elements, at places, of out to a plane;
// place -1 reads 0.
func PoolTake[T Float](dst, x []T, place []int64, planes, in, out int) {
	for p := range planes {
		plane, to := x[p*in:(p+1)*in], dst[p*out:(p+1)*out]
		for i, k := range place[p*out : (p+1)*out] {
			to[i] = 0
			if k >= 0 {
				to[i] = plane[k]
			}
		}
	}
}

// PoolPut is the adjoint of PoolTake: it adds each element of x to a cleared
// plane at its place, in order.
func PoolPut[T Float](dst, x []T, place []int64, planes, in, out int) {
	clear(dst[:planes*in])
	for p := range planes {
		plane, from := dst[p*in:(p+1)*in], x[p*out:(p+1)*out]
		for i, k := range place[p*out : (p+1)*out] {
			if k >= 0 {
				plane[k] += from[i]
			}
		}
	}
}

// SumPool adds up what each window sees, in row-major order.
func SumPool[T Float](dst, x []T, planes int, w *Window) {
	n, s := w.Out[2], w.Stride[2]
	w.eachRow(planes, func(at, plane int, d, h extent) {
		sum := dst[at : at+n]
		clear(sum)
		w.eachInRow(plane, d, h, func(lo, hi, i int) {
			for o := lo; o < hi; o++ {
				sum[o] += x[i]
				i += s
			}
		})
	})
}

// SpreadPool is the adjoint of SumPool: it adds each element of x to all that
// its window sees, row by row of positions and in a row by ascending tap.
func SpreadPool[T Float](dst, x []T, planes int, w *Window) {
	n, s := w.Out[2], w.Stride[2]
	clear(dst[:planes*w.Size()])
	w.eachRow(planes, func(at, plane int, d, h extent) {
		from := x[at : at+n]
		w.eachInRow(plane, d, h, func(lo, hi, i int) {
			for _, v := range from[lo:hi] {
				dst[i] += v
				i += s
			}
		})
	})
}

// eachInRow calls f for each tap that a row of positions sees something with:
// positions lo ≤ o < hi see the elements i, i+stride and so on.
func (w *Window) eachInRow(plane int, d, h extent, f func(lo, hi, i int)) {
	for z := d.lo; z < d.hi; z++ {
		for y := h.lo; y < h.hi; y++ {
			row := plane + (z*w.In[1]+y)*w.In[2]
			for k := range w.Kernel[2] {
				if lo, hi := w.inside(2, k); lo < hi {
					f(lo, hi, row+lo*w.Stride[2]-w.Before[2]+k)
				}
			}
		}
	}
}

// PoolShare writes how many elements each window of a plane has: all that lie
// in the image padded by after[a] at the end of axis a, or only those of the
// image.
func PoolShare[T Float](dst []T, after [3]int, padding bool, w *Window) {
	size := func(axis, o int) int {
		e := w.sees(axis, o)
		if padding {
			from := o*w.Stride[axis] - w.Before[axis]
			return min(w.Kernel[axis], w.In[axis]+after[axis]-from)
		}
		return max(0, e.hi-e.lo)
	}
	for d := range w.Out[0] {
		for h := range w.Out[1] {
			for o := range w.Out[2] {
				dst[(d*w.Out[1]+h)*w.Out[2]+o] = T(size(0, d) * size(1, h) * size(2, o))
			}
		}
	}
}
