package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
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

// convGeometry is a convolution of n images in groups, whichever of its three
// operands is the result.
type convGeometry struct {
	n, groups int
	o         int // output channels of a group; the window has the input channels
	rank      int // spatial axes
	win       kernel.Window
}

var convParams = []param{
	{name: "stride", kind: pInts, slot: 0, optional: true, def: "1"},
	{name: "pad", kind: pInts, slot: 1, optional: true, def: "0"},
	{name: "dilation", kind: pInts, slot: 2, optional: true, def: "1"},
	{name: "groups", kind: pInt, optional: true, def: "1"},
}

// prepareConv spells the attributes out: a stride and a dilation an axis, and
// the padding before each axis, then that after each.
func prepareConv(m *machine) {
	rank := len(m.in[0].l.Shape) - 2
	if rank < 1 || rank > 3 || len(m.in[1].l.Shape) != rank+2 {
		m.misfit("images are [n, channels, extent...] with one to three extents, and weights have as many axes",
			"shapes %s do not fit", m.shapesText())
	}
	m.floats(m.in[0], m.in[1])
	m.sameDType(0, 1)
	m.at.ints[0] = m.perAxis("stride", m.at.ints[0], rank, 1, 1)
	m.at.ints[1] = m.padding(m.at.ints[1], rank)
	m.at.ints[2] = m.perAxis("dilation", m.at.ints[2], rank, 1, 1)
	if m.at.i < 1 {
		throw(fail(ErrValue, m.op.name, "groups count from 1", "%d groups", m.at.i))
	}
}

// perAxis spells a list out for each spatial axis: none is the default, one
// entry holds for all.
func (m *machine) perAxis(name string, v []int, rank, def, least int) []int {
	out := make([]int, rank)
	switch len(v) {
	case 0:
		for i := range out {
			out[i] = def
		}
	case 1:
		for i := range out {
			out[i] = v[0]
		}
	case rank:
		copy(out, v)
	default:
		throw(fail(ErrValue, m.op.name, "give one number, or one an axis", "%s has %d entries for %d axes", name, len(v), rank))
	}
	for _, d := range out {
		if d < least {
			throw(fail(ErrValue, m.op.name, "see the method's comment", "%s %s", name, array.ShapeString(v)))
		}
	}
	return out
}

// padding spells the padding out: before each axis, then after each.
func (m *machine) padding(v []int, rank int) []int {
	if len(v) == 2*rank {
		return append([]int{}, v...)
	}
	before := m.perAxis("pad", v, rank, 0, 0)
	return append(before, before...)
}

// place sets one spatial axis of the window, counted from the left.
func (c *convGeometry) place(a, in, k, out int, at *attrs) {
	i := 3 - c.rank + a
	c.win.In[i], c.win.Kernel[i], c.win.Out[i] = in, k, out
	c.win.Stride[i], c.win.Before[i], c.win.Dilate[i] = at.ints[0][a], at.ints[1][a], at.ints[2][a]
}

// span is what the windows of an axis cover from the first tap to the last.
func span(at *attrs, a, k, out int) int { return (out-1)*at.ints[0][a] + (k-1)*at.ints[2][a] + 1 }

func (m *machine) newConv(n int) convGeometry {
	one := [3]int{1, 1, 1}
	return convGeometry{n: n, groups: m.at.i, rank: len(m.at.ints[0]),
		win: kernel.Window{In: one, Kernel: one, Stride: one, Dilate: one, Out: one}}
}

// grouped checks that channels fall into groups.
func (m *machine) grouped(channels int) int {
	if channels%m.at.i != 0 {
		m.misfit("groups divide the channels", "%d channels do not fall into %d groups (shapes %s)", channels, m.at.i, m.shapesText())
	}
	return channels / m.at.i
}

// convOf is the geometry of conv on x and w.
func (m *machine) convOf() (convGeometry, []int) {
	x, w := m.in[0].l.Shape, m.in[1].l.Shape
	c := m.newConv(x[0])
	c.win.Channels, c.o = m.grouped(x[1]), m.grouped(w[0])
	if w[1] != c.win.Channels {
		m.misfit("weights are [out, in/groups, extent...]", "weights of %d channels meet groups of %d (shapes %s)", w[1], c.win.Channels, m.shapesText())
	}
	shape := []int{x[0], w[0]}
	for a := range c.rank {
		in, k := x[2+a], w[2+a]
		room := in + m.at.ints[1][a] + m.at.ints[1][c.rank+a] - (k-1)*m.at.ints[2][a] - 1
		if room < 0 || k < 1 {
			m.misfit("pad the input, or use a smaller kernel", "a kernel of extent %d with dilation %d does not fit into an extent of %d padded by %d and %d",
				k, m.at.ints[2][a], in, m.at.ints[1][a], m.at.ints[1][c.rank+a])
		}
		out := room/m.at.ints[0][a] + 1
		c.place(a, in, k, out, m.at)
		shape = append(shape, out)
	}
	return c, shape
}

// transposedOf is the geometry of conv_transpose on y and w.
func (m *machine) transposedOf() (convGeometry, []int) {
	y, w := m.in[0].l.Shape, m.in[1].l.Shape
	c := m.newConv(y[0])
	c.o, c.win.Channels = m.grouped(y[1]), w[1]
	if w[0] != y[1] {
		m.misfit("weights are [in, out/groups, extent...]", "weights of %d channels meet %d (shapes %s)", w[0], y[1], m.shapesText())
	}
	shape := []int{y[0], w[1] * m.at.i}
	for a := range c.rank {
		out, k := y[2+a], w[2+a]
		in := span(m.at, a, k, out) - m.at.ints[1][a] - m.at.ints[1][c.rank+a]
		if in < 0 || k < 1 || out < 1 {
			m.misfit("crop less", "padding of %d and %d crops more than the %d elements that there are", m.at.ints[1][a], m.at.ints[1][c.rank+a], span(m.at, a, k, out))
		}
		c.place(a, in, k, out, m.at)
		shape = append(shape, in)
	}
	return c, shape
}

// weightGradOf is the geometry of conv_weight_grad on x and y.
func (m *machine) weightGradOf() (convGeometry, []int) {
	x, y := m.in[0].l.Shape, m.in[1].l.Shape
	c := m.newConv(x[0])
	c.win.Channels, c.o = m.grouped(x[1]), m.grouped(y[1])
	if x[0] != y[0] {
		m.misfit("both are of the same images", "shapes %s do not fit", m.shapesText())
	}
	shape := []int{y[1], c.win.Channels}
	for a := range c.rank {
		reach := x[2+a] + m.at.ints[1][a] + m.at.ints[1][c.rank+a] - span(m.at, a, 1, y[2+a])
		if reach < 0 || reach%m.at.ints[2][a] != 0 {
			m.misfit("take the elements that no window reaches from the padding after", "no kernel takes %d elements to %d", x[2+a], y[2+a])
		}
		k := reach/m.at.ints[2][a] + 1
		c.place(a, x[2+a], k, y[2+a], m.at)
		shape = append(shape, k)
	}
	return c, shape
}

func (c *convGeometry) cost() int64 {
	return int64(c.n) * int64(c.groups) * int64(c.o) * int64(c.win.Taps()) * int64(c.win.Positions())
}

// exact are the attributes of a convolution of these extents whose windows
// reach the end of the padded input.
func (r *rule) exact(in, k, out []int) *attrs {
	at := *r.at
	rank := len(at.ints[0])
	pad := append([]int{}, at.ints[1]...)
	for a := range rank {
		pad[rank+a] = span(&at, a, k[2+a], out[2+a]) - in[2+a] - pad[a]
	}
	at.ints[1] = pad
	return &at
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
