package kernel

// Window says which elements of an image the positions of a sliding window
// reach. There are always three spatial axes; leading ones that an image does
// not have are of extent 1, with a kernel of 1.
type Window struct {
	Channels                                int
	In, Kernel, Stride, Before, Dilate, Out [3]int
}

// Taps is the number of elements that a window has, over all channels.
func (w *Window) Taps() int { return w.Channels * w.Kernel[0] * w.Kernel[1] * w.Kernel[2] }

// Positions is the number of places where the window stands.
func (w *Window) Positions() int { return w.Out[0] * w.Out[1] * w.Out[2] }

// Size is the number of elements of an image, over all channels.
func (w *Window) Size() int { return w.Channels * w.In[0] * w.In[1] * w.In[2] }

// Still reports whether the window is one element that visits every element of
// the image in order, so that Unfold would copy the image as it is.
func (w *Window) Still() bool {
	one := [3]int{1, 1, 1}
	return w.Kernel == one && w.Stride == one && w.Before == [3]int{} && w.In == w.Out
}

// inside returns the positions lo ≤ o < hi along an axis at which tap k lies
// within the image.
func (w *Window) inside(axis, k int) (lo, hi int) {
	s, from := w.Stride[axis], k*w.Dilate[axis]-w.Before[axis]
	if from < 0 {
		lo = (-from + s - 1) / s
	}
	if reach := w.In[axis] - from; reach > 0 {
		hi = (reach + s - 1) / s
	}
	hi = min(hi, w.Out[axis])
	return min(lo, hi), hi
}

// eachRun calls f with the runs along the last axis in which a tap lies within
// the image: positions at .. at+n-1 of row, counted over all three axes, see the
// elements from, from+stride and so on of the image.
func (w *Window) eachRun(f func(row, at, n, from int)) {
	row := 0
	for c := range w.Channels {
		for kd := range w.Kernel[0] {
			d0, d1 := w.inside(0, kd)
			for kh := range w.Kernel[1] {
				h0, h1 := w.inside(1, kh)
				for kw := range w.Kernel[2] {
					w0, w1 := w.inside(2, kw)
					for d := d0; d < d1; d++ {
						z := c*w.In[0] + d*w.Stride[0] - w.Before[0] + kd*w.Dilate[0]
						for h := h0; h < h1; h++ {
							y := z*w.In[1] + h*w.Stride[1] - w.Before[1] + kh*w.Dilate[1]
							x := y*w.In[2] + w0*w.Stride[2] - w.Before[2] + kw*w.Dilate[2]
							f(row, (d*w.Out[1]+h)*w.Out[2]+w0, w1-w0, x)
						}
					}
					row++
				}
			}
		}
	}
}

// Unfold writes what each tap of the window sees at each position: dst is
// [taps, positions], taps by channel and then in row-major order; x is one
// image, [channels, in...]. What lies outside the image is 0.
func Unfold[T Float](dst, x []T, w *Window) {
	p, s := w.Positions(), w.Stride[2]
	clear(dst[:w.Taps()*p])
	w.eachRun(func(row, at, n, from int) {
		if n <= 0 {
			return
		}
		to := dst[row*p+at : row*p+at+n]
		if s == 1 {
			copy(to, x[from:from+n])
			return
		}
		for i := range to {
			to[i] = x[from+i*s]
		}
	})
}

// Fold is the adjoint of Unfold: it adds each element of src, [taps, positions],
// to the element of dst that the tap sees there. dst is cleared first. The terms
// of an element are added in ascending tap.
func Fold[T Float](dst, src []T, w *Window) {
	p, s := w.Positions(), w.Stride[2]
	clear(dst[:w.Size()])
	w.eachRun(func(row, at, n, from int) {
		if n <= 0 {
			return
		}
		run := src[row*p+at : row*p+at+n]
		if s == 1 {
			AccAdd(dst[from:from+n], run)
			return
		}
		for i, v := range run {
			dst[from+i*s] += v
		}
	})
}
