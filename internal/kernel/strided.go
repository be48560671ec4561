package kernel

// CopyStrided gathers a strided view of src into dst, in row-major order:
// element (i0, i1, …) lies at offset + i0*strides[0] + i1*strides[1] + ….
func CopyStrided[T any](dst, src []T, offset int, shape, strides []int) {
	eachRun(shape, strides, offset, func(done, at, n, stride int) {
		d := dst[done : done+n]
		switch stride {
		case 1:
			copy(d, src[at:at+n])
		case 0:
			v := src[at]
			for i := range d {
				d[i] = v
			}
		default:
			for i := range d {
				d[i] = src[at]
				at += stride
			}
		}
	})
}

// ScatterStrided writes src, in row-major order, to a strided view of dst.
func ScatterStrided[T any](dst []T, offset int, shape, strides []int, src []T) {
	eachRun(shape, strides, offset, func(done, at, n, stride int) {
		s := src[done : done+n]
		if stride == 1 {
			copy(dst[at:at+n], s)
			return
		}
		for _, v := range s {
			dst[at] = v
			at += stride
		}
	})
}

// eachRun calls f with each run of the innermost axes that lies evenly: how
// many elements came before it, where it starts, its length and its stride.
func eachRun(shape, strides []int, offset int, f func(done, at, n, stride int)) {
	dims, steps := make([]int, 0, len(shape)), make([]int, 0, len(shape))
	for i, d := range shape {
		switch k := len(dims) - 1; {
		case d == 0:
			return
		case d == 1:
		case k >= 0 && steps[k] == strides[i]*d:
			dims[k] *= d
			steps[k] = strides[i]
		default:
			dims, steps = append(dims, d), append(steps, strides[i])
		}
	}
	if len(dims) == 0 {
		f(0, offset, 1, 1)
		return
	}
	last := len(dims) - 1
	index := make([]int, last)
	for done := 0; ; done += dims[last] {
		f(done, offset, dims[last], steps[last])
		axis := last - 1
		for ; axis >= 0; axis-- {
			index[axis]++
			offset += steps[axis]
			if index[axis] < dims[axis] {
				break
			}
			offset -= dims[axis] * steps[axis]
			index[axis] = 0
		}
		if axis < 0 {
			return
		}
	}
}
