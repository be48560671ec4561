package kernel

import "unsafe"

// Reductions take x as [outer, n, inner] in row-major order and write
// [outer, inner]. dst and x share no memory.
//
// Every sum of n terms here has one definition, whether the terms lie side by
// side or at a stride, are read or are computed on the way: more than block
// terms are halved at a whole number of blocks and the halves added, so that
// the error grows with the logarithm of n (Higham, "The accuracy of floating
// point summation", 1993). Within a block eight lanes take every eighth term
// each and are added in pairs. Fewer terms than lanes are added in order. So a
// sum over an axis has the bits of the sum of its packed copy, and Dot those of
// the sum of the products.
const (
	block = 128
	lanes = 8
)

// half is where a sum of n > block terms is cut.
func half(n int) int { return (n/2 + block - 1) / block * block }

// Sum adds over the middle. The sum of no terms is 0, and of -0 alone -0.
func Sum[T Float](dst, x []T, outer, n, inner int) {
	if n == 0 {
		clear(dst[:outer*inner])
		return
	}
	for o := range outer {
		from := x[o*n*inner : (o+1)*n*inner]
		switch {
		case inner == 1:
			dst[o] = sumRun(from)
		case n < lanes:
			sumFew(dst[o*inner:(o+1)*inner], from)
		default:
			to := dst[o*inner : (o+1)*inner]
			for k := 0; k < inner; k += tileColumns {
				sumTile(to[k:min(k+tileColumns, inner)], from[k:], n, inner)
			}
		}
	}
}

// sumRun adds a run of at least one term.
func sumRun[T Float](x []T) T {
	if v := vectorOf[T](); v.sumBlocks != nil && len(x) >= lanes {
		return sumVector(v, x)
	}
	if len(x) > block {
		h := half(len(x))
		return sumRun(x[:h]) + sumRun(x[h:])
	}
	if len(x) < lanes {
		s := x[0]
		for _, v := range x[1:] {
			s += v
		}
		return s
	}
	first := (*[lanes]T)(x)
	s0, s1, s2, s3 := first[0], first[1], first[2], first[3]
	s4, s5, s6, s7 := first[4], first[5], first[6], first[7]
	x = x[lanes:]
	for len(x) >= lanes {
		v := (*[lanes]T)(x)
		s0 += v[0]
		s1 += v[1]
		s2 += v[2]
		s3 += v[3]
		s4 += v[4]
		s5 += v[5]
		s6 += v[6]
		s7 += v[7]
		x = x[lanes:]
	}
	s := [lanes]T{s0, s1, s2, s3, s4, s5, s6, s7}
	for i, v := range x {
		s[i] += v
	}
	return sumLanes(&s)
}

// sumLanes adds the lanes of a block in pairs.
func sumLanes[T Float](s *[lanes]T) T {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// sumFew adds fewer rows than there are lanes.
func sumFew[T Float](dst, x []T) {
	copy(dst, x)
	for x = x[len(dst):]; len(x) > 0; x = x[len(dst):] {
		AccAdd(dst, x[:len(dst)])
	}
}

// tileColumns is how many columns are added side by side.
const tileColumns = 32

// sumTile adds n ≥ lanes rows of len(dst) ≤ tileColumns elements that begin
// stride apart.
func sumTile[T Float](dst, x []T, n, stride int) {
	if n > block {
		h := half(n)
		var rest [tileColumns]T
		sumTile(dst, x, h, stride)
		if n-h < lanes {
			row := rest[:len(dst)]
			copy(row, x[h*stride:])
			for i := h + 1; i < n; i++ {
				AccAdd(row, x[i*stride:i*stride+len(dst)])
			}
		} else {
			sumTile(rest[:len(dst)], x[h*stride:], n-h, stride)
		}
		AccAdd(dst, rest[:len(dst)])
		return
	}
	if v := vectorOf[T](); v.sumRows != nil {
		v.sumRows(head(dst), head(x), n, stride*int(unsafe.Sizeof(dst[0])), len(dst))
		return
	}
	var lane [lanes][tileColumns]T
	for i := range lanes {
		copy(lane[i][:len(dst)], x[i*stride:])
	}
	for i := lanes; i < n; i++ {
		AccAdd(lane[i%lanes][:], x[i*stride:i*stride+len(dst)])
	}
	for k := range dst {
		dst[k] = ((lane[0][k] + lane[4][k]) + (lane[2][k] + lane[6][k])) + ((lane[1][k] + lane[5][k]) + (lane[3][k] + lane[7][k]))
	}
}

// sumAlong adds n ≥ 1 terms at a stride.
func sumAlong[T Float](x []T, n, stride int) T {
	if stride == 1 {
		return sumRun(x[:n])
	}
	if n > block {
		h := half(n)
		return sumAlong(x, h, stride) + sumAlong(x[h*stride:], n-h, stride)
	}
	var terms [block]T
	for i := range n {
		terms[i] = x[i*stride]
	}
	return sumRun(terms[:n])
}

// SumInt adds integers over the middle, wrapping around as Go does.
func SumInt(dst, x []int64, outer, n, inner int) {
	for o := range outer {
		to, from := dst[o*inner:(o+1)*inner], x[o*n*inner:(o+1)*n*inner]
		clear(to)
		for i := range n {
			AccAdd(to, from[i*inner:(i+1)*inner])
		}
	}
}

// Prod multiplies over the middle, in order. The product of no terms is 1.
func Prod[T Number](dst, x []T, outer, n, inner int) {
	for o := range outer {
		to, from := dst[o*inner:(o+1)*inner], x[o*n*inner:(o+1)*n*inner]
		for k := range to {
			to[k] = 1
		}
		for i := range n {
			Mul(to, to, from[i*inner:(i+1)*inner])
		}
	}
}

// Dot is the sum of the products a[i*as]·b[i*bs] of n elements; 0 without any.
func Dot[T Float](a, b []T, n, as, bs int) T {
	switch {
	case n == 0:
		return 0
	case as == 1 && bs == 1:
		return dotRun(a[:n], b[:n])
	case n > block:
		h := half(n)
		return Dot(a, b, h, as, bs) + Dot(a[h*as:], b[h*bs:], n-h, as, bs)
	}
	var terms [block]T
	for i := range n {
		terms[i] = T(a[i*as] * b[i*bs])
	}
	return sumRun(terms[:n])
}

// dotRun is sumRun of the products.
func dotRun[T Float](a, b []T) T {
	if v := vectorOf[T](); v.dotBlocks != nil && len(a) >= lanes {
		return dotVector(v, a, b)
	}
	if len(a) > block {
		h := half(len(a))
		return dotRun(a[:h], b[:h]) + dotRun(a[h:], b[h:])
	}
	if len(a) < lanes {
		s := T(a[0] * b[0])
		for i := 1; i < len(a); i++ {
			s += T(a[i] * b[i])
		}
		return s
	}
	v, w := (*[lanes]T)(a), (*[lanes]T)(b)
	s0, s1, s2, s3 := T(v[0]*w[0]), T(v[1]*w[1]), T(v[2]*w[2]), T(v[3]*w[3])
	s4, s5, s6, s7 := T(v[4]*w[4]), T(v[5]*w[5]), T(v[6]*w[6]), T(v[7]*w[7])
	a, b = a[lanes:], b[lanes:]
	for len(a) >= lanes && len(b) >= lanes {
		v, w = (*[lanes]T)(a), (*[lanes]T)(b)
		s0 += T(v[0] * w[0])
		s1 += T(v[1] * w[1])
		s2 += T(v[2] * w[2])
		s3 += T(v[3] * w[3])
		s4 += T(v[4] * w[4])
		s5 += T(v[5] * w[5])
		s6 += T(v[6] * w[6])
		s7 += T(v[7] * w[7])
		a, b = a[lanes:], b[lanes:]
	}
	s := [lanes]T{s0, s1, s2, s3, s4, s5, s6, s7}
	for i, x := range a {
		s[i] += T(x * b[i])
	}
	return sumLanes(&s)
}
