package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// sumGrad gives an equation's operands their cotangents: the equation with dy in
// the operand's place, laid out as the operand is.
func (r *rule) sumGrad(e *equation) {
	dy := r.dout(0)
	shapes := [2][]int{}
	ext := map[rune]int{}
	for i, labels := range e.in {
		shapes[i] = r.shapeIn(i)
		for a, c := range labels {
			if d, seen := ext[c]; !seen || d == 1 {
				ext[c] = shapes[i][a]
			}
		}
	}
	for i, labels := range e.in {
		if !r.want(i) {
			continue
		}
		g, have := dy, e.out
		if len(e.in) == 2 {
			other := e.own(1-i, shapes[1-i], ext)
			have = []rune{}
			for _, c := range e.own(i, shapes[i], ext) {
				if slices.Contains(e.out, c) || slices.Contains(other, c) {
					have = append(have, c)
				}
			}
			part := &equation{in: [][]rune{e.out, e.in[1-i]}, out: have}
			g = r.do2(opEinsum, &attrs{ints: [3][]int{2: part.runes()}}, dy, r.in(1-i))
		}
		if !slices.Equal(have, labels) {
			at := &attrs{ints: [3][]int{intsOf(string(labels)), intsOf(string(have)), shapes[i]}}
			g = r.do1(opEinsumSpread, at, g)
		}
		r.give(i, g)
	}
}

func (r *rule) sumTangent(e *equation) {
	at := &attrs{ints: [3][]int{2: e.runes()}}
	if len(e.in) == 1 {
		r.makes(0, r.do1(opEinsum, at, r.tan(0)))
		return
	}
	var t ref
	if r.hasTan(0) {
		t = r.do2(opEinsum, at, r.tan(0), r.in(1))
	}
	if r.hasTan(1) {
		u := r.do2(opEinsum, at, r.in(0), r.tan(1))
		if t.l != nil {
			u = r.add(t, u)
		}
		t = u
	}
	r.makes(0, t)
}

func eq(text string) attrs { return attrs{ints: [3][]int{2: intsOf(text)}} }

func init() {
	define(opEinsum, op{name: "einsum", doc: "Einstein summation of one or two tensors", formula: "each operand's cotangent is a summation with dy in its place", arity: -1, reads: readsIn(0, 1),
		params: []param{{name: "eq", kind: pText, slot: 2}},
		prepare: func(m *machine) {
			if len(m.in) > 2 {
				throw(fail(ErrUnsupported, m.op.name, "use Einsum, which takes two at a time", "%d operands at once", len(m.in)))
			}
			ranks := make([]int, len(m.in))
			for i, x := range m.in {
				ranks[i] = len(x.l.Shape)
			}
			m.at.ints[2] = parseEquation(m.op.name, string(runesOf(m.at.ints[2])), ranks).runes()
		},
		cost:    func(m *machine) int64 { return costSum(m, equationOf(m.at.ints[2])) },
		eval:    func(m *machine) { m.sum(equationOf(m.at.ints[2])) },
		grad:    func(r *rule) { r.sumGrad(equationOf(r.at.ints[2])) },
		tangent: func(r *rule) { r.sumTangent(equationOf(r.at.ints[2])) },
		samples: []sample{
			on(f(3, 4), f(4, 2)).with(eq("ij,jk->ik")), on(f(2, 3, 4), f(2, 5, 4)).with(eq("bij,bkj->kbi")), on(f(3, 3)).with(eq("ii->i")),
			on(f(2, 2, 3)).with(eq("iij->ij")), on(f(2, 3), f(2)).with(eq("ij,k->k")), on(f(2, 3), f(2, 3)).with(eq("ij,ij->i")),
			on(f(2, 1, 3, 4), f(5, 4, 2)).with(eq("...ij,...jk->...ik")), on(f(3, 4)).with(eq("ba")), on(f(3), f(2)).with(eq("i,j->")),
			on(f(3, 3), f(3)).with(eq("ii,i")), on(f(1, 3), f(2, 3)).with(eq("ij,ij->j")), on(f(0, 3), f(3, 2)).with(eq("ij,jk->ik")),
			on(f(3, 0), f(0, 2)).with(eq("ij,jk->ik")), on(f(), f(2)).with(eq(",i->i")), on(f(2, 3)).with(eq("ij->")),
		},
	})
	define(opEinsumSpread, op{name: "einsum_spread", doc: "x laid out by labels: along diagonals, and spread over axes that it lacks", formula: "dx = the summation of dy that goes back", arity: 1, flags: linear | engineOnly,
		params: []param{{name: "labels", kind: pText}, {name: "from", kind: pText, slot: 1}, {name: "shape", kind: pInts, slot: 2}},
		cost: func(m *machine) int64 {
			n := int64(1)
			labels := runesOf(m.at.ints[0])
			for a, c := range labels {
				if slices.Index(labels, c) == a {
					n *= int64(m.at.ints[2][a])
				}
			}
			if n == int64(m.in[0].l.N) {
				return 0
			}
			return n
		},
		eval: func(m *machine) {
			x := m.in[0]
			labels, from, shape := runesOf(m.at.ints[0]), runesOf(m.at.ints[1]), m.at.ints[2]
			dst := m.produce(m.layout(x.l.DType, shape...))
			zero(dst)
			var ext, to, at []int
			for a, c := range labels {
				if k := slices.Index(labels, c); k < a {
					// The axis goes along with the first of its label.
					to[slices.Index(firsts(labels[:a]), c)] += dst.l.Strides[a]
					continue
				}
				stride := 0
				if k := slices.Index(from, c); k >= 0 {
					stride = x.l.Strides[k]
				}
				ext, to, at = append(ext, shape[a]), append(to, dst.l.Strides[a]), append(at, stride)
			}
			x.l = array.Strided(x.l.DType, ext, at, x.l.Offset)
			if x.l.N == 0 {
				return
			}
			x = m.packed(x)
			if x.l.DType == Float32 {
				kernel.ScatterStrided(dense[float32](dst), 0, ext, to, dense[float32](x))
			} else {
				kernel.ScatterStrided(dense[float64](dst), 0, ext, to, dense[float64](x))
			}
		},
		grad: func(r *rule) {
			back := &equation{in: [][]rune{runesOf(r.at.ints[0])}, out: runesOf(r.at.ints[1])}
			r.give(0, r.do1(opEinsum, &attrs{ints: [3][]int{2: back.runes()}}, r.dout(0)))
		},
		samples: []sample{on(f(3, 2)).with(attrs{ints: [3][]int{intsOf("ijkj"), intsOf("jk"), {2, 3, 2, 3}}}), on(f(2, 3)).with(attrs{ints: [3][]int{intsOf("ji"), intsOf("ij"), {3, 2}}})},
	})
}

// firsts are the labels, each once.
func firsts(labels []rune) []rune {
	var out []rune
	for _, c := range labels {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// Einsum returns the Einstein summation of tensors: eq names the axes of each
// operand by letters, as in "ij,jk->ik", and after the arrow those of the
// result; other letters are summed over, a letter that one operand has twice
// takes its diagonal, and "..." stands for axes that are not named and
// broadcast, as do extents of 1. Without an arrow the result has the axes of
// "..." and then, in alphabetical order, the letters that come once. Of more
// than two operands the first two are contracted first, and so on. It panics with
// ErrValue for an equation that says nothing, and with ErrShape where extents
// differ.
func Einsum(eq string, xs ...*Tensor) *Tensor {
	mustSome("einsum", xs)
	if len(xs) <= 2 {
		return apply(opEinsum, &attrs{ints: [3][]int{2: intsOf(eq)}}, xs)
	}
	ranks := make([]int, len(xs))
	for i, x := range xs {
		if x == nil {
			throw(fail(ErrValue, "einsum", "pass a tensor", "operand %d is nil", i))
		}
		ranks[i] = x.Rank()
	}
	e := parseEquation("einsum", eq, ranks)
	y, labels := xs[0], e.in[0]
	for i := 1; i < len(xs); i++ {
		step := &equation{in: [][]rune{labels, e.in[i]}, out: e.out}
		if later := slices.Concat(e.in[i+1:]...); i+1 < len(xs) {
			step.out = nil
			for _, c := range firsts(slices.Concat(labels, e.in[i])) {
				if slices.Contains(later, c) || slices.Contains(e.out, c) {
					step.out = append(step.out, c)
				}
			}
		}
		y = apply(opEinsum, &attrs{ints: [3][]int{2: step.runes()}}, []*Tensor{y, xs[i]})
		labels = step.out
	}
	return y
}

var outerEquation = &equation{in: [][]rune{{'i'}, {'j'}}, out: []rune{'i', 'j'}}

func init() {
	define(opOuter, op{name: "outer", doc: "products of each element of a with each of b", formula: "da = dy·b, db = aᵀ·dy", arity: 2, reads: readsIn(0, 1),
		cost: func(m *machine) int64 { return costSum(m, outerEquation) },
		eval: func(m *machine) {
			if len(m.in[0].l.Shape) != 1 || len(m.in[1].l.Shape) != 1 {
				m.misfit("pass two vectors", "shapes %s are not of one axis each", m.shapesText())
			}
			m.sum(outerEquation)
		},
		grad:    func(r *rule) { r.sumGrad(outerEquation) },
		tangent: func(r *rule) { r.sumTangent(outerEquation) },
		samples: []sample{on(f(3), f(4)), on(f(0), f(2)), on(f(1), f(3))},
	})
	define(opTensordot, op{name: "tensordot", doc: "products summed over pairs of axes of a and b", formula: "each operand's cotangent is a tensordot of dy and the other", arity: 2, reads: readsIn(0, 1),
		params: []param{{name: "axes_a", kind: pInts}, {name: "axes_b", kind: pInts, slot: 1}},
		prepare: func(m *machine) {
			a, b := m.in[0].l.Shape, m.in[1].l.Shape
			if len(m.at.ints[0]) != len(m.at.ints[1]) {
				throw(fail(ErrValue, m.op.name, "pair the axes", "axes %s and %s", intsText(m.at.ints[0]), intsText(m.at.ints[1])))
			}
			labels := freshLabels(nil, len(a)+len(b))
			la, lb := slices.Clone(labels[:len(a)]), slices.Clone(labels[len(a):])
			var gone []rune
			for i := range m.at.ints[0] {
				j, k := axisOf(m.op.name, m.at.ints[0][i], len(a)), axisOf(m.op.name, m.at.ints[1][i], len(b))
				if slices.Contains(gone, la[j]) || lb[k] != labels[len(a)+k] {
					throw(fail(ErrValue, m.op.name, "name each axis once", "axes %s and %s", intsText(m.at.ints[0]), intsText(m.at.ints[1])))
				}
				if a[j] != b[k] {
					m.misfit("paired axes have one extent", "axis %d of %s and axis %d of %s differ", j, array.ShapeString(a), k, array.ShapeString(b))
				}
				lb[k] = la[j]
				gone = append(gone, la[j])
			}
			e := &equation{in: [][]rune{la, lb}}
			for _, c := range slices.Concat(la, lb) {
				if !slices.Contains(gone, c) {
					e.out = append(e.out, c)
				}
			}
			m.at.ints[2] = e.runes()
		},
		cost:    func(m *machine) int64 { return costSum(m, equationOf(m.at.ints[2])) },
		eval:    func(m *machine) { m.sum(equationOf(m.at.ints[2])) },
		grad:    func(r *rule) { r.sumGrad(equationOf(r.at.ints[2])) },
		tangent: func(r *rule) { r.sumTangent(equationOf(r.at.ints[2])) },
		samples: []sample{
			on(f(2, 3, 4), f(4, 3, 2)).with(attrs{ints: [3][]int{{1, 2}, {1, 0}}}), on(f(2, 3), f(3)).with(attrs{ints: [3][]int{{-1}, {0}}}),
			on(f(2), f(3)).with(attrs{ints: [3][]int{{}, {}}}),
		},
	})
}

// Outer returns the matrix of the products of each element of x with each of y,
// both of one axis.
func (x *Tensor) Outer(y *Tensor) *Tensor { return apply2(opOuter, nil, x, y) }

// Tensordot returns the products of x and y summed over pairs of axes; the
// result has x's other axes and then y's. It panics with ErrShape where the
// extents of a pair differ.
func (x *Tensor) Tensordot(y *Tensor, axesX, axesY []int) *Tensor {
	return apply2(opTensordot, &attrs{ints: [3][]int{shapeOrScalar(axesX), shapeOrScalar(axesY)}}, x, y)
}
