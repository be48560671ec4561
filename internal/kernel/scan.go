package kernel

// Running functions along the middle of [outer, n, inner]. dst may be the first
// operand but must not overlap it otherwise. Each result follows from the one
// before it, in order.

// CumSum adds up.
func CumSum[T Number](dst, x []T, outer, n, inner int) {
	scan(dst, x, outer, n, inner, func(to, before, next []T) { Add(to, before, next) })
}

// CumProd multiplies.
func CumProd[T Number](dst, x []T, outer, n, inner int) {
	scan(dst, x, outer, n, inner, func(to, before, next []T) { Mul(to, before, next) })
}

// LogCumSumExp is the logarithm of the running sum of exponentials, without
// overflow.
func LogCumSumExp[T Float](dst, x []T, outer, n, inner int) {
	scan(dst, x, outer, n, inner, func(to, before, next []T) { LogAddExp(to, before, next) })
}

func scan[T any](dst, x []T, outer, n, inner int, step func(to, before, next []T)) {
	for o := range outer {
		at := o * n * inner
		for i := range n {
			if i == 0 {
				copy(dst[at:at+inner], x[at:at+inner])
			} else {
				step(dst[at:at+inner], dst[at-inner:at], x[at:at+inner])
			}
			at += inner
		}
	}
}

// Recurrence is y₀ = b₀, yᵢ = aᵢ·yᵢ₋₁ + bᵢ along the middle. a₀ is not read.
func Recurrence[T Float](dst, a, b []T, outer, n, inner int) {
	for o := range outer {
		at := o * n * inner
		for i := range n {
			for k := range inner {
				y := b[at+k]
				if i > 0 {
					y += T(a[at+k] * dst[at+k-inner])
				}
				dst[at+k] = y
			}
			at += inner
		}
	}
}

// ProdGrad is dy times the product of the other elements along the middle, from
// products of those before and of those behind, so that zeros need no
// exception; dy is [outer, inner].
func ProdGrad[T Float](dst, dy, x []T, outer, n, inner int) {
	if n == 0 {
		return
	}
	for o := range outer {
		for k := range inner {
			d, v := dst[o*n*inner+k:], x[o*n*inner+k:]
			before := T(1)
			for i := range n {
				d[i*inner] = before
				before *= v[i*inner]
			}
			behind := dy[o*inner+k]
			for i := n - 1; i >= 0; i-- {
				d[i*inner] *= behind
				behind *= v[i*inner]
			}
		}
	}
}
