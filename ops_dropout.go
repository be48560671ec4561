package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opDropout, op{name: "dropout", doc: "x/(1-p) where the mask holds, else 0 (x, mask)", formula: "dx = dy/(1-p) where the mask holds, else 0", arity: 2, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), params: []param{{name: "p", kind: pFloat}},
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			m.floats(x)
			m.needs(1, Bool)
			if !array.SameShape(x.l.Shape, m.in[1].l.Shape) {
				m.misfit("the mask has the shape of the tensor", "shapes %s do not fit", m.shapesText())
			}
			p := m.at.f[0]
			if !(p >= 0 && p <= 1) {
				throw(fail(ErrValue, m.op.name, "a probability is from 0 to 1", "p is %v", p))
			}
			scale := 1 / (1 - p)
			if p == 1 {
				scale = 0
			}
			dst := m.produce(m.like(x))
			mask := dense[bool](m.packed(m.in[1]))
			if x.l.DType == Float32 {
				kernel.ScaleWhere(dense[float32](dst), dense[float32](x), mask, float32(scale))
			} else {
				kernel.ScaleWhere(dense[float64](dst), dense[float64](x), mask, scale)
			}
		},
		grad:    func(r *rule) { r.give(0, r.do2(opDropout, r.at, r.dout(0), r.in(1))) },
		samples: []sample{on(f(3, 4), flags(3, 4)).with(attrs{f: [2]float64{0.25}}), on(f(), flags()).with(attrs{f: [2]float64{0.5}}), on(f(0, 2), flags(0, 2))},
	})
}

// Dropout sets each element to 0 with probability p and divides the others by
// 1-p, so that the mean stays (N. Srivastava et al., "Dropout", 2014). The mask,
// which the sweep uses again, is drawn from rng, one number an element in
// row-major order. With p = 1 everything is 0. Inference leaves it out.
func (x *Tensor) Dropout(rng Uniform, p float64) *Tensor {
	mask := Zeros(Bool, x.Shape()...)
	keep := array.Slice[bool](mask.val.st.p, mask.Len())
	for i := range keep {
		keep[i] = rng.Float64() >= p
	}
	return apply2(opDropout, &attrs{f: [2]float64{p}}, x, mask)
}
