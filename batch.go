package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
)

// A batched sweep carries many cotangents (or tangents) at once: each gradient
// is a batch of equal items, one after the other. Rules do not know: a batched
// ref has the layout of one item, and an op that meets one is lifted over the
// batch, in one call where its meaning allows a leading axis and item by item
// otherwise. Every item has the bits of a sweep of its own.

// batchedAt marks a ref as a batch of dense items.
const batchedAt onTapeAt = -2

func (r ref) batched() bool { return r.at == batchedAt }

// batched makes the sweep carry k cotangents: those of the roots have a leading
// axis of extent k, and so have the gradients.
func batched(k int) SweepOption { return func(s *sweepOptions) { s.batch = k } }

// item is item k of a batch; other refs are the same in every item.
func (r ref) item(k int) ref {
	if r.batched() {
		r.p, r.at = ptrAt(r.p, k*r.l.Bytes()), offTape
	}
	return r
}

// flat views a batch as one dense vector.
func (r *rule) flat(x ref) ref {
	if x.batched() {
		x.l, x.at = r.m.layout(x.l.DType, r.batch*x.l.N), offTape
	}
	return x
}

// led views a batch as a tensor with the batch as its leading axis, and extents
// of 1 after it up to rank axes.
func (r *rule) led(x ref, rank int) ref {
	if !x.batched() {
		return x
	}
	x.l, x.at = r.m.shapes.contiguous(x.l.DType, r.ledShape(x.l.Shape, rank)), offTape
	return x
}

func (r *rule) ledShape(shape []int, rank int) []int {
	s := append(make([]int, 0, rank+1), r.batch)
	for range rank - len(shape) {
		s = append(s, 1)
	}
	return append(s, shape...)
}

// itemized turns a tensor whose leading axis is the batch into a batch of items
// of the given shape.
func (r *rule) itemized(x ref, shape []int) ref {
	if !x.l.Plain {
		c := r.m.alloc(r.m.like(x))
		copyDense(c, x)
		x = c
	}
	x.l, x.at = r.m.shapes.contiguous(x.l.DType, shape), batchedAt
	return x
}

// repeat makes a batch of equal items.
func (r *rule) repeat(x ref) ref {
	if x.batched() {
		return x
	}
	l, _ := x.l.BroadcastTo(r.ledShape(x.l.Shape, len(x.l.Shape)))
	shape := x.l.Shape
	x.l = l
	return r.itemized(x, shape)
}

// lift runs an op on operands some of which are batches.
func (r *rule) lift(code opcode, at *attrs) ref {
	o := &table[code]
	m := &r.m
	in := append([]ref{}, m.in...)
	if x, ok := r.liftWhole(o, at, in); ok {
		m.out = append(m.outBuf[:0], x)
		return x
	}
	var out []ref
	for k := range r.batch {
		mark := len(m.temps)
		m.in = m.inBuf[:0]
		for _, x := range in {
			m.in = append(m.in, x.item(k))
		}
		r.runNow(o, at)
		if out == nil {
			for _, y := range m.out {
				b := m.pool.Get(r.batch * y.l.Bytes())
				out = append(out, ref{l: m.like(y), p: b.P, buf: b, at: batchedAt})
			}
		}
		for j, y := range m.out {
			copyDense(out[j].item(k), y)
		}
		for _, b := range m.temps[mark:] {
			m.pool.Release(b)
		}
		m.temps = m.temps[:mark]
	}
	for _, y := range out {
		m.temps = append(m.temps, y.buf)
	}
	m.out = append(m.outBuf[:0], out...)
	return m.out[0]
}

// liftWhole runs an op once for the whole batch, where a leading axis means the
// same to it as many calls.
func (r *rule) liftWhole(o *op, at *attrs, in []ref) (ref, bool) {
	m := &r.m
	run := func(at *attrs, in ...ref) ref {
		m.in = append(m.inBuf[:0], in...)
		r.runNow(o, at)
		return m.out[0]
	}
	x := in[0]
	rank := len(x.l.Shape)
	switch {
	case o.is(elementwise) && len(in) == 1:
		y := run(at, r.flat(x))
		return r.itemized(y, x.l.Shape), true
	case o.is(elementwise) || o.code == opMatMul && matrices(in):
		for _, y := range in {
			rank = max(rank, len(y.l.Shape))
		}
		for i, y := range in {
			in[i] = r.led(y, rank)
		}
		y := run(at, in...)
		return r.itemized(y, y.l.Shape[1:]), true
	case o.code == opReshape && !slices.Contains(at.ints[0], -1):
		return r.itemized(r.led(x, rank), at.ints[0]), true
	case o.code == opSum && at != nil:
		axes := make([]int, 0, rank)
		for a := range rank {
			if at.ints[0] == nil || slices.Contains(at.ints[0], a) || slices.Contains(at.ints[0], a-rank) {
				axes = append(axes, a+1)
			}
		}
		y := run(&attrs{ints: [3][]int{axes}, b: at.b}, r.led(x, rank))
		return r.itemized(y, y.l.Shape[1:]), true
	case o.code == opSumTo:
		shape := at.ints[0]
		y := run(&attrs{ints: [3][]int{r.ledShape(shape, rank)}}, r.led(x, rank))
		return r.itemized(y, shape), true
	case o.code == opBroadcastTo:
		shape := at.ints[0]
		y := run(&attrs{ints: [3][]int{r.ledShape(shape, len(shape))}}, r.led(x, len(shape)))
		return r.itemized(y, shape), true
	case o.code == opTranspose && at != nil && at.ints[0] != nil:
		perm := make([]int, 0, rank+1)
		perm = append(perm, 0)
		for _, a := range at.ints[0] {
			perm = append(perm, a+1)
		}
		y := run(&attrs{ints: [3][]int{perm}}, r.led(x, rank))
		return r.itemized(y, y.l.Shape[1:]), true
	case o.code == opSlice && at.ints[2] != nil && len(at.ints[0]) == rank:
		y := run(&attrs{ints: [3][]int{ahead(0, at.ints[0]), ahead(End, at.ints[1]), ahead(1, at.ints[2])}}, r.led(x, rank))
		return r.itemized(y, y.l.Shape[1:]), true
	case o.code == opUnslice:
		y := run(&attrs{ints: [3][]int{ahead(0, at.ints[0]), ahead(1, at.ints[1]), ahead(r.batch, at.ints[2])}}, r.led(x, rank))
		return r.itemized(y, at.ints[2]), true
	case (o.code == opTake || o.code == opUntake) && x.batched() && !in[1].batched():
		shifted := attrs{i: 1, ints: at0(at).ints}
		if shifted.i += at0(at).i; at0(at).i < 0 {
			return ref{}, false
		}
		if o.code == opUntake {
			shifted.ints[0] = ahead(r.batch, shifted.ints[0])
		}
		y := run(&shifted, r.led(x, rank), in[1])
		return r.itemized(y, y.l.Shape[1:]), true
	}
	return ref{}, false
}

// ahead is a list with one entry more before it.
func ahead(v int, list []int) []int { return append([]int{v}, list...) }

func at0(at *attrs) *attrs {
	if at == nil {
		return &noAttrs
	}
	return at
}

// matrices reports whether a product has no vector operand.
func matrices(in []ref) bool { return len(in[0].l.Shape) > 1 && len(in[1].l.Shape) > 1 }

// runNow evaluates an op on m.in, without asking whether to lift it.
func (r *rule) runNow(o *op, at *attrs) {
	m := &r.m
	m.atBuf = noAttrs
	if at != nil {
		m.atBuf = *at
	}
	m.at = &m.atBuf
	m.run(o)
}

// shapeOfBatch is a batch as the caller sees it: with a leading axis.
func (r *rule) shapeOfBatch(x ref) ref { return r.led(x, len(x.l.Shape)) }

// batchedShape reports whether a cotangent or tangent has the shape of its
// tensor, with a leading axis of extent batch unless that is 0.
func batchedShape(c, l *array.Layout, batch int) bool {
	if batch == 0 {
		return array.SameShape(c.Shape, l.Shape)
	}
	return len(c.Shape) == len(l.Shape)+1 && c.Shape[0] == batch && array.SameShape(c.Shape[1:], l.Shape)
}
