package kernel

import "math"

// The functions here write f(a[i], b[i]) to dst[i]. The slices have the same
// length; dst may be a or b but must not overlap them otherwise.

// Add is a + b.
func Add[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v + b[i]
	}
}

// Sub is a - b.
func Sub[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v - b[i]
	}
}

// Mul is a·b.
func Mul[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v * b[i]
	}
}

// Div is a/b, by IEEE 754.
func Div[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v / b[i]
	}
}

// Pow is a to the power b, by the rules of math.Pow.
func Pow[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = T(math.Pow(float64(v), float64(b[i])))
	}
}

// Max is the larger of a and b: NaN if either is, and +0 of the two zeros.
func Max[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = max(v, b[i])
	}
}

// Min is the smaller of a and b: NaN if either is, and -0 of the two zeros.
func Min[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = min(v, b[i])
	}
}

// TanhGrad is dy·(1 - y²).
func TanhGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	for i, g := range dy {
		dst[i] = g * (1 - T(y[i]*y[i]))
	}
}

// SigmoidGrad is dy·y·(1 - y).
func SigmoidGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	for i, g := range dy {
		dst[i] = g * (y[i] * (1 - y[i]))
	}
}

// ReluGrad is dy where y > 0 and 0 elsewhere. A NaN in y blocks the gradient.
func ReluGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	for i, g := range dy {
		if y[i] > 0 {
			dst[i] = g
		} else {
			dst[i] = 0
		}
	}
}

// AbsGrad is dy·sign(x), with sign(0) = 0; NaN where x is.
func AbsGrad[T Float](dst, dy, x []T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	for i, g := range dy {
		switch v := x[i]; {
		case v > 0:
			dst[i] = g
		case v < 0:
			dst[i] = -g
		case v == 0:
			dst[i] = 0
		default:
			dst[i] = v
		}
	}
}

// GeluGrad is dy·(Φ(x) + x·φ(x)). The factor is 0 at -Inf and 1 at +Inf.
func GeluGrad[T Float](dst, dy, x []T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	for i, g := range dy {
		v := float64(x[i])
		slope := normalCDF(v)
		if !math.IsInf(v, 0) {
			slope += float64(v * normalPDF(v))
		}
		dst[i] = g * T(slope)
	}
}
