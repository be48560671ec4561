package kernel

import "math"

// Moments are the mean over the middle and the sum of squared distances to it,
// each [outer, inner], in two passes so that an offset does not cancel.
func Moments[T Float](mean, square, x []T, outer, n, inner int) {
	Sum(mean, x, outer, n, inner)
	for i := range mean[:outer*inner] {
		mean[i] /= T(n)
	}
	for o := range outer {
		for k := range inner {
			square[o*inner+k] = squares(x[min(len(x), o*n*inner+k):], mean[o*inner+k], n, inner)
		}
	}
}

// squares is Σ (x - m)² over n elements at a stride, split as a sum is.
func squares[T Float](x []T, m T, n, stride int) T {
	if n > block {
		h := half(n)
		return squares(x, m, h, stride) + squares(x[h*stride:], m, n-h, stride)
	}
	var terms [block]T
	for i := range n {
		d := x[i*stride] - m
		terms[i] = d * d
	}
	return sumRun(terms[:n])
}

// Norm is (Σ|x|^p)^(1/p) over the middle, [outer, inner]: the number of elements
// that are not 0 for p = 0, the largest or smallest |x| for p = ±Inf. Where
// powers overflow or underflow, those of |x| over the largest (for negative p
// the smallest) one are added instead.
func Norm[T Float](dst, x []T, p float64, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			dst[o*inner+k] = T(norm(x[min(len(x), o*n*inner+k):], p, n, inner))
		}
	}
}

func norm[T Float](x []T, p float64, n, stride int) float64 {
	if p == 0 {
		count := 0
		for i := range n {
			if x[i*stride] != 0 {
				count++
			}
		}
		return float64(count)
	}
	if n == 0 {
		if p < 0 {
			return math.Inf(1)
		}
		return 0
	}
	top := math.Abs(float64(x[0]))
	for i := 1; i < n; i++ {
		v := math.Abs(float64(x[i*stride]))
		if p > 0 {
			top = max(top, v)
		} else {
			top = min(top, v)
		}
	}
	if math.IsInf(p, 0) || top == 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	s := powers(x, 1, p, n, stride)
	if p == 1 {
		return s
	}
	unit := 1.0
	if !(s > 1e-280 && s < 1e280) {
		unit = top
		s = powers(x, top, p, n, stride)
	}
	if p == 2 {
		return unit * math.Sqrt(s)
	}
	return unit * math.Pow(s, 1/p)
}

// powers is Σ (|x|/unit)^p over n elements at a stride, split as a sum is.
func powers[T Float](x []T, unit, p float64, n, stride int) float64 {
	if n > block {
		h := half(n)
		return powers(x, unit, p, h, stride) + powers(x[h*stride:], unit, p, n-h, stride)
	}
	var terms [block]float64
	for i := range n {
		v := math.Abs(float64(x[i*stride])) / unit
		switch p {
		case 1:
		case 2:
			v *= v
		default:
			v = math.Pow(v, p)
		}
		terms[i] = v
	}
	return sumRun(terms[:n])
}

// ArgMin is the place of the smallest over the middle, as ArgMax is of the
// largest.
func ArgMin[T Number](dst []int64, x []T, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			v := x[o*n*inner+k:]
			at, low := 0, v[0]
			for i := 1; i < n && low == low; i++ {
				if e := v[i*inner]; e < low || e != e {
					at, low = i, e
				}
			}
			dst[o*inner+k] = int64(at)
		}
	}
}

// Normalize is x over its Euclidean length along the middle, or over eps where
// the length is below that.
func Normalize[T Float](dst, x []T, eps float64, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			v, d := x[min(len(x), o*n*inner+k):], dst[min(len(x), o*n*inner+k):]
			length := atLeast(norm(v, 2, n, inner), eps)
			for i := range n {
				d[i*inner] = T(float64(v[i*inner]) / length)
			}
		}
	}
}

// Cosine is the cosine of the angle between a and b along the middle, [outer,
// inner], where each length counts as no less than eps.
func Cosine[T Float](dst, a, b []T, eps float64, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			v, w := a[min(len(a), o*n*inner+k):], b[min(len(b), o*n*inner+k):]
			la, lb := atLeast(norm(v, 2, n, inner), eps), atLeast(norm(w, 2, n, inner), eps)
			dst[o*inner+k] = T(cosine(v, w, la, lb, n, inner))
		}
	}
}

// cosine is Σ (a/la)·(b/lb) over n elements at a stride, split as a sum is.
func cosine[T Float](a, b []T, la, lb float64, n, stride int) float64 {
	if n > block {
		h := half(n)
		return cosine(a, b, la, lb, h, stride) + cosine(a[h*stride:], b[h*stride:], la, lb, n-h, stride)
	}
	var terms [block]float64
	for i := range n {
		terms[i] = float64(a[i*stride]) / la * (float64(b[i*stride]) / lb)
	}
	return sumRun(terms[:n])
}

// atLeast is v, but no less than least; NaN stays NaN.
func atLeast(v, least float64) float64 {
	if v < least {
		return least
	}
	return v
}
