package kernel

import "math"

// Reductions take x as [outer, n, inner] in row-major order and write
// [outer, inner].

// block is how many terms a sum adds one after the other; longer sums split in
// halves, so that the error grows with the logarithm of the length (Higham,
// "The accuracy of floating point summation", 1993).
const block = 128

// Sum adds over the middle. The sum of no terms is 0, and of -0 alone -0.
func Sum[T Float](dst, x []T, outer, n, inner int) {
	switch {
	case n == 0:
		clear(dst[:outer*inner])
	case inner == 1:
		for o := range outer {
			dst[o] = sumRun(x[o*n : (o+1)*n])
		}
	default:
		for o := range outer {
			sumRows(dst[o*inner:(o+1)*inner], x[o*n*inner:(o+1)*n*inner], n)
		}
	}
}

// sumRun adds a run: halves of whole blocks, each block by four accumulators.
func sumRun[T Float](x []T) T {
	if len(x) > block {
		half := (len(x)/2 + block - 1) / block * block
		return sumRun(x[:half]) + sumRun(x[half:])
	}
	if len(x) < 4 {
		s := x[0]
		for _, v := range x[1:] {
			s += v
		}
		return s
	}
	a, b, c, d := x[0], x[1], x[2], x[3]
	i := 4
	for ; i+4 <= len(x); i += 4 {
		a += x[i]
		b += x[i+1]
		c += x[i+2]
		d += x[i+3]
	}
	s := (a + b) + (c + d)
	for _, v := range x[i:] {
		s += v
	}
	return s
}

// sumRows adds n rows, in halves of whole blocks of rows.
func sumRows[T Float](dst, x []T, n int) {
	inner := len(dst)
	if n > block {
		half := (n/2 + block - 1) / block * block
		sumRows(dst, x[:half*inner], half)
		rest := make([]T, inner)
		sumRows(rest, x[half*inner:], n-half)
		Add(dst, dst, rest)
		return
	}
	copy(dst, x[:inner])
	for i := 1; i < n; i++ {
		Add(dst, dst, x[i*inner:(i+1)*inner])
	}
}

// ReduceMax is the largest over the middle, which is not empty; NaN wins.
func ReduceMax[T Float](dst, x []T, outer, n, inner int) {
	reduceBy(dst, x, outer, n, inner, Max[T])
}

// ReduceMin is the smallest over the middle, which is not empty; NaN wins.
func ReduceMin[T Float](dst, x []T, outer, n, inner int) {
	reduceBy(dst, x, outer, n, inner, Min[T])
}

func reduceBy[T Float](dst, x []T, outer, n, inner int, f func(dst, a, b []T)) {
	for o := range outer {
		d, rows := dst[o*inner:(o+1)*inner], x[o*n*inner:(o+1)*n*inner]
		copy(d, rows[:inner])
		for i := 1; i < n; i++ {
			f(d, d, rows[i*inner:(i+1)*inner])
		}
	}
}

// LogSumExp is log Σ exp(x) over the middle, without overflow: -Inf where every
// term is or there is none, +Inf where one is.
func LogSumExp[T Float](dst, x []T, outer, n, inner int) {
	if n == 0 {
		for i := range dst[:outer*inner] {
			dst[i] = T(math.Inf(-1))
		}
		return
	}
	term := make([]T, n)
	for o := range outer {
		for k := range inner {
			dst[o*inner+k] = logSumExp(term, x[o*n*inner+k:], inner)
		}
	}
}

// logSumExp reduces len(term) elements of x at a stride.
func logSumExp[T Float](term, x []T, stride int) T {
	top := x[0]
	for i := range term {
		top = max(top, x[i*stride])
	}
	if math.IsInf(float64(top), 0) || top != top {
		return top
	}
	for i := range term {
		term[i] = T(math.Exp(float64(x[i*stride] - top)))
	}
	return top + T(math.Log(float64(sumRun(term))))
}

// Softmax is exp(x)/Σ exp(x) over the middle. dst may be x. A row of -Inf gives
// NaN.
func Softmax[T Float](dst, x []T, outer, n, inner int) {
	term := make([]T, n)
	for o := range outer {
		for k := range inner {
			if n == 0 {
				continue
			}
			base := o*n*inner + k
			top := x[base]
			for i := range n {
				top = max(top, x[base+i*inner])
			}
			for i := range n {
				term[i] = T(math.Exp(float64(x[base+i*inner] - top)))
			}
			s := sumRun(term)
			for i, e := range term {
				dst[base+i*inner] = e / s
			}
		}
	}
}

// LogSoftmax is x - log Σ exp(x) over the middle. dst may be x.
func LogSoftmax[T Float](dst, x []T, outer, n, inner int) {
	term := make([]T, n)
	for o := range outer {
		for k := range inner {
			if n == 0 {
				continue
			}
			base := o*n*inner + k
			top := x[base]
			for i := range n {
				top = max(top, x[base+i*inner])
			}
			for i := range n {
				term[i] = T(math.Exp(float64(x[base+i*inner] - top)))
			}
			log := T(math.Log(float64(sumRun(term))))
			for i := range n {
				dst[base+i*inner] = (x[base+i*inner] - top) - log
			}
		}
	}
}

// SoftmaxGrad is y·(dy - Σ dy·y).
func SoftmaxGrad[T Float](dst, dy, y []T, outer, n, inner int) {
	term := make([]T, n)
	for o := range outer {
		for k := range inner {
			if n == 0 {
				continue
			}
			base := o*n*inner + k
			for i := range n {
				term[i] = dy[base+i*inner] * y[base+i*inner]
			}
			s := sumRun(term)
			for i := range n {
				dst[base+i*inner] = y[base+i*inner] * (dy[base+i*inner] - s)
			}
		}
	}
}

// LogSoftmaxGrad is dy - exp(y)·Σ dy.
func LogSoftmaxGrad[T Float](dst, dy, y []T, outer, n, inner int) {
	term := make([]T, n)
	for o := range outer {
		for k := range inner {
			if n == 0 {
				continue
			}
			base := o*n*inner + k
			for i := range n {
				term[i] = dy[base+i*inner]
			}
			s := sumRun(term)
			for i := range n {
				e := T(math.Exp(float64(y[base+i*inner])))
				dst[base+i*inner] = dy[base+i*inner] - T(e*s)
			}
		}
	}
}
