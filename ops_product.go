package backsweep

import (
	"unsafe"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// product is a matrix product as matmul sees it: batches of [m,k]·[k,n].
type product struct {
	m, n, k int
	batch   []int // common batch shape
	a, b    *array.Layout
	out     *array.Layout
}

// productOf checks the operands by NumPy's rules: a vector on the left is a
// row, one on the right a column, and its axis of extent 1 is dropped again;
// axes before the last two are batches and broadcast.
func (m *machine) productOf(a, b ref) product {
	m.float(a)
	m.float(b)
	m.sameDType(0, 1)
	la, lb := a.l, b.l
	if p, ok := m.matrices(la, lb); ok {
		return p
	}
	if len(la.Shape) == 0 || len(lb.Shape) == 0 {
		m.misfit("use Mul, or MulScalar, with a scalar", "operands need at least one axis, not shapes %s", shapesText(la.Shape, lb.Shape))
	}
	if len(la.Shape) == 1 {
		la = array.Strided(la.DType, []int{1, la.Shape[0]}, []int{0, la.Strides[0]}, la.Offset)
	}
	if len(lb.Shape) == 1 {
		lb = array.Strided(lb.DType, []int{lb.Shape[0], 1}, []int{lb.Strides[0], 0}, lb.Offset)
	}
	ra, rb := len(la.Shape), len(lb.Shape)
	p := product{m: la.Shape[ra-2], k: la.Shape[ra-1], n: lb.Shape[rb-1]}
	if lb.Shape[rb-2] != p.k {
		m.misfit("the last axis of the left operand and the last but one of the right must be equal",
			"shapes %s do not multiply: %d columns meet %d rows", shapesText(a.l.Shape, b.l.Shape), p.k, lb.Shape[rb-2])
	}
	batch, ok := array.BroadcastShapes(la.Shape[:ra-2], lb.Shape[:rb-2])
	if !ok {
		m.misfit("batch extents must be equal or 1", "the batch axes of shapes %s do not broadcast", shapesText(a.l.Shape, b.l.Shape))
	}
	p.batch = batch
	p.a, _ = la.BroadcastTo(append(append([]int{}, batch...), la.Shape[ra-2:]...))
	p.b, _ = lb.BroadcastTo(append(append([]int{}, batch...), lb.Shape[rb-2:]...))
	out := append([]int{}, batch...)
	if len(a.l.Shape) > 1 {
		out = append(out, p.m)
	}
	if len(b.l.Shape) > 1 {
		out = append(out, p.n)
	}
	p.out = m.layout(la.DType, out...)
	return p
}

// matrices is productOf for what most products are: two matrices, or batches
// on the left that lie evenly, so that all their rows are those of one matrix.
// An element's bits do not depend on how many rows there are.
func (m *machine) matrices(a, b *array.Layout) (p product, ok bool) {
	r := len(a.Shape)
	if r < 2 || len(b.Shape) != 2 || a.Shape[r-1] != b.Shape[0] {
		return p, false
	}
	p = product{m: a.Shape[r-2], k: a.Shape[r-1], n: b.Shape[1], a: a, b: b}
	if r == 2 {
		p.out = m.shapes.matrix(a.DType, p.m, p.n)
		return p, true
	}
	for i := r - 3; i >= 0; i-- {
		if a.Strides[i] != a.Strides[i+1]*a.Shape[i+1] {
			return p, false
		}
		p.m *= a.Shape[i]
	}
	p.a = array.Strided(a.DType, []int{p.m, p.k}, []int{a.Strides[r-2], a.Strides[r-1]}, a.Offset)
	var few [8]int
	p.out = m.shapes.contiguous(a.DType, append(append(few[:0], a.Shape[:r-1]...), p.n))
	return p, true
}

func (p *product) batches() int {
	n := 1
	for _, d := range p.batch {
		n *= d
	}
	return n
}

func multiply[T float32 | float64](p *product, dst, a, b ref) {
	if p.k == 0 {
		clear(dense[T](dst)) // sums of nothing
		return
	}
	if p.m == 0 || p.n == 0 {
		return
	}
	d := dense[T](dst)
	r := len(p.batch)
	p.a, a.p = upward(p.a, a.p, r)
	p.b, b.p = upward(p.b, b.p, r)
	xa, xb := whole[T](ref{l: p.a, p: a.p}), whole[T](ref{l: p.b, p: b.p})
	sa, sb := p.a.Strides, p.b.Strides
	index := make([]int, r)
	oa, ob := p.a.Offset, p.b.Offset
	size := p.m * p.n
	for i := range p.batches() {
		kernel.Gemm(p.m, p.n, p.k, xa[min(oa, len(xa)):], sa[r], sa[r+1], xb[min(ob, len(xb)):], sb[r], sb[r+1], d[i*size:(i+1)*size], p.n)
		for axis := r - 1; axis >= 0; axis-- {
			index[axis]++
			oa, ob = oa+sa[axis], ob+sb[axis]
			if index[axis] < p.batch[axis] {
				break
			}
			oa, ob = oa-p.batch[axis]*sa[axis], ob-p.batch[axis]*sb[axis]
			index[axis] = 0
		}
	}
}

// upward returns operands of a product as they are, or copied when a matrix runs
// backward through its storage, which kernels cannot follow.
func upward(l *array.Layout, p unsafe.Pointer, axis int) (*array.Layout, unsafe.Pointer) {
	if l.Strides[axis] >= 0 && l.Strides[axis+1] >= 0 {
		return l, p
	}
	c := array.Contiguous(l.DType, l.Shape)
	st := newStorage(c.Bytes())
	copyDense(st.ref(c), ref{l: l, p: p})
	return c, st.p
}

func init() {
	define(opMatMul, op{name: "matmul", doc: "matrix product; batches broadcast", formula: "da = dy·bᵀ, db = aᵀ·dy", arity: 2, reads: readsIn(0, 1),
		cost: func(m *machine) int64 {
			p := m.productOf(m.in[0], m.in[1])
			return int64(p.m) * int64(p.n) * int64(p.k) * int64(p.batches())
		},
		eval: func(m *machine) {
			a, b := m.in[0], m.in[1]
			p := m.productOf(a, b)
			dst := m.produce(p.out)
			if a.l.DType == Float32 {
				multiply[float32](&p, dst, a, b)
			} else {
				multiply[float64](&p, dst, a, b)
			}
		},
		grad: func(r *rule) {
			a, b, dy := r.in(0), r.in(1), r.dout(0)
			va, vb := len(a.l.Shape) == 1, len(b.l.Shape) == 1
			// Give dy the axes that a vector operand dropped.
			shape := append([]int{}, dy.l.Shape...)
			if vb {
				shape = append(shape, 1)
			}
			if va {
				n := len(shape) - 1
				shape = append(shape[:n:n], 1, shape[n])
			}
			dy = r.reshape(dy, shape)
			if r.want(0) {
				var bt ref
				if vb {
					bt = r.reshape(b, []int{1, b.l.Shape[0]})
				} else {
					bt = r.flip(b)
				}
				da := r.matmul(dy, bt)
				if va {
					da = r.dropRow(da, len(da.l.Shape)-2)
				}
				r.give(0, da)
			}
			if r.want(1) {
				var at ref
				if va {
					at = r.reshape(a, []int{a.l.Shape[0], 1})
				} else {
					at = r.flip(a)
				}
				db := r.matmul(at, dy)
				if vb {
					db = r.dropRow(db, len(db.l.Shape)-1)
				}
				r.give(1, db)
			}
		},
		tangent: tangentOfProduct(opMatMul),
		samples: []sample{
			on(f(3, 4), f(4, 2)), on(f(4), f(4, 2)), on(f(3, 4), f(4)), on(f(4), f(4)), on(f(2, 3, 4), f(4, 2)),
			on(f(2, 1, 3, 4), f(5, 4, 2)), on(f(3, 0), f(0, 2)), on(f(0, 3), f(3, 2)), on(f(2, 3, 4), f(4)), on(f(4), f(2, 4, 3)),
		},
	})
}

// tangentOfProduct is the tangent rule of an op that is linear in each of its
// two operands.
func tangentOfProduct(code opcode) func(r *rule) {
	return func(r *rule) {
		var t ref
		if r.hasTan(0) {
			t = r.do2(code, r.at, r.tan(0), r.in(1))
		}
		if r.hasTan(1) {
			u := r.do2(code, r.at, r.in(0), r.tan(1))
			if t.l != nil {
				u = r.add(t, u)
			}
			t = u
		}
		r.makes(0, t)
	}
}

// flip swaps the last two axes.
func (r *rule) flip(x ref) ref {
	if r.direct {
		x.l, x.at = r.m.flips.of(x.l), tapePlace(-1, x.sto())
		return x
	}
	n := len(x.l.Shape)
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[n-1], perm[n-2] = n-2, n-1
	return r.permute(x, perm)
}

// asMatrix reshapes to a matrix.
func (r *rule) asMatrix(x ref, rows, cols int) ref {
	if x.l.Plain && r.direct {
		x.l, x.at = r.m.shapes.matrix(x.l.DType, rows, cols), tapePlace(-1, x.sto())
		return x
	}
	return r.reshape(x, []int{rows, cols})
}

// flipCache finds the layout with the last two axes swapped of one that was
// swapped lately.
type flipCache [16]struct{ from, to *array.Layout }

func (c *flipCache) of(l *array.Layout) *array.Layout {
	e := &c[hashPointer(l)%uintptr(len(c))]
	if e.from != l {
		n := len(l.Shape)
		shape, strides := append([]int{}, l.Shape...), append([]int{}, l.Strides...)
		shape[n-1], shape[n-2] = shape[n-2], shape[n-1]
		strides[n-1], strides[n-2] = strides[n-2], strides[n-1]
		e.from, e.to = l, array.Strided(l.DType, shape, strides, l.Offset)
	}
	return e.to
}

// dropRow drops an axis of extent 1.
func (r *rule) dropRow(x ref, axis int) ref {
	shape := append([]int{}, x.l.Shape[:axis]...)
	return r.reshape(x, append(shape, x.l.Shape[axis+1:]...))
}

// MatMul returns the matrix product by NumPy's rules: [m,k]·[k,n] is [m,n], a
// vector on the left is a row and on the right a column, axes before the last
// two are batches and broadcast. It panics with ErrShape when the inner
// extents differ.
func (x *Tensor) MatMul(y *Tensor) *Tensor { return apply2(opMatMul, nil, x, y) }

func init() {
	define(opDot, op{name: "dot", doc: "sum of a·b over the last axis", formula: "da = dy·b, db = dy·a", arity: 2, reads: readsIn(0, 1),
		cost: func(m *machine) int64 {
			n := int64(m.out[0].l.N)
			if s := m.in[0].l.Shape; len(s) > 0 {
				n *= int64(s[len(s)-1])
			}
			return n
		},
		eval: func(m *machine) {
			a, b := m.in[0], m.in[1]
			m.floats(a, b)
			m.sameDType(0, 1)
			if len(a.l.Shape) == 0 || len(b.l.Shape) == 0 || a.l.Shape[len(a.l.Shape)-1] != b.l.Shape[len(b.l.Shape)-1] {
				m.misfit("the last axes must be equal", "shapes %s have no common last axis", shapesText(a.l.Shape, b.l.Shape))
			}
			shape := m.spreadAll()
			n := len(shape) - 1
			dst := m.produce(m.layout(a.l.DType, shape[:n]...))
			if a.l.DType == Float32 {
				dotRows[float32](dst, m.in[0], m.in[1], shape[n])
			} else {
				dotRows[float64](dst, m.in[0], m.in[1], shape[n])
			}
		},
		grad: func(r *rule) {
			dy := r.dout(0)
			dy = r.reshape(dy, append(append([]int{}, dy.l.Shape...), 1))
			if r.want(0) {
				r.give(0, r.mul(dy, r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.mul(dy, r.in(0)))
			}
		},
		tangent: tangentOfProduct(opDot),
		samples: []sample{on(f(4), f(4)), on(f(3, 4), f(3, 4)), on(f(3, 4), f(4)), on(f(2, 0), f(2, 0))},
	})
}

func dotRows[T float32 | float64](dst, a, b ref, n int) {
	x, y := dense[T](a), dense[T](b)
	for i := range dense[T](dst) {
		dense[T](dst)[i] = kernel.Dot(x[i*n:(i+1)*n], y[i*n:(i+1)*n], n, 1, 1)
	}
}

// Dot returns the sum of x·y over the last axis; the axes before it broadcast.
func (x *Tensor) Dot(y *Tensor) *Tensor { return apply2(opDot, nil, x, y) }

func init() {
	define(opLinear, op{name: "linear", doc: "x·w + b", formula: "dx = dy·wᵀ, dw = xᵀ·dy, db = dy summed over rows", arity: 3, reads: readsIn(0, 1),
		cost: func(m *machine) int64 {
			return int64(m.out[0].l.N) * int64(m.in[1].l.Shape[0]+1)
		},
		eval: func(m *machine) {
			x, w, b := m.in[0], m.in[1], m.in[2]
			m.sameDType(0, 2)
			if len(w.l.Shape) != 2 || len(x.l.Shape) == 0 || len(b.l.Shape) != 1 || b.l.Shape[0] != w.l.Shape[1] {
				m.misfit("x is [..., in], w is [in, out] and b is [out]", "shapes %s do not fit", shapesText(x.l.Shape, w.l.Shape, b.l.Shape))
			}
			p := m.productOf(x, w)
			dst := m.produce(p.out)
			if x.l.DType == Float32 {
				linearAs[float32](m, &p, dst)
			} else {
				linearAs[float64](m, &p, dst)
			}
		},
		grad: func(r *rule) {
			x, w, dy := r.in(0), r.in(1), r.dout(0)
			if r.want(0) {
				r.give(0, r.matmul(dy, r.flip(w)))
			}
			if r.want(1) {
				// One product over all rows, whatever the batch axes.
				in, out := w.l.Shape[0], w.l.Shape[1]
				rows := 1
				for _, d := range x.l.Shape[:len(x.l.Shape)-1] {
					rows *= d
				}
				r.give(1, r.matmul(r.flip(r.asMatrix(x, rows, in)), r.asMatrix(dy, rows, out)))
			}
			if r.want(2) {
				r.give(2, dy) // the engine sums it over the rows
			}
		},
		tangent: func(r *rule) {
			var t ref
			plus := func(u ref) {
				if t.l == nil {
					t = u
				} else {
					t = r.add(t, u)
				}
			}
			if r.hasTan(0) {
				plus(r.matmul(r.tan(0), r.in(1)))
			}
			if r.hasTan(1) {
				plus(r.matmul(r.in(0), r.tan(1)))
			}
			if r.hasTan(2) {
				if t.l == nil {
					t = r.spread(r.tan(2), r.shapeOut(0))
				} else {
					plus(r.tan(2))
				}
			}
			r.makes(0, t)
		},
		samples: []sample{on(f(3, 4), f(4, 2), f(2)), on(f(4), f(4, 2), f(2)), on(f(2, 3, 4), f(4, 2), f(2)), on(f(0, 4), f(4, 2), f(2))},
	})
}

func linearAs[T float32 | float64](m *machine, p *product, dst ref) {
	multiply[T](p, dst, m.in[0], m.in[1])
	b := dense[T](m.packed(m.in[2]))
	if len(b) == 0 {
		return
	}
	d := dense[T](dst)
	for i := 0; i < len(d); i += len(b) {
		kernel.Add(d[i:i+len(b)], d[i:i+len(b)], b)
	}
}

// Linear returns x·w + b: x is [..., in], w is [in, out], b is [out].
func (x *Tensor) Linear(w, b *Tensor) *Tensor { return apply3(opLinear, nil, x, w, b) }
