package kernel

import "math"

// Conversions between element types. dst and src have the same length and
// share no memory.

// Cast converts to a float type, rounding to the nearest and halves to even.
// A float64 beyond float32 becomes an infinity.
func Cast[D Float, S Number](dst []D, src []S) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = D(v)
	}
}

// CastInt converts floats to int64, truncating toward zero. NaN and what lies
// outside int64 become the smallest int64, on every architecture.
func CastInt[S Float](dst []int64, src []S) {
	dst = dst[:len(src)]
	for i, v := range src {
		if v >= -1<<63 && v < 1<<63 {
			dst[i] = int64(v)
		} else {
			dst[i] = math.MinInt64
		}
	}
}

// CastBool is whether v is not 0; NaN is true, as in NumPy and PyTorch.
func CastBool[S Number](dst []bool, src []S) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = v != 0
	}
}

// FromBool is 1 for true and 0 for false.
func FromBool[D Number](dst []D, src []bool) {
	dst = dst[:len(src)]
	for i, v := range src {
		if v {
			dst[i] = 1
		} else {
			dst[i] = 0
		}
	}
}
