package kernel

import "math"

// The functions of this file and of transcendental.go write f(x[i]) to dst[i].
// dst and x have the same length; they may be the same slice but must not
// overlap otherwise.

// Copy is x itself.
func Copy[T any](dst, x []T) { copy(dst[:len(x)], x) }

// Neg is -x: it turns the sign bit, of zeros and NaNs too.
func Neg[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().neg.run(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = -v
	}
}

// Abs is |x|: it clears the sign bit, of zeros and NaNs too.
func Abs[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().abs.run(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = T(math.Abs(float64(v)))
	}
}

// Sign is -1, 0 or 1; a zero keeps its sign and NaN stays NaN, as in NumPy.
func Sign[T Float](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		switch {
		case v > 0:
			v = 1
		case v < 0:
			v = -1
		}
		dst[i] = v
	}
}

// Square is x·x.
func Square[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().square.run(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = v * v
	}
}

// Sqrt is the square root, correctly rounded: NaN below 0, and -0 at -0.
func Sqrt[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().sqrt.run(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = T(math.Sqrt(float64(v)))
	}
}

// Recip is 1/x, correctly rounded: an infinity of its sign at a zero.
func Recip[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().recip.run(dst, x) {
		return
	}
	for i, v := range x {
		dst[i] = 1 / v
	}
}

// Relu is x where it is positive and +0 elsewhere, at -0 too. NaN stays NaN.
func Relu[T Float](dst, x []T) {
	dst = dst[:len(x)]
	if vectorOf[T]().relu.run(dst, x) {
		return
	}
	for i, v := range x {
		if v <= 0 {
			v = 0
		}
		dst[i] = v
	}
}

// AddC is x + c.
func AddC[T Number](dst, x []T, c T) {
	dst = dst[:len(x)]
	if vectorOf[T]().addC.run(dst, x, c) {
		return
	}
	for i, v := range x {
		dst[i] = v + c
	}
}

// RsubC is c - x.
func RsubC[T Number](dst, x []T, c T) {
	dst = dst[:len(x)]
	if vectorOf[T]().rsubC.run(dst, x, c) {
		return
	}
	for i, v := range x {
		dst[i] = c - v
	}
}

// MulC is c·x.
func MulC[T Number](dst, x []T, c T) {
	dst = dst[:len(x)]
	if vectorOf[T]().mulC.run(dst, x, c) {
		return
	}
	for i, v := range x {
		dst[i] = v * c
	}
}

// PowC is x to the power c, by the rules of math.Pow. To the power 2 it is x·x,
// rounded once.
func PowC[T Float](dst, x []T, c T) {
	dst = dst[:len(x)]
	switch c {
	case 1:
		copy(dst, x)
	case 2:
		Square(dst, x)
	default:
		e := float64(c)
		for i, v := range x {
			dst[i] = T(math.Pow(float64(v), e))
		}
	}
}
