package backsweep

import (
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opCholesky, op{name: "cholesky", doc: "lower triangle y of y·yᵀ = (x + xᵀ)/2", formula: "dx = (s + sᵀ)/2, s = y⁻ᵀ·Φ(yᵀ·dy)·y⁻¹, Φ the lower triangle with half the diagonal", arity: 1,
		reads: readsOut(0), cost: costSquare(1),
		eval: evalAs(cholesky[float32], cholesky[float64]),
		grad: func(r *rule) {
			y := r.out(0)
			t := r.flip(y)
			upper := &attrs{b: true}
			s := r.do2(opSolveTriangular, upper, t, r.halfTriangle(r.matmul(t, r.dout(0))))
			s = r.do2(opSolveTriangular, upper, t, r.flip(s))
			r.give(0, r.scale(r.add(s, r.flip(s)), 0.5))
		},
		// ẏ = y·Φ(y⁻¹·ẋ·y⁻ᵀ) (I. Murray, "Differentiation of the Cholesky
		// decomposition", 2016).
		tangent: func(r *rule) {
			y, x := r.out(0), r.tan(0)
			x = r.scale(r.add(x, r.flip(x)), 0.5)
			s := r.do2(opSolveTriangular, nil, y, x)
			s = r.do2(opSolveTriangular, nil, y, r.flip(s))
			r.makes(0, r.matmul(y, r.halfTriangle(s)))
		},
		samples: dominantSamples,
	})
	define(opSolveTriangular, op{name: "solve_triangular", doc: "the solution of a·y = b, where a is lower or upper triangular and the rest of it is not read",
		formula: "db = solution of aᵀ·db = dy, da = -db·yᵀ within the triangle", arity: 2, reads: readsIn(0) | readsOut(0),
		params: []param{{name: "upper", kind: pBool, optional: true, def: "false"}},
		cost: func(m *machine) int64 {
			count, n, columns := m.system()
			return int64(count) * int64(n) * int64(n) * int64(columns)
		},
		eval: evalAs(solveTriangle[float32], solveTriangle[float64]),
		grad: func(r *rule) {
			db := r.do2(opSolveTriangular, &attrs{b: !r.at.b}, r.flip(r.in(0)), r.dout(0))
			if r.want(0) {
				r.give(0, r.triangle(r.matmul(db, r.flip(r.out(0))), r.at.b, -1, -1))
			}
			if r.want(1) {
				r.give(1, db)
			}
		},
		tangent: func(r *rule) {
			b := r.tan0(1)
			if r.hasTan(0) {
				b = r.sumOf(b, r.matmul(r.triangle(r.tan(0), r.at.b, -1, -1), r.out(0)))
			}
			r.makes(0, r.do2(opSolveTriangular, r.at, r.in(0), b))
		},
		samples: []sample{
			on(dominant(3, 3), f(3, 2)), on(dominant(3, 3), f(3, 2)).with(attrs{b: true}), on(dominant(2, 4, 4), f(2, 4, 1)), on(dominant(0, 2, 2), f(0, 2, 3)),
		},
	})
}

// triangle multiplies matrices by zeros outside a triangle, by inside in it and
// by diagonal between.
func (r *rule) triangle(x ref, upper bool, inside, diagonal float64) ref {
	n := x.l.Shape[len(x.l.Shape)-1]
	w := make([]float64, n*n)
	for i := range n {
		w[i*n+i] = diagonal
		for j := range i {
			if upper {
				w[j*n+i] = inside
			} else {
				w[i*n+j] = inside
			}
		}
	}
	return r.mul(x, r.constant(New(w, n, n).Cast(x.l.DType)))
}

// halfTriangle is Φ: the lower triangle with half the diagonal.
func (r *rule) halfTriangle(x ref) ref { return r.triangle(x, false, 1, 0.5) }

func cholesky[T float32 | float64](m *machine) {
	count, n := m.square(0)
	a := denseIn[T](m, 0)
	d := dense[T](m.produce(m.like(m.in[0])))
	for k := range count {
		if bad := kernel.Cholesky(d[k*n*n:(k+1)*n*n], a[k*n*n:(k+1)*n*n], n); bad >= 0 {
			throw(fail(ErrValue, m.op.name, "add a small multiple of the identity", "matrix %d is not positive definite: its leading %d by %d minor is not", k, bad+1, bad+1))
		}
	}
}

func solveTriangle[T float32 | float64](m *machine) {
	count, n, columns := m.system()
	a := denseIn[T](m, 0)
	dst := m.produce(m.like(m.in[1]))
	copyDense(dst, m.in[1])
	d := dense[T](dst)
	for k := range count {
		kernel.SolveTriangle(d[k*n*columns:(k+1)*n*columns], a[k*n*n:(k+1)*n*n], n, columns, m.at.b, false)
	}
}

// Cholesky returns the lower triangle y of y·yᵀ = x for each matrix of x,
// [..., n, n], zeros above it. Of a matrix that is not symmetric it is that of
// (x + xᵀ)/2, and the gradient is symmetric. It panics with ErrValue where one
// is not positive definite.
func (x *Tensor) Cholesky() *Tensor { return apply1(opCholesky, nil, x) }

// SolveTriangular returns the solution y of x·y = b, where only the lower, or
// with upper the upper, triangle of x, [..., n, n], is read; b is [..., n, m]
// with the same batches, or [n] for one matrix. A 0 on the diagonal gives Inf or
// NaN.
func (x *Tensor) SolveTriangular(b *Tensor, upper bool) *Tensor {
	at := &attrs{b: upper}
	if b.Rank() == 1 && x.Rank() == 2 {
		return apply2(opSolveTriangular, at, x, b.Reshape(-1, 1)).Reshape(-1)
	}
	return apply2(opSolveTriangular, at, x, b)
}
