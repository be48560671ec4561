package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opFlip, op{name: "flip", doc: "axes backwards", formula: "dx = dy, backwards too", arity: 1, flags: linear | viewing,
		params: []param{{name: "axes", kind: pInts, optional: true, def: "all"}}, prepare: prepareAxes,
		eval: func(m *machine) {
			l := m.in[0].l
			strides, offset := append([]int{}, l.Strides...), l.Offset
			for _, a := range m.at.ints[0] {
				offset += strides[a] * max(0, l.Shape[a]-1)
				strides[a] = -strides[a]
			}
			if l.N == 0 {
				offset = l.Offset
			}
			m.view(array.Strided(l.DType, l.Shape, strides, offset))
		},
		grad:    func(r *rule) { r.give(0, r.do1(opFlip, r.at, r.dout(0))) },
		samples: []sample{on(f(3, 4)), on(f(2, 3, 4)).with(attrs{ints: [3][]int{{0, -1}}}), on(f()), on(f(0, 3)).with(attrs{ints: [3][]int{{0}}})},
	})
}

// Flip returns a view in which the given axes run backwards; without axes, all
// do.
func (x *Tensor) Flip(axes ...int) *Tensor { return apply1(opFlip, axesAttrs(axes, false), x) }

// backwards is x with an axis backwards.
func (r *rule) backwards(x ref, axis int) ref {
	return r.do1(opFlip, &attrs{ints: [3][]int{{axis}}}, x)
}

// delayed moves the elements of an axis up by one and puts first, of extent 1
// there, in front; the last falls off.
func (r *rule) delayed(x, first ref, axis int) ref {
	n := x.l.Shape[axis]
	if n == 0 {
		return x
	}
	return r.doN(opConcat, &attrs{i: axis}, []ref{first, r.part(x, axis, 0, n-1)})
}

// edge is a constant of x's shape with extent 1 along an axis.
func (r *rule) edge(c float64, x ref, axis int) ref {
	shape := append([]int{}, x.l.Shape...)
	shape[axis] = 1
	return r.full(c, x.l.DType, shape)
}

func init() {
	define(opCumSum, op{name: "cumsum", doc: "running sum along an axis", formula: "dx = running sum of dy from the end", arity: 1, flags: linear,
		params: axisParam, prepare: prepareAxis, cost: costEach(1),
		eval: func(m *machine) {
			if m.in[0].l.DType == Int64 {
				x := m.packed(m.in[0])
				outer, n, inner := m.alongAxis()
				kernel.CumSum(dense[int64](m.produce(m.like(x))), dense[int64](x), outer, n, inner)
				return
			}
			evalAlong(kernel.CumSum[float32], kernel.CumSum[float64])(m)
		},
		grad: func(r *rule) {
			a := r.at.i
			r.give(0, r.backwards(r.do1(opCumSum, r.at, r.backwards(r.dout(0), a)), a))
		},
		samples: axisSamples(1),
	})
	define(opCumProd, op{name: "cumprod", doc: "running product along an axis", formula: "dxᵢ = yᵢ₋₁·sᵢ, sᵢ = dyᵢ + xᵢ₊₁·sᵢ₊₁", arity: 1, reads: readsIn(0) | readsOut(0),
		params: axisParam, prepare: prepareAxis, cost: costEach(1),
		eval: evalAlong(kernel.CumProd[float32], kernel.CumProd[float64]),
		grad: func(r *rule) {
			// Nothing is divided by, so that zeros need no exception.
			r.give(0, r.mul(r.before(r.at.i), r.returning(r.in(0), r.dout(0), r.at.i)))
		},
		tangent: func(r *rule) {
			r.makes(0, r.do2(opRecurrence, r.at, r.in(0), r.mul(r.before(r.at.i), r.tan(0))))
		},
		samples: axisSamples(1),
	})
	define(opLogCumSumExp, op{name: "logcumsumexp", doc: "log of the running sum of exponentials along an axis", formula: "dxᵢ = e^(xᵢ-yᵢ)·sᵢ, sᵢ = dyᵢ + e^(yᵢ-yᵢ₊₁)·sᵢ₊₁", arity: 1, reads: readsIn(0) | readsOut(0),
		params: axisParam, prepare: prepareAxis, cost: costEach(2 * transcendental),
		eval: evalAlong(kernel.LogCumSumExp[float32], kernel.LogCumSumExp[float64]),
		grad: func(r *rule) {
			own, kept := r.expShares(r.at.i)
			r.give(0, r.mul(own, r.returning(kept, r.dout(0), r.at.i)))
		},
		tangent: func(r *rule) {
			own, kept := r.expShares(r.at.i)
			r.makes(0, r.do2(opRecurrence, r.at, kept, r.mul(own, r.tan(0))))
		},
		samples: axisSamples(1),
	})
	define(opRecurrence, op{name: "recurrence", doc: "y₀ = b₀, yᵢ = aᵢ·yᵢ₋₁ + bᵢ along an axis (a, b)", formula: "dbᵢ = dyᵢ + aᵢ₊₁·dbᵢ₊₁, daᵢ = dbᵢ·yᵢ₋₁", arity: 2, flags: engineOnly, reads: readsIn(0) | readsOut(0),
		params: axisParam, prepare: prepareAxis, cost: costEach(1),
		eval: evalAlong2(kernel.Recurrence[float32], kernel.Recurrence[float64]),
		grad: func(r *rule) {
			axis := r.at.i
			db := r.returning(r.in(0), r.dout(0), axis)
			if r.want(0) {
				y := r.out(0)
				r.give(0, r.mul(db, r.delayed(y, r.edge(0, y, axis), axis)))
			}
			if r.want(1) {
				r.give(1, db)
			}
		},
		tangent: func(r *rule) {
			y := r.out(0)
			var t ref
			if r.hasTan(1) {
				t = r.tan(1)
			}
			if r.hasTan(0) {
				u := r.mul(r.tan(0), r.delayed(y, r.edge(0, y, r.at.i), r.at.i))
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, r.do2(opRecurrence, r.at, r.in(0), t))
		},
		samples: axisSamples(2),
	})
}

// before is the output one step earlier along an axis, from 1 on.
func (r *rule) before(axis int) ref {
	y := r.out(0)
	return r.delayed(y, r.edge(1, y, axis), axis)
}

// returning is the adjoint of a recurrence: sᵢ = gᵢ + aᵢ₊₁·sᵢ₊₁, from the end.
func (r *rule) returning(a, g ref, axis int) ref {
	at := &attrs{i: axis}
	back := r.backwards(a, axis)
	next := r.delayed(back, r.edge(0, a, axis), axis)
	return r.backwards(r.do2(opRecurrence, at, next, r.backwards(g, axis)), axis)
}

// expShares is what x and the sum before it have of each running sum of
// exponentials: e^(x-y) and e^(y'-y), y' the output one step earlier. Where a
// sum is infinite, what equals it has all of it.
func (r *rule) expShares(axis int) (own, kept ref) {
	x, y := r.in(0), r.out(0)
	if x.l.Shape[axis] == 0 {
		return x, x
	}
	share := func(x ref) ref {
		none := r.full(0, x.l.DType, nil)
		return r.do1(opExp, nil, r.do3(opWhere, nil, r.do2(opEq, nil, x, y), none, r.sub(x, y)))
	}
	// The first element of kept has nothing before it, and is not read.
	first := r.part(y, axis, 0, 1)
	return share(x), share(r.delayed(y, first, axis))
}

// CumSum returns the running sum along an axis, which may be negative.
func (x *Tensor) CumSum(axis int) *Tensor { return apply1(opCumSum, &attrs{i: axis}, x) }

// CumProd returns the running product along an axis. Its gradient is exact
// where elements are 0.
func (x *Tensor) CumProd(axis int) *Tensor { return apply1(opCumProd, &attrs{i: axis}, x) }

// LogCumSumExp returns the logarithm of the running sum of exponentials along an
// axis, without overflow: -Inf for as long as the elements are.
func (x *Tensor) LogCumSumExp(axis int) *Tensor { return apply1(opLogCumSumExp, &attrs{i: axis}, x) }
