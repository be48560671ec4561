package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

func init() {
	define(opRoll, op{name: "roll", doc: "elements moved along axes, from the end round to the start", formula: "dx = dy, moved back", arity: 1, flags: linear, cost: costEach(0),
		params: []param{{name: "shift", kind: pInts}, {name: "axis", kind: pInts, slot: 1, optional: true, def: "all elements as one axis"}},
		prepare: func(m *machine) {
			shift, axes := m.at.ints[0], m.at.ints[1]
			if axes == nil && len(shift) != 1 || axes != nil && len(shift) != len(axes) {
				throw(fail(ErrValue, m.op.name, "give a shift for each axis", "shifts %s and axes %s", intsText(shift), intsText(axes)))
			}
			if axes == nil {
				return
			}
			resolved := make([]int, len(axes))
			for i, a := range axes {
				resolved[i] = m.axis(a)
			}
			m.at.ints[1] = resolved
		},
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			shape := x.l.Shape
			dst := m.produce(m.like(x))
			if m.at.ints[1] == nil {
				m.turn(dst, x, 1, x.l.N, 1, m.at.ints[0][0])
				return
			}
			if len(m.at.ints[1]) == 0 {
				copyDense(dst, x)
			}
			for i, a := range m.at.ints[1] {
				to := dst
				if i+1 < len(m.at.ints[1]) {
					to = m.scratch(x.l)
				}
				outer, n, inner := block(shape, a)
				m.turn(to, x, outer, n, inner, m.at.ints[0][i])
				x = to
			}
		},
		grad: func(r *rule) {
			back := make([]int, len(r.at.ints[0]))
			for i, s := range r.at.ints[0] {
				back[i] = -s
			}
			r.give(0, r.do1(opRoll, &attrs{ints: [3][]int{back, r.at.ints[1]}}, r.dout(0)))
		},
		samples: []sample{
			on(f(5, 3)).with(attrs{ints: [3][]int{{2}, {0}}}), on(f(2, 3)).with(attrs{ints: [3][]int{{-4}}}), on(f(3, 4)).with(attrs{ints: [3][]int{{1, -1}, {0, -1}}}), on(f(0, 3)).with(attrs{ints: [3][]int{{1}, {0}}}),
		},
	})
}

// turn copies x, [outer, n, inner], with the middle moved up by shift.
func (m *machine) turn(dst, x ref, outer, n, inner, shift int) {
	if n == 0 {
		return
	}
	shift = (shift%n + n) % n
	size := x.l.DType.Size() * inner
	d, v := bytesOf(dst), bytesOf(x)
	for o := range outer {
		to, from := d[o*n*size:(o+1)*n*size], v[o*n*size:(o+1)*n*size]
		copy(to[shift*size:], from[:(n-shift)*size])
		copy(to[:shift*size], from[(n-shift)*size:])
	}
}

// Roll moves the elements by shift along an axis; what falls off the end comes
// in at the start.
func (x *Tensor) Roll(shift, axis int) *Tensor {
	return apply1(opRoll, &attrs{ints: [3][]int{{shift}, {axis}}}, x)
}

func init() {
	define(opTile, op{name: "tile", doc: "x repeated along each axis", formula: "dx = dy, summed over the repeats", arity: 1, flags: linear, cost: costEach(1),
		params: []param{{name: "reps", kind: pInts}},
		prepare: func(m *machine) {
			for _, n := range m.at.ints[0] {
				if n < 0 {
					throw(fail(ErrValue, m.op.name, "repeat 0 times or more", "repeats %s", intsText(m.at.ints[0])))
				}
			}
		},
		eval: func(m *machine) {
			x := m.in[0]
			wide, shape, _ := tiles(x.l.Shape, m.at.ints[0])
			// Each axis becomes two, of which the first has stride 0.
			strides := make([]int, len(wide))
			k := len(shape) - len(x.l.Shape)
			for a, s := range x.l.Strides {
				strides[2*(k+a)+1] = s
			}
			dst := m.produce(m.layout(x.l.DType, shape...))
			flat := dst
			flat.l = m.layout(x.l.DType, wide...)
			x.l = array.Strided(x.l.DType, wide, strides, x.l.Offset)
			copyDense(flat, x)
		},
		grad: func(r *rule) {
			wide, _, reps := tiles(r.shapeIn(0), r.at.ints[0])
			g := r.sumOver(r.reshape(r.dout(0), wide), reps, false)
			r.give(0, r.reshape(g, r.shapeIn(0)))
		},
		samples: []sample{
			on(f(2, 3)).with(attrs{ints: [3][]int{{2, 2}}}), on(f(3)).with(attrs{ints: [3][]int{{2, 1, 2}}}), on(f(2, 3)).with(attrs{ints: [3][]int{{3}}}), on(f()).with(attrs{ints: [3][]int{{2}}}),
			on(f(2)).with(attrs{ints: [3][]int{{0}}}),
		},
	})
}

// tiles is the shape of x tiled, with each axis as two and as one, and which of
// the two are the repeats. Missing repeats, and missing axes, are 1 at the front.
func tiles(x, reps []int) (wide, shape, repeats []int) {
	rank := max(len(x), len(reps))
	shape = []int{}
	for a := range rank {
		n, d := 1, 1
		if k := a - (rank - len(reps)); k >= 0 {
			n = reps[k]
		}
		if k := a - (rank - len(x)); k >= 0 {
			d = x[k]
		}
		wide, shape, repeats = append(wide, n, d), append(shape, n*d), append(repeats, 2*a)
	}
	return wide, shape, repeats
}

// Tile returns x repeated reps times along each axis, as NumPy has it: where
// there are fewer repeats than axes, or the other way round, ones are put in
// front.
func (x *Tensor) Tile(reps ...int) *Tensor {
	return apply1(opTile, &attrs{ints: [3][]int{shapeOrScalar(reps)}}, x)
}

// triangular defines what keeps the elements of the last two axes on one side of
// a diagonal.
func triangular(code opcode, name, doc string, keep func(distance, k int) bool) {
	define(code, op{name: name, doc: doc, formula: "dx = dy there, else 0", arity: 1, flags: linear,
		params: []param{{name: "k", kind: pInt, optional: true, def: "0"}},
		eval: func(m *machine) {
			rows, cols := m.lastTwo()
			x := m.packed(m.in[0])
			dst := m.produce(m.like(x))
			zero(dst)
			if x.l.N == 0 {
				return
			}
			size := x.l.DType.Size()
			d, v := bytesOf(dst), bytesOf(x)
			for at := 0; at < x.l.N; at++ {
				i, j := at/cols%rows, at%cols
				if keep(j-i, m.at.i) {
					copy(d[at*size:(at+1)*size], v[at*size:(at+1)*size])
				}
			}
		},
		grad:    func(r *rule) { r.give(0, r.do1(code, r.at, r.dout(0))) },
		samples: []sample{on(f(3, 4)), on(f(2, 3, 3)).with(attrs{i: -1}), on(f(3, 4)).with(attrs{i: 2}), on(f(0, 3))},
	})
}

// lastTwo throws ErrShape unless operand 0 holds matrices, and returns their
// extents.
func (m *machine) lastTwo() (rows, cols int) {
	shape := m.in[0].l.Shape
	n := len(shape)
	if n < 2 {
		m.misfit("pass two axes or more", "shape %s holds no matrices", array.ShapeString(shape))
	}
	return shape[n-2], shape[n-1]
}

func init() {
	triangular(opTril, "tril", "the last two axes on and below diagonal k, 0 above", func(distance, k int) bool { return distance <= k })
	triangular(opTriu, "triu", "the last two axes on and above diagonal k, 0 below", func(distance, k int) bool { return distance >= k })
}

// Tril returns the matrices of the last two axes with zeros above diagonal k: 0
// is the main diagonal, 1 the one above it, -1 the one below.
func (x *Tensor) Tril(k int) *Tensor { return apply1(opTril, &attrs{i: k}, x) }

// Triu returns the matrices of the last two axes with zeros below diagonal k.
func (x *Tensor) Triu(k int) *Tensor { return apply1(opTriu, &attrs{i: k}, x) }

// along is the layout of the main diagonals of the last two axes.
func along(l *array.Layout) *array.Layout {
	n := len(l.Shape)
	shape := append(append([]int{}, l.Shape[:n-2]...), min(l.Shape[n-2], l.Shape[n-1]))
	strides := append(append([]int{}, l.Strides[:n-2]...), l.Strides[n-2]+l.Strides[n-1])
	return array.Strided(l.DType, shape, strides, l.Offset)
}

func init() {
	define(opDiagonal, op{name: "diagonal", doc: "the main diagonals of the last two axes", formula: "dx = dy on the diagonals, 0 elsewhere", arity: 1, flags: linear | viewing,
		eval: func(m *machine) {
			m.lastTwo()
			m.view(along(m.in[0].l))
		},
		grad:    func(r *rule) { r.give(0, r.do1(opUndiagonal, &attrs{ints: [3][]int{r.shapeIn(0)}}, r.dout(0))) },
		samples: []sample{on(f(3, 3)), on(f(2, 3, 4)), on(f(0, 3))},
	})
	define(opUndiagonal, op{name: "undiagonal", doc: "zeros of a shape, with x on the main diagonals of the last two axes", formula: "dx = the diagonals of dy", arity: 1, flags: linear | engineOnly, cost: costEach(0),
		params: []param{{name: "shape", kind: pInts}},
		eval: func(m *machine) {
			x := m.packed(m.in[0])
			dst := m.produce(m.layout(x.l.DType, m.at.ints[0]...))
			zero(dst)
			l := along(dst.l)
			if x.l.DType == Float32 {
				kernel.ScatterStrided(dense[float32](dst), 0, l.Shape, l.Strides, dense[float32](x))
			} else {
				kernel.ScatterStrided(dense[float64](dst), 0, l.Shape, l.Strides, dense[float64](x))
			}
		},
		grad:    func(r *rule) { r.give(0, r.do1(opDiagonal, nil, r.dout(0))) },
		samples: []sample{on(f(2, 3)).with(attrs{ints: [3][]int{{2, 3, 4}}})},
	})
	define(opTrace, op{name: "trace", doc: "sum of the main diagonal of the last two axes", formula: "dx = dy on the diagonal, 0 elsewhere", arity: 1, flags: linear,
		cost: func(m *machine) int64 { return int64(along(m.in[0].l).N) },
		eval: func(m *machine) {
			m.lastTwo()
			x := m.in[0]
			m.floats(x)
			x.l = along(x.l)
			n := x.l.Shape[len(x.l.Shape)-1]
			outer := x.l.Shape[:len(x.l.Shape)-1]
			x = m.packed(x)
			dst := m.produce(m.layout(x.l.DType, outer...))
			if x.l.DType == Float32 {
				kernel.Sum(dense[float32](dst), dense[float32](x), dst.l.N, n, 1)
			} else {
				kernel.Sum(dense[float64](dst), dense[float64](x), dst.l.N, n, 1)
			}
		},
		grad: func(r *rule) {
			shape := r.shapeIn(0)
			n := len(shape)
			part := append(append([]int{}, shape[:n-2]...), min(shape[n-2], shape[n-1]))
			dy := r.spread(r.reshape(r.dout(0), append(append([]int{}, shape[:n-2]...), 1)), part)
			r.give(0, r.do1(opUndiagonal, &attrs{ints: [3][]int{shape}}, dy))
		},
		samples: []sample{on(f(3, 3)), on(f(2, 3, 4)), on(f(2, 0, 3))},
	})
}

// Diagonal returns a view of the main diagonals of the last two axes, as one
// axis.
func (x *Tensor) Diagonal() *Tensor { return apply1(opDiagonal, nil, x) }

// Trace returns the sum of the main diagonal of the last two axes.
func (x *Tensor) Trace() *Tensor { return apply1(opTrace, nil, x) }
