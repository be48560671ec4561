package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// pairLoss defines the loss of each element of a against that of b, reduced.
// slope is the derivative by operand i, times g, in the operands' common shape.
func pairLoss(code opcode, o op, k32 func(m *machine, dst, a, b []float32), k64 func(m *machine, dst, a, b []float64), slope func(r *rule, i int, g ref) ref) {
	o.arity = 2
	o.reads = readsIn(0, 1)
	o.params = append([]param{reductionParam}, o.params...)
	each := int64(3)
	if o.cost != nil {
		each = 3 * transcendental
	}
	o.cost = func(m *machine) int64 {
		shape, _ := array.BroadcastShapes(m.in[0].l.Shape, m.in[1].l.Shape)
		n, _ := array.Count(shape)
		return each * int64(n)
	}
	o.eval = func(m *machine) {
		m.floats(m.in...)
		m.sameDType(0, 1)
		l := m.layout(m.in[0].l.DType, m.spreadAll()...)
		losses, dst := ref{}, ref{}
		if m.at.i == noReduction {
			losses = m.produce(l)
		} else {
			losses, dst = m.scratch(l), m.produce(m.layout(l.DType))
		}
		if l.DType == Float32 {
			k32(m, dense[float32](losses), dense[float32](m.in[0]), dense[float32](m.in[1]))
			reduceLosses[float32](m, dst, losses)
		} else {
			k64(m, dense[float64](losses), dense[float64](m.in[0]), dense[float64](m.in[1]))
			reduceLosses[float64](m, dst, losses)
		}
	}
	o.grad = func(r *rule) {
		shape, _ := array.BroadcastShapes(r.shapeIn(0), r.shapeIn(1))
		g := r.dout(0)
		if r.at.i == meanReduction {
			n, _ := array.Count(shape)
			g = r.scale(g, 1/float64(n))
		}
		g = r.spread(g, shape)
		for i := range 2 {
			if r.want(i) {
				r.give(i, slope(r, i, g))
			}
		}
	}
	o.tangent = func(r *rule) {
		shape, _ := array.BroadcastShapes(r.shapeIn(0), r.shapeIn(1))
		var t ref
		for i := range 2 {
			if !r.hasTan(i) {
				continue
			}
			u := slope(r, i, r.spread(r.tan(i), shape))
			if t.l != nil {
				u = r.add(t, u)
			}
			t = u
		}
		switch r.at.i {
		case meanReduction:
			t = r.do1(opMean, nil, t)
		case sumReduction:
			t = r.do1(opSum, nil, t)
		}
		r.makes(0, t)
	}
	define(code, o)
}

func reduceLosses[T float32 | float64](m *machine, dst, losses ref) {
	if m.at.i == noReduction {
		return
	}
	kernel.Sum(dense[T](dst), dense[T](losses), 1, losses.l.N, 1)
	if m.at.i == meanReduction {
		dense[T](dst)[0] /= T(losses.l.N)
	}
}

func lossSamples(draw, target func(shape ...int) operand, delta float64) []sample {
	at := func(reduction int) attrs { return attrs{i: reduction, f: [2]float64{delta}} }
	return []sample{
		on(draw(3, 4), target(3, 4)).with(at(meanReduction)), on(draw(3, 4), target(4)).with(at(sumReduction)),
		on(draw(3, 1), target(2, 1, 4)).with(at(noReduction)), on(draw(), target()).with(at(meanReduction)), on(draw(0, 2), target(2)).with(at(sumReduction)),
	}
}

func init() {
	pairLoss(opMse, op{name: "mse", doc: "(a - b)², reduced", formula: "da = 2·dy·(a - b), db = -da", samples: lossSamples(f, f, 0)},
		func(_ *machine, dst, a, b []float32) { kernel.SquaredError(dst, a, b) },
		func(_ *machine, dst, a, b []float64) { kernel.SquaredError(dst, a, b) },
		func(r *rule, i int, g ref) ref {
			d := r.sub(r.in(i), r.in(1-i))
			return r.mul(r.scale(d, 2), g)
		})
	pairLoss(opHuber, op{name: "huber", doc: "(a - b)²/2 where that is within delta, delta·(|a - b| - delta/2) beyond, reduced", formula: "da = dy·(a - b, cut to ±delta), db = -da",
		params: []param{{name: "delta", kind: pFloat, optional: true, def: "1"}}, samples: lossSamples(f, f, 0.9)},
		func(m *machine, dst, a, b []float32) { kernel.Huber(dst, a, b, float32(m.delta())) },
		func(m *machine, dst, a, b []float64) { kernel.Huber(dst, a, b, m.delta()) },
		func(r *rule, i int, g ref) ref {
			d := r.at.f[0]
			return r.mul(r.do1(opClamp, &attrs{f: [2]float64{-d, d}}, r.sub(r.in(i), r.in(1-i))), g)
		})
	pairLoss(opBceWithLogits, op{name: "bce_with_logits", doc: "-(t·log s + (1-t)·log(1-s)), s = sigmoid(x), reduced (logits, targets)", formula: "dx = dy·(s - t), dt = -dy·x",
		cost: costEach(transcendental), samples: lossSamples(f, func(shape ...int) operand { return in(0, 1, shape...) }, 0)},
		func(_ *machine, dst, a, b []float32) { kernel.LogitLoss(dst, a, b) },
		func(_ *machine, dst, a, b []float64) { kernel.LogitLoss(dst, a, b) },
		func(r *rule, i int, g ref) ref {
			if i == 0 {
				return r.mul(r.sub(r.do1(opSigmoid, nil, r.in(0)), r.in(1)), g)
			}
			return r.do2(opNegMul, nil, r.in(0), g)
		})
	pairLoss(opKlDiv, op{name: "kl_div", doc: "t·(log t - x), 0 where t is 0, reduced (logarithms, targets)", formula: "dx = -dy·t, dt = dy·(log t + 1 - x), 0 where t is 0",
		cost: costEach(transcendental), samples: lossSamples(f, pos, 0)},
		func(_ *machine, dst, a, b []float32) { kernel.Divergence(dst, a, b) },
		func(_ *machine, dst, a, b []float64) { kernel.Divergence(dst, a, b) },
		func(r *rule, i int, g ref) ref {
			x, t := r.in(0), r.in(1)
			if i == 0 {
				return r.do2(opNegMul, nil, t, g)
			}
			if !array.SameShape(t.l.Shape, g.l.Shape) {
				t = r.spread(t, g.l.Shape)
			}
			// The logarithm's operand is masked, so that the next derivative is too.
			none := r.isZero(t)
			log := r.do1(opLog, nil, r.do3(opWhere, nil, none, r.full(1, t.l.DType, nil), t))
			return r.mul(r.zeroWhere(none, r.sub(r.plus(log, 1), x)), g)
		})
}

// delta throws ErrValue unless a Huber loss has a width.
func (m *machine) delta() float64 {
	d := m.at.f[0]
	if !(d > 0) || math.IsInf(d, 1) {
		throw(fail(ErrValue, m.op.name, "delta is above 0", "delta is %v", d))
	}
	return d
}

// MSE returns the mean of (x - y)²; x and y broadcast.
func (x *Tensor) MSE(y *Tensor) *Tensor { return apply2(opMse, &attrs{}, x, y) }

// MSEWith is MSE with another reduction.
func (x *Tensor) MSEWith(y *Tensor, how Reduction) *Tensor {
	return apply2(opMse, &attrs{i: int(how)}, x, y)
}

// Huber returns the mean of the Huber loss: (x - y)²/2 where |x - y| is at most
// delta, and delta·(|x - y| - delta/2) beyond (P. J. Huber, "Robust Estimation
// of a Location Parameter", 1964). x and y broadcast. It panics with ErrValue
// unless delta is above 0.
func (x *Tensor) Huber(y *Tensor, delta float64) *Tensor { return x.HuberWith(y, delta, MeanLoss) }

// HuberWith is Huber with another reduction.
func (x *Tensor) HuberWith(y *Tensor, delta float64, how Reduction) *Tensor {
	return apply2(opHuber, &attrs{i: int(how), f: [2]float64{delta}}, x, y)
}

// BCEWithLogits returns the mean binary cross-entropy of sigmoid(x) and the
// probabilities target, which broadcast, without overflow.
func (x *Tensor) BCEWithLogits(target *Tensor) *Tensor {
	return apply2(opBceWithLogits, &attrs{}, x, target)
}

// BCEWithLogitsWith is BCEWithLogits with another reduction.
func (x *Tensor) BCEWithLogitsWith(target *Tensor, how Reduction) *Tensor {
	return apply2(opBceWithLogits, &attrs{i: int(how)}, x, target)
}

// KLDiv returns the mean of t·(log t - x), the divergence of a distribution from
// its target t whose logarithm is x; x and t broadcast. A target of 0 counts for
// nothing, whatever x is, and gets a gradient of 0. The mean is over elements,
// not rows.
func (x *Tensor) KLDiv(target *Tensor) *Tensor { return apply2(opKlDiv, &attrs{}, x, target) }

// KLDivWith is KLDiv with another reduction.
func (x *Tensor) KLDivWith(target *Tensor, how Reduction) *Tensor {
	return apply2(opKlDiv, &attrs{i: int(how)}, x, target)
}
