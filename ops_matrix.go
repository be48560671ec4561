package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// Matrices are the last two axes; axes before them are batches. A factorization
// counts n³ multiply-adds and solving with it n² a column, as full matrices
// would take. Rules follow M. B. Giles, "Collected Matrix Derivative Results for
// Forward and Reverse Mode Algorithmic Differentiation", 2008.

// square checks that operand i holds square matrices, and returns how many and
// how large they are.
func (m *machine) square(i int) (count, n int) {
	x := m.in[i].l
	m.float(m.in[i])
	rank := len(x.Shape)
	if rank < 2 || x.Shape[rank-1] != x.Shape[rank-2] {
		m.misfit("pass square matrices", "shape %s holds no square matrices", array.ShapeString(x.Shape))
	}
	count = 1
	for _, d := range x.Shape[:rank-2] {
		count *= d
	}
	return count, x.Shape[rank-1]
}

// system checks operands a [..., n, n] and b [..., n, m].
func (m *machine) system() (count, n, columns int) {
	count, n = m.square(0)
	m.sameDType(0, 1)
	a, b := m.in[0].l.Shape, m.in[1].l.Shape
	rank := len(a)
	if len(b) != rank || !array.SameShape(a[:rank-1], b[:rank-1]) {
		m.misfit("a is [..., n, n] and b [..., n, m]", "shapes %s do not fit", m.shapesText())
	}
	return count, n, b[rank-1]
}

// costSquare counts k·n³ multiply-adds a matrix, and n² for bringing them in.
func costSquare(k int64) func(m *machine) int64 {
	return func(m *machine) int64 {
		count, n := m.square(0)
		return int64(count) * (k*int64(n)*int64(n)*int64(n) + int64(n)*int64(n))
	}
}

func evalAs(f32, f64 func(m *machine)) func(m *machine) {
	return func(m *machine) {
		m.float(m.in[0])
		if m.in[0].l.DType == Float32 {
			f32(m)
		} else {
			f64(m)
		}
	}
}

// factored calls f with the factors of each matrix of operand 0.
func factored[T float32 | float64](m *machine, f func(k int, lu []T, perm []int, sign T)) {
	count, n := m.square(0)
	a := denseIn[T](m, 0)
	lu := cellWork[T](m, m.in[0].l.DType, n*n)
	perm := make([]int, n)
	for k := range count {
		copy(lu, a[k*n*n:(k+1)*n*n])
		f(k, lu, perm, kernel.LU(lu, perm, n))
	}
}

func singular(m *machine, k int) {
	throw(fail(ErrValue, m.op.name, "add a small multiple of the identity, or leave the matrix out", "matrix %d is singular", k))
}

var dominantSamples = []sample{on(dominant(3, 3)), on(dominant(2, 4, 4)), on(dominant(1, 1)), on(dominant(0, 2, 2))}

func init() {
	define(opInverse, op{name: "inverse", doc: "inverse of a square matrix", formula: "dx = -yᵀ·dy·yᵀ", arity: 1, reads: readsOut(0), cost: costSquare(2),
		eval: evalAs(inverse[float32], inverse[float64]),
		grad: func(r *rule) {
			t := r.flip(r.out(0))
			r.give(0, r.neg(r.matmul(r.matmul(t, r.dout(0)), t)))
		},
		tangent: func(r *rule) {
			y := r.out(0)
			r.makes(0, r.neg(r.matmul(r.matmul(y, r.tan(0)), y)))
		},
		samples: dominantSamples,
	})
	define(opSolve, op{name: "solve", doc: "the solution of a·y = b", formula: "db = solve(aᵀ, dy), da = -db·yᵀ", arity: 2, reads: readsIn(0) | readsOut(0),
		cost: func(m *machine) int64 {
			count, n, columns := m.system()
			return int64(count) * int64(n) * int64(n) * int64(n+columns)
		},
		eval: evalAs(solve[float32], solve[float64]),
		grad: func(r *rule) {
			db := r.do2(opSolve, nil, r.flip(r.in(0)), r.dout(0))
			if r.want(0) {
				r.give(0, r.neg(r.matmul(db, r.flip(r.out(0)))))
			}
			if r.want(1) {
				r.give(1, db)
			}
		},
		tangent: func(r *rule) { r.makes(0, r.do2(opSolve, nil, r.in(0), r.residual())) },
		samples: []sample{on(dominant(3, 3), f(3, 2)), on(dominant(2, 4, 4), f(2, 4, 1)), on(dominant(2, 2), f(2, 0)), on(dominant(0, 2, 2), f(0, 2, 3))},
	})
}

// residual is ṫ = ḃ - ȧ·y, whose solution is the tangent of that of a·y = b.
func (r *rule) residual() ref {
	var t ref
	if r.hasTan(0) {
		t = r.neg(r.matmul(r.tan(0), r.out(0)))
	}
	return r.sumOf(r.tan0(1), t)
}

func inverse[T float32 | float64](m *machine) {
	_, n := m.square(0)
	d := dense[T](m.produce(m.like(m.in[0])))
	one := cellWork[T](m, m.in[0].l.DType, n*n)
	clear(one)
	for i := range n {
		one[i*n+i] = 1
	}
	factored(m, func(k int, lu []T, perm []int, _ T) {
		if kernel.Singular(lu, n) {
			singular(m, k)
		}
		kernel.SolveLU(d[k*n*n:(k+1)*n*n], one, lu, perm, n, n)
	})
}

func solve[T float32 | float64](m *machine) {
	_, n, columns := m.system()
	b := denseIn[T](m, 1)
	d := dense[T](m.produce(m.like(m.in[1])))
	size := n * columns
	factored(m, func(k int, lu []T, perm []int, _ T) {
		if kernel.Singular(lu, n) {
			singular(m, k)
		}
		kernel.SolveLU(d[k*size:(k+1)*size], b[k*size:(k+1)*size], lu, perm, n, columns)
	})
}

// Inverse returns the inverse of each matrix of x, [..., n, n]. It panics with
// ErrValue where one is exactly singular. To solve a system use Solve, which is
// cheaper and more accurate.
func (x *Tensor) Inverse() *Tensor { return apply1(opInverse, nil, x) }

// Solve returns the solution y of x·y = b: x is [..., n, n] and b [..., n, m]
// with the same batches, or [n] for one matrix. It panics with ErrValue where a
// matrix is exactly singular.
func (x *Tensor) Solve(b *Tensor) *Tensor {
	if b.Rank() == 1 && x.Rank() == 2 {
		return apply2(opSolve, nil, x, b.Reshape(-1, 1)).Reshape(-1)
	}
	return apply2(opSolve, nil, x, b)
}

func init() {
	define(opDet, op{name: "det", doc: "determinant of a square matrix", formula: "dx = dy·cofactors(x)", arity: 1, reads: readsIn(0), cost: costSquare(1),
		eval: evalAs(det[float32], det[float64]),
		grad: func(r *rule) {
			r.give(0, r.mul(r.perMatrix(r.dout(0)), r.do1(opCofactors, nil, r.in(0))))
		},
		tangent: func(r *rule) { r.makes(0, r.overMatrix(r.mul(r.do1(opCofactors, nil, r.in(0)), r.tan(0)), false)) },
		samples: dominantSamples,
	})
	define(opCofactors, op{name: "cofactors", doc: "cofactors of a square matrix: det(x)·x⁻ᵀ, and where x is singular determinants of what is left without a row and a column",
		formula: "dx = det(x)·(z·⟨dy, z⟩ - z·dyᵀ·z) with z = x⁻ᵀ", arity: 1, flags: engineOnly, reads: readsIn(0), cost: costSquare(3),
		eval: evalAs(cofactors[float32], cofactors[float64]),
		grad: func(r *rule) { r.give(0, r.bendCofactors(r.dout(0))) },
		// The derivative is symmetric: it is the Hessian of the determinant.
		tangent: func(r *rule) { r.makes(0, r.bendCofactors(r.tan(0))) },
		samples: dominantSamples,
	})
	define(opSlogDet, op{name: "slogdet", doc: "sign of the determinant of a square matrix, and the logarithm of its size", formula: "dx = dlog·x⁻ᵀ", arity: 1, outs: 2, reads: readsIn(0), cost: costSquare(1),
		eval: evalAs(slogdet[float32], slogdet[float64]),
		grad: func(r *rule) {
			if !r.has(1) {
				r.give(0, r.full(0, r.layoutIn(0).DType, r.shapeIn(0)))
				return
			}
			r.give(0, r.mul(r.perMatrix(r.dout(1)), r.flip(r.do1(opInverse, nil, r.in(0)))))
		},
		tangent: func(r *rule) {
			r.makes(1, r.overMatrix(r.mul(r.flip(r.do1(opInverse, nil, r.in(0))), r.tan(0)), false))
		},
		samples: dominantSamples,
	})
}

// perMatrix gives a number for each matrix two axes of extent 1.
func (r *rule) perMatrix(x ref) ref {
	return r.reshape(x, append(append([]int{}, x.l.Shape...), 1, 1))
}

// overMatrix sums over the last two axes.
func (r *rule) overMatrix(x ref, keep bool) ref {
	n := len(x.l.Shape)
	return r.sumOver(x, []int{n - 2, n - 1}, keep)
}

func (r *rule) bendCofactors(g ref) ref {
	x := r.in(0)
	z := r.flip(r.do1(opInverse, nil, x))
	det := r.perMatrix(r.do1(opDet, nil, x))
	straight := r.mul(z, r.overMatrix(r.mul(g, z), true))
	return r.mul(det, r.sub(straight, r.matmul(r.matmul(z, r.flip(g)), z)))
}

func det[T float32 | float64](m *machine) {
	_, n := m.square(0)
	s := m.in[0].l.Shape
	d := dense[T](m.produce(m.layout(m.in[0].l.DType, s[:len(s)-2]...)))
	factored(m, func(k int, lu []T, _ []int, sign T) { d[k] = sign * diagonal(lu, n) })
}

// diagonal is the product of a matrix's diagonal.
func diagonal[T float32 | float64](a []T, n int) T {
	p := T(1)
	for i := range n {
		p *= a[i*n+i]
	}
	return p
}

func slogdet[T float32 | float64](m *machine) {
	_, n := m.square(0)
	s := m.in[0].l.Shape
	l := m.layout(m.in[0].l.DType, s[:len(s)-2]...)
	signs, logs := dense[T](m.produce(l)), dense[T](m.produce(l))
	factored(m, func(k int, lu []T, _ []int, sign T) {
		log := 0.0
		for i := range n {
			v := float64(lu[i*n+i])
			switch {
			case v == 0:
				sign = 0
			case v < 0:
				sign = -sign
			}
			log += math.Log(math.Abs(v))
		}
		signs[k], logs[k] = sign, T(log)
	})
}

func cofactors[T float32 | float64](m *machine) {
	_, n := m.square(0)
	a := denseIn[T](m, 0)
	d := dense[T](m.produce(m.like(m.in[0])))
	one, inv := cellWork[T](m, m.in[0].l.DType, n*n), cellWork[T](m, m.in[0].l.DType, n*n)
	clear(one)
	for i := range n {
		one[i*n+i] = 1
	}
	factored(m, func(k int, lu []T, perm []int, sign T) {
		to := d[k*n*n : (k+1)*n*n]
		if kernel.Singular(lu, n) {
			minors(to, a[k*n*n:(k+1)*n*n], n)
			return
		}
		kernel.SolveLU(inv, one, lu, perm, n, n)
		kernel.TransposeInto(to, inv, n)
		kernel.MulC(to, to, sign*diagonal(lu, n))
	})
}

// minors writes the cofactors of a singular matrix as what they are: the signed
// determinants of what is left without a row and a column.
func minors[T float32 | float64](dst, a []T, n int) {
	left, perm := make([]T, (n-1)*(n-1)), make([]int, n-1)
	for i := range n {
		for j := range n {
			at := left[:0]
			for k := range n {
				if k != i {
					at = append(append(at, a[k*n:k*n+j]...), a[k*n+j+1:(k+1)*n]...)
				}
			}
			v := kernel.LU(left, perm, n-1) * diagonal(left, n-1)
			if (i+j)%2 == 1 {
				v = -v
			}
			dst[i*n+j] = v
		}
	}
}

// Det returns the determinant of each matrix of x, [..., n, n]. The gradient
// exists for singular matrices too; there its own derivative panics with
// ErrValue. Of a matrix without rows it is 1.
func (x *Tensor) Det() *Tensor { return apply1(opDet, nil, x) }

// SlogDet returns the sign of the determinant of each matrix of x, [..., n, n],
// and the logarithm of its absolute value, which neither overflows nor
// underflows: 0 and -Inf for a singular matrix, whose gradient panics with
// ErrValue. Nothing flows through the sign.
func (x *Tensor) SlogDet() (sign, log *Tensor) {
	out := applyAll(opSlogDet, nil, []*Tensor{x})
	return out[0], out[1]
}
