package kernel

import "unsafe"

// turn writes rows of cols elements that lie in src as columns: element (i, j)
// of dst, whose rows lie ds apart, is src[j*ss+i], for i < rows and j < cols. It
// reports whether there is assembly for T.
func turn[T any](dst []T, ds int, src []T, ss, rows, cols int) bool {
	switch d := any(dst).(type) {
	case []float32:
		return turnBy(vectorOf[float32](), d, ds, any(src).([]float32), ss, rows, cols)
	case []float64:
		return turnBy(vectorOf[float64](), d, ds, any(src).([]float64), ss, rows, cols)
	}
	return false
}

func turnBy[T Float](v *vector[T], dst []T, ds int, src []T, ss, rows, cols int) bool {
	if v.transpose == nil || ss < 0 || ds < 0 {
		return false
	}
	size := int(unsafe.Sizeof(dst[0]))
	for i := 0; i < rows; i += turnRows {
		height := min(turnRows, rows-i)
		for j := 0; j < cols; j += v.lanes {
			v.transpose(height, head(src[j*ss+i:]), ss*size, min(v.lanes, cols-j), head(dst[i*ds+j:]), ds*size)
		}
	}
	return true
}

// turnRows is how many rows are written at a time: few enough for what two
// neighbouring runs of columns share to stay in the first-level cache.
const turnRows = 64
