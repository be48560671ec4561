package kernel

import (
	"math"
	"unsafe"
)

// Transcendental functions of float32 are computed in float64 and rounded
// once, so that they are within 0.51 units in the last place; those of float64
// have the accuracy of package math.

// stage is how many elements are converted to float64 at a time. Conversions
// between the float types keep the upper half of the register they write, so
// that on amd64 each would wait for what the register held, the result for the
// element before: converting a stage at once cuts that chain and is three times
// as fast.
const stage = 16

// each applies f, in float64.
func each[T Float](dst, x []T, f func(float64) float64) {
	dst = dst[:len(x)]
	if !isNarrow[T]() {
		for i, v := range x {
			dst[i] = T(f(float64(v)))
		}
		return
	}
	var wide [stage]float64
	for len(x) > 0 {
		n := min(stage, len(x))
		for i, v := range x[:n] {
			wide[i] = float64(v)
		}
		for i, v := range wide[:n] {
			wide[i] = f(v)
		}
		for i, v := range wide[:n] {
			dst[i] = T(v)
		}
		dst, x = dst[n:], x[n:]
	}
}

// eachOf applies narrow, which is good to float32, or wide, to float64.
func eachOf[T Float](dst, x []T, narrow, wide func(float64) float64) {
	if isNarrow[T]() {
		each(dst, x, narrow)
	} else {
		each(dst, x, wide)
	}
}

// isNarrow reports whether T is float32.
func isNarrow[T Float]() bool {
	var v T
	return unsafe.Sizeof(v) == 4
}

// Exp is e to the power x.
func Exp[T Float](dst, x []T) {
	if vectorOf[T]().exp.run(dst[:len(x)], x) {
		return
	}
	eachOf(dst, x, exp24, exponential64)
}

// exponential64 is math.Exp, which overflows early on some processors.
func exponential64(x float64) float64 {
	if x > 709 {
		return float64(math.Exp(x-1) * math.E)
	}
	return math.Exp(x)
}

// Expm1 is e to the power x, minus 1, without losing small x.
func Expm1[T Float](dst, x []T) { each(dst, x, math.Expm1) }

// Log is the natural logarithm: -Inf at either zero, NaN below.
func Log[T Float](dst, x []T) {
	if vectorOf[T]().log.run(dst[:len(x)], x) {
		return
	}
	eachOf(dst, x, math.Log, logarithm)
}

// logarithm is math.Log, which is wrong below the normal numbers on some
// processors.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// Log1p is log(1 + x) without losing small x: -Inf at -1, NaN below.
func Log1p[T Float](dst, x []T) { each(dst, x, math.Log1p) }

// Sin is the sine of x radians, NaN at the infinities.
func Sin[T Float](dst, x []T) { each(dst, x, math.Sin) }

// Cos is the cosine of x radians, NaN at the infinities.
func Cos[T Float](dst, x []T) { each(dst, x, math.Cos) }

// Tanh is the hyperbolic tangent.
func Tanh[T Float](dst, x []T) {
	if vectorOf[T]().tanh.run(dst[:len(x)], x) {
		return
	}
	eachOf(dst, x, tanh24, math.Tanh)
}

// Sigmoid is 1/(1 + e^-x). It overflows at neither end.
func Sigmoid[T Float](dst, x []T) {
	if vectorOf[T]().sigmoid.run(dst[:len(x)], x) {
		return
	}
	eachOf(dst, x, sigmoid24, sigmoid)
}

// Gelu is x·Φ(x), with the exact normal distribution function (Hendrycks and
// Gimpel, "Gaussian error linear units", 2016). It is -0 at -Inf.
func Gelu[T Float](dst, x []T) {
	if vectorOf[T]().gelu.run(dst[:len(x)], x) {
		return
	}
	each(dst, x, gelu)
}

// GeluTanh is the approximation x·(1 + tanh u)/2, u = √(2/π)·(x + 0.044715·x³),
// of the same paper. It is -0 at -Inf.
func GeluTanh[T Float](dst, x []T) { each(dst, x, geluTanh) }

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func gelu(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * normalCDF(x)
}

// geluSlope is Φ(x) + x·φ(x), the derivative of gelu: 0 at -Inf and 1 at +Inf.
func geluSlope(x float64) float64 {
	if math.IsInf(x, 0) {
		return normalCDF(x)
	}
	return normalCDF(x) + float64(x*normalPDF(x))
}

func normalCDF(x float64) float64 { return float64(0.5 * math.Erfc(-x/math.Sqrt2)) }

func normalPDF(x float64) float64 {
	return math.Exp(-0.5*x*x) * (1 / math.Sqrt(2*math.Pi))
}

// geluTanhCubic is the factor of x³ in the approximation, and rootTwoOverPi
// √(2/π).
const (
	geluTanhCubic = 0.044715
	rootTwoOverPi = 0.797884560802865355879892119868763737
)

// geluTanh uses (1 + tanh u)/2 = sigmoid(2u), which cancels nothing.
func geluTanh(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * sigmoid(2*geluTanhArgument(x))
}

// geluTanhArgument is u. It is rounded here, since twice a product is a sum to
// the compiler, which it could fuse.
func geluTanhArgument(x float64) float64 {
	return float64(rootTwoOverPi * (x + float64(geluTanhCubic*x*x*x)))
}

// geluTanhSlope is s + x·s·(1-s)·2u', s = sigmoid(2u).
func geluTanhSlope(x float64) float64 {
	u := geluTanhArgument(x)
	s, rest := sigmoid(2*u), sigmoid(-2*u)
	if s == 0 || rest == 0 {
		return s // the second term is 0, where x² may overflow
	}
	du := rootTwoOverPi * (1 + float64(3*geluTanhCubic*x*x))
	return s + float64(2*x*s*rest*du)
}

// exp24 is e to the power x to about 2^-32 relative, for results that are
// rounded to float32: e^x = 2^k·e^r, |r| ≤ log(2)/2, and the Taylor polynomial
// of degree 8 for e^r.
func exp24(x float64) float64 {
	switch {
	case x > 89: // e^89 exceeds the largest float32
		return math.Inf(1)
	case x < -104: // e^-104 is below half the smallest
		return 0
	case x != x:
		return x
	}
	// Adding 1.5·2^52 leaves the nearest integer in the low bits.
	const shift = 0x1.8p52
	k := float64(x*math.Log2E) + shift
	bits := math.Float64bits(k)
	k -= shift
	r := x - float64(k*math.Ln2)
	r2 := r * r
	r4 := r2 * r2
	lo := (1 + r) + float64(r2*(1./2+float64(r*(1./6))))
	hi := (1./24 + float64(r*(1./120))) + float64(r2*(1./720+float64(r*(1./5040)))) + float64(r4*(1./40320))
	return float64((lo + float64(r4*hi)) * math.Float64frombits((bits+1023)<<52))
}

// sigmoid24 is sigmoid for results that are rounded to float32.
func sigmoid24(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + exp24(-x))
	}
	e := exp24(x)
	return e / (1 + e)
}

// tanh24 is tanh for results that are rounded to float32: the seventh
// convergent of Lambert's continued fraction near 0, where the exponential
// form would cancel.
func tanh24(x float64) float64 {
	a := math.Abs(x)
	if a < 0.625 {
		s := float64(x * x)
		p := 135135 + float64(s*(17325+float64(s*(378+s))))
		q := 135135 + float64(s*(62370+float64(s*(3150+float64(s*28)))))
		return x * (p / q)
	}
	if a > 44 {
		return math.Copysign(1, x)
	}
	return math.Copysign(1-2/(1+exp24(2*a)), x)
}
