package kernel

import "math"

// Losses of single elements of a against those of b. All slices have the same
// length; dst may be a or b but must not overlap them otherwise.

// SquaredError is (a - b)².
func SquaredError[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		d := v - b[i]
		dst[i] = d * d
	}
}

// Huber is d²/2 where |d| ≤ delta, d = a - b, and delta·(|d| - delta/2) beyond.
func Huber[T Float](dst, a, b []T, delta T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		d := T(math.Abs(float64(v - b[i])))
		if d <= delta {
			dst[i] = d * d / 2
		} else {
			dst[i] = delta * (d - delta/2)
		}
	}
}

// LogitLoss is the cross-entropy of sigmoid(x) and the probability t:
// max(x, 0) - x·t + log1p(e^-|x|).
func LogitLoss[T Float](dst, x, t []T) {
	dst, t = dst[:len(x)], t[:len(x)]
	for i, v := range x {
		z := float64(v)
		dst[i] = T(max(z, 0) - float64(z*float64(t[i])) + math.Log1p(math.Exp(-math.Abs(z))))
	}
}

// Divergence is t·(log t - x), and 0 where t is 0.
func Divergence[T Float](dst, x, t []T) {
	dst, t = dst[:len(x)], t[:len(x)]
	for i, v := range x {
		p := float64(t[i])
		if p == 0 {
			dst[i] = 0
			continue
		}
		dst[i] = T(p * (math.Log(p) - float64(v)))
	}
}
