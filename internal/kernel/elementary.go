package kernel

import "math"

// Trigonometric, hyperbolic and exponential functions, in the way of
// transcendental.go. Angles are in radians.

// Tan is the tangent of x, NaN at the infinities.
func Tan[T Float](dst, x []T) { each(dst, x, math.Tan) }

// Asin is the arcsine, NaN outside [-1, 1].
func Asin[T Float](dst, x []T) { each(dst, x, math.Asin) }

// Acos is the arccosine, NaN outside [-1, 1].
func Acos[T Float](dst, x []T) { each(dst, x, math.Acos) }

// Atan is the arctangent, ±π/2 at the infinities.
func Atan[T Float](dst, x []T) { each(dst, x, math.Atan) }

// Sinh is the hyperbolic sine.
func Sinh[T Float](dst, x []T) { each(dst, x, math.Sinh) }

// Cosh is the hyperbolic cosine.
func Cosh[T Float](dst, x []T) { each(dst, x, math.Cosh) }

// Asinh is the inverse of Sinh.
func Asinh[T Float](dst, x []T) { each(dst, x, math.Asinh) }

// Acosh is the inverse of Cosh, NaN below 1.
func Acosh[T Float](dst, x []T) { each(dst, x, math.Acosh) }

// Atanh is the inverse of Tanh, ±Inf at ±1 and NaN beyond.
func Atanh[T Float](dst, x []T) { each(dst, x, math.Atanh) }

// Exp2 is 2 to the power x.
func Exp2[T Float](dst, x []T) { each(dst, x, math.Exp2) }

// Log2 is the logarithm to base 2, exact at powers of 2.
func Log2[T Float](dst, x []T) { each(dst, x, math.Log2) }

// Log10 is the logarithm to base 10, exact at powers of 10.
func Log10[T Float](dst, x []T) { each(dst, x, log10) }

func log10(x float64) float64 {
	y := math.Log10(x)
	if k := math.Round(y); k != y && math.Pow10(int(k)) == x {
		return k
	}
	return y
}

// Atan2 is the angle of the point (b, a), by the rules of math.Atan2.
func Atan2[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = T(math.Atan2(float64(v), float64(b[i])))
	}
}

// AsinhGrad is dy/√(1 + x²), without overflow of the square.
func AsinhGrad[T Float](dst, dy, x []T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	for i, g := range dy {
		dst[i] = g / T(math.Hypot(float64(x[i]), 1))
	}
}

// Atan2Grad is dy·p/(p² + q²), without overflow or underflow of the squares: 0
// where p or q is infinite, and NaN where both are 0.
func Atan2Grad[T Float](dst, dy, p, q []T) {
	dst, p, q = dst[:len(dy)], p[:len(dy)], q[:len(dy)]
	for i, g := range dy {
		h := math.Hypot(float64(p[i]), float64(q[i]))
		factor := math.Copysign(0, float64(p[i]))
		if !math.IsInf(h, 1) || p[i] != p[i] || q[i] != q[i] {
			factor = float64(p[i]) / h / h
		}
		dst[i] = g * T(factor)
	}
}

// Floor is the largest whole number that is not above x.
func Floor[T Float](dst, x []T) { each(dst, x, math.Floor) }

// Ceil is the smallest whole number that is not below x.
func Ceil[T Float](dst, x []T) { each(dst, x, math.Ceil) }

// Round is the nearest whole number, the even one halfway between two.
func Round[T Float](dst, x []T) { each(dst, x, math.RoundToEven) }

// Trunc is x without its fraction.
func Trunc[T Float](dst, x []T) { each(dst, x, math.Trunc) }

// Mod is a - b·⌊a/b⌋, which has b's sign, a zero too: NaN where b is 0 or a
// infinite.
func Mod[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		d := float64(b[i])
		r := math.Mod(float64(v), d)
		switch {
		case r == 0:
			r = math.Copysign(0, d)
		case r < 0 != (d < 0) && r == r:
			r += d
		}
		dst[i] = T(r)
	}
}

// Rsqrt is 1/√x: an infinity of its sign at a zero, NaN below.
func Rsqrt[T Float](dst, x []T) {
	each(dst, x, func(x float64) float64 { return 1 / math.Sqrt(x) })
}
