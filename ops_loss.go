package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/kernel"
)

const (
	meanReduction = iota
	sumReduction
	noReduction
)

var reductionParam = param{name: "reduction", kind: pWord, words: []string{"mean", "sum", "none"}, optional: true, def: "mean"}

var classParams = []param{
	reductionParam,
	{name: "ignore_index", kind: pInts, optional: true, def: "none"},
	{name: "label_smoothing", kind: pFloat, optional: true, def: "0"},
}

func evalCrossEntropy(m *machine) {
	x := m.packed(m.in[0])
	c := m.classLoss(x, 1)
	if c.weight.l != nil {
		m.sameDType(0, 2)
	}
	shape := m.in[1].l.Shape
	if m.at.i != noReduction {
		shape = nil
	}
	each := m.scratch(m.layout(x.l.DType, c.rows))
	dst := m.produce(m.layout(x.l.DType, shape...))
	if x.l.DType == Float32 {
		crossEntropy[float32](m, dst, each, x, c)
	} else {
		crossEntropy[float64](m, dst, each, x, c)
	}
}

func crossEntropy[T float32 | float64](m *machine, dst, each, x ref, c *classLoss) {
	q := massesOf[T](c, m.at.i)
	e, d := dense[T](each), dense[T](dst)
	q.each(e, dense[T](x))
	if m.at.i == noReduction {
		copy(d, e)
		return
	}
	kernel.Sum(d, e, 1, c.rows, 1)
	if m.at.i == meanReduction {
		d[0] /= q.divisor
	}
}

func evalCrossEntropyGrad(m *machine) {
	x := m.packed(m.in[1])
	c := m.classLoss(x, 2)
	dst := m.produce(m.like(x))
	dy := m.packed(m.in[0])
	if x.l.DType == Float32 {
		q := massesOf[float32](c, m.at.i)
		q.slope(dense[float32](dst), dense[float32](dy), dense[float32](x))
	} else {
		q := massesOf[float64](c, m.at.i)
		q.slope(dense[float64](dst), dense[float64](dy), dense[float64](x))
	}
}

// crossEntropyRows defines a cross-entropy and its gradient, with weights of
// classes or without.
func crossEntropyRows(code, slope opcode, name, doc string, arity int, samples []sample) {
	noGrad, reads := readsIn(1), readsIn(0, 1)
	slopeNoGrad, slopeReads := readsIn(2), readsIn(0, 1, 2)
	if arity == 3 {
		noGrad, reads = readsIn(1, 2), readsIn(0, 1, 2)
		slopeNoGrad, slopeReads = readsIn(2, 3), readsIn(0, 1, 2, 3)
	}
	// others are the operands from i on: targets and weights.
	others := func(r *rule, i int) []ref {
		out := []ref{r.in(i)}
		if arity == 3 {
			out = append(out, r.in(i+1))
		}
		return out
	}
	with := func(r *rule, dy, x ref, rest []ref) ref { return r.doN(slope, r.at, append([]ref{dy, x}, rest...)) }
	// weighed is Σ v·slope over the classes, and the rows unless each counts.
	weighed := func(r *rule, v, x ref, rest []ref) ref {
		shape := rest[0].l.Shape
		axes := []int{len(shape)}
		if r.at.i != noReduction {
			shape, axes = nil, nil
		}
		return r.sumOver(r.mul(v, with(r, r.full(1, x.l.DType, shape), x, rest)), axes, false)
	}
	// bent is dy·Σq·p·(v - Σ v·p).
	bent := func(r *rule, v, dy, x ref, rest []ref) ref {
		at := &attrs{i: r.at.i, f: r.at.f, dtype: x.l.DType, ints: [3][]int{r.at.ints[0], x.l.Shape[len(x.l.Shape)-1:]}}
		mass := r.mul(dy, r.doN(opClassMass, at, rest))
		last := &attrs{i: -1}
		p := r.do1(opSoftmax, last, x)
		return r.mul(r.do2(opSoftmaxGrad, last, v, p), r.reshape(mass, append(slices.Clone(rest[0].l.Shape), 1)))
	}
	for i := range samples {
		samples[i].in = samples[i].in[:arity]
	}
	define(code, op{name: name, doc: doc, formula: "dx = dy·(softmax(x)·Σq - q)", arity: arity,
		nograd: noGrad, reads: reads, params: classParams, cost: costIn(transcendental),
		eval:    evalCrossEntropy,
		grad:    func(r *rule) { r.give(0, with(r, r.dout(0), r.in(0), others(r, 1))) },
		tangent: func(r *rule) { r.makes(0, weighed(r, r.tan(0), r.in(0), others(r, 1))) },
		samples: samples,
	})
	define(slope, op{name: name + "_grad", doc: "dy·(softmax(x)·Σq - q), dy first", formula: "d(dy) = Σ g·(p·Σq - q), dx = dy·Σq·p·(g - Σ g·p)", arity: arity + 1, flags: engineOnly,
		nograd: slopeNoGrad, reads: slopeReads, params: classParams, cost: costEach(transcendental + 2),
		eval: evalCrossEntropyGrad,
		grad: func(r *rule) {
			g, dy, x, rest := r.dout(0), r.in(0), r.in(1), others(r, 2)
			if r.want(0) {
				r.give(0, weighed(r, g, x, rest))
			}
			if r.want(1) {
				r.give(1, bent(r, g, dy, x, rest))
			}
		},
		tangent: func(r *rule) {
			dy, x, rest := r.in(0), r.in(1), others(r, 2)
			var t ref
			if r.hasTan(0) {
				t = with(r, r.tan(0), x, rest)
			}
			if r.hasTan(1) {
				u := bent(r, r.tan(1), dy, x, rest)
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, t)
		},
		samples: slopeSamples(arity),
	})
}

// classSamples has weights, the last operand, for the row that takes them.
func classSamples() []sample {
	return []sample{
		on(f(4, 3), below(3, 4), pos(3)), on(f(4, 3), below(3, 4), pos(3)).with(attrs{i: sumReduction}),
		on(f(2, 4, 3), below(3, 2, 4), pos(3)).with(attrs{i: noReduction, f: [2]float64{0.3}}), on(f(3), below(3), pos(3)),
		on(f(5, 3), below(3, 5), pos(3)).with(attrs{ints: [3][]int{{1}}, f: [2]float64{0.2}}),
	}
}

func slopeSamples(arity int) []sample {
	out := []sample{
		on(f(), f(4, 3), below(3, 4), pos(3)), on(f(4), f(4, 3), below(3, 4), pos(3)).with(attrs{i: noReduction}),
		on(f(), f(5, 3), below(3, 5), pos(3)).with(attrs{ints: [3][]int{{1}}, f: [2]float64{0.2}}),
	}
	for i := range out {
		out[i].in = out[i].in[:arity+1]
	}
	return out
}

func init() {
	crossEntropyRows(opCrossEntropy, opCrossEntropyGrad, "cross_entropy", "-Σ q·log softmax(x), q the target class (logits, targets)", 2, classSamples())
	crossEntropyRows(opWeightedCrossEntropy, opWeightedCrossEntropyGrad, "weighted_cross_entropy", "-Σ q·log softmax(x), q the target class times its weight (logits, targets, weights)", 3, classSamples())
	define(opClassMass, op{name: "class_mass", doc: "Σ q of each row of a cross-entropy, over what its mean divides by (targets, weights)", arity: -1, flags: constantOp | engineOnly, cost: costEach(0),
		params: append(classParams[:3:3], param{name: "classes", kind: pInts, slot: 1}, param{name: "dtype", kind: pDType}),
		eval: func(m *machine) {
			c := &classLoss{classes: m.at.ints[1][0], smoothing: m.at.f[0]}
			c.read(m, 0)
			dst := m.produce(m.layout(m.at.dtype, m.in[0].l.Shape...))
			if dst.l.DType == Float32 {
				massesInto[float32](m, dst, c)
			} else {
				massesInto[float64](m, dst, c)
			}
		},
		samples: []sample{on(below(3, 4)).with(attrs{ints: [3][]int{nil, {3}}, dtype: Float64}), on(below(3, 4)).with(attrs{ints: [3][]int{{1}, {3}}, dtype: Float64})},
	})
}

func massesInto[T float32 | float64](m *machine, dst ref, c *classLoss) {
	q := massesOf[T](c, m.at.i)
	d := dense[T](dst)
	for i, t := range c.target {
		d[i] = 0
		if t >= 0 {
			d[i] = q.mass(int(t)) / q.divisor
		}
	}
}

// CrossEntropy is the mean of -log softmax(x) at the target class: x is
// logits, [..., classes], and target holds class numbers (int64, [...]). The
// mean over no rows is NaN. It panics with ErrIndex for a number that is no
// class.
func (x *Tensor) CrossEntropy(target *Tensor) *Tensor {
	return apply2(opCrossEntropy, &attrs{i: meanReduction}, x, target)
}

// CrossEntropySum is CrossEntropy with the sum in place of the mean.
func (x *Tensor) CrossEntropySum(target *Tensor) *Tensor {
	return apply2(opCrossEntropy, &attrs{i: sumReduction}, x, target)
}

// CrossEntropyEach is CrossEntropy of each row, not reduced.
func (x *Tensor) CrossEntropyEach(target *Tensor) *Tensor {
	return apply2(opCrossEntropy, &attrs{i: noReduction}, x, target)
}

// WeightedCrossEntropy is CrossEntropy in which a row counts as much as weight,
// [classes], says of its target; the mean divides by the sum of those.
func (x *Tensor) WeightedCrossEntropy(target, weight *Tensor) *Tensor {
	return apply3(opWeightedCrossEntropy, &attrs{i: meanReduction}, x, target, weight)
}

// Reduction says what becomes of the losses of single elements or rows.
type Reduction int

// The reductions.
const (
	MeanLoss Reduction = meanReduction
	SumLoss  Reduction = sumReduction
	EachLoss Reduction = noReduction // not reduced
)

// ClassLoss says how a cross-entropy counts.
type ClassLoss struct {
	Weight    *Tensor // of each class, [classes]; nil for 1
	Ignore    []int   // targets whose rows take no part, such as -100
	Smoothing float64 // how much of each row's weight goes to all classes alike, from 0 to 1
	Reduction Reduction
}

// CrossEntropyWith is CrossEntropy with weights, label smoothing and rows that
// take no part: it compares softmax(x) with q = (1-s)·w_t·onehot(t) +
// (s/classes)·w, and the mean divides by the sum of w_t over the rows that take
// part. Where none does the mean is NaN, and its gradient 0.
func (x *Tensor) CrossEntropyWith(target *Tensor, how ClassLoss) *Tensor {
	at := &attrs{i: int(how.Reduction), f: [2]float64{how.Smoothing}}
	if len(how.Ignore) > 0 {
		at.ints[0] = how.Ignore
	}
	if how.Weight == nil {
		return apply2(opCrossEntropy, at, x, target)
	}
	return apply3(opWeightedCrossEntropy, at, x, target, how.Weight)
}
