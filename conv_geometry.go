package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// convGeometry is a convolution of n images in groups, whichever of its three
// operands is the result.
type convGeometry struct {
	n, groups int
	o         int // output channels of a group; the window has the input channels
	rank      int // spatial axes
	win       kernel.Window
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
