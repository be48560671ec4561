package kernel

// A strided view lies over a whole storage: element (i0, i1, …) is at offset +
// i0*strides[0] + i1*strides[1] + …. Strides may be 0 or negative.

// CopyStrided gathers a strided view of src into dst, in row-major order. It
// allocates only for views of more than six axes that do not merge.
func CopyStrided[T any](dst, src []T, offset int, shape, strides []int) {
	var buf [mergedAxes]axis
	axes, ok := merge(buf[:0], shape, strides)
	w := begin(offset, axes)
	for ; ok; ok = w.next() {
		gatherPlane(dst[w.done:w.done+w.rows*w.cols], src, w.at, w.rows, w.cols, w.rowStride, w.colStride)
	}
}

// ScatterStrided writes src, in row-major order, to a strided view of dst, no
// two elements of which may be the same. It allocates as CopyStrided does.
func ScatterStrided[T any](dst []T, offset int, shape, strides []int, src []T) {
	var buf [mergedAxes]axis
	axes, ok := merge(buf[:0], shape, strides)
	w := begin(offset, axes)
	for ; ok; ok = w.next() {
		scatterPlane(dst, src[w.done:w.done+w.rows*w.cols], w.at, w.rows, w.cols, w.rowStride, w.colStride)
	}
}

// strip is the side of the squares in which a transposed plane is walked, so
// that both sides stay within the cache lines they have touched.
const strip = 16

func gatherPlane[T any](dst, src []T, at, rows, cols, rs, cs int) {
	switch {
	case cs == 1:
		for i := range rows {
			copy(dst[i*cols:(i+1)*cols], src[at:at+cols])
			at += rs
		}
	case cs == 0:
		for i := range rows {
			v := src[at]
			d := dst[i*cols : (i+1)*cols]
			for j := range d {
				d[j] = v
			}
			at += rs
		}
	case rs == 1 && rows > 1 && turn(dst, cols, src[at:], cs, rows, cols):
	case rows > 1 && abs(rs) < abs(cs):
		for j0 := 0; j0 < cols; j0 += strip {
			width := min(strip, cols-j0)
			for i := range rows {
				d := dst[i*cols+j0 : i*cols+j0+width]
				from := at + i*rs + j0*cs
				for j := range d {
					d[j] = src[from]
					from += cs
				}
			}
		}
	default:
		for i := range rows {
			from := at
			d := dst[i*cols : (i+1)*cols]
			for j := range d {
				d[j] = src[from]
				from += cs
			}
			at += rs
		}
	}
}

func scatterPlane[T any](dst, src []T, at, rows, cols, rs, cs int) {
	switch {
	case cs == 1:
		for i := range rows {
			copy(dst[at:at+cols], src[i*cols:(i+1)*cols])
			at += rs
		}
	case rs == 1 && rows > 1 && turn(dst[at:], cs, src, cols, cols, rows):
	case rows > 1 && abs(rs) < abs(cs):
		for j0 := 0; j0 < cols; j0 += strip {
			width := min(strip, cols-j0)
			for i := range rows {
				to := at + i*rs + j0*cs
				for _, v := range src[i*cols+j0 : i*cols+j0+width] {
					dst[to] = v
					to += cs
				}
			}
		}
	default:
		for i := range rows {
			to := at
			for _, v := range src[i*cols : (i+1)*cols] {
				dst[to] = v
				to += cs
			}
			at += rs
		}
	}
}

func abs(i int) int { return max(i, -i) }

// axis is an axis of a view and how far along it the walk is.
type axis struct{ extent, stride, index int }

// merge appends the axes of a view to axes, those that step evenly as one and
// without those of extent 1. It reports false when there is no element.
func merge(axes []axis, shape, strides []int) ([]axis, bool) {
	for i, d := range shape {
		switch k := len(axes) - 1; {
		case d == 0:
			return nil, false
		case d == 1:
		case k >= 0 && axes[k].stride == strides[i]*d:
			axes[k].extent *= d
			axes[k].stride = strides[i]
		default:
			axes = append(axes, axis{extent: d, stride: strides[i]})
		}
	}
	return axes, true
}

// mergedAxes is how many axes a view may have after merging before a walk
// allocates.
const mergedAxes = 6

// walk goes through a view plane by plane, a plane being its last two axes.
type walk struct {
	done, at             int // elements before this plane, and where it begins
	rows, cols           int
	rowStride, colStride int
	outer                []axis // the axes before the plane
}

func begin(offset int, axes []axis) walk {
	w := walk{at: offset, rows: 1, cols: 1, colStride: 1}
	n := len(axes)
	if n > 0 {
		w.cols, w.colStride = axes[n-1].extent, axes[n-1].stride
	}
	if n > 1 {
		w.rows, w.rowStride = axes[n-2].extent, axes[n-2].stride
		w.outer = axes[:n-2]
	}
	return w
}

// next goes to the next plane; it reports false after the last.
func (w *walk) next() bool {
	w.done += w.rows * w.cols
	for i := len(w.outer) - 1; i >= 0; i-- {
		x := &w.outer[i]
		x.index++
		w.at += x.stride
		if x.index < x.extent {
			return true
		}
		w.at -= x.extent * x.stride
		x.index = 0
	}
	return false
}
