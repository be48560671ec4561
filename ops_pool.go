package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// poolGeometry is a window that slides over planes.
type poolGeometry struct {
	planes int
	rank   int
	after  [3]int
	win    kernel.Window
	shape  []int // of the result
}

var poolParams = []param{
	{name: "kernel", kind: pInts, slot: 0},
	{name: "stride", kind: pInts, slot: 1, optional: true, def: "kernel"},
	{name: "pad", kind: pInts, slot: 2, optional: true, def: "0"},
	{name: "ceil", kind: pBool, optional: true, def: "false"},
}

// preparePool spells the attributes out: a kernel and a stride an axis, and the
// padding before each axis, then that after each.
func preparePool(m *machine) {
	rank := len(m.in[0].l.Shape) - 2
	if rank < 1 || rank > 3 {
		m.misfit("images are [n, channels, extent...] with one to three extents", "shape %s does not fit", array.ShapeString(m.in[0].l.Shape))
	}
	m.floats(m.in[0])
	kernel, stride := m.at.ints[0], m.at.ints[1]
	if len(kernel) == 0 {
		throw(fail(ErrValue, m.op.name, "give the window's extents", "there is no kernel"))
	}
	if len(stride) == 0 {
		stride = kernel
	}
	m.at.ints[0] = m.perAxis("kernel", kernel, rank, 1, 1)
	m.at.ints[1] = m.perAxis("stride", stride, rank, 1, 1)
	m.at.ints[2] = m.padding(m.at.ints[2], rank)
}

// preparePublicPool also keeps windows from lying in the padding alone.
func preparePublicPool(m *machine) {
	preparePool(m)
	rank := len(m.at.ints[0])
	for i, p := range m.at.ints[2] {
		if k := m.at.ints[0][i%rank]; p < 0 || 2*p > k {
			throw(fail(ErrValue, m.op.name, "padding is at most half the kernel", "padding of %d for a kernel of extent %d", p, k))
		}
	}
}

// pooled is the geometry of a pool of images of x's shape.
func (m *machine) pooled(x []int) poolGeometry {
	one := [3]int{1, 1, 1}
	g := poolGeometry{planes: x[0] * x[1], rank: len(m.at.ints[0]), shape: append([]int{}, x[:2]...),
		win: kernel.Window{Channels: 1, In: one, Kernel: one, Stride: one, Dilate: one, Out: one}}
	for a := range g.rank {
		in, k, s, before, after := x[2+a], m.at.ints[0][a], m.at.ints[1][a], m.at.ints[2][a], m.at.ints[2][g.rank+a]
		room := in + before + after - k
		if room < 0 {
			m.misfit("pad the input, or use a smaller kernel", "a window of extent %d does not fit into an extent of %d padded by %d and %d", k, in, before, after)
		}
		out := room/s + 1
		// A window that only ceil lets in still begins in the image or in the
		// padding before it.
		if m.at.b && room%s != 0 && out*s < in+before {
			out++
		}
		g.place(a, in, out, m.at)
		g.shape = append(g.shape, out)
	}
	return g
}

func (g *poolGeometry) place(a, in, out int, at *attrs) {
	i := 3 - g.rank + a
	g.win.In[i], g.win.Out[i] = in, out
	g.win.Kernel[i], g.win.Stride[i], g.win.Before[i] = at.ints[0][a], at.ints[1][a], at.ints[2][a]
	g.after[i] = at.ints[2][g.rank+a]
}

func (g *poolGeometry) taps() int64 {
	return int64(g.win.Taps())
}

func costPool(m *machine) int64 {
	g := m.pooled(m.in[0].l.Shape)
	return g.taps() * int64(m.out[0].l.N)
}

func poolSamples(draw func(shape ...int) operand, more ...sample) []sample {
	at := func(kernel, stride, pad []int, ceil bool) attrs {
		return attrs{ints: [3][]int{kernel, stride, pad}, b: ceil}
	}
	return append([]sample{
		on(draw(2, 3, 6)).with(at([]int{2}, nil, nil, false)),
		on(draw(1, 2, 4, 5)).with(at([]int{2}, []int{1}, nil, false)),
		on(draw(1, 1, 3, 3)).with(at([]int{2}, []int{2}, []int{1}, false)),
		on(draw(2, 1, 5, 4)).with(at([]int{3, 2}, []int{2, 3}, []int{1, 0}, true)),
		on(draw(1, 1, 2, 3, 4)).with(at([]int{1, 2, 2}, nil, nil, true)),
		on(draw(0, 2, 4)).with(at([]int{2}, nil, nil, false)),
	}, more...)
}

func init() {
	define(opMaxPool, op{name: "max_pool", doc: "largest element of each window, and where it lies in its plane", formula: "dx = dy at the places, added up", arity: 1, outs: 2,
		reads: readsOut(1), params: poolParams, prepare: preparePublicPool, cost: costPool,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			g := m.pooled(x.l.Shape)
			dst, place := m.produce(m.layout(x.l.DType, g.shape...)), m.produce(m.layout(Int64, g.shape...))
			if x.l.DType == Float32 {
				kernel.MaxPool(dense[float32](dst), dense[int64](place), dense[float32](x), g.planes, &g.win)
			} else {
				kernel.MaxPool(dense[float64](dst), dense[int64](place), dense[float64](x), g.planes, &g.win)
			}
		},
		grad: func(r *rule) {
			if r.has(0) {
				r.give(0, r.do2(opPoolPut, &attrs{ints: [3][]int{r.shapeIn(0)[2:]}}, r.dout(0), r.out(1)))
			}
		},
		tangent: func(r *rule) { r.makes(0, r.do2(opPoolTake, nil, r.tan(0), r.out(1))) },
		samples: poolSamples(f),
	})
	define(opPoolTake, op{name: "pool_take", doc: "elements of each plane at places of it (x, places)", formula: "dx = dy put at the places", arity: 2, flags: linear | engineOnly,
		nograd: readsIn(1), reads: readsIn(1), cost: costEach(1),
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			m.floats(x)
			planes, in, out, places := m.places(x.l.Shape)
			dst := m.produce(m.layout(x.l.DType, m.in[1].l.Shape...))
			if x.l.DType == Float32 {
				kernel.PoolTake(dense[float32](dst), dense[float32](x), places, planes, in, out)
			} else {
				kernel.PoolTake(dense[float64](dst), dense[float64](x), places, planes, in, out)
			}
		},
		grad: func(r *rule) {
			r.give(0, r.do2(opPoolPut, &attrs{ints: [3][]int{r.shapeIn(0)[2:]}}, r.dout(0), r.in(1)))
		},
		samples: []sample{on(f(2, 3, 4, 2), below(8, 2, 3, 3)), on(f(0, 3, 4), below(4, 0, 3, 2))},
	})
	define(opPoolPut, op{name: "pool_put", doc: "planes of zeros with x added at places (x, places)", formula: "dx = dy taken at the places", arity: 2, flags: linear | engineOnly,
		nograd: readsIn(1), reads: readsIn(1), params: []param{{name: "extents", kind: pInts}}, cost: costIn(1),
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			m.floats(x)
			shape := append(append([]int{}, x.l.Shape[:min(2, len(x.l.Shape))]...), m.at.ints[0]...)
			planes, in, out, places := m.places(shape)
			dst := m.produce(m.layout(x.l.DType, shape...))
			if x.l.DType == Float32 {
				kernel.PoolPut(dense[float32](dst), dense[float32](x), places, planes, in, out)
			} else {
				kernel.PoolPut(dense[float64](dst), dense[float64](x), places, planes, in, out)
			}
		},
		grad: func(r *rule) { r.give(0, r.do2(opPoolTake, nil, r.dout(0), r.in(1))) },
		samples: []sample{
			on(f(2, 3, 3), below(8, 2, 3, 3)).with(attrs{ints: [3][]int{{4, 2}}}),
			on(f(0, 3, 2), below(4, 0, 3, 2)).with(attrs{ints: [3][]int{{4}}}),
		},
	})
}

// places checks places in the planes of images of a shape, and returns how many
// planes there are and how many elements and places each has.
func (m *machine) places(shape []int) (planes, in, out int, places []int64) {
	m.needs(1, Int64)
	index := m.in[1].l.Shape
	if len(shape) < 2 || len(index) < 2 || shape[0] != index[0] || shape[1] != index[1] {
		m.misfit("both are [n, channels, ...]", "shapes %s do not fit", m.shapesText())
	}
	planes = shape[0] * shape[1]
	in, out = 1, 1
	for _, d := range shape[2:] {
		in *= d
	}
	for _, d := range index[2:] {
		out *= d
	}
	places = dense[int64](m.packed(m.in[1]))
	for k, v := range places {
		if v < -1 || v >= int64(in) {
			throw(fail(ErrIndex, m.op.name, "places count from 0", "place %d (element %d) in planes of %d elements", v, k, in))
		}
	}
	return planes, in, out, places
}

var avgPoolParams = append(append([]param{}, poolParams...), param{name: "divisor", kind: pWord, words: []string{"window", "real"}, optional: true, def: "window"})

// realDivisor is the word that counts only elements that are not padding.
const realDivisor = 1

func init() {
	define(opAvgPool, op{name: "avg_pool", doc: "mean of each window", formula: "dx = dy/divisor, spread over the windows and added up", arity: 1, flags: linear,
		params: avgPoolParams, prepare: preparePublicPool, cost: costPool,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			g := m.pooled(x.l.Shape)
			dst := m.produce(m.layout(x.l.DType, g.shape...))
			share := m.scratch(m.layout(x.l.DType, g.win.Positions()))
			if x.l.DType == Float32 {
				avgPool[float32](dst, x, share, &g, m.at)
			} else {
				avgPool[float64](dst, x, share, &g, m.at)
			}
		},
		grad: func(r *rule) {
			in := r.shapeIn(0)[2:]
			m := machine{op: r.op, at: r.at}
			g := m.pooled(r.shapeIn(0))
			share := New(make([]float64, g.win.Positions()), g.shape[2:]...)
			kernel.PoolShare(array.Slice[float64](share.val.st.p, share.Len()), g.after, r.at.i != realDivisor, &g.win)
			dy := r.div(r.dout(0), r.constant(share.Cast(r.layoutIn(0).DType)))
			at := attrs{ints: [3][]int{r.at.ints[0], r.at.ints[1], exactPool(r.at, in, g.shape[2:])}}
			r.give(0, r.do1(opSpreadPool, &at, dy))
		},
		samples: poolSamples(f,
			on(f(1, 1, 3, 3)).with(attrs{ints: [3][]int{{2}, {2}, {1}}, i: realDivisor}),
			on(f(2, 1, 5)).with(attrs{ints: [3][]int{{2}, nil, nil}, b: true})),
	})
	define(opSumPool, op{name: "sum_pool", doc: "sum of each window; padding may be negative", formula: "dx = dy spread over the windows", arity: 1, flags: linear | engineOnly,
		params: poolParams, prepare: preparePool, cost: costPool,
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			g := m.pooled(x.l.Shape)
			dst := m.produce(m.layout(x.l.DType, g.shape...))
			if x.l.DType == Float32 {
				kernel.SumPool(dense[float32](dst), dense[float32](x), g.planes, &g.win)
			} else {
				kernel.SumPool(dense[float64](dst), dense[float64](x), g.planes, &g.win)
			}
		},
		grad: func(r *rule) {
			at := attrs{ints: [3][]int{r.at.ints[0], r.at.ints[1], exactPool(r.at, r.shapeIn(0)[2:], r.shapeOut(0)[2:])}}
			r.give(0, r.do1(opSpreadPool, &at, r.dout(0)))
		},
		samples: poolSamples(f),
	})
	define(opSpreadPool, op{name: "spread_pool", doc: "each element added to all that its window sees; windows reach the end of the padding", formula: "dx = sum of dy's windows", arity: 1, flags: linear | engineOnly,
		params: poolParams, prepare: preparePool,
		cost: func(m *machine) int64 { g := m.spreadOf(); return g.taps() * int64(m.in[0].l.N) },
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			g := m.spreadOf()
			dst := m.produce(m.layout(x.l.DType, g.shape...))
			if x.l.DType == Float32 {
				kernel.SpreadPool(dense[float32](dst), dense[float32](x), g.planes, &g.win)
			} else {
				kernel.SpreadPool(dense[float64](dst), dense[float64](x), g.planes, &g.win)
			}
		},
		grad: func(r *rule) { r.give(0, r.do1(opSumPool, r.at, r.dout(0))) },
		samples: []sample{
			on(f(2, 3, 3)).with(attrs{ints: [3][]int{{2}, {2}, {1, 0}}}), on(f(1, 1, 2, 2)).with(attrs{ints: [3][]int{{2, 3}, {1, 2}, nil}}),
			on(f(1, 1, 3)).with(attrs{ints: [3][]int{{2}, {2}, {0, -1}}}),
		},
	})
}

// exactPool is the padding with which the windows reach the end of the padded
// input.
func exactPool(at *attrs, in, out []int) []int {
	pad := append([]int{}, at.ints[2]...)
	for a := range in {
		pad[len(in)+a] = (out[a]-1)*at.ints[1][a] + at.ints[0][a] - in[a] - pad[a]
	}
	return pad
}

// spreadOf is the geometry of spread_pool: its operand has an element for each
// window.
func (m *machine) spreadOf() poolGeometry {
	y := m.in[0].l.Shape
	one := [3]int{1, 1, 1}
	g := poolGeometry{planes: y[0] * y[1], rank: len(m.at.ints[0]), shape: append([]int{}, y[:2]...),
		win: kernel.Window{Channels: 1, In: one, Kernel: one, Stride: one, Dilate: one, Out: one}}
	for a := range g.rank {
		in := (y[2+a]-1)*m.at.ints[1][a] + m.at.ints[0][a] - m.at.ints[2][a] - m.at.ints[2][g.rank+a]
		if in < 0 {
			m.misfit("crop less", "padding of %d and %d crops more than there is", m.at.ints[2][a], m.at.ints[2][g.rank+a])
		}
		g.place(a, in, y[2+a], m.at)
		g.shape = append(g.shape, in)
	}
	return g
}

func avgPool[T float32 | float64](dst, x, share ref, g *poolGeometry, at *attrs) {
	d, s := dense[T](dst), dense[T](share)
	kernel.SumPool(d, dense[T](x), g.planes, &g.win)
	kernel.PoolShare(s, g.after, at.i != realDivisor, &g.win)
	for ; len(d) > 0; d = d[len(s):] {
		kernel.Div(d[:len(s)], d[:len(s)], s)
	}
}

// PoolSpec says how a pool's window slides. Kernel, Stride and Pad have one
// entry for every spatial axis, or a single one that holds for all; left out,
// Stride is Kernel and Pad is 0. Pad, at most half the kernel, may also have two
// entries an axis: the padding before each axis, then that after each. Ceil
// lets windows in that reach beyond the padded input, as long as they begin in
// the input or in the padding before it.
type PoolSpec struct {
	Kernel, Stride, Pad []int
	Ceil                bool
	ExcludePad          bool // AvgPool divides by the number of elements that are not padding
}

func (s *PoolSpec) attrs() *attrs {
	return &attrs{ints: [3][]int{s.Kernel, s.Stride, s.Pad}, b: s.Ceil}
}

// MaxPool is the largest element of each window of x, [n, channels, extent...]
// with one to three extents. Padding counts as -Inf. The gradient goes to the
// first of several largest elements in row-major order, and NaN is larger than
// all. Output extents are (x + padding - kernel)/stride + 1, rounded down or,
// with Ceil, up.
func (x *Tensor) MaxPool(s PoolSpec) *Tensor {
	y, _ := x.MaxPoolPlaces(s)
	return y
}

// MaxPoolPlaces is MaxPool that also returns where each window's largest element
// lies (int64): its row-major position in its plane of x, an image's channel.
func (x *Tensor) MaxPoolPlaces(s PoolSpec) (y, places *Tensor) {
	out := applyAll(opMaxPool, s.attrs(), []*Tensor{x})
	return out[0], out[1]
}

// AvgPool is the mean of each window of x, [n, channels, extent...] with one to
// three extents. A window's sum is divided by the elements that it has in the
// padded input (those beyond, which only Ceil lets in, do not count), or with
// ExcludePad in the input itself.
func (x *Tensor) AvgPool(s PoolSpec) *Tensor {
	at := s.attrs()
	if s.ExcludePad {
		at.i = realDivisor
	}
	return apply1(opAvgPool, at, x)
}
