package backsweep

import (
	"math"

	"github.com/backsweep/backsweep/internal/kernel"
)

var normParams = append(reduceParams[:2:2], param{name: "p", kind: pFloat, optional: true, def: "2"})

// costNorm counts a power an element where p asks for one, and a root.
func costNorm(m *machine) int64 {
	each := int64(transcendental + 2)
	switch p := m.at.f[0]; {
	case p == 0, p == 1, p == 2:
		each = 2
	case math.IsInf(p, 0):
		each = 3
	}
	return each*int64(m.in[0].l.N) + int64(m.out[0].l.N)
}

func init() {
	define(opNorm, op{name: "norm", doc: "(Σ|x|^p)^(1/p) over axes", formula: "dx = dy·sign(x)·(|x|/y)^(p-1), 0 where x or y is 0", arity: 1, reads: readsIn(0) | readsOut(0),
		params: normParams, prepare: prepareAxes, cost: costNorm,
		eval: func(m *machine) {
			p := m.at.f[0]
			if math.IsNaN(p) {
				throw(fail(ErrValue, m.op.name, "p is a number, 0 or ±Inf", "p is NaN"))
			}
			r := m.reduction()
			dst := m.produce(m.layout(r.x.l.DType, r.shape...))
			if dst.l.DType == Float32 {
				kernel.Norm(dense[float32](dst), dense[float32](r.x), p, r.outer, r.n, r.inner)
			} else {
				kernel.Norm(dense[float64](dst), dense[float64](r.x), p, r.outer, r.n, r.inner)
			}
		},
		grad: func(r *rule) { r.give(0, r.normSlope(r.reshape(r.dout(0), r.keepShape()))) },
		tangent: func(r *rule) {
			x := r.in(0)
			slope := r.normSlope(r.full(1, x.l.DType, r.keepShape()))
			r.makes(0, r.reshape(r.sumOver(r.mul(slope, r.tan(0)), r.at.ints[0], true), r.shapeOut(0)))
		},
		samples: normSamples(),
	})
}

func normSamples() []sample {
	two, three := attrs{f: [2]float64{2}}, attrs{f: [2]float64{3}, ints: [3][]int{{0}}, b: true}
	half, inf := attrs{f: [2]float64{0.5}, ints: [3][]int{{-1}}}, attrs{f: [2]float64{math.Inf(1)}, ints: [3][]int{{0, 2}}}
	one, less := attrs{f: [2]float64{1}}, attrs{f: [2]float64{-1}, ints: [3][]int{{1}}}
	none, low := attrs{ints: [3][]int{{1}}}, attrs{f: [2]float64{math.Inf(-1)}}
	return []sample{
		on(f(3, 4)).with(two), on(f(2, 3, 4)).with(attrs{f: [2]float64{2}, ints: [3][]int{{0, 2}}}), on(f(0, 3)).with(three), on(f()).with(two),
		on(f(3, 4)).with(three), on(f(3, 4)).with(half), on(f(2, 3, 4)).with(inf), on(f(3, 4)).with(one), on(pos(3, 4)).with(less),
		on(f(3, 4)).with(none), on(f(3, 4)).with(low),
	}
}

// normSlope is dy·sign(x)·(|x|/y)^(p-1), with 0 for an element that is 0, also
// where the power would be infinite, and for a vector of zeros: of its
// subgradients that is the smallest. dy has the reduced axes as 1.
func (r *rule) normSlope(dy ref) ref {
	x, y := r.in(0), r.reshape(r.out(0), r.keepShape())
	switch p := r.at.f[0]; {
	case p == 0:
		return r.full(0, x.l.DType, x.l.Shape)
	case p == 1:
		return r.do2(opAbsGrad, nil, dy, x)
	case p == 2:
		return r.mul(dy, r.overOrZero(x, y))
	case math.IsInf(p, 0):
		share := r.do3(opExtremeGrad, &attrs{ints: [3][]int{r.at.ints[0]}}, dy, r.do1(opAbs, nil, x), y)
		return r.do2(opAbsGrad, nil, share, x)
	default:
		// The power's base is masked, not the power, so that the next derivative
		// is masked too.
		part := r.overOrZero(r.do1(opAbs, nil, x), y)
		none := r.isZero(part)
		base := r.do3(opWhere, nil, none, r.full(1, x.l.DType, nil), part)
		power := r.do1(opPowScalar, &attrs{f: [2]float64{p - 1}}, base)
		return r.do2(opAbsGrad, nil, r.zeroWhere(none, r.mul(dy, power)), x)
	}
}

// Norm returns the p-norm (Σ|x|^p)^(1/p) over the given axes; without axes, over
// all. p = 0 counts the elements that are not 0, p = ±Inf gives the largest or
// smallest |x|. It neither overflows nor underflows where powers do. Its
// gradient is 0 for an element that is 0 and for a vector of zeros; elements
// that tie for the largest share it. It panics with ErrValue for p = NaN.
func (x *Tensor) Norm(p float64, axes ...int) *Tensor {
	at := axesAttrs(axes, false)
	at.f[0] = p
	return apply1(opNorm, at, x)
}

// NormKeep is Norm with the reduced axes kept as extents of 1.
func (x *Tensor) NormKeep(p float64, axes ...int) *Tensor {
	at := axesAttrs(axes, true)
	at.f[0] = p
	return apply1(opNorm, at, x)
}

var epsParams = []param{
	{name: "axis", kind: pInt, optional: true, def: "-1"},
	{name: "eps", kind: pFloat, optional: true, def: "1e-12"},
}

// lengths is the length of each vector along an axis, no less than eps, and
// where it is more than that.
func (r *rule) lengths(x ref, axis int, eps float64) (d, short ref) {
	n := r.do1(opNorm, &attrs{f: [2]float64{2}, ints: [3][]int{{axis}}, b: true}, x)
	least := r.full(eps, x.l.DType, nil)
	short = r.do2(opLt, nil, n, least)
	return r.do3(opWhere, nil, short, least, n), short
}

func init() {
	define(opNormalize, op{name: "normalize", doc: "x over its length along an axis, or over eps where that is larger", formula: "dx = (dy - y·Σ dy·y)/length, without the sum where the length is below eps", arity: 1, reads: readsIn(0) | readsOut(0),
		params: epsParams, prepare: prepareAxis, cost: costEach(3),
		eval: func(m *machine) {
			m.floats(m.in[0])
			x := m.packed(m.in[0])
			outer, n, inner := m.alongAxis()
			dst := m.produce(m.like(x))
			if x.l.DType == Float32 {
				kernel.Normalize(dense[float32](dst), dense[float32](x), m.at.f[0], outer, n, inner)
			} else {
				kernel.Normalize(dense[float64](dst), dense[float64](x), m.at.f[0], outer, n, inner)
			}
		},
		grad:    func(r *rule) { r.give(0, r.projected(r.dout(0))) },
		tangent: func(r *rule) { r.makes(0, r.projected(r.tan(0))) },
		samples: []sample{
			on(f(3, 4)).with(attrs{i: -1, f: [2]float64{1e-12}}), on(f(3, 4)).with(attrs{i: 0, f: [2]float64{100}}), on(f(2, 3, 2)).with(attrs{i: 1, f: [2]float64{1e-12}}),
			on(f(0, 3)).with(attrs{i: 1, f: [2]float64{1e-12}}),
		},
	})
}

// projected is v without its part along the unit vectors y, over their lengths.
func (r *rule) projected(v ref) ref {
	y := r.out(0)
	d, short := r.lengths(r.in(0), r.at.i, r.at.f[0])
	along := r.zeroWhere(short, r.sumOver(r.mul(v, y), []int{r.at.i}, true))
	return r.div(r.sub(v, r.mul(y, along)), d)
}

// Normalize returns x over its Euclidean length along an axis, or over eps
// where the length is below that, so that a vector of zeros stays one.
func (x *Tensor) Normalize(axis int, eps float64) *Tensor {
	return apply1(opNormalize, &attrs{i: axis, f: [2]float64{eps}}, x)
}

func init() {
	define(opCosineSimilarity, op{name: "cosine_similarity", doc: "cosine of the angle between a and b along an axis", formula: "da = dy·(b/|b| - y·a/|a|)/|a| and the other way round, lengths no less than eps", arity: 2, reads: readsIn(0, 1) | readsOut(0),
		params: epsParams,
		prepare: func(m *machine) {
			m.floats(m.in...)
			m.sameDType(0, 1)
			m.at.i = axisOf(m.op.name, m.at.i, len(m.spreadAll()))
		},
		cost: func(m *machine) int64 { return 8 * int64(m.in[0].l.N) },
		eval: func(m *machine) {
			a, b := m.in[0], m.in[1]
			outer, n, inner := m.alongAxis()
			shape := append(append([]int{}, a.l.Shape[:m.at.i]...), a.l.Shape[m.at.i+1:]...)
			dst := m.produce(m.layout(a.l.DType, shape...))
			if a.l.DType == Float32 {
				kernel.Cosine(dense[float32](dst), dense[float32](a), dense[float32](b), m.at.f[0], outer, n, inner)
			} else {
				kernel.Cosine(dense[float64](dst), dense[float64](a), dense[float64](b), m.at.f[0], outer, n, inner)
			}
		},
		grad: func(r *rule) {
			c := r.cosine()
			dy := r.reshape(r.dout(0), c.y.l.Shape)
			if r.want(0) {
				r.give(0, r.mul(dy, c.slope(0)))
			}
			if r.want(1) {
				r.give(1, r.mul(dy, c.slope(1)))
			}
		},
		tangent: func(r *rule) {
			c := r.cosine()
			var t ref
			for i := range 2 {
				if !r.hasTan(i) {
					continue
				}
				u := r.sumOver(r.mul(c.slope(i), r.tan(i)), []int{r.at.i}, true)
				if t.l != nil {
					u = r.add(t, u)
				}
				t = u
			}
			r.makes(0, r.reshape(t, r.shapeOut(0)))
		},
		samples: []sample{
			on(f(3, 4), f(3, 4)).with(attrs{i: -1, f: [2]float64{1e-8}}), on(f(3, 4), f(1, 4)).with(attrs{i: 0, f: [2]float64{1e-8}}),
			on(f(2, 3, 2), f(3, 2)).with(attrs{i: 1, f: [2]float64{1.5}}), on(f(0, 3), f(0, 3)).with(attrs{i: 1, f: [2]float64{1e-8}}),
		},
	})
}

// cosines are the unit vectors of a cosine similarity, their lengths, and the
// cosine with its axis kept.
type cosines struct {
	r        *rule
	y        ref
	unit     [2]ref
	d, short [2]ref
}

func (r *rule) cosine() *cosines {
	c := &cosines{r: r}
	shape := append([]int{}, r.shapeOut(0)...)
	keep := append(append(append([]int{}, shape[:r.at.i]...), 1), shape[r.at.i:]...)
	c.y = r.reshape(r.out(0), keep)
	for i := range 2 {
		x := r.in(i)
		// The axis counts in the common shape.
		if n := len(keep) - len(x.l.Shape); n > 0 {
			ones := make([]int, n, len(keep))
			for k := range ones {
				ones[k] = 1
			}
			x = r.reshape(x, append(ones, x.l.Shape...))
		}
		if d := r.extent(); x.l.Shape[r.at.i] != d {
			shape := append([]int{}, x.l.Shape...)
			shape[r.at.i] = d
			x = r.spread(x, shape)
		}
		c.d[i], c.short[i] = r.lengths(x, r.at.i, r.at.f[0])
		c.unit[i] = r.div(x, c.d[i])
	}
	return c
}

// extent is how many elements go into one cosine.
func (r *rule) extent() int {
	n := 1
	rank := len(r.shapeOut(0)) + 1
	for i := range 2 {
		shape := r.shapeIn(i)
		if k := r.at.i - rank + len(shape); k >= 0 && shape[k] != 1 {
			n = shape[k]
		}
	}
	return n
}

// slope is the derivative of the cosine for operand i: the other unit vector
// without its part along this one, over the length.
func (c *cosines) slope(i int) ref {
	r := c.r
	along := r.mul(c.unit[i], r.zeroWhere(c.short[i], c.y))
	return r.div(r.sub(c.unit[1-i], along), c.d[i])
}

// CosineSimilarity returns the cosine of the angle between x and y along an
// axis, which is dropped; x and y broadcast. Each length counts as no less than
// eps, so that a vector of zeros gives 0.
func (x *Tensor) CosineSimilarity(y *Tensor, axis int, eps float64) *Tensor {
	return apply2(opCosineSimilarity, &attrs{i: axis, f: [2]float64{eps}}, x, y)
}
