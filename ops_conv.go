package backsweep

import (
	"github.com/backsweep/backsweep/internal/kernel"
)

// Convolution, transposed convolution and the gradient of a convolution's
// weights are three faces of one trilinear form
//
//	Σ x[n, c, o·stride + k·dilation - before] · w[q, c, k] · y[n, q, o]
//
// and so each one's derivatives are the other two: with the same stride,
// dilation and padding, conv gives y's place, conv_transpose x's and
// conv_weight_grad w's.
//
// The padding after an axis may be negative. A convolution whose last window
// does not reach the end of the padded input leaves elements out; the rules
// take them from the padding after, so that extents work out exactly in each
// direction.

var convParams = []param{
	{name: "stride", kind: pInts, slot: 0, optional: true, def: "1"},
	{name: "pad", kind: pInts, slot: 1, optional: true, def: "0"},
	{name: "dilation", kind: pInts, slot: 2, optional: true, def: "1"},
	{name: "groups", kind: pInt, optional: true, def: "1"},
}

// convSamples draws the operands of each of the three rows, in the order
// (larger image, weights, smaller image), for geometries that differ in what
// can go wrong.
func convSamples(pick func(x, w, y operand) sample) []sample {
	at := func(groups int, stride, pad, dilation []int) attrs {
		return attrs{i: groups, ints: [3][]int{stride, pad, dilation}}
	}
	return []sample{
		pick(f(2, 3, 5), f(4, 3, 2), f(2, 4, 4)).with(at(1, nil, nil, nil)),
		pick(f(2, 2, 7), f(3, 2, 3), f(2, 3, 4)).with(at(1, []int{2}, []int{2}, []int{2})),
		pick(f(1, 4, 4, 5), f(6, 2, 2, 3), f(1, 6, 3, 3)).with(at(2, nil, nil, nil)),
		pick(f(2, 1, 4, 3), f(2, 1, 2, 1), f(2, 2, 2, 3)).with(at(1, []int{2, 1}, []int{0, 0}, nil)),
		pick(f(1, 2, 3, 3), f(2, 2, 1, 1), f(1, 2, 3, 3)).with(at(1, nil, nil, nil)),
		pick(f(1, 2, 1, 2), f(2, 1, 3, 3), f(1, 2, 1, 2)).with(at(2, nil, []int{1}, nil)),
		pick(f(1, 1, 2, 2, 2), f(2, 1, 2, 1, 2), f(1, 2, 1, 2, 1)).with(at(1, nil, nil, nil)),
		pick(f(0, 2, 4), f(3, 2, 3), f(0, 3, 2)).with(at(1, nil, nil, nil)),
	}
}

func init() {
	define(opConv, op{name: "conv", doc: "cross-correlation of images with a kernel: y[n,q,o] = Σ x[n,c,o·stride + k·dilation - pad]·w[q,c,k]",
		formula: "dx = dy·w scattered back, dw = x·dy over positions", arity: 2, reads: readsIn(0, 1), params: convParams, prepare: prepareConv,
		cost: func(m *machine) int64 { c, _ := m.convOf(); return c.cost() },
		eval: func(m *machine) {
			c, shape := m.convOf()
			dst := m.produce(m.layout(m.in[0].l.DType, shape...))
			if dst.l.DType == Float32 {
				convolve[float32](m, &c, dst)
			} else {
				convolve[float64](m, &c, dst)
			}
		},
		grad: func(r *rule) {
			at := r.exact(r.shapeIn(0), r.shapeIn(1), r.shapeOut(0))
			if r.want(0) {
				r.give(0, r.do2(opConvTranspose, at, r.dout(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do2(opConvWeightGrad, at, r.in(0), r.dout(0)))
			}
		},
		tangent: tangentOfProduct(opConv),
		samples: append(convSamples(func(x, w, _ operand) sample { return on(x, w) }),
			// Elements that no window reaches.
			on(f(2, 2, 8), f(3, 2, 3)).with(attrs{i: 1, ints: [3][]int{{3}, nil, nil}}),
			on(f(1, 2, 6, 4), f(2, 2, 3, 1)).with(attrs{i: 1, ints: [3][]int{{2, 3}, {1, 0, 0, 2}, nil}})),
	})
	define(opConvTranspose, op{name: "conv_transpose", doc: "the adjoint of conv in its images: y·w scattered to o·stride + k·dilation - pad, and added up",
		formula: "dy = conv(g, w), dw = g·y over positions", arity: 2, reads: readsIn(0, 1), params: convParams, prepare: prepareConv,
		cost: func(m *machine) int64 { c, _ := m.transposedOf(); return c.cost() },
		eval: func(m *machine) {
			c, shape := m.transposedOf()
			dst := m.produce(m.layout(m.in[0].l.DType, shape...))
			if dst.l.DType == Float32 {
				convolveBack[float32](m, &c, dst)
			} else {
				convolveBack[float64](m, &c, dst)
			}
		},
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do2(opConv, r.at, r.dout(0), r.in(1)))
			}
			if r.want(1) {
				r.give(1, r.do2(opConvWeightGrad, r.at, r.dout(0), r.in(0)))
			}
		},
		tangent: tangentOfProduct(opConvTranspose),
		samples: append(convSamples(func(_, w, y operand) sample { return on(y, w) }),
			on(f(1, 2, 3), f(2, 2, 2)).with(attrs{i: 1, ints: [3][]int{{2}, {1, 0}, nil}})),
	})
	define(opConvWeightGrad, op{name: "conv_weight_grad", doc: "the gradient of conv's weights (images, cotangent of its output); windows reach the end of the padding",
		formula: "dx = conv_transpose(y, g), dy = conv(x, g)", arity: 2, flags: engineOnly, reads: readsIn(0, 1), params: convParams, prepare: prepareConv,
		cost: func(m *machine) int64 { c, _ := m.weightGradOf(); return c.cost() },
		eval: func(m *machine) {
			c, shape := m.weightGradOf()
			dst := m.produce(m.layout(m.in[0].l.DType, shape...))
			if dst.l.DType == Float32 {
				weightGrad[float32](m, &c, dst)
			} else {
				weightGrad[float64](m, &c, dst)
			}
		},
		grad: func(r *rule) {
			if r.want(0) {
				r.give(0, r.do2(opConvTranspose, r.at, r.in(1), r.dout(0)))
			}
			if r.want(1) {
				r.give(1, r.do2(opConv, r.at, r.in(0), r.dout(0)))
			}
		},
		tangent: tangentOfProduct(opConvWeightGrad),
		samples: convSamples(func(x, _, y operand) sample { return on(x, y) })[:7],
	})
}

// convRoom is room for what the taps of one group see of one image. Where the
// window moves by one element, the images' padded copies and the wide form of
// the smaller image have room of their own (see kernel.Window.Wide).
type convRoom[T float32 | float64] struct {
	col, padded, wide []T
}

func roomFor[T float32 | float64](m *machine, c *convGeometry) (r convRoom[T]) {
	if c.win.Still() || c.n == 0 {
		return r
	}
	dt := m.in[0].l.DType
	if !c.win.Wide() {
		r.col = cellWork[T](m, dt, c.win.Taps()*c.win.Positions())
		return r
	}
	r.col = cellWork[T](m, dt, c.win.Taps()*c.win.WidePositions())
	r.wide = cellWork[T](m, dt, c.o*c.win.WidePositions())
	if c.win.Padded() {
		r.padded = cellWork[T](m, dt, c.win.PaddedSize())
	}
	return r
}

// seen is what the taps see of x, [taps, positions] or wide ones.
func (r *convRoom[T]) seen(x []T, c *convGeometry) []T {
	switch {
	case r.col == nil:
		return x
	case r.wide == nil:
		kernel.Unfold(r.col, x, &c.win)
		return r.col
	case r.padded != nil:
		kernel.Pad(r.padded, x, &c.win)
		x = r.padded
	}
	kernel.UnfoldWide(r.col, x, &c.win)
	return r.col
}

// fold is the adjoint of seen: it writes x.
func (r *convRoom[T]) fold(x []T, c *convGeometry) {
	switch {
	case r.wide == nil:
		kernel.Fold(x, r.col, &c.win)
	case r.padded == nil:
		kernel.FoldWide(x, r.col, &c.win)
	default:
		kernel.FoldWide(r.padded, r.col, &c.win)
		kernel.Crop(x, r.padded, &c.win)
	}
}

// smaller is one group of the smaller image, widened where the columns are.
func (r *convRoom[T]) smaller(y []T, c *convGeometry) (wide []T, n int) {
	if r.wide == nil {
		return y, c.win.Positions()
	}
	kernel.Widen(r.wide, y, c.o, &c.win)
	return r.wide, c.win.WidePositions()
}

// each calls f for each image and group with the offsets of its elements in the
// larger images, the weights and the smaller images.
func (c *convGeometry) each(f func(image, x, w, y int)) {
	large, weights, small := c.win.Size(), c.o*c.win.Taps(), c.o*c.win.Positions()
	for i := range c.n {
		for g := range c.groups {
			f(i, (i*c.groups+g)*large, g*weights, (i*c.groups+g)*small)
		}
	}
}

func convolve[T float32 | float64](m *machine, c *convGeometry, dst ref) {
	x, w, y := denseIn[T](m, 0), denseIn[T](m, 1), dense[T](dst)
	r, taps := roomFor[T](m, c), c.win.Taps()
	c.each(func(_, xAt, wAt, yAt int) {
		seen := r.seen(x[xAt:], c)
		if r.wide == nil {
			p := c.win.Positions()
			kernel.Gemm(c.o, p, taps, w[wAt:], taps, 1, seen, p, 1, y[yAt:], p)
			return
		}
		p := c.win.WidePositions()
		kernel.Gemm(c.o, p, taps, w[wAt:], taps, 1, seen, p, 1, r.wide, p)
		kernel.Narrow(y[yAt:], r.wide, c.o, &c.win)
	})
}

func convolveBack[T float32 | float64](m *machine, c *convGeometry, dst ref) {
	y, w, x := denseIn[T](m, 0), denseIn[T](m, 1), dense[T](dst)
	r, taps := roomFor[T](m, c), c.win.Taps()
	c.each(func(_, xAt, wAt, yAt int) {
		from, p := r.smaller(y[yAt:], c)
		if r.col == nil {
			kernel.Gemm(taps, p, c.o, w[wAt:], 1, taps, from, p, 1, x[xAt:], p)
			return
		}
		kernel.Gemm(taps, p, c.o, w[wAt:], 1, taps, from, p, 1, r.col, p)
		r.fold(x[xAt:], c)
	})
}

func weightGrad[T float32 | float64](m *machine, c *convGeometry, dst ref) {
	x, y, w := denseIn[T](m, 0), denseIn[T](m, 1), dense[T](dst)
	if c.n == 0 {
		clear(w)
		return
	}
	r, taps := roomFor[T](m, c), c.win.Taps()
	sum := cellWork[T](m, dst.l.DType, c.o*taps)
	c.each(func(image, xAt, wAt, yAt int) {
		seen := r.seen(x[xAt:], c)
		from, p := r.smaller(y[yAt:], c)
		to := w[wAt : wAt+c.o*taps]
		if image == 0 {
			kernel.Gemm(c.o, taps, p, from, p, 1, seen, 1, p, to, taps)
			return
		}
		kernel.Gemm(c.o, taps, p, from, p, 1, seen, 1, p, sum, taps)
		kernel.AccAdd(to, sum)
	})
}

// ConvSpec says how a kernel slides. A list has one entry for every spatial
// axis, or a single one that holds for all; left out, Stride and Dilation are
// 1, Pad and OutputPad 0, and Groups 1.
//
// Pad may also have two entries an axis: the padding before each axis, then
// that after each. Groups cut the channels into as many convolutions side by
// side. OutputPad is for ConvTranspose alone: so many more elements at the end
// of each axis.
type ConvSpec struct {
	Stride, Pad, Dilation, OutputPad []int
	Groups                           int
}

func (s *ConvSpec) attrs() *attrs {
	return &attrs{ints: [3][]int{s.Stride, s.Pad, s.Dilation}, i: max(s.Groups, 1)}
}

// Conv is the cross-correlation of x, [n, in, extent...] with one to three
// extents, with w, [out, in/groups, extent...]: [n, out, extent...], where an
// extent is (x + padding - dilation·(w-1) - 1)/stride + 1, rounded down. It
// panics with ErrShape where the kernel is larger than the padded input. A bias
// is added with Add, shaped [out, 1, ...].
func (x *Tensor) Conv(w *Tensor, s ConvSpec) *Tensor {
	if s.OutputPad != nil {
		throw(fail(ErrValue, "conv", "leave it out", "OutputPad is for ConvTranspose"))
	}
	return apply2(opConv, s.attrs(), x, w)
}

// ConvTranspose is the adjoint of Conv in its images: x is [n, in, extent...]
// and w [in, out/groups, extent...], as they stand in Conv for out and in. An
// extent of the result is (x-1)·stride + dilation·(w-1) + 1 - padding +
// OutputPad, which is less than the greater of stride and dilation.
func (x *Tensor) ConvTranspose(w *Tensor, s ConvSpec) *Tensor {
	at := s.attrs()
	if rank := x.Rank() - 2; s.OutputPad != nil && rank >= 1 {
		m := machine{op: &table[opConvTranspose]}
		stride, dilation := m.perAxis("stride", s.Stride, rank, 1, 1), m.perAxis("dilation", s.Dilation, rank, 1, 1)
		pad := m.padding(s.Pad, rank)
		for a, d := range m.perAxis("output pad", s.OutputPad, rank, 0, 0) {
			if d >= max(stride[a], dilation[a]) {
				throw(fail(ErrValue, m.op.name, "use a larger stride", "output padding of %d is not less than stride %d or dilation %d", d, stride[a], dilation[a]))
			}
			pad[rank+a] -= d
		}
		at.ints[1] = pad
	}
	return apply2(opConvTranspose, at, x, w)
}
