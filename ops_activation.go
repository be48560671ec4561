package backsweep

import (
	"math"
	"strconv"

	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opReciprocal, op{name: "reciprocal", doc: "1/x", formula: "dx = -dy·y²", arity: 1, flags: elementwise, reads: readsOut(0),
		un32: kernel.Recip[float32], un64: kernel.Recip[float64],
		grad:    func(r *rule) { y := r.out(0); r.give(0, r.do2(opNegMul, nil, r.mul(r.dout(0), y), y)) },
		samples: []sample{on(pos(3, 4))},
	})
	define(opRsqrt, op{name: "rsqrt", doc: "1/√x", formula: "dx = -dy·y³/2", arity: 1, flags: elementwise, reads: readsOut(0), cost: costEach(2),
		un32: kernel.Rsqrt[float32], un64: kernel.Rsqrt[float64],
		grad: func(r *rule) {
			y := r.out(0)
			r.give(0, r.mul(r.mul(r.mul(r.scale(r.dout(0), -0.5), y), y), y))
		},
		samples: []sample{on(pos(3, 4))},
	})
}

// Reciprocal returns 1/x: an infinity of its sign at a zero.
func (x *Tensor) Reciprocal() *Tensor { return apply1(opReciprocal, nil, x) }

// Rsqrt returns 1/√x: +Inf at 0, NaN below. Its gradient at 0 is -Inf.
func (x *Tensor) Rsqrt() *Tensor { return apply1(opRsqrt, nil, x) }

var betaParam = []param{{name: "beta", kind: pFloat, optional: true, def: "1"}}

// beta throws ErrValue where a softplus has no sharpness.
func (m *machine) beta() float64 {
	b := m.at.f[0]
	if b == 0 || math.IsNaN(b) || math.IsInf(b, 0) {
		throw(fail(ErrValue, m.op.name, "beta is a number other than 0", "beta is %v", b))
	}
	return b
}

func init() {
	define(opSoftplus, op{name: "softplus", doc: "log(1 + e^(beta·x))/beta", formula: "dx = dy·sigmoid(beta·x)", arity: 1, flags: elementwise, reads: readsIn(0), cost: costEach(2 * transcendental),
		params: betaParam,
		eval: func(m *machine) {
			b := m.beta()
			m.elementwise(
				func(dst, x []float32) { kernel.Softplus(dst, x, b) },
				func(dst, x []float64) { kernel.Softplus(dst, x, b) })
		},
		grad:    func(r *rule) { r.give(0, r.do2(opSoftplusGrad, r.at, r.dout(0), r.in(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{f: [2]float64{1}}), on(f(3)).with(attrs{f: [2]float64{-2.5}})},
	})
	smooth(opLogSigmoid, op{name: "log_sigmoid", doc: "log(1/(1 + e^-x))", formula: "dx = dy·sigmoid(-x)", reads: readsIn(0),
		un32: kernel.LogSigmoid[float32], un64: kernel.LogSigmoid[float64],
		grad: func(r *rule) { r.give(0, r.do2(opSoftplusGrad, &attrs{f: [2]float64{-1}}, r.dout(0), r.in(0))) },
	})
	define(opSoftplusGrad, op{name: "softplus_grad", doc: "dy·sigmoid(beta·x)", formula: "d(dy) = g·s, dx = g·dy·beta·s·(1 - s), s = sigmoid(beta·x)", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), params: betaParam, cost: costEach(transcendental + 1),
		eval: func(m *machine) {
			b := m.beta()
			m.elementwise2(
				func(dst, dy, x []float32) { kernel.SigmoidTimes(dst, dy, x, b) },
				func(dst, dy, x []float64) { kernel.SigmoidTimes(dst, dy, x, b) })
		},
		grad: func(r *rule) {
			gs := r.do2(opSoftplusGrad, r.at, r.dout(0), r.in(1))
			if r.want(0) {
				r.give(0, gs)
			}
			if r.want(1) {
				// sigmoid(-beta·x) keeps its digits where 1 - s has none left.
				b := r.at.f[0]
				rest := r.do2(opSoftplusGrad, &attrs{f: [2]float64{-b}}, gs, r.in(1))
				r.give(1, r.mul(r.scale(rest, b), r.in(0)))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4)).with(attrs{f: [2]float64{1.5}})},
	})
}

// Softplus returns log(1 + eˣ), without overflow and exact at both ends.
func (x *Tensor) Softplus() *Tensor { return x.SoftplusBeta(1) }

// SoftplusBeta returns log(1 + e^(beta·x))/beta, which is the sharper the
// larger beta is. It panics with ErrValue for beta 0.
func (x *Tensor) SoftplusBeta(beta float64) *Tensor {
	return apply1(opSoftplus, &attrs{f: [2]float64{beta}}, x)
}

// LogSigmoid returns log(1/(1 + e^-x)), without overflow: x where x is far
// below 0.
func (x *Tensor) LogSigmoid() *Tensor { return apply1(opLogSigmoid, nil, x) }

func init() {
	smooth(opSilu, op{name: "silu", doc: "x·sigmoid(x)", formula: "dx = dy·s·(1 + x·(1 - s)), s = sigmoid(x)", reads: readsIn(0),
		un32: kernel.Silu[float32], un64: kernel.Silu[float64],
		grad: func(r *rule) { r.give(0, r.do2(opSiluGrad, nil, r.dout(0), r.in(0))) },
	})
	define(opSiluGrad, op{name: "silu_grad", doc: "dy·s·(1 + x·(1 - s)), s = sigmoid(x)", formula: "d(dy) = g·s·(1 + x·(1 - s)), dx = g·dy·s·(1 - s)·(2 + x·(1 - 2s))", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(2*transcendental + 4),
		bin32: kernel.SiluGrad[float32], bin64: kernel.SiluGrad[float64],
		grad: func(r *rule) {
			g, dy, x := r.dout(0), r.in(0), r.in(1)
			if r.want(0) {
				r.give(0, r.do2(opSiluGrad, nil, g, x))
			}
			if r.want(1) {
				s, rest := r.do1(opSigmoid, nil, x), r.do1(opSigmoid, nil, r.neg(x))
				curve := r.plus(r.mul(x, r.sub(rest, s)), 2)
				r.give(1, r.mul(r.mul(r.mul(g, dy), r.mul(s, rest)), curve))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

// Silu returns x·sigmoid(x), also called swish; -0 at -Inf (Elfwing et al.,
// "Sigmoid-weighted linear units", 2018).
func (x *Tensor) Silu() *Tensor { return apply1(opSilu, nil, x) }

func init() {
	smooth(opGeluTanh, op{name: "gelu_tanh", doc: "x·(1 + tanh u)/2, u = √(2/π)·(x + 0.044715·x³)", formula: "dx = dy·((1 + tanh u)/2 + x·u'·(1 - tanh² u)/2)", reads: readsIn(0),
		un32: kernel.GeluTanh[float32], un64: kernel.GeluTanh[float64],
		grad: func(r *rule) { r.give(0, r.do2(opGeluTanhGrad, nil, r.dout(0), r.in(0))) },
	})
	define(opGeluTanhGrad, op{name: "gelu_tanh_grad", doc: "dy times the slope of gelu_tanh", formula: "d(dy) = g times the slope, dx = g·dy·s·(1 - s)·(2v' + x·((1 - 2s)·v'² + v'')), v = 2u, s = sigmoid(v)", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(2*transcendental + 4),
		bin32: kernel.GeluTanhGrad[float32], bin64: kernel.GeluTanhGrad[float64],
		grad: func(r *rule) {
			g, dy, x := r.dout(0), r.in(0), r.in(1)
			if r.want(0) {
				r.give(0, r.do2(opGeluTanhGrad, nil, g, x))
			}
			if r.want(1) {
				const cubic = 0.044715
				two := 2 * math.Sqrt(2/math.Pi)
				x2 := r.square(x)
				v := r.scale(r.mul(x, r.plus(r.scale(x2, cubic), 1)), two)
				v1 := r.scale(r.plus(r.scale(x2, 3*cubic), 1), two)
				s, rest := r.do1(opSigmoid, nil, v), r.do1(opSigmoid, nil, r.neg(v))
				bend := r.add(r.mul(r.sub(rest, s), r.square(v1)), r.scale(x, two*6*cubic))
				curve := r.add(r.scale(v1, 2), r.mul(x, bend))
				r.give(1, r.mul(r.mul(r.mul(g, dy), r.mul(s, rest)), curve))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

// GeluTanh returns the approximation of [Tensor.Gelu] by a tanh, which some
// models were trained with (Hendrycks and Gimpel, "Gaussian Error Linear
// Units", 2016).
func (x *Tensor) GeluTanh() *Tensor { return apply1(opGeluTanh, nil, x) }

var slopeParam = []param{{name: "slope", kind: pFloat, optional: true, def: "0.01"}}

func init() {
	define(opLeakyRelu, op{name: "leaky_relu", doc: "x above 0, slope·x elsewhere", formula: "dx = dy where x > 0, else slope·dy", arity: 1, flags: elementwise, reads: readsIn(0),
		params:  slopeParam,
		eval:    func(m *machine) { withConstant(m, kernel.LeakyRelu[float32], kernel.LeakyRelu[float64], nil) },
		grad:    func(r *rule) { r.give(0, r.do2(opLeakyReluGrad, r.at, r.dout(0), r.in(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{f: [2]float64{0.1}})},
	})
	define(opLeakyReluGrad, op{name: "leaky_relu_grad", doc: "dy where x > 0, else slope·dy", formula: "d(dy) = g where x > 0, else slope·g", arity: 2, flags: elementwise | engineOnly,
		nograd: readsIn(1), reads: readsIn(1), params: slopeParam,
		eval: func(m *machine) {
			c := m.at.f[0]
			m.elementwise2(
				func(dst, dy, x []float32) { kernel.LeakyReluGrad(dst, dy, x, float32(c)) },
				func(dst, dy, x []float64) { kernel.LeakyReluGrad(dst, dy, x, c) })
		},
		grad:    func(r *rule) { r.give(0, r.do2(opLeakyReluGrad, r.at, r.dout(0), r.in(1))) },
		samples: []sample{on(f(3, 4), f(3, 4)).with(attrs{f: [2]float64{0.1}})},
	})
}

// LeakyRelu returns x where it is above 0 and slope·x elsewhere. Its gradient at
// 0 is the slope.
func (x *Tensor) LeakyRelu(slope float64) *Tensor {
	return apply1(opLeakyRelu, &attrs{f: [2]float64{slope}}, x)
}

var boundParams = []param{
	{name: "min", kind: pFloat, optional: true, def: "-inf"},
	{name: "max", kind: pFloat, slot: 1, optional: true, def: "inf"},
}

// bounds throws ErrValue where a bound is no number.
func (m *machine) bounds() (lo, hi float64) {
	lo, hi = m.at.f[0], m.at.f[1]
	if math.IsNaN(lo) || math.IsNaN(hi) {
		throw(fail(ErrValue, m.op.name, "use math.Inf for a bound that is not there",
			"the bounds are %s and %s", strconv.FormatFloat(lo, 'g', -1, 64), strconv.FormatFloat(hi, 'g', -1, 64)))
	}
	return lo, hi
}

func init() {
	define(opClamp, op{name: "clamp", doc: "x between two bounds", formula: "dx = dy where min ≤ x ≤ max, else 0", arity: 1, flags: elementwise, reads: readsIn(0),
		params: boundParams,
		eval: func(m *machine) {
			lo, hi := m.bounds()
			m.elementwise(
				func(dst, x []float32) { kernel.Clamp(dst, x, float32(lo), float32(hi)) },
				func(dst, x []float64) { kernel.Clamp(dst, x, lo, hi) })
		},
		grad:    func(r *rule) { r.give(0, r.do2(opClampGrad, r.at, r.dout(0), r.in(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{f: [2]float64{-0.7, 0.9}}), on(f(3)).with(attrs{f: [2]float64{0.1, math.Inf(1)}})},
	})
	define(opClampGrad, op{name: "clamp_grad", doc: "dy where min ≤ x ≤ max, else 0", formula: "d(dy) = g where min ≤ x ≤ max, else 0", arity: 2, flags: elementwise | engineOnly,
		nograd: readsIn(1), reads: readsIn(1), params: boundParams,
		eval: func(m *machine) {
			lo, hi := m.bounds()
			m.elementwise2(
				func(dst, dy, x []float32) { kernel.ClampGrad(dst, dy, x, float32(lo), float32(hi)) },
				func(dst, dy, x []float64) { kernel.ClampGrad(dst, dy, x, lo, hi) })
		},
		grad:    func(r *rule) { r.give(0, r.do2(opClampGrad, r.at, r.dout(0), r.in(1))) },
		samples: []sample{on(f(3, 4), f(3, 4)).with(attrs{f: [2]float64{-0.7, 0.9}})},
	})
}

// Clamp returns x cut to the bounds min and max, either of which may be
// infinite: NaN stays NaN, and where min is above max the result is max. The
// gradient passes at a bound, and is 0 outside and where x is NaN. It panics
// with ErrValue for a bound of NaN.
func (x *Tensor) Clamp(min, max float64) *Tensor {
	return apply1(opClamp, &attrs{f: [2]float64{min, max}}, x)
}
