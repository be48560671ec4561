package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

var reductionParam = []param{{name: "reduction", kind: pWord, words: []string{"mean", "sum", "none"}, optional: true, def: "mean"}}

const (
	meanReduction = iota
	sumReduction
	noReduction
)

// classRows checks logits [..., classes] and targets [...] and returns them.
func (m *machine) classRows(x ref, i int) (rows, classes int, target []int64) {
	n := len(x.l.Shape)
	if n == 0 || !array.SameShape(x.l.Shape[:n-1], m.in[i].l.Shape) {
		m.misfit("logits are [..., classes] and targets [...]", "shapes %s do not fit", shapesText(x.l.Shape, m.in[i].l.Shape))
	}
	classes = x.l.Shape[n-1]
	rows = m.in[i].l.N
	return rows, classes, m.indices(i, classes, n-1)
}

func init() {
	define(opCrossEntropy, op{name: "cross_entropy", doc: "-log softmax(x) at the target class (logits, targets)", formula: "dx = dy·(softmax(x) - onehot)", arity: 2,
		nograd: readsIn(1), reads: readsIn(0, 1), params: reductionParam, cost: costIn(transcendental),
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			m.floats(x)
			rows, classes, target := m.classRows(x, 1)
			var dst ref
			if m.at.i == noReduction {
				dst = m.produce(m.layout(x.l.DType, m.in[1].l.Shape...))
			} else {
				dst = m.produce(m.layout(x.l.DType))
			}
			if x.l.DType == Float32 {
				crossEntropy[float32](m, dst, x, rows, classes, target)
			} else {
				crossEntropy[float64](m, dst, x, rows, classes, target)
			}
		},
		grad: func(r *rule) { r.give(0, r.do3(opCrossEntropyGrad, r.at, r.dout(0), r.in(0), r.in(1))) },
		tangent: func(r *rule) {
			x, target := r.in(0), r.in(1)
			ones := r.full(1, x.l.DType, target.l.Shape)
			slope := r.do3(opCrossEntropyGrad, &attrs{i: noReduction}, ones, x, target)
			each := r.sumOver(r.mul(slope, r.tan(0)), []int{len(x.l.Shape) - 1}, false)
			r.makes(0, r.reduceRows(each, r.at.i))
		},
		samples: []sample{on(f(4, 3), below(3, 4)), on(f(4, 3), below(3, 4)).with(attrs{i: sumReduction}), on(f(2, 4, 3), below(3, 2, 4)).with(attrs{i: noReduction}), on(f(3), below(3))},
	})
	define(opCrossEntropyGrad, op{name: "cross_entropy_grad", doc: "dy·(softmax(x) - onehot) (dy, logits, targets)", formula: "d(dy) = Σ g·(p - onehot), dx = dy·p·(g - Σ g·p)", arity: 3, flags: engineOnly,
		nograd: readsIn(2), reads: readsIn(0, 1, 2), params: reductionParam, cost: costEach(transcendental + 2),
		eval: func(m *machine) {
			x := m.packed(m.in[1])
			rows, classes, target := m.classRows(x, 2)
			dst := m.produce(m.like(x))
			if x.l.DType == Float32 {
				crossEntropyGrad[float32](m, dst, x, rows, classes, target)
			} else {
				crossEntropyGrad[float64](m, dst, x, rows, classes, target)
			}
		},
		grad: func(r *rule) {
			g, dy, x, target := r.dout(0), r.in(0), r.in(1), r.in(2)
			if r.want(0) {
				ones := r.full(1, x.l.DType, target.l.Shape)
				slope := r.do3(opCrossEntropyGrad, &attrs{i: noReduction}, ones, x, target)
				each := r.sumOver(r.mul(g, slope), []int{len(x.l.Shape) - 1}, false)
				r.give(0, r.reduceRows(each, r.at.i))
			}
			if r.want(1) {
				p := r.do1(opSoftmax, &attrs{i: -1}, x)
				r.give(1, r.mul(r.do2(opSoftmaxGrad, &attrs{i: -1}, g, p), r.perRow(dy, target)))
			}
		},
		tangent: func(r *rule) {
			dy, x, target := r.in(0), r.in(1), r.in(2)
			var t ref
			if r.hasTan(0) {
				t = r.do3(opCrossEntropyGrad, r.at, r.tan(0), x, target)
			}
			if r.hasTan(1) {
				p := r.do1(opSoftmax, &attrs{i: -1}, x)
				u := r.mul(r.do2(opSoftmaxGrad, &attrs{i: -1}, r.tan(1), p), r.perRow(dy, target))
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, t)
		},
		samples: []sample{on(f(), f(4, 3), below(3, 4)), on(f(4), f(4, 3), below(3, 4)).with(attrs{i: noReduction})},
	})
}

// reduceRows reduces what each row has, as the op's reduction says.
func (r *rule) reduceRows(each ref, reduction int) ref {
	switch reduction {
	case meanReduction:
		return r.do1(opMean, nil, each)
	case sumReduction:
		return r.do1(opSum, nil, each)
	default:
		return each
	}
}

// perRow is the factor that dy puts on each row, shaped [..., 1].
func (r *rule) perRow(dy, target ref) ref {
	if r.at.i == noReduction {
		return r.reshape(dy, append(append([]int{}, dy.l.Shape...), 1))
	}
	if r.at.i == meanReduction {
		return r.scale(dy, 1/float64(target.l.N))
	}
	return dy
}

func crossEntropy[T float32 | float64](m *machine, dst, x ref, rows, classes int, target []int64) {
	v := dense[T](x)
	each := make([]T, rows)
	kernel.LogSumExp(each, v, rows, classes, 1)
	for i, t := range target {
		each[i] -= v[i*classes+int(t)]
	}
	d := dense[T](dst)
	if m.at.i == noReduction {
		copy(d, each)
		return
	}
	kernel.Sum(d, each, 1, rows, 1)
	if m.at.i == meanReduction {
		d[0] /= T(rows)
	}
}

func crossEntropyGrad[T float32 | float64](m *machine, dst, x ref, rows, classes int, target []int64) {
	dy := dense[T](m.packed(m.in[0]))
	d := dense[T](dst)
	kernel.Softmax(d, dense[T](x), rows, classes, 1)
	for i, t := range target {
		row := d[i*classes : (i+1)*classes]
		row[t]--
		g := dy[0]
		if m.at.i == noReduction {
			g = dy[i]
		} else if m.at.i == meanReduction {
			g /= T(rows)
		}
		kernel.MulC(row, row, g)
	}
}

// CrossEntropy is the mean of -log softmax(x) at the target class: x is
// logits, [..., classes], and target holds class numbers (int64, [...]). The
// mean over no rows is NaN.
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
