package kernel

import "math"

// Activations whose plain formula would overflow or cancel, and their slopes.

// LogSigmoid is log(1/(1 + e^-x)) = min(x, 0) - log1p(e^-|x|).
func LogSigmoid[T Float](dst, x []T) { each(dst, x, logSigmoid) }

func logSigmoid(x float64) float64 {
	return min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
}

// Softplus is log(1 + e^(beta·x))/beta = x + log1p(e^-|beta·x|)/beta, without
// the x where beta·x is below 0.
func Softplus[T Float](dst, x []T, beta float64) {
	each(dst, x, func(x float64) float64 {
		y := math.Log1p(math.Exp(-math.Abs(beta*x))) / beta
		if x > 0 == (beta > 0) {
			y += x
		}
		return y
	})
}

// Silu is x/(1 + e^-x), and -0 at -Inf.
func Silu[T Float](dst, x []T) { each(dst, x, silu) }

func silu(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Copysign(0, -1)
	}
	return x * sigmoid(x)
}

// SiluGrad is dy·s·(1 + x·(1 - s)), s = sigmoid(x). The factor is 0 at -Inf and
// 1 at +Inf.
func SiluGrad[T Float](dst, dy, x []T) { slope(dst, dy, x, siluSlope) }

func siluSlope(x float64) float64 {
	s, rest := sigmoid(x), sigmoid(-x)
	if s == 0 || rest == 0 {
		return s
	}
	return float64(s * (1 + float64(x*rest)))
}

// LeakyRelu is x above 0 and c·x elsewhere.
func LeakyRelu[T Float](dst, x []T, c T) {
	dst = dst[:len(x)]
	for i, v := range x {
		if v <= 0 {
			v *= c
		}
		dst[i] = v
	}
}

// LeakyReluGrad is dy where x is above 0, c·dy elsewhere, and dy where x is NaN.
func LeakyReluGrad[T Float](dst, dy, x []T, c T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	for i, g := range dy {
		if x[i] <= 0 {
			g *= c
		}
		dst[i] = g
	}
}

// Clamp is x between lo and hi: NaN stays NaN, and where lo is above hi all
// others become hi.
func Clamp[T Float](dst, x []T, lo, hi T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = min(max(v, lo), hi)
	}
}

// ClampGrad is dy where lo ≤ x ≤ hi, and +0 elsewhere.
func ClampGrad[T Float](dst, dy, x []T, lo, hi T) {
	dst, x = dst[:len(dy)], x[:len(dy)]
	for i, g := range dy {
		if !(lo <= x[i] && x[i] <= hi) {
			g = 0
		}
		dst[i] = g
	}
}

// LogAddExp is log(e^a + e^b) = max(a, b) + log1p(e^-|a-b|), and the larger
// where one is infinite.
func LogAddExp[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = T(logAddExp(float64(v), float64(b[i])))
	}
}

func logAddExp(a, b float64) float64 {
	top := max(a, b)
	if math.IsInf(top, 0) {
		return top
	}
	return top + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// LogAddExpGrad is dy times what a has of the sum, e^a/(e^a + e^b): half of it
// where a and b are equal, infinities too.
func LogAddExpGrad[T Float](dst, dy, a, b []T) {
	dst, a, b = dst[:len(dy)], a[:len(dy)], b[:len(dy)]
	for i, g := range dy {
		share := 0.5
		if a[i] != b[i] {
			share = sigmoid(float64(a[i]) - float64(b[i]))
		}
		dst[i] = g * T(share)
	}
}

// XLogY is x·log y, and 0 where x is 0 and y is not NaN.
func XLogY[T Float](dst, x, y []T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		if v == 0 && y[i] == y[i] {
			dst[i] = 0
			continue
		}
		dst[i] = T(float64(v) * math.Log(float64(y[i])))
	}
}

// SigmoidTimes is dy·sigmoid(beta·x).
func SigmoidTimes[T Float](dst, dy, x []T, beta float64) {
	slope(dst, dy, x, func(x float64) float64 { return sigmoid(beta * x) })
}
