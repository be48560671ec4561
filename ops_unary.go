package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/kernel"
)

// transcendental is what one element of exp, log, tanh and their like counts
// in multiply-adds: about the length of the polynomials behind them.
const transcendental = 10

// costEach counts n multiply-adds an output element. An op that only moves
// elements counts none, except where its adjoint has to add (an element that is
// repeated, or read by an index that may come twice): reading one then counts
// as much as adding one does on the way back.
func costEach(n int64) func(m *machine) int64 {
	return func(m *machine) int64 { return n * int64(m.out[0].l.N) }
}

func init() {
	define(opNeg, op{name: "neg", doc: "-x", formula: "dx = -dy", arity: 1, flags: elementwise | linear,
		un32: kernel.Neg[float32], un64: kernel.Neg[float64],
		grad:    func(r *rule) { r.give(0, r.neg(r.dout(0))) },
		samples: []sample{on(f(3, 4)), on(f())},
	})
}

// Neg returns -x.
func (x *Tensor) Neg() *Tensor { return apply1(opNeg, nil, x) }

func init() {
	define(opAbs, op{name: "abs", doc: "|x|", formula: "dx = dy·sign(x), 0 at 0", arity: 1, flags: elementwise, reads: readsIn(0),
		un32: kernel.Abs[float32], un64: kernel.Abs[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opAbsGrad, nil, r.dout(0), r.in(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Abs returns |x|.
func (x *Tensor) Abs() *Tensor { return apply1(opAbs, nil, x) }

func init() {
	define(opAbsGrad, op{name: "abs_grad", doc: "dy·sign(x)", formula: "d(dy) = g·sign(x)", arity: 2, flags: elementwise | engineOnly,
		nograd: readsIn(1), reads: readsIn(1),
		bin32: kernel.AbsGrad[float32], bin64: kernel.AbsGrad[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opAbsGrad, nil, r.dout(0), r.in(1))) },
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

func init() {
	define(opExp, op{name: "exp", doc: "e to the power x", formula: "dx = dy·y", arity: 1, flags: elementwise, reads: readsOut(0), cost: costEach(transcendental),
		un32: kernel.Exp[float32], un64: kernel.Exp[float64],
		grad:    func(r *rule) { r.give(0, r.mul(r.dout(0), r.out(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Exp returns e to the power x.
func (x *Tensor) Exp() *Tensor { return apply1(opExp, nil, x) }

func init() {
	define(opLog, op{name: "log", doc: "natural logarithm", formula: "dx = dy/x", arity: 1, flags: elementwise, reads: readsIn(0), cost: costEach(transcendental),
		un32: kernel.Log[float32], un64: kernel.Log[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.dout(0), r.in(0))) },
		samples: []sample{on(pos(3, 4))},
	})
}

// Log returns the natural logarithm of x: -Inf at 0, NaN below.
func (x *Tensor) Log() *Tensor { return apply1(opLog, nil, x) }

func init() {
	define(opSqrt, op{name: "sqrt", doc: "square root", formula: "dx = dy/2/y", arity: 1, flags: elementwise, reads: readsOut(0),
		un32: kernel.Sqrt[float32], un64: kernel.Sqrt[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.scale(r.dout(0), 0.5), r.out(0))) },
		samples: []sample{on(pos(3, 4))},
	})
}

// Sqrt returns the square root of x: NaN below 0. Its gradient at 0 is +Inf.
func (x *Tensor) Sqrt() *Tensor { return apply1(opSqrt, nil, x) }

func init() {
	define(opSquare, op{name: "square", doc: "x·x", formula: "dx = 2·dy·x", arity: 1, flags: elementwise, reads: readsIn(0),
		un32: kernel.Square[float32], un64: kernel.Square[float64],
		grad:    func(r *rule) { r.give(0, r.mul(r.scale(r.dout(0), 2), r.in(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Square returns x·x.
func (x *Tensor) Square() *Tensor { return apply1(opSquare, nil, x) }

func init() {
	define(opTanh, op{name: "tanh", doc: "hyperbolic tangent", formula: "dx = dy·(1 - y²)", arity: 1, flags: elementwise, reads: readsOut(0), cost: costEach(transcendental),
		un32: kernel.Tanh[float32], un64: kernel.Tanh[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opTanhGrad, nil, r.dout(0), r.out(0))) },
		samples: []sample{on(f(3, 4)), on(f())},
	})
}

// Tanh returns the hyperbolic tangent of x.
func (x *Tensor) Tanh() *Tensor { return apply1(opTanh, nil, x) }

func init() {
	define(opTanhGrad, op{name: "tanh_grad", doc: "dy·(1 - y²)", formula: "d(dy) = g·(1 - y²), d(y) = -2·g·dy·y", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(2),
		bin32: kernel.TanhGrad[float32], bin64: kernel.TanhGrad[float64],
		grad: func(r *rule) {
			g := r.dout(0)
			if r.want(0) {
				r.give(0, r.do2(opTanhGrad, nil, g, r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.mul(r.mul(r.scale(g, -2), r.in(0)), r.in(1)))
			}
		},
		samples: []sample{on(f(3, 4), in(-1, 1, 3, 4))},
	})
}

func init() {
	define(opSigmoid, op{name: "sigmoid", doc: "1/(1 + e^-x)", formula: "dx = dy·y·(1 - y)", arity: 1, flags: elementwise, reads: readsOut(0), cost: costEach(transcendental),
		un32: kernel.Sigmoid[float32], un64: kernel.Sigmoid[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opSigmoidGrad, nil, r.dout(0), r.out(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Sigmoid returns the logistic function 1/(1 + e^-x).
func (x *Tensor) Sigmoid() *Tensor { return apply1(opSigmoid, nil, x) }

func init() {
	define(opSigmoidGrad, op{name: "sigmoid_grad", doc: "dy·y·(1 - y)", formula: "d(dy) = g·y·(1 - y), d(y) = g·dy·(1 - 2y)", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(3),
		bin32: kernel.SigmoidGrad[float32], bin64: kernel.SigmoidGrad[float64],
		grad: func(r *rule) {
			g := r.dout(0)
			if r.want(0) {
				r.give(0, r.do2(opSigmoidGrad, nil, g, r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.mul(r.mul(g, r.in(0)), r.plus(r.scale(r.in(1), -2), 1)))
			}
		},
		samples: []sample{on(f(3, 4), in(0, 1, 3, 4))},
	})
}

func init() {
	define(opRelu, op{name: "relu", doc: "max(x, 0)", formula: "dx = dy where y > 0, else 0", arity: 1, flags: elementwise, reads: readsOut(0),
		un32: kernel.Relu[float32], un64: kernel.Relu[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opReluGrad, nil, r.dout(0), r.out(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Relu returns max(x, 0); NaN stays NaN. Its gradient at 0 is 0.
func (x *Tensor) Relu() *Tensor { return apply1(opRelu, nil, x) }

func init() {
	define(opReluGrad, op{name: "relu_grad", doc: "dy where y > 0, else 0", formula: "d(dy) = g where y > 0, else 0", arity: 2, flags: elementwise | engineOnly,
		nograd: readsIn(1), reads: readsIn(1),
		bin32: kernel.ReluGrad[float32], bin64: kernel.ReluGrad[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opReluGrad, nil, r.dout(0), r.in(1))) },
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

func init() {
	define(opGelu, op{name: "gelu", doc: "x·Φ(x), Φ the normal distribution function", formula: "dx = dy·(Φ(x) + x·φ(x))", arity: 1, flags: elementwise, reads: readsIn(0), cost: costEach(transcendental),
		un32: kernel.Gelu[float32], un64: kernel.Gelu[float64],
		grad:    func(r *rule) { r.give(0, r.do2(opGeluGrad, nil, r.dout(0), r.in(0))) },
		samples: []sample{on(f(3, 4))},
	})
}

// Gelu returns x·Φ(x) with the exact normal distribution function Φ (Hendrycks
// and Gimpel, "Gaussian Error Linear Units", 2016).
func (x *Tensor) Gelu() *Tensor { return apply1(opGelu, nil, x) }

func init() {
	define(opGeluGrad, op{name: "gelu_grad", doc: "dy·(Φ(x) + x·φ(x))", formula: "d(dy) = g·(Φ(x) + x·φ(x)), d(x) = g·dy·φ(x)·(2 - x²)", arity: 2, flags: elementwise | engineOnly,
		reads: readsIn(0, 1), cost: costEach(2 * transcendental),
		bin32: kernel.GeluGrad[float32], bin64: kernel.GeluGrad[float64],
		grad: func(r *rule) {
			g := r.dout(0)
			if r.want(0) {
				r.give(0, r.do2(opGeluGrad, nil, g, r.in(1)))
			}
			if r.want(1) {
				x2 := r.do1(opSquare, nil, r.in(1))
				phi := r.scale(r.do1(opExp, nil, r.scale(x2, -0.5)), 1/math.Sqrt(2*math.Pi))
				curve := r.mul(phi, r.plus(r.neg(x2), 2))
				r.give(1, r.mul(r.mul(g, r.in(0)), curve))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4))},
	})
}

func init() {
	define(opAddScalar, op{name: "add_scalar", doc: "x + c", formula: "dx = dy", arity: 1, flags: elementwise,
		params:  []param{{name: "c", kind: pFloat}},
		eval:    func(m *machine) { withConstant(m, kernel.AddC[float32], kernel.AddC[float64], kernel.AddC[int64]) },
		grad:    func(r *rule) { r.give(0, r.dout(0)) },
		samples: []sample{on(f(3, 4)).with(attrs{f: [2]float64{1.5}})},
	})
}

// AddScalar returns x + c, of x's element type.
func (x *Tensor) AddScalar(c float64) *Tensor {
	return apply1(opAddScalar, &attrs{f: [2]float64{c}}, x)
}

func init() {
	define(opMulScalar, op{name: "mul_scalar", doc: "c·x", formula: "dx = c·dy", arity: 1, flags: elementwise | linear,
		params:  []param{{name: "c", kind: pFloat}},
		eval:    func(m *machine) { withConstant(m, kernel.MulC[float32], kernel.MulC[float64], kernel.MulC[int64]) },
		grad:    func(r *rule) { r.give(0, r.scale(r.dout(0), r.at.f[0])) },
		samples: []sample{on(f(3, 4)).with(attrs{f: [2]float64{-2.5}})},
	})
}

// MulScalar returns c·x, of x's element type.
func (x *Tensor) MulScalar(c float64) *Tensor {
	return apply1(opMulScalar, &attrs{f: [2]float64{c}}, x)
}

// withConstant runs a kernel that takes a constant, which is converted to the
// element type.
func withConstant(m *machine, k32 func(dst, x []float32, c float32), k64 func(dst, x []float64, c float64), ki func(dst, x []int64, c int64)) {
	x := m.in[0]
	c := m.at.f[0]
	if x.l.DType == Bool || x.l.DType == Int64 && (ki == nil || c != math.Trunc(c)) {
		if x.l.DType == Int64 && ki != nil {
			throw(fail(ErrDType, m.op.name, "Cast the tensor to a float type first", "%v is no int64", c))
		}
		m.floats(x)
	}
	dst := m.produce(m.like(x))
	if !x.l.Dense {
		copyDense(dst, x)
		x = dst
	}
	switch x.l.DType {
	case Float32:
		k32(dense[float32](dst), dense[float32](x), float32(c))
	case Float64:
		k64(dense[float64](dst), dense[float64](x), c)
	case Int64:
		ki(dense[int64](dst), dense[int64](x), int64(c))
	}
}

func init() {
	define(opPowScalar, op{name: "pow_scalar", doc: "x to the power p", formula: "dx = dy·p·x^(p-1), 0 when p is 0", arity: 1, flags: elementwise, reads: readsIn(0), cost: costEach(transcendental),
		params: []param{{name: "p", kind: pFloat}},
		eval:   func(m *machine) { withConstant(m, kernel.PowC[float32], kernel.PowC[float64], nil) },
		grad: func(r *rule) {
			p := r.at.f[0]
			if p == 0 {
				r.give(0, r.scale(r.dout(0), 0))
				return
			}
			power := r.do1(opPowScalar, &attrs{f: [2]float64{p - 1}}, r.in(0))
			r.give(0, r.mul(r.dout(0), r.scale(power, p)))
		},
		samples: []sample{on(pos(3, 4)).with(attrs{f: [2]float64{2.5}}), on(f(3, 4)).with(attrs{f: [2]float64{3}})},
	})
}

// PowScalar returns x to the power p. Its gradient is 0 where p is 0.
func (x *Tensor) PowScalar(p float64) *Tensor {
	return apply1(opPowScalar, &attrs{f: [2]float64{p}}, x)
}

func init() {
	define(opCast, op{name: "cast", doc: "conversion to another element type", formula: "dx = dy converted back", arity: 1, flags: linear,
		params: []param{{name: "dtype", kind: pDType}},
		cost:   costEach(0),
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			dst := m.produce(m.layout(m.at.dtype, x.l.Shape...))
			castInto(dst, x)
		},
		grad:    func(r *rule) { r.give(0, r.do1(opCast, &attrs{dtype: r.layoutIn(0).DType}, r.dout(0))) },
		samples: []sample{on(f(3, 4)).with(attrs{dtype: Float64})},
	})
}

// Cast converts the elements to another type: to int64 toward zero, to bool
// whether they differ from 0. The gradient is converted back; none flows
// through an integer or bool tensor.
func (x *Tensor) Cast(dt DType) *Tensor {
	if dt > Bool {
		throw(fail(ErrDType, "cast", "use Float32, Float64, Int64 or Bool", "%s is not an element type", dt))
	}
	return apply1(opCast, &attrs{dtype: dt}, x)
}

func castInto(dst, x ref) {
	switch x.l.DType {
	case Float32:
		castFrom(dst, dense[float32](x))
	case Float64:
		castFrom(dst, dense[float64](x))
	case Int64:
		castFrom(dst, dense[int64](x))
	case Bool:
		ones := make([]int64, x.l.N)
		for i, v := range dense[bool](x) {
			if v {
				ones[i] = 1
			}
		}
		castFrom(dst, ones)
	}
}

func castFrom[T float32 | float64 | int64](dst ref, x []T) {
	switch dst.l.DType {
	case Float32:
		for i, v := range x {
			dense[float32](dst)[i] = float32(v)
		}
	case Float64:
		for i, v := range x {
			dense[float64](dst)[i] = float64(v)
		}
	case Int64:
		for i, v := range x {
			dense[int64](dst)[i] = int64(v)
		}
	case Bool:
		for i, v := range x {
			dense[bool](dst)[i] = v != 0
		}
	}
}

func init() {
	define(opDetach, op{name: "detach", doc: "the same value, as a constant", arity: 1, flags: viewing | constantOp,
		eval:    func(m *machine) { m.view(m.in[0].l) },
		samples: []sample{on(f(3, 4))},
	})
}

// Detach returns the same value as a constant: no gradient flows back through
// it, and on no tape it forgets which parameter it was computed from.
func (x *Tensor) Detach() *Tensor { return apply1(opDetach, nil, x) }
