package kernel

import "math"

// Factorizations of one n by n matrix, row-major. They are for the sizes that
// models and fits have, up to some hundreds; see Golub and Van Loan, "Matrix
// Computations", chapters 3 and 4.

// Cholesky writes the lower triangle L of L·Lᵀ = (a + aᵀ)/2 to l, zeros above
// it. It returns the first row whose pivot is not positive, or -1.
func Cholesky[T Float](l, a []T, n int) (bad int) {
	for i := range n {
		row := l[i*n : (i+1)*n]
		clear(row)
		for j := range i + 1 {
			sum := (a[i*n+j]+a[j*n+i])/2 - Dot(row, l[j*n:], j, 1, 1)
			if j < i {
				row[j] = sum / l[j*n+j]
				continue
			}
			if !(sum > 0) {
				return i
			}
			row[j] = T(math.Sqrt(float64(sum)))
		}
	}
	return -1
}

// LU factors a in place into L·U = P·a with partial pivoting: U on and above the
// diagonal, the unit L below. Row i of P·a is row perm[i] of a. sign is the
// determinant of P. A matrix that is exactly singular has a 0 on U's diagonal.
func LU[T Float](a []T, perm []int, n int) (sign T) {
	sign = 1
	for i := range perm[:n] {
		perm[i] = i
	}
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if size(a[i*n+k]) > size(a[best*n+k]) {
				best = i
			}
		}
		if best != k {
			for j := range n {
				a[k*n+j], a[best*n+j] = a[best*n+j], a[k*n+j]
			}
			perm[k], perm[best] = perm[best], perm[k]
			sign = -sign
		}
		pivot := a[k*n : (k+1)*n]
		if pivot[k] == 0 {
			continue
		}
		for i := k + 1; i < n; i++ {
			row := a[i*n : (i+1)*n]
			row[k] /= pivot[k]
			subtractScaled(row[k+1:], pivot[k+1:], row[k])
		}
	}
	return sign
}

func size[T Float](x T) T { return T(math.Abs(float64(x))) }

// subtractScaled subtracts c·x from dst.
func subtractScaled[T Float](dst, x []T, c T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] -= T(c * v)
	}
}

// SolveTriangle replaces x, [n,m], by the solution of t·y = x, where t is the
// upper or lower triangle of an n by n matrix whose other elements are not read;
// unit takes its diagonal for ones. A 0 on the diagonal gives Inf or NaN.
func SolveTriangle[T Float](x, t []T, n, m int, upper, unit bool) {
	for k := range n {
		i, from, to := k, 0, k
		if upper {
			i = n - 1 - k
			from, to = i+1, n
		}
		row := x[i*m : (i+1)*m]
		for j := from; j < to; j++ {
			subtractScaled(row, x[j*m:(j+1)*m], t[i*n+j])
		}
		if !unit {
			d := t[i*n+i]
			for j := range row {
				row[j] /= d
			}
		}
	}
}

// SolveLU writes the solution of a·x = b, both [n,m], given a's factors. b and x
// share no memory.
func SolveLU[T Float](x, b, lu []T, perm []int, n, m int) {
	for i, p := range perm[:n] {
		copy(x[i*m:(i+1)*m], b[p*m:(p+1)*m])
	}
	SolveTriangle(x, lu, n, m, false, true)
	SolveTriangle(x, lu, n, m, true, false)
}

// Singular reports whether factors have a 0 on U's diagonal.
func Singular[T Float](lu []T, n int) bool {
	for i := range n {
		if lu[i*n+i] == 0 {
			return true
		}
	}
	return false
}

// TransposeInto writes the transpose of an n by n matrix.
func TransposeInto[T Float](dst, a []T, n int) {
	for i := range n {
		for j := range n {
			dst[j*n+i] = a[i*n+j]
		}
	}
}
