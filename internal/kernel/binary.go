package kernel

import "math"

// The functions here write f(a[i], b[i]) to dst[i]. The slices have the same
// length; dst may be a or b but must not overlap them otherwise.

// Add is a + b.
func Add[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	if vectorOf[T]().add.run(dst, a, b) {
		return
	}
	for i, v := range a {
		dst[i] = v + b[i]
	}
}

// AccAdd adds x to dst, with the bits of Add(dst, dst, x).
func AccAdd[T Number](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().add.run(dst, dst, x) {
		return
	}
	for i, v := range x {
		dst[i] += v
	}
}

// Sub is a - b.
func Sub[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	if vectorOf[T]().sub.run(dst, a, b) {
		return
	}
	for i, v := range a {
		dst[i] = v - b[i]
	}
}

// Mul is a·b.
func Mul[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	if vectorOf[T]().mul.run(dst, a, b) {
		return
	}
	for i, v := range a {
		dst[i] = v * b[i]
	}
}

// Div is a/b, by IEEE 754.
func Div[T Float](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	if vectorOf[T]().div.run(dst, a, b) {
		return
	}
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
	if vectorOf[T]().max.run(dst, a, b) {
		return
	}
	for i, v := range a {
		dst[i] = max(v, b[i])
	}
}

// Min is the smaller of a and b: NaN if either is, and -0 of the two zeros.
func Min[T Number](dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	if vectorOf[T]().min.run(dst, a, b) {
		return
	}
	for i, v := range a {
		dst[i] = min(v, b[i])
	}
}
