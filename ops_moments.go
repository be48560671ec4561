package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opProd, op{name: "prod", doc: "product over axes", formula: "dx = dy·the product of the other elements", arity: 1, reads: readsIn(0),
		params: reduceParams, prepare: prepareAxes, cost: costIn(1),
		eval: reduce(kernel.Prod[float32], kernel.Prod[float64], true),
		grad: func(r *rule) {
			r.give(0, r.do2(opProdGrad, &attrs{ints: [3][]int{r.at.ints[0]}}, r.reshape(r.dout(0), r.keepShape()), r.in(0)))
		},
		tangent: func(r *rule) {
			x := r.in(0)
			slope := r.do2(opProdGrad, &attrs{ints: [3][]int{r.at.ints[0]}}, r.full(1, x.l.DType, r.keepShape()), x)
			r.makes(0, r.reshape(r.sumOver(r.mul(slope, r.tan(0)), r.at.ints[0], true), r.shapeOut(0)))
		},
		samples: append(reduceSamples(f, true), on(steps(-1, 1, 3, 4)).with(attrs{ints: [3][]int{{1}}})),
	})
	define(opProdGrad, op{name: "prod_grad", doc: "dy times the product of the other elements of x", formula: "by the product rule", arity: 2, flags: engineOnly, reads: readsIn(0, 1),
		params: []param{{name: "axes", kind: pInts}}, prepare: prepareProdGrad, cost: costEach(3),
		eval: func(m *machine) {
			dy, x := m.packed(m.in[0]), m.in[1]
			m.in[0] = x
			r := m.reduction()
			m.in[0] = dy
			// Where the axes had to be brought together, they go back after.
			dst := m.scratch(r.x.l)
			if x.l.DType == Float32 {
				kernel.ProdGrad(dense[float32](dst), dense[float32](dy), dense[float32](r.x), r.outer, r.n, r.inner)
			} else {
				kernel.ProdGrad(dense[float64](dst), dense[float64](dy), dense[float64](r.x), r.outer, r.n, r.inner)
			}
			back := dst
			back.l = dst.l.Permute(r.home())
			copyDense(m.produce(m.like(x)), back)
		},
		grad: func(r *rule) {
			dy, x := r.in(0), r.in(1)
			p := r.others(dy, x, r.dout(0))
			if r.want(0) {
				r.give(0, r.reshape(p.all, dy.l.Shape))
			}
			if r.want(1) {
				r.give(1, p.bend())
			}
		},
		tangent: func(r *rule) {
			dy, x := r.in(0), r.in(1)
			var t ref
			if r.hasTan(0) {
				t = r.do2(opProdGrad, r.at, r.tan(0), x)
			}
			if r.hasTan(1) {
				u := r.others(dy, x, r.tan(1)).bend()
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, t)
		},
		samples: []sample{
			on(f(3, 1), f(3, 4)).with(attrs{ints: [3][]int{{1}}}), on(f(1, 3, 1), f(2, 3, 2)).with(attrs{ints: [3][]int{{0, 2}}}),
			on(f(3, 1), steps(-1, 1, 3, 4)).with(attrs{ints: [3][]int{{1}}}), on(f(3, 4), f(3, 4)).with(attrs{ints: [3][]int{{}}}),
		},
	})
}

// prepareProdGrad leaves the axes as they are given, ascending, and checks that
// dy has extent 1 there.
func prepareProdGrad(m *machine) {
	m.sameDType(0, 1)
	keep := append([]int{}, m.in[1].l.Shape...)
	for _, a := range m.at.ints[0] {
		keep[axisOf(m.op.name, a, len(keep))] = 1
	}
	if !array.SameShape(keep, m.in[0].l.Shape) {
		m.misfit("dy has extent 1 along the axes", "shapes %s do not fit", m.shapesText())
	}
}

// home is the permutation that brings r.x's axes back to where they were in the
// operand.
func (r *reduction) home() []int {
	back := make([]int, len(r.perm))
	for i, a := range r.perm {
		back[a] = i
	}
	return back
}

// sides are products along one axis, on the way to the derivative of "dy times
// the product of the others" in direction g.
type sides struct {
	r          *rule
	axis       int
	before     ref   // product of the elements before
	behind     ref   // dy times that of the elements behind
	upTo, from ref   // running sums in which one factor has been replaced by its g
	all        ref   // over the whole axis
	gather     []int // the operand's shape with the axes brought together
	home       []int // and the permutation back
}

// others brings the axes of the op together as one, the last.
func (r *rule) others(dy, x, g ref) *sides {
	s := &sides{r: r}
	axes := r.at.ints[0]
	n := 1
	reduced := make([]bool, len(x.l.Shape))
	for _, a := range axes {
		reduced[a] = true
		n *= x.l.Shape[a]
	}
	var free []int
	shape := []int{}
	for a, d := range x.l.Shape {
		if !reduced[a] {
			free, shape = append(free, a), append(shape, d)
		}
	}
	perm := append(free, axes...)
	s.home = make([]int, len(perm))
	s.gather = make([]int, len(perm))
	for i, a := range perm {
		s.home[a] = i
		s.gather[i] = x.l.Shape[a]
	}
	s.axis = len(shape)
	one := append(append([]int{}, shape...), 1)
	shape = append(shape, n)
	x, g = r.reshape(r.permute(x, perm), shape), r.reshape(r.permute(g, perm), shape)
	dy = r.reshape(dy, one)
	if n == 0 {
		s.all = r.full(0, x.l.DType, one)
		s.before, s.behind, s.upTo, s.from = x, x, x, x
		return s
	}
	at := &attrs{i: s.axis}
	back := func(v ref) ref { return r.backwards(v, s.axis) }
	s.before = r.do1(opCumProd, at, r.delayed(x, r.edge(1, x, s.axis), s.axis))
	s.behind = back(r.do1(opCumProd, at, r.delayed(back(x), dy, s.axis)))
	sum := r.do2(opRecurrence, at, x, r.mul(g, s.before))
	s.all = r.part(sum, s.axis, n-1, 1)
	none := r.edge(0, x, s.axis)
	s.upTo = r.delayed(sum, none, s.axis)
	s.from = back(r.delayed(r.do2(opRecurrence, at, back(x), back(r.mul(g, s.behind))), none, s.axis))
	return s
}

// bend is Σ over the other elements of g times dy times the product of all but
// these two, in the operand's shape.
func (s *sides) bend() ref {
	r := s.r
	t := r.add(r.mul(s.upTo, s.behind), r.mul(s.before, s.from))
	return r.permute(r.reshape(t, s.gather), s.home)
}

// Prod returns the product over the given axes; without axes, over all. The
// product of no elements is 1. Its gradient is exact where elements are 0.
func (x *Tensor) Prod(axes ...int) *Tensor { return apply1(opProd, axesAttrs(axes, false), x) }

// ProdKeep is Prod with the reduced axes kept as extents of 1.
func (x *Tensor) ProdKeep(axes ...int) *Tensor { return apply1(opProd, axesAttrs(axes, true), x) }

var momentParams = append(reduceParams[:2:2], param{name: "correction", kind: pFloat, optional: true, def: "1"})

// degrees is what a variance of n elements is divided by.
func degrees(n int, correction float64) float64 { return max(0, float64(n)-correction) }

func evalMoments(root bool) func(m *machine) {
	return func(m *machine) {
		r := m.reduction()
		dst := m.produce(m.layout(r.x.l.DType, r.shape...))
		mean := m.scratch(dst.l)
		div := degrees(r.n, m.at.f[0])
		if dst.l.DType == Float32 {
			momentsAs(dense[float32](dst), dense[float32](mean), dense[float32](r.x), r, div, root)
		} else {
			momentsAs(dense[float64](dst), dense[float64](mean), dense[float64](r.x), r, div, root)
		}
	}
}

func momentsAs[T float32 | float64](dst, mean, x []T, r reduction, div float64, root bool) {
	kernel.Moments(mean, dst, x, r.outer, r.n, r.inner)
	for i := range dst {
		dst[i] /= T(div)
	}
	if root {
		kernel.Sqrt(dst, dst)
	}
}

// centred is x minus its mean over the op's axes.
func (r *rule) centred() ref {
	x := r.in(0)
	return r.sub(x, r.do1(opMean, &attrs{ints: [3][]int{r.at.ints[0]}, b: true}, x))
}

func init() {
	define(opVar, op{name: "var", doc: "variance over axes, divided by n - correction", formula: "dx = dy·2·(x - mean)/(n - correction)", arity: 1, reads: readsIn(0),
		params: momentParams, prepare: prepareAxes, cost: costIn(3),
		eval: evalMoments(false),
		grad: func(r *rule) {
			dy := r.scale(r.reshape(r.dout(0), r.keepShape()), 2/degrees(r.reduced(), r.at.f[0]))
			r.give(0, r.mul(dy, r.centred()))
		},
		tangent: func(r *rule) {
			s := r.sumOver(r.mul(r.centred(), r.tan(0)), r.at.ints[0], true)
			r.makes(0, r.reshape(r.scale(s, 2/degrees(r.reduced(), r.at.f[0])), r.shapeOut(0)))
		},
		samples: momentSamples(),
	})
	define(opStd, op{name: "std", doc: "standard deviation over axes, divided by n - correction", formula: "dx = dy·(x - mean)/((n - correction)·y), 0 where y is 0", arity: 1, reads: readsIn(0) | readsOut(0),
		params: momentParams, prepare: prepareAxes, cost: costIn(4),
		eval: evalMoments(true),
		grad: func(r *rule) {
			dy := r.reshape(r.dout(0), r.keepShape())
			r.give(0, r.mul(r.perDeviation(dy), r.centred()))
		},
		tangent: func(r *rule) {
			s := r.sumOver(r.mul(r.centred(), r.tan(0)), r.at.ints[0], true)
			r.makes(0, r.reshape(r.perDeviation(s), r.shapeOut(0)))
		},
		samples: momentSamples(),
	})
}

// perDeviation is v/((n - correction)·y), and 0 where the deviation y is 0.
func (r *rule) perDeviation(v ref) ref {
	y := r.reshape(r.out(0), r.keepShape())
	return r.scale(r.overOrZero(v, y), 1/degrees(r.reduced(), r.at.f[0]))
}

// overOrZero is v/y, and 0 where y is 0. The divisor is masked, not the
// quotient, so that the next derivative is 0 there too.
func (r *rule) overOrZero(v, y ref) ref {
	none := r.isZero(y)
	safe := r.do3(opWhere, nil, none, r.full(1, y.l.DType, nil), y)
	return r.div(r.zeroWhere(none, v), safe)
}

func momentSamples() []sample {
	unbiased := attrs{f: [2]float64{1}}
	rows := attrs{f: [2]float64{0}, ints: [3][]int{{-1}}, b: true}
	both := attrs{f: [2]float64{1.5}, ints: [3][]int{{0, 2}}}
	return []sample{on(f(3, 4)).with(unbiased), on(f(3, 4)).with(rows), on(f(2, 3, 4)).with(both), on(f(0, 3)).with(rows)}
}

func momentAttrs(axes []int, keep bool, correction float64) *attrs {
	at := axesAttrs(axes, keep)
	at.f[0] = correction
	return at
}

// Var returns the unbiased variance, divided by n - 1, over the given axes;
// without axes, over all. It is NaN of one element, and of none. VarOf has
// another divisor.
func (x *Tensor) Var(axes ...int) *Tensor { return x.VarOf(1, axes...) }

// VarOf is Var divided by n - correction: 0 for the biased variance. Where that
// is not above 0 the variance is NaN or +Inf.
func (x *Tensor) VarOf(correction float64, axes ...int) *Tensor {
	return apply1(opVar, momentAttrs(axes, false, correction), x)
}

// VarKeep is VarOf with the reduced axes kept as extents of 1.
func (x *Tensor) VarKeep(correction float64, axes ...int) *Tensor {
	return apply1(opVar, momentAttrs(axes, true, correction), x)
}

// Std returns the square root of [Tensor.Var]. Its gradient is 0 where it is 0.
func (x *Tensor) Std(axes ...int) *Tensor { return x.StdOf(1, axes...) }

// StdOf returns the square root of [Tensor.VarOf].
func (x *Tensor) StdOf(correction float64, axes ...int) *Tensor {
	return apply1(opStd, momentAttrs(axes, false, correction), x)
}

// StdKeep is StdOf with the reduced axes kept as extents of 1.
func (x *Tensor) StdKeep(correction float64, axes ...int) *Tensor {
	return apply1(opStd, momentAttrs(axes, true, correction), x)
}
