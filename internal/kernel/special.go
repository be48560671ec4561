package kernel

import "math"

// Special functions, in the way of transcendental.go.

// Erf is the error function 2/√π·∫₀ˣ e^(-t²) dt.
func Erf[T Float](dst, x []T) { each(dst, x, math.Erf) }

// Erfc is 1 - erf(x), without losing it where erf is near 1.
func Erfc[T Float](dst, x []T) { each(dst, x, math.Erfc) }

// Lgamma is the logarithm of |Γ(x)|: +Inf at 0, at negative whole numbers and at
// both infinities.
func Lgamma[T Float](dst, x []T) { each(dst, x, lgamma) }

// Digamma is Γ'(x)/Γ(x): an infinity of the other sign at a zero, NaN at
// negative whole numbers and at -Inf.
func Digamma[T Float](dst, x []T) { each(dst, x, digamma) }

// Polygamma is the derivative of order n of Digamma: ±Inf at 0 and at negative
// whole numbers.
func Polygamma[T Float](dst, x []T, n int) {
	each(dst, x, func(x float64) float64 { return polygamma(n, x) })
}

func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	y, _ := math.Lgamma(x)
	return y
}

// bernoulli are B₂, B₄, B₆, … .
var bernoulli = [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510, 43867. / 798, -174611. / 330}

// asymptotic is from where on the expansions for large arguments hold to a
// rounding error.
const asymptotic = 12

// digamma moves x up by ψ(x) = ψ(x+1) - 1/x, and below 0 to the other side by
// ψ(x) = ψ(1-x) - π/tan(πx), and then expands ψ(x) = ln x - 1/2x - Σ
// B₂ₖ/(2k·x²ᵏ) (Abramowitz and Stegun, "Handbook of mathematical functions",
// 6.3.5, 6.3.7 and 6.3.18).
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case math.IsInf(x, -1) || x < 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return digamma1(1-x) - math.Pi/math.Tan(math.Pi*(x-math.Round(x)))
	}
	return digamma1(x)
}

// digamma1 is digamma above 0.
func digamma1(x float64) float64 {
	var below float64
	for x < asymptotic {
		below += 1 / x
		x++
	}
	s, square := 0.0, 1/(x*x)
	for k := len(bernoulli) - 1; k >= 0; k-- {
		s = float64(square * (s + bernoulli[k]/float64(2*k+2)))
	}
	return math.Log(x) - 0.5/x - s - below
}

// polygamma is (-1)^(n+1)·n!·ζ(n+1, x), with Hurwitz's zeta function.
func polygamma(n int, x float64) float64 {
	if n == 0 {
		return digamma(x)
	}
	y := hurwitz(float64(n+1), x)
	for k := 2; k <= n; k++ {
		y *= float64(k)
	}
	if n%2 == 0 {
		y = -y
	}
	return y
}

// hurwitz is ζ(s, x) = Σ (x+k)^-s over k ≥ 0, for whole s ≥ 2. The terms below 0
// are those of two other series, by symmetry.
func hurwitz(s, x float64) float64 {
	switch {
	case x != x:
		return x
	case x <= 0 && x == math.Floor(x): // -Inf too
		return math.Inf(1)
	case x > 0:
		return hurwitz1(s, x)
	}
	f := x - math.Floor(x)
	below := hurwitz1(s, 1-f) - hurwitz1(s, 1-x)
	if math.Mod(s, 2) == 1 {
		below = -below
	}
	return hurwitz1(s, f) + below
}

// hurwitz1 is hurwitz above 0: the first terms, and the rest by Euler and
// Maclaurin's formula.
func hurwitz1(s, x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	var first float64
	for x < asymptotic+s {
		first += math.Pow(x, -s)
		x++
	}
	power := math.Pow(x, -s)
	rest := float64(power*x)/(s-1) + power/2
	// s·(s+1)…(s+2k-2)/(2k)! · x^(-s-2k+1)
	term := power * s / x / 2
	for k, b := range bernoulli {
		rest += float64(term * b)
		j := float64(2 * k)
		term *= (s + j + 1) / (j + 3) * (s + j + 2) / (j + 4) / x / x
	}
	return first + rest
}
