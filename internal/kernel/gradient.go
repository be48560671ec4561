package kernel

import "math"

// Gradient kernels of elementwise ops: dy, the cotangent of the output, comes
// first, then the output y or the operands that the rule reads back. All
// slices have the same length; dst may be any of them but must not overlap
// them otherwise. The gradients of exp and log are Mul and Div.

// TanhGrad is dy·(1 - y²).
func TanhGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	if vectorOf[T]().tanhGrad.run(dst, dy, y) {
		return
	}
	for i, g := range dy {
		dst[i] = g * (1 - T(y[i]*y[i]))
	}
}

// SigmoidGrad is dy·y·(1 - y).
func SigmoidGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	if vectorOf[T]().sigmoidGrad.run(dst, dy, y) {
		return
	}
	for i, g := range dy {
		dst[i] = g * (y[i] * (1 - y[i]))
	}
}

// SqrtGrad is dy/(2y).
func SqrtGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	if vectorOf[T]().sqrtGrad.run(dst, dy, y) {
		return
	}
	for i, g := range dy {
		dst[i] = g / (2 * y[i])
	}
}

// ReluGrad is +0 where y ≤ 0 and dy elsewhere, so that an infinite dy does not
// pass a closed gate. Where y is NaN dy passes, as in PyTorch.
func ReluGrad[T Float](dst, dy, y []T) {
	dst, y = dst[:len(dy)], y[:len(dy)]
	if vectorOf[T]().reluGrad.run(dst, dy, y) {
		return
	}
	for i, g := range dy {
		if y[i] <= 0 {
			g = 0
		}
		dst[i] = g
	}
}

// AbsGrad is dy·sign(x), with +0 at x = 0 whatever dy is, and NaN where x is.
func AbsGrad[T Float](dst, dy, x []T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	if vectorOf[T]().absGrad.run(dst, dy, x) {
		return
	}
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
	if vectorOf[T]().geluGrad.run(dst[:len(dy)], dy, x) {
		return
	}
	slope(dst, dy, x, geluSlope)
}

// GeluTanhGrad is dy times the derivative of GeluTanh, 0 at -Inf and 1 at +Inf.
func GeluTanhGrad[T Float](dst, dy, x []T) { slope(dst, dy, x, geluTanhSlope) }

// slope is dy·f(x). The factor is rounded before it multiplies.
func slope[T Float](dst, dy, x []T, f func(float64) float64) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	var factor [stage]T
	for len(dy) > 0 {
		n := min(stage, len(dy))
		each(factor[:n], x[:n], f)
		Mul(dst[:n], dy[:n], factor[:n])
		dst, dy, x = dst[n:], dy[n:], x[n:]
	}
}

// The gradients of Max and Min follow PyTorch: the operand that was chosen gets
// dy, equal ones half of it each, the other +0. Where either is NaN both get
// dy.

// MaxGradA is what a gets of the gradient of Max(a, b).
func MaxGradA[T Float](dst, dy, a, b []T) { chosen(dst, dy, b, a) }

// MaxGradB is what b gets of the gradient of Max(a, b).
func MaxGradB[T Float](dst, dy, a, b []T) { chosen(dst, dy, a, b) }

// MinGradA is what a gets of the gradient of Min(a, b).
func MinGradA[T Float](dst, dy, a, b []T) { chosen(dst, dy, a, b) }

// MinGradB is what b gets of the gradient of Min(a, b).
func MinGradB[T Float](dst, dy, a, b []T) { chosen(dst, dy, b, a) }

// chosen is dy unless lo > hi, and half of it where they are equal.
func chosen[T Float](dst, dy, lo, hi []T) {
	dst, lo, hi = dst[:len(dy)], lo[:len(dy)], hi[:len(dy)]
	for i, g := range dy {
		switch {
		case lo[i] > hi[i]:
			g = 0
		case lo[i] == hi[i]:
			g *= 0.5
		}
		dst[i] = g
	}
}

// ExtremeGrad spreads dy, [outer, inner], over x, [outer, n, inner]: the
// elements that equal y, the largest or smallest over the middle, get equal
// parts of dy, all others +0. Where y is NaN the NaNs share. dst may be x.
func ExtremeGrad[T Float](dst, dy, x, y []T, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			g, top := dy[o*inner+k], y[o*inner+k]
			d, v := dst[o*n*inner+k:], x[o*n*inner+k:]
			count := 0
			for i := range n {
				if same(v[i*inner], top) {
					count++
				}
			}
			if count == 0 {
				count = 1 // y is no element of x, and nobody shares
			}
			part := g / T(count)
			for i := range n {
				if same(v[i*inner], top) {
					d[i*inner] = part
				} else {
					d[i*inner] = 0
				}
			}
		}
	}
}

// same reports whether a and b are equal, or both NaN.
func same[T Float](a, b T) bool {
	return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}
