package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	smooth(opExpm1, op{name: "expm1", doc: "e to the power x, minus 1", formula: "dx = dy·e^x", reads: readsIn(0),
		un32: kernel.Expm1[float32], un64: kernel.Expm1[float64],
		// y + 1 would lose e^x where x is far below 0.
		grad: func(r *rule) { r.give(0, r.mul(r.dout(0), r.do1(opExp, nil, r.in(0)))) },
	})
	smooth(opLog1p, op{name: "log1p", doc: "natural logarithm of 1 + x", formula: "dx = dy/(1 + x)", reads: readsIn(0),
		un32: kernel.Log1p[float32], un64: kernel.Log1p[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.dout(0), r.plus(r.in(0), 1))) },
		samples: []sample{on(in(-0.7, 2, 3, 4))},
	})
	smooth(opExp2, op{name: "exp2", doc: "2 to the power x", formula: "dx = dy·y·ln 2", reads: readsOut(0),
		un32: kernel.Exp2[float32], un64: kernel.Exp2[float64],
		grad: func(r *rule) { r.give(0, r.mul(r.scale(r.dout(0), math.Ln2), r.out(0))) },
	})
	smooth(opLog2, op{name: "log2", doc: "logarithm to base 2", formula: "dx = dy/(x·ln 2)", reads: readsIn(0),
		un32: kernel.Log2[float32], un64: kernel.Log2[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.scale(r.dout(0), 1/math.Ln2), r.in(0))) },
		samples: []sample{on(pos(3, 4))},
	})
	smooth(opLog10, op{name: "log10", doc: "logarithm to base 10", formula: "dx = dy/(x·ln 10)", reads: readsIn(0),
		un32: kernel.Log10[float32], un64: kernel.Log10[float64],
		grad:    func(r *rule) { r.give(0, r.div(r.scale(r.dout(0), 1/math.Ln10), r.in(0))) },
		samples: []sample{on(pos(3, 4))},
	})
}

// Expm1 returns e to the power x, minus 1, without losing small x.
func (x *Tensor) Expm1() *Tensor { return apply1(opExpm1, nil, x) }

// Log1p returns the natural logarithm of 1 + x without losing small x: -Inf at
// -1, NaN below.
func (x *Tensor) Log1p() *Tensor { return apply1(opLog1p, nil, x) }

// Exp2 returns 2 to the power x.
func (x *Tensor) Exp2() *Tensor { return apply1(opExp2, nil, x) }

// Log2 returns the logarithm of x to base 2: -Inf at 0, NaN below, exact at
// powers of 2.
func (x *Tensor) Log2() *Tensor { return apply1(opLog2, nil, x) }

// Log10 returns the logarithm of x to base 10: -Inf at 0, NaN below, exact at
// powers of 10.
func (x *Tensor) Log10() *Tensor { return apply1(opLog10, nil, x) }

func init() {
	define(opLogAddExp, op{name: "logaddexp", doc: "log(e^a + e^b)", formula: "da = dy·e^(a-y), db = dy·e^(b-y)", arity: 2, flags: elementwise,
		reads: readsIn(0, 1), cost: costEach(2 * transcendental),
		bin32: kernel.LogAddExp[float32], bin64: kernel.LogAddExp[float64],
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do3(opLogAddExpGrad, nil, r.dout(0), r.in(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do3(opLogAddExpGrad, nil, r.dout(0), r.in(1), r.in(0)))
			}
		},
		samples: pairs(f),
	})
	define(opLogAddExpGrad, op{name: "logaddexp_grad", doc: "dy·e^a/(e^a + e^b)", formula: "d(dy) = g·p, da = g·dy·p·(1 - p), db = -da, p = e^a/(e^a + e^b)", arity: 3, flags: elementwise | engineOnly,
		reads: readsIn(0, 1, 2), cost: costEach(transcendental + 2),
		eval: ternary(kernel.LogAddExpGrad[float32], kernel.LogAddExpGrad[float64]),
		grad: func(r *rule) {
			g, dy, a, b := r.dout(0), r.in(0), r.in(1), r.in(2)
			gp := r.do3(opLogAddExpGrad, nil, g, a, b)
			if r.want(0) {
				r.give(0, gp)
			}
			if !r.want(1) && !r.want(2) {
				return
			}
			curve := r.do3(opLogAddExpGrad, nil, r.mul(gp, dy), b, a)
			if r.want(1) {
				r.give(1, curve)
			}
			if r.want(2) {
				r.give(2, r.neg(curve))
			}
		},
		samples: []sample{on(f(3, 4), f(3, 4), f(3, 4))},
	})
}

// LogAddExp returns log(eˣ + eʸ) without overflow: -Inf where both are -Inf.
// Where x and y are equal, infinities too, each gets half of the gradient.
func (x *Tensor) LogAddExp(y *Tensor) *Tensor { return apply2(opLogAddExp, nil, x, y) }

func init() {
	define(opXLogY, op{name: "xlogy", doc: "x·log y, and 0 where x is 0", formula: "dx = dy·log y, dy = dz·x/y; 0 where x is 0 and y is not above 0", arity: 2, flags: elementwise,
		reads: readsIn(0, 1), cost: costEach(transcendental + 1),
		bin32: kernel.XLogY[float32], bin64: kernel.XLogY[float64],
		grad: func(r *rule) {
			g, x, y := r.dout(0), r.in(0), r.in(1)
			// What is masked is masked before it is multiplied or divided, so that
			// the next derivative is masked too.
			none := r.full(0, x.l.DType, r.shapeOut(0))
			silent := r.do2(opAnd, nil, r.isZero(x), r.do2(opLe, nil, y, none))
			if r.want(0) {
				r.give(0, r.do2(opXLogY, nil, r.zeroWhere(silent, g), y))
			}
			if r.want(1) {
				safe := r.do3(opWhere, nil, silent, r.full(1, x.l.DType, nil), y)
				r.give(1, r.div(r.mul(r.zeroWhere(silent, g), x), safe))
			}
		},
		samples: pairs(pos),
	})
}

// XLogY returns x·log y, and 0 where x is 0, unless y is NaN. Where x is 0 and y
// is not above 0 both gradients are 0: no such term takes part in an entropy.
func (x *Tensor) XLogY(y *Tensor) *Tensor { return apply2(opXLogY, nil, x, y) }
