package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opSum, op{name: "sum", doc: "sum over axes", formula: "dx = dy, spread over the axes", arity: 1, flags: linear,
		params: reduceParams, prepare: prepareAxes, cost: costIn(1),
		eval: func(m *machine) {
			if !m.in[0].l.DType.IsFloat() {
				sumWhole(m)
				return
			}
			reduce(kernel.Sum[float32], kernel.Sum[float64], true)(m)
		},
		grad: func(r *rule) {
			r.give(0, r.spread(r.reshape(r.dout(0), r.keepShape()), r.shapeIn(0)))
		},
		samples: reduceSamples(f, true),
	})
}

// Sum returns the sum over the given axes, which may be negative; without axes,
// over all. The sum of no elements is 0. Of an int64 tensor it is int64, of a
// bool tensor the number of elements that hold. Within a sum the terms are added in an
// order that depends on their number alone.
func (x *Tensor) Sum(axes ...int) *Tensor { return apply1(opSum, axesAttrs(axes, false), x) }

// SumKeep is Sum with the reduced axes kept as extents of 1.
func (x *Tensor) SumKeep(axes ...int) *Tensor { return apply1(opSum, axesAttrs(axes, true), x) }

func init() {
	define(opSumTo, op{name: "sum_to", doc: "sum over the axes along which a shape was broadcast", formula: "dx = dy, spread", arity: 1, flags: linear | engineOnly,
		params: []param{{name: "shape", kind: pInts}}, cost: costIn(1),
		eval: func(m *machine) {
			x := m.in[0]
			shape := m.at.ints[0]
			k := len(x.l.Shape) - len(shape)
			axes := m.lists[4][:0]
			for a, d := range x.l.Shape {
				if a < k || shape[a-k] != d {
					if a >= k && shape[a-k] != 1 {
						m.misfit("the shape must broadcast to the operand's", "shape %s is no broadcast of %s", array.ShapeString(x.l.Shape), array.ShapeString(shape))
					}
					axes = append(axes, a)
				}
			}
			m.float(x)
			r := m.reductionOver(x, axes, false)
			dst := m.produce(m.layout(x.l.DType, shape...))
			if dst.l.DType == Float32 {
				kernel.Sum(dense[float32](dst), dense[float32](r.x), r.outer, r.n, r.inner)
			} else {
				kernel.Sum(dense[float64](dst), dense[float64](r.x), r.outer, r.n, r.inner)
			}
		},
		grad: func(r *rule) { r.give(0, r.spread(r.dout(0), r.shapeIn(0))) },
		samples: []sample{
			on(f(3, 4)).with(attrs{ints: [3][]int{{4}}}), on(f(2, 3, 4)).with(attrs{ints: [3][]int{{3, 1}}}), on(f(3, 4)).with(attrs{ints: [3][]int{{}}}),
		},
	})
}

func init() {
	define(opMean, op{name: "mean", doc: "mean over axes", formula: "dx = dy/n, spread over the axes", arity: 1, flags: linear,
		params: reduceParams, prepare: prepareAxes, cost: costIn(1),
		eval: func(m *machine) {
			r := m.reduction()
			dst := m.produce(m.layout(r.x.l.DType, r.shape...))
			if dst.l.DType == Float32 {
				meanAs(dense[float32](dst), dense[float32](r.x), r)
			} else {
				meanAs(dense[float64](dst), dense[float64](r.x), r)
			}
		},
		grad: func(r *rule) {
			dy := r.scale(r.reshape(r.dout(0), r.keepShape()), 1/float64(r.reduced()))
			r.give(0, r.spread(dy, r.shapeIn(0)))
		},
		samples: reduceSamples(f, false),
	})
}

func meanAs[T float32 | float64](dst, x []T, r reduction) {
	kernel.Sum(dst, x, r.outer, r.n, r.inner)
	for i := range dst {
		dst[i] /= T(r.n)
	}
}

// Mean returns the mean over the given axes; without axes, over all. The mean
// of no elements is NaN.
func (x *Tensor) Mean(axes ...int) *Tensor { return apply1(opMean, axesAttrs(axes, false), x) }

// MeanKeep is Mean with the reduced axes kept as extents of 1.
func (x *Tensor) MeanKeep(axes ...int) *Tensor { return apply1(opMean, axesAttrs(axes, true), x) }

func init() {
	define(opMax, op{name: "max", doc: "largest element over axes", formula: "dy to the largest, in equal parts where several are", arity: 1, reads: readsIn(0) | readsOut(0),
		params: reduceParams, prepare: prepareAxes, cost: costIn(1),
		eval: reduce(kernel.ReduceMax[float32], kernel.ReduceMax[float64], false),
		grad: gradOfExtreme, tangent: tangentOfExtreme,
		samples: reduceSamples(f, false),
	})
	define(opMin, op{name: "min", doc: "smallest element over axes", formula: "dy to the smallest, in equal parts where several are", arity: 1, reads: readsIn(0) | readsOut(0),
		params: reduceParams, prepare: prepareAxes, cost: costIn(1),
		eval: reduce(kernel.ReduceMin[float32], kernel.ReduceMin[float64], false),
		grad: gradOfExtreme, tangent: tangentOfExtreme,
		samples: reduceSamples(f, false),
	})
	define(opExtremeGrad, op{name: "extreme_grad", doc: "dy spread over the elements of x that equal y, in equal parts", formula: "d(dy) = mean of g over those elements", arity: 3, flags: engineOnly,
		nograd: readsIn(1, 2), reads: readsIn(1, 2), cost: costEach(3),
		params: []param{{name: "axes", kind: pInts}},
		eval: func(m *machine) {
			dy, x, y := m.in[0], m.in[1], m.in[2]
			dst := m.produce(m.like(x))
			if x.l.DType == Float32 {
				extremeGrad[float32](m, dst, dy, x, y)
			} else {
				extremeGrad[float64](m, dst, dy, x, y)
			}
		},
		grad: func(r *rule) { r.give(0, r.meanOfExtreme(r.dout(0), r.in(1), r.in(2), r.at.ints[0])) },
		tangent: func(r *rule) {
			r.makes(0, r.do3(opExtremeGrad, r.at, r.tan(0), r.in(1), r.in(2)))
		},
		samples: []sample{
			on(f(3, 1), steps(0, 1, 3, 4), steps(1, 1, 3, 1)).with(attrs{ints: [3][]int{{1}}}),
			on(f(1, 3, 1), steps(0, 1, 2, 3, 4), steps(1, 1, 1, 3, 1)).with(attrs{ints: [3][]int{{0, 2}}}),
		},
	})
}

// extremeGrad spreads dy, of y's shape with the reduced axes as 1.
func extremeGrad[T float32 | float64](m *machine, dst, dy, x, y ref) {
	x = m.packed(x)
	v, d := dense[T](x), dense[T](dst)
	which := m.scratch(m.layout(Bool, x.l.Shape...))
	hits := dense[bool](which)
	ly, _ := y.l.BroadcastTo(x.l.Shape)
	ldy, _ := dy.l.BroadcastTo(x.l.Shape)
	equalOrNaN := func(dst []bool, a, b []T) {
		for i := range dst {
			dst[i] = a[i] == b[i] || a[i] != a[i] && b[i] != b[i]
		}
	}
	zip(hits, v, whole[T](y), x.l, ly, equalOrNaN)
	ones := m.scratch(x.l)
	o := dense[T](ones)
	for i, h := range hits {
		if h {
			o[i] = 1
		} else {
			o[i] = 0
		}
	}
	// How many share, by output element.
	at := m.at
	in := m.in
	m.at = &attrs{ints: [3][]int{at.ints[0]}, b: true}
	m.in = []ref{ones}
	r := m.reduction()
	m.at, m.in = at, in
	count := m.scratch(m.layout(x.l.DType, r.keep...))
	kernel.Sum(dense[T](count), dense[T](r.x), r.outer, r.n, r.inner)
	lc, _ := count.l.BroadcastTo(x.l.Shape)
	part := m.scratch(x.l)
	zip(dense[T](part), whole[T](dy), whole[T](count), ldy, lc, kernel.Div[T])
	p := dense[T](part)
	for i, h := range hits {
		if h {
			d[i] = p[i]
		} else {
			d[i] = 0
		}
	}
}

func gradOfExtreme(r *rule) {
	keep := r.keepShape()
	dy, y := r.reshape(r.dout(0), keep), r.reshape(r.out(0), keep)
	r.give(0, r.do3(opExtremeGrad, &attrs{ints: [3][]int{r.at.ints[0]}}, dy, r.in(0), y))
}

func tangentOfExtreme(r *rule) {
	y := r.reshape(r.out(0), r.keepShape())
	t := r.meanOfExtreme(r.tan(0), r.in(0), y, r.at.ints[0])
	r.makes(0, r.reshape(t, r.shapeOut(0)))
}

// meanOfExtreme is the mean of g over the elements of x that equal y, with the
// reduced axes kept.
func (r *rule) meanOfExtreme(g, x, y ref, axes []int) ref {
	ones := r.full(1, y.l.DType, y.l.Shape)
	weights := r.do3(opExtremeGrad, &attrs{ints: [3][]int{axes}}, ones, x, y)
	return r.sumOver(r.mul(g, weights), axes, true)
}

// Max returns the largest element over the given axes; without axes, over all.
// NaN wins. Equal elements share the gradient in equal parts. It panics with
// ErrShape for the maximum of no elements.
func (x *Tensor) Max(axes ...int) *Tensor { return apply1(opMax, axesAttrs(axes, false), x) }

// MaxKeep is Max with the reduced axes kept as extents of 1.
func (x *Tensor) MaxKeep(axes ...int) *Tensor { return apply1(opMax, axesAttrs(axes, true), x) }

// Min returns the smallest element over the given axes; see Max.
func (x *Tensor) Min(axes ...int) *Tensor { return apply1(opMin, axesAttrs(axes, false), x) }

// MinKeep is Min with the reduced axes kept as extents of 1.
func (x *Tensor) MinKeep(axes ...int) *Tensor { return apply1(opMin, axesAttrs(axes, true), x) }

func init() {
	define(opLogSumExp, op{name: "logsumexp", doc: "log of the sum of exponentials over axes", formula: "dx = dy·exp(x - y)", arity: 1, reads: readsIn(0) | readsOut(0),
		params: reduceParams, prepare: prepareAxes, cost: costIn(transcendental),
		eval: reduce(kernel.LogSumExp[float32], kernel.LogSumExp[float64], true),
		grad: func(r *rule) {
			r.give(0, r.mul(r.weights(), r.reshape(r.dout(0), r.keepShape())))
		},
		tangent: func(r *rule) {
			r.makes(0, r.reshape(r.sumOver(r.mul(r.weights(), r.tan(0)), r.at.ints[0], true), r.shapeOut(0)))
		},
		samples: reduceSamples(f, false),
	})
}

// weights is exp(x - logsumexp(x)): what each element has of the sum.
func (r *rule) weights() ref {
	return r.do1(opExp, nil, r.sub(r.in(0), r.reshape(r.out(0), r.keepShape())))
}

// LogSumExp returns log Σ exp(x) over the given axes; without axes, over all.
// It does not overflow, and is -Inf where every element is, or there is none.
func (x *Tensor) LogSumExp(axes ...int) *Tensor {
	return apply1(opLogSumExp, axesAttrs(axes, false), x)
}

// LogSumExpKeep is LogSumExp with the reduced axes kept as extents of 1.
func (x *Tensor) LogSumExpKeep(axes ...int) *Tensor {
	return apply1(opLogSumExp, axesAttrs(axes, true), x)
}
