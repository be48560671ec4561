package kernel

import "math"

// The functions here treat x as [outer, n, inner] in row-major order and work
// along the middle. Exponents are differences to the largest element, computed
// in float64, so that nothing overflows and large differences keep their
// digits. Sums are those of sum.go.

// exponential is the exponential function that is good to T.
func exponential[T Float]() func(float64) float64 {
	if isNarrow[T]() {
		return exp24
	}
	return math.Exp
}

// largestAlong is the largest of n elements at a stride, NaN if one is.
func largestAlong[T Float](x []T, n, stride int) float64 {
	if stride == 1 {
		return float64(largest(x[:n]))
	}
	top := x[0]
	for i := 1; i < n; i++ {
		top = max(top, x[i*stride])
	}
	return float64(top)
}

// sumExp is Σ exp(x - top) over n ≥ 1 elements at a stride.
func sumExp[T Float](x []T, top float64, n, stride int) T {
	if n > block {
		h := half(n)
		return sumExp(x, top, h, stride) + sumExp(x[h*stride:], top, n-h, stride)
	}
	exp := exponential[T]()
	var terms [block]T
	for i := range n {
		terms[i] = T(exp(float64(x[i*stride]) - top))
	}
	return sumRun(terms[:n])
}

// LogSumExp is log Σ exp(x) over the middle, [outer, inner], without overflow:
// -Inf where every term is or there is none, +Inf where one is and none NaN.
func LogSumExp[T Float](dst, x []T, outer, n, inner int) {
	if n == 0 {
		for i := range dst[:outer*inner] {
			dst[i] = T(math.Inf(-1))
		}
		return
	}
	if v := vectorOf[T](); v.expSub != nil && inner == 1 {
		for o := range outer {
			dst[o] = logSumExpRow(v, x[o*n:(o+1)*n])
		}
		return
	}
	for o := range outer {
		for k := range inner {
			v := x[o*n*inner+k:]
			top := largestAlong(v, n, inner)
			if math.IsInf(top, 0) || math.IsNaN(top) {
				dst[o*inner+k] = T(top)
				continue
			}
			dst[o*inner+k] = T(top + math.Log(float64(sumExp(v, top, n, inner))))
		}
	}
}

// Softmax is exp(x)/Σ exp(x). dst may be x but must not overlap it otherwise.
// A row of -Inf, or one that holds +Inf or NaN, gives NaN, as in PyTorch.
func Softmax[T Float](dst, x []T, outer, n, inner int) {
	if n == 0 {
		return
	}
	if v := vectorOf[T](); v.expSub != nil && inner == 1 {
		for o := range outer {
			softmaxRow(v, dst[o*n:(o+1)*n], x[o*n:(o+1)*n])
		}
		return
	}
	exp := exponential[T]()
	for o := range outer {
		for k := range inner {
			v, d := x[o*n*inner+k:], dst[o*n*inner+k:]
			top := largestAlong(v, n, inner)
			for i := range n {
				d[i*inner] = T(exp(float64(v[i*inner]) - top))
			}
			s := sumAlong(d, n, inner)
			for i := range n {
				d[i*inner] /= s
			}
		}
	}
}

// LogSoftmax is x - log Σ exp(x). dst may be x but must not overlap it
// otherwise. A row of -Inf, or one that holds +Inf or NaN, gives NaN, as in
// PyTorch.
func LogSoftmax[T Float](dst, x []T, outer, n, inner int) {
	if n == 0 {
		return
	}
	if v := vectorOf[T](); v.expSub != nil && inner == 1 {
		for o := range outer {
			logSoftmaxRow(v, dst[o*n:(o+1)*n], x[o*n:(o+1)*n])
		}
		return
	}
	for o := range outer {
		for k := range inner {
			v, d := x[o*n*inner+k:], dst[o*n*inner+k:]
			top := largestAlong(v, n, inner)
			log := math.Log(float64(sumExp(v, top, n, inner)))
			for i := range n {
				d[i*inner] = T((float64(v[i*inner]) - top) - log)
			}
		}
	}
}

// SoftmaxGrad is y·(dy - Σ dy·y). dst may be dy or y but must not overlap them
// otherwise.
func SoftmaxGrad[T Float](dst, dy, y []T, outer, n, inner int) {
	if n == 0 {
		return
	}
	if v := vectorOf[T](); v.expSub != nil && inner == 1 {
		for o := range outer {
			softmaxGradRow(v, dst[o*n:(o+1)*n], dy[o*n:(o+1)*n], y[o*n:(o+1)*n])
		}
		return
	}
	for o := range outer {
		for k := range inner {
			d, g, v := dst[o*n*inner+k:], dy[o*n*inner+k:], y[o*n*inner+k:]
			s := Dot(g, v, n, inner, inner)
			for i := range n {
				d[i*inner] = v[i*inner] * (g[i*inner] - s)
			}
		}
	}
}

// LogSoftmaxGrad is dy - exp(y)·Σ dy. dst may be dy or y but must not overlap
// them otherwise.
func LogSoftmaxGrad[T Float](dst, dy, y []T, outer, n, inner int) {
	if n == 0 {
		return
	}
	if v := vectorOf[T](); v.expSub != nil && inner == 1 {
		for o := range outer {
			logSoftmaxGradRow(v, dst[o*n:(o+1)*n], dy[o*n:(o+1)*n], y[o*n:(o+1)*n])
		}
		return
	}
	exp := exponential[T]()
	for o := range outer {
		for k := range inner {
			d, g, v := dst[o*n*inner+k:], dy[o*n*inner+k:], y[o*n*inner+k:]
			s := sumAlong(g, n, inner)
			for i := range n {
				e := T(exp(float64(v[i*inner])))
				d[i*inner] = g[i*inner] - T(e*s)
			}
		}
	}
}
