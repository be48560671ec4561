package kernel

// A window that moves by one element at a time sees, through each of its taps, a
// shifted copy of the image. If the places between the end of one row of
// positions and the start of the next, where no window stands, are taken along,
// a tap's row is one run of the padded image: a copy of some hundred elements in
// place of many of ten. What a product finds at those places is dropped, or is
// 0 from the start.

// Wide reports whether the window moves so and the places between rows are few
// enough to be worth it.
func (w *Window) Wide() bool {
	return w.Stride == [3]int{1, 1, 1} && !w.Still() && w.Positions() > 0 && 2*w.WidePositions() <= 3*w.Positions()
}

// span is the extent of an axis of the padded image, as far as windows reach.
func (w *Window) span(axis int) int {
	return w.Out[axis] + (w.Kernel[axis]-1)*w.Dilate[axis]
}

// WidePositions is the number of places from the first position to the last.
func (w *Window) WidePositions() int {
	return ((w.Out[0]-1)*w.span(1)+w.Out[1]-1)*w.span(2) + w.Out[2]
}

// PaddedSize is the number of elements of a padded image, over all channels.
func (w *Window) PaddedSize() int { return w.Channels * w.span(0) * w.span(1) * w.span(2) }

// Padded reports whether the image differs from the padded image.
func (w *Window) Padded() bool {
	return w.Before != [3]int{} || w.In != [3]int{w.span(0), w.span(1), w.span(2)}
}

// eachPaddedRow calls f with each row of the image that windows reach: n
// elements from image and from padded on are the same.
func (w *Window) eachPaddedRow(f func(image, padded, n int)) {
	var lo, hi [3]int
	for a := range 3 {
		lo[a], hi[a] = max(0, w.Before[a]), min(w.span(a), w.In[a]+w.Before[a])
	}
	if lo[2] >= hi[2] {
		return
	}
	for c := range w.Channels {
		for d := lo[0]; d < hi[0]; d++ {
			for h := lo[1]; h < hi[1]; h++ {
				image := ((c*w.In[0]+d-w.Before[0])*w.In[1]+h-w.Before[1])*w.In[2] + lo[2] - w.Before[2]
				f(image, ((c*w.span(0)+d)*w.span(1)+h)*w.span(2)+lo[2], hi[2]-lo[2])
			}
		}
	}
}

// Pad writes the padded image of x.
func Pad[T Float](dst, x []T, w *Window) {
	clear(dst[:w.PaddedSize()])
	w.eachPaddedRow(func(image, padded, n int) { copy(dst[padded:padded+n], x[image:]) })
}

// Crop is the adjoint of Pad: elements that no window reaches are 0.
func Crop[T Float](dst, x []T, w *Window) {
	clear(dst[:w.Size()])
	w.eachPaddedRow(func(image, padded, n int) { copy(dst[image:image+n], x[padded:]) })
}

// eachTap calls f with each tap and the element of the padded image that it
// sees at the first position.
func (w *Window) eachTap(f func(tap, at int)) {
	tap := 0
	for c := range w.Channels {
		for d := range w.Kernel[0] {
			for h := range w.Kernel[1] {
				row := ((c*w.span(0)+d*w.Dilate[0])*w.span(1) + h*w.Dilate[1]) * w.span(2)
				for k := range w.Kernel[2] {
					f(tap, row+k*w.Dilate[2])
					tap++
				}
			}
		}
	}
}

// UnfoldWide is Unfold of a padded image, [taps, wide positions].
func UnfoldWide[T Float](dst, x []T, w *Window) {
	n := w.WidePositions()
	w.eachTap(func(tap, at int) { copy(dst[tap*n:(tap+1)*n], x[at:at+n]) })
}

// FoldWide is the adjoint of UnfoldWide. The terms of an element are added in
// ascending tap.
func FoldWide[T Float](dst, src []T, w *Window) {
	n := w.WidePositions()
	clear(dst[:w.PaddedSize()])
	w.eachTap(func(tap, at int) { AccAdd(dst[at:at+n], src[tap*n:(tap+1)*n]) })
}

// eachPositionRow calls f with each row of positions of channels: where it
// begins among positions and among wide ones.
func (w *Window) eachPositionRow(channels int, f func(at, wide int)) {
	at, n := 0, w.WidePositions()
	for c := range channels {
		for d := range w.Out[0] {
			for h := range w.Out[1] {
				f(at, c*n+(d*w.span(1)+h)*w.span(2))
				at += w.Out[2]
			}
		}
	}
}

// Narrow drops the places between rows of positions.
func Narrow[T Float](dst, x []T, channels int, w *Window) {
	n := w.Out[2]
	w.eachPositionRow(channels, func(at, wide int) { copy(dst[at:at+n], x[wide:wide+n]) })
}

// Widen is the adjoint of Narrow: the places between rows are 0.
func Widen[T Float](dst, x []T, channels int, w *Window) {
	n := w.Out[2]
	clear(dst[:channels*w.WidePositions()])
	w.eachPositionRow(channels, func(at, wide int) { copy(dst[wide:wide+n], x[at:at+n]) })
}
