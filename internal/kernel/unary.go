package kernel

import "math"

// The functions here write f(x[i]) to dst[i]. dst and x have the same length;
// they may be the same slice but must not overlap otherwise. Transcendental
// functions of float32 are computed in float64 and rounded once.

// each applies f, in float64.
func each[T Float](dst, x []T, f func(float64) float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(f(float64(v)))
	}
}

// Neg is -x: it turns the sign bit, of zeros and NaNs too.
func Neg[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = -v
	}
}

// Abs is |x|.
func Abs[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Abs(float64(v)))
	}
}

// Square is x·x.
func Square[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v * v
	}
}

// Sqrt is the square root: NaN below 0, and -0 at -0.
func Sqrt[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

// Exp is e to the power x.
func Exp[T Float](dst, x []T) { each(dst, x, math.Exp) }

// Log is the natural logarithm: -Inf at 0, NaN below.
func Log[T Float](dst, x []T) { each(dst, x, math.Log) }

// Tanh is the hyperbolic tangent.
func Tanh[T Float](dst, x []T) { each(dst, x, math.Tanh) }

// Sigmoid is 1/(1 + e^-x). It does not overflow at either end.
func Sigmoid[T Float](dst, x []T) { each(dst, x, sigmoid) }

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

// Relu is max(x, 0). NaN stays NaN, and -0 becomes +0.
func Relu[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v <= 0 {
			v = 0
		}
		dst[i] = v
	}
}

// Gelu is x·Φ(x), with the exact normal distribution function. It is -0 at
// -Inf.
func Gelu[T Float](dst, x []T) {
	each(dst, x, func(v float64) float64 {
		if math.IsInf(v, -1) {
			return math.Copysign(0, -1)
		}
		return v * normalCDF(v)
	})
}

func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func normalPDF(x float64) float64 {
	return math.Exp(-0.5*x*x) * (1 / math.Sqrt(2*math.Pi))
}

// AddC is x + c.
func AddC[T Number](dst, x []T, c T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v + c
	}
}

// MulC is c·x.
func MulC[T Number](dst, x []T, c T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v * c
	}
}

// PowC is x to the power c, by the rules of math.Pow.
func PowC[T Float](dst, x []T, c T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Pow(float64(v), float64(c)))
	}
}
