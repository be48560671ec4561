package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// The gradient of a table of rows is row-sparse: ascending row numbers and one
// row of values for each. The ops that make, merge and spread such gradients
// are rows of the table too, so that they can be differentiated again.

func width(shape []int) int {
	n := 1
	for _, d := range shape[1:] {
		n *= d
	}
	return n
}

func (m *machine) tableOf(i int) ref {
	x := m.packed(m.in[i])
	if len(x.l.Shape) == 0 {
		m.misfit("a table has rows", "the table is 0-d")
	}
	return x
}

func init() {
	define(opEmbedding, op{name: "embedding", doc: "rows of a table, by an index of any rank", formula: "d(table) = rows of dy, added up by index (row-sparse)", arity: 2, flags: linear,
		nograd: readsIn(1), reads: readsIn(1), cost: costEach(1),
		params: []param{{name: "padding_idx", kind: pInts, optional: true, def: "none"}},
		prepare: func(m *machine) {
			pad := m.at.ints[0]
			if pad == nil {
				return
			}
			n := 0
			if shape := m.in[0].l.Shape; len(shape) > 0 {
				n = shape[0]
			}
			if len(pad) != 1 || pad[0] < -n || pad[0] >= n {
				throw(fail(ErrIndex, m.op.name, "name one row of the table; negative ones count from the end", "padding row %s of %d", intsText(pad), n))
			}
			m.at.ints[0] = []int{(pad[0] + n) % n}
		},
		eval: func(m *machine) {
			x := m.tableOf(0)
			m.floats(x)
			idx := m.indices(1, x.l.Shape[0], 0)
			dst := m.produce(m.layout(x.l.DType, append(append([]int{}, m.in[1].l.Shape...), x.l.Shape[1:]...)...))
			if x.l.DType == Float32 {
				kernel.GatherRows(dense[float32](dst), dense[float32](x), idx, width(x.l.Shape))
			} else {
				kernel.GatherRows(dense[float64](dst), dense[float64](x), idx, width(x.l.Shape))
			}
		},
		grad: func(r *rule) {
			n := 1
			index := r.in(1)
			for _, d := range index.l.Shape {
				n *= d
			}
			dy := r.reshape(r.dout(0), append([]int{n}, r.shapeIn(0)[1:]...))
			index = r.reshape(index, []int{n})
			if pad := r.at.ints[0]; pad != nil {
				dy, index = r.withoutRow(dy, index, pad[0])
			}
			rows := r.do2(opRowsSum, nil, dy, index)
			r.giveRows(0, rows, r.second())
		},
		tangent: func(r *rule) {
			t := r.do2(opEmbedding, nil, r.tan(0), r.in(1))
			if pad := r.at.ints[0]; pad != nil {
				index := r.in(1)
				shape := append([]int{}, index.l.Shape...)
				for range len(t.l.Shape) - len(shape) {
					shape = append(shape, 1)
				}
				t = r.zeroWhere(r.reshape(r.isRow(index, pad[0]), shape), t)
			}
			r.makes(0, t)
		},
		samples: []sample{on(f(5, 3), below(5, 4)), on(f(5, 3), below(5, 2, 3)), on(f(5), below(5, 4)), on(f(5, 3), below(5, 0))},
	})
	define(opRowsSum, op{name: "rows_sum", doc: "rows added up by index: the ascending distinct indices, and a sum for each", formula: "dx = dy's row of each index", arity: 2, outs: 2, flags: engineOnly,
		nograd: readsIn(1), reads: readsIn(1) | readsOut(0), cost: costIn(1),
		eval: func(m *machine) {
			x := m.tableOf(0)
			m.needs(1, Int64)
			rows, slot := kernel.UniqueRows(dense[int64](m.packed(m.in[1])))
			m.produceRows(rows)
			w := width(x.l.Shape)
			dst := m.produce(m.layout(x.l.DType, append([]int{len(rows)}, x.l.Shape[1:]...)...))
			zero(dst)
			if x.l.DType == Float32 {
				kernel.SumRowsBySlot(dense[float32](dst), dense[float32](x), slot, w)
			} else {
				kernel.SumRowsBySlot(dense[float64](dst), dense[float64](x), slot, w)
			}
		},
		grad: func(r *rule) {
			r.give(0, r.do2(opTake, nil, r.dout(1), r.do2(opRowsFind, nil, r.out(0), r.in(1))))
		},
		tangent: func(r *rule) {
			r.do2(opRowsSum, nil, r.tan(0), r.in(1))
			r.makes(1, r.second())
		},
		samples: []sample{on(f(6, 2), below(4, 6)), on(f(3, 2), below(9, 3))},
	})
	define(opRowsFind, op{name: "rows_find", doc: "the place of each index in ascending row numbers", arity: 2, flags: constantOp | engineOnly, cost: costEach(0),
		eval: func(m *machine) {
			m.needs(0, Int64)
			m.needs(1, Int64)
			rows, idx := dense[int64](m.packed(m.in[0])), m.packed(m.in[1])
			dst := m.produce(m.layout(Int64, idx.l.Shape...))
			for i, v := range dense[int64](idx) {
				at, ok := slices.BinarySearch(rows, v)
				if !ok {
					throw(fail(ErrIndex, m.op.name, "every index must be among the rows", "row %d is not there", v))
				}
				dense[int64](dst)[i] = int64(at)
			}
		},
		samples: []sample{on(offsets(0, 1), below(1, 4))},
	})
	define(opRowsAdd, op{name: "rows_add", doc: "the sum of two row-sparse tensors (rows a, a, rows b, b)", formula: "da, db = the rows of dy that each has", arity: 4, outs: 2, flags: engineOnly,
		nograd: readsIn(0, 2), reads: readsIn(0, 2) | readsOut(0),
		cost: func(m *machine) int64 { return int64(m.out[1].l.N) },
		eval: func(m *machine) {
			ra, rb := dense[int64](m.packed(m.in[0])), dense[int64](m.packed(m.in[2]))
			a, b := m.tableOf(1), m.tableOf(3)
			rows := mergeRows(ra, rb)
			m.produceRows(rows)
			dst := m.produce(m.layout(a.l.DType, append([]int{len(rows)}, a.l.Shape[1:]...)...))
			if a.l.DType == Float32 {
				addMerged[float32](dst, a, b, rows, ra, rb)
			} else {
				addMerged[float64](dst, a, b, rows, ra, rb)
			}
		},
		grad: func(r *rule) {
			if !r.has(1) {
				return
			}
			rows, g := r.out(0), r.dout(1)
			if r.want(1) {
				r.give(1, r.do2(opTake, nil, g, r.do2(opRowsFind, nil, rows, r.in(0))))
			}
			if r.want(3) {
				r.give(3, r.do2(opTake, nil, g, r.do2(opRowsFind, nil, rows, r.in(2))))
			}
		},
		tangent: func(r *rule) {
			side := func(i int) ref {
				if r.hasTan(i) {
					return r.tan(i)
				}
				return r.full(0, r.layoutIn(i).DType, r.shapeIn(i))
			}
			r.m.in = append(r.m.inBuf[:0], r.in(0), side(1), r.in(2), side(3))
			r.do(opRowsAdd, nil)
			r.makes(1, r.second())
		},
		samples: []sample{on(offsets(0, 1), f(1, 2), offsets(0, 1), f(1, 2))},
	})
	define(opRowsDense, op{name: "rows_dense", doc: "a row-sparse tensor with all its rows (rows, values)", formula: "d(values) = dy's rows", arity: 2, flags: linear | engineOnly,
		nograd: readsIn(0), reads: readsIn(0), cost: costOf(1),
		params: []param{{name: "shape", kind: pInts}},
		eval: func(m *machine) {
			v := m.tableOf(1)
			rows := m.indices(0, m.at.ints[0][0], 0)
			dst := m.produce(m.layout(v.l.DType, m.at.ints[0]...))
			zero(dst)
			if v.l.DType == Float32 {
				kernel.ScatterAddRows(dense[float32](dst), dense[float32](v), rows, width(v.l.Shape))
			} else {
				kernel.ScatterAddRows(dense[float64](dst), dense[float64](v), rows, width(v.l.Shape))
			}
		},
		grad:    func(r *rule) { r.give(1, r.do2(opTake, nil, r.dout(0), r.in(0))) },
		samples: []sample{on(offsets(0, 1), f(1, 2)).with(attrs{ints: [3][]int{{4, 2}}})},
	})
}

// isRow is where an index names a row.
func (r *rule) isRow(index ref, row int) ref {
	return r.do2(opEq, nil, index, r.constant(New([]int64{int64(row)}, []int{}...)))
}

// withoutRow leaves out the rows of dy whose index is the padding row.
func (r *rule) withoutRow(dy, index ref, row int) (ref, ref) {
	keep := r.do1(opNot, nil, r.isRow(index, row))
	mask := append([]int{index.l.N}, dy.l.Shape[1:]...)
	for i := range mask[1:] {
		mask[i+1] = 1
	}
	kept := r.do2(opMaskedSelect, nil, index, keep)
	shape := append([]int{kept.l.N}, dy.l.Shape[1:]...)
	return r.reshape(r.do2(opMaskedSelect, nil, dy, r.reshape(keep, mask)), shape), kept
}

// produceRows makes row numbers the next output.
func (m *machine) produceRows(rows []int64) {
	dst := m.produce(m.layout(Int64, len(rows)))
	copy(dense[int64](dst), rows)
}

// mergeRows is the ascending union of two ascending lists.
func mergeRows(a, b []int64) []int64 {
	rows := make([]int64, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			rows, a = append(rows, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			rows, b = append(rows, b[0]), b[1:]
		default:
			rows, a, b = append(rows, a[0]), a[1:], b[1:]
		}
	}
	return rows
}

func addMerged[T float32 | float64](dst, a, b ref, rows, ra, rb []int64) {
	d, x, y := dense[T](dst), dense[T](a), dense[T](b)
	w := width(dst.l.Shape)
	i, j := 0, 0
	for k, row := range rows {
		out := d[k*w : (k+1)*w]
		inA, inB := i < len(ra) && ra[i] == row, j < len(rb) && rb[j] == row
		switch {
		case inA && inB:
			kernel.Add(out, x[i*w:(i+1)*w], y[j*w:(j+1)*w])
		case inA:
			copy(out, x[i*w:(i+1)*w])
		default:
			copy(out, y[j*w:(j+1)*w])
		}
		if inA {
			i++
		}
		if inB {
			j++
		}
	}
}

var bagParams = []param{{name: "mode", kind: pWord, words: []string{"sum", "mean"}, optional: true, def: "mean"}}

// bagOffsets checks that operand i holds where each bag starts among n
// indices.
func (m *machine) bagOffsets(i, n int) []int64 {
	m.needs(i, Int64)
	off := dense[int64](m.packed(m.in[i]))
	for k, o := range off {
		switch {
		case k == 0 && o != 0:
			throw(fail(ErrIndex, m.op.name, "the first bag starts at 0", "the first offset is %d", o))
		case o < 0 || o > int64(n) || k > 0 && o < off[k-1]:
			throw(fail(ErrIndex, m.op.name, "offsets ascend from 0 to at most the number of indices", "offset %d of bag %d, with %d indices", o, k, n))
		}
	}
	if len(off) == 0 && n > 0 {
		throw(fail(ErrIndex, m.op.name, "give an offset for each bag", "%d indices belong to no bag", n))
	}
	return off
}

func (m *machine) vectors(is ...int) {
	for _, i := range is {
		if len(m.in[i].l.Shape) != 1 {
			m.misfit("indices and offsets have one axis", "operand %d has shape %s", i, array.ShapeString(m.in[i].l.Shape))
		}
	}
}

func init() {
	define(opEmbeddingBag, op{name: "embedding_bag", doc: "sum or mean of the table's rows in each bag (table, indices, offsets)", formula: "d(table) = rows of dy, added up by index (row-sparse)", arity: 3, flags: linear,
		nograd: readsIn(1, 2), reads: readsIn(1, 2), params: bagParams,
		cost: func(m *machine) int64 { return int64(m.in[1].l.N) * int64(width(m.in[0].l.Shape)) },
		eval: func(m *machine) {
			x := m.tableOf(0)
			m.floats(x)
			if len(x.l.Shape) != 2 {
				m.misfit("a table of bags is [rows, width]", "the table has shape %s", array.ShapeString(x.l.Shape))
			}
			m.vectors(1, 2)
			idx := m.indices(1, x.l.Shape[0], 0)
			off := m.bagOffsets(2, len(idx))
			dst := m.produce(m.layout(x.l.DType, len(off), x.l.Shape[1]))
			if x.l.DType == Float32 {
				kernel.BagRows(dense[float32](dst), dense[float32](x), idx, off, x.l.Shape[1], m.at.i == 1)
			} else {
				kernel.BagRows(dense[float64](dst), dense[float64](x), idx, off, x.l.Shape[1], m.at.i == 1)
			}
		},
		grad: func(r *rule) {
			rows := r.do3(opBagRows, &attrs{i: r.at.i}, r.dout(0), r.in(1), r.in(2))
			r.giveRows(0, rows, r.second())
		},
		samples: []sample{on(f(5, 3), below(5, 6), offsets(6, 4)).with(attrs{i: 1}), on(f(5, 3), below(5, 6), offsets(6, 4))},
	})
	define(opBagRows, op{name: "bag_rows", doc: "the adjoint of embedding_bag: ascending rows, and what each gets (dy, indices, offsets)", formula: "d(dy) = embedding_bag of g", arity: 3, outs: 2, flags: engineOnly,
		nograd: readsIn(1, 2), reads: readsIn(1, 2) | readsOut(0), params: bagParams,
		cost: func(m *machine) int64 { return int64(m.in[1].l.N) * int64(width(m.in[0].l.Shape)) },
		eval: func(m *machine) {
			dy := m.tableOf(0)
			m.vectors(1, 2)
			m.needs(1, Int64)
			idx := dense[int64](m.packed(m.in[1]))
			off := m.bagOffsets(2, len(idx))
			rows, slot := kernel.UniqueRows(idx)
			m.produceRows(rows)
			w := width(dy.l.Shape)
			dst := m.produce(m.layout(dy.l.DType, len(rows), w))
			zero(dst)
			if dy.l.DType == Float32 {
				bagRowsAs(dense[float32](dst), dense[float32](dy), slot, off, w, m.at.i == 1)
			} else {
				bagRowsAs(dense[float64](dst), dense[float64](dy), slot, off, w, m.at.i == 1)
			}
		},
		grad: func(r *rule) {
			at := r.do2(opRowsFind, nil, r.out(0), r.in(1))
			r.give(0, r.do3(opEmbeddingBag, &attrs{i: r.at.i}, r.dout(1), at, r.in(2)))
		},
		tangent: func(r *rule) {
			r.do3(opBagRows, &attrs{i: r.at.i}, r.tan(0), r.in(1), r.in(2))
			r.makes(1, r.second())
		},
		samples: []sample{on(f(4, 3), below(5, 6), offsets(6, 4)).with(attrs{i: 1}), on(f(4, 3), below(5, 6), offsets(6, 4))},
	})
}

// bagRowsAs adds each bag's row to the rows that its indices name, in order of
// position.
func bagRowsAs[T float32 | float64](dst, dy []T, slot []int32, offsets []int64, w int, mean bool) {
	for b, start := range offsets {
		end := int64(len(slot))
		if b+1 < len(offsets) {
			end = offsets[b+1]
		}
		g := dy[b*w : (b+1)*w]
		scale := T(1)
		if mean && end > start {
			scale = 1 / T(end-start)
		}
		for _, s := range slot[start:end] {
			row := dst[int(s)*w : (int(s)+1)*w]
			for j, v := range g {
				row[j] += T(v * scale)
			}
		}
	}
}

// Embedding returns rows of the table x, [rows, ...], by an index (int64) of
// any rank. The table's gradient is row-sparse.
func (x *Tensor) Embedding(index *Tensor) *Tensor { return apply2(opEmbedding, nil, x, index) }

// EmbeddingPadded is Embedding with a row, such as 0, that is looked up like any
// other but gets no gradient: it stands for nothing. A negative one counts from
// the end.
func (x *Tensor) EmbeddingPadded(index *Tensor, padding int) *Tensor {
	return apply2(opEmbedding, &attrs{ints: [3][]int{{padding}}}, x, index)
}

// EmbeddingBag returns the mean of the rows of the table x, [rows, width], in
// each bag: bag b has the indices from offsets[b] up to the next offset. An
// empty bag gives zeros. The table's gradient is row-sparse.
func (x *Tensor) EmbeddingBag(index, offsets *Tensor) *Tensor {
	return apply3(opEmbeddingBag, &attrs{i: 1}, x, index, offsets)
}

// EmbeddingBagSum is EmbeddingBag with sums in place of means.
func (x *Tensor) EmbeddingBagSum(index, offsets *Tensor) *Tensor {
	return apply3(opEmbeddingBag, &attrs{i: 0}, x, index, offsets)
}
