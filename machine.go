package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
)

// place says where a machine's outputs live.
type place uint8

const (
	onHeap place = iota // plain evaluation: the tensor owns its memory
	onTape              // recording: slab or the tape's pool, with a storage id
	inPool              // a sweep that is not recorded: a worker's pool
)

// machine evaluates one op at a time: operands in, outputs out. A tape has one
// for recording, each worker of a sweep has one, and plain evaluation borrows
// one. Rows see nothing else of the engine.
type machine struct {
	op  *op
	at  *attrs
	in  []ref
	out []ref

	place place
	tape  *Tape
	pool  *array.Pool
	temps []*array.Buf // buffers made by the rule that is running
	spare array.Pool   // of intermediates inside an op
	lent  []*array.Buf
	madds int64 // multiply-adds so far

	atBuf  attrs
	inBuf  [8]ref
	outBuf [4]ref
	shapes layoutCache
	flips  flipCache
	lists  [5][8]int // of axes and extents, while an op runs
}

// layoutCache finds the contiguous layout of a shape that was seen lately, so
// that steady work makes no new ones.
type layoutCache [64][2]*array.Layout // two for each hash, the later one first

func (c *layoutCache) contiguous(dt DType, shape []int) *array.Layout {
	h := uint(dt) + uint(len(shape))*0x9e3779b9
	for _, d := range shape {
		h = (h ^ uint(d)) * 0x9e3779b1
	}
	pair := &c[(h>>7)%uint(len(c))]
	for _, l := range pair {
		if l != nil && l.DType == dt && array.SameShape(l.Shape, shape) {
			return l
		}
	}
	pair[0], pair[1] = array.Contiguous(dt, shape), pair[0]
	return pair[0]
}

// matrix returns the contiguous layout of a matrix.
func (c *layoutCache) matrix(dt DType, rows, cols int) *array.Layout {
	shape := [2]int{rows, cols}
	return c.contiguous(dt, shape[:])
}

// layout returns a contiguous layout.
func (m *machine) layout(dt DType, shape ...int) *array.Layout {
	return m.shapes.contiguous(dt, shape)
}

// like returns the contiguous layout with the shape and element type of r.
func (m *machine) like(r ref) *array.Layout {
	if r.l.Plain {
		return r.l
	}
	return m.shapes.contiguous(r.l.DType, r.l.Shape)
}

// alloc makes room for a value of a plain layout. What it contains is
// undefined, except on the heap.
func (m *machine) alloc(l *array.Layout) ref {
	switch m.place {
	case onTape:
		return m.tape.alloc(l)
	case inPool:
		b := m.pool.Get(l.Bytes())
		m.temps = append(m.temps, b)
		return ref{l: l, p: b.P, buf: b, at: offTape}
	default:
		st := newStorage(l.Bytes())
		return ref{l: l, p: st.p, at: offTape}
	}
}

// produce allocates the next output and returns it.
func (m *machine) produce(l *array.Layout) ref {
	r := m.alloc(l)
	m.out = append(m.out, r)
	return r
}

// view makes the next output a view of operand 0.
func (m *machine) view(l *array.Layout) {
	r := m.in[0]
	r.l = l
	r.at = tapePlace(-1, r.sto())
	m.out = append(m.out, r)
}

// scratch makes room for an intermediate that ends with the op. What it
// contains is undefined.
func (m *machine) scratch(l *array.Layout) ref {
	b := m.spare.Get(l.Bytes())
	m.lent = append(m.lent, b)
	return ref{l: l, p: b.P, at: offTape}
}

// takeBack ends the intermediates of the op before.
func (m *machine) takeBack() {
	for i, b := range m.lent {
		m.spare.Release(b)
		m.lent[i] = nil
	}
	m.lent = m.lent[:0]
}

// packed returns r itself when it lies densely, else a dense copy.
func (m *machine) packed(r ref) ref {
	if r.l.Dense {
		return r
	}
	c := m.scratch(m.like(r))
	copyDense(c, r)
	return c
}

// run evaluates an op on m.in, which the caller has filled, into m.out.
func (m *machine) run(o *op) {
	m.op = o
	m.out = m.outBuf[:0]
	switch {
	case o.un32 != nil:
		r := m.unary(o, m.in[0])
		m.out = append(m.outBuf[:0], r)
		return
	case o.bin32 != nil:
		r := m.binary(o, m.in[0], m.in[1])
		m.out = append(m.outBuf[:0], r)
		return
	}
	if o.prepare != nil {
		o.prepare(m)
	}
	o.eval(m)
	m.madds += o.count(m)
	if len(m.lent) > 0 {
		m.takeBack()
	}
}

// unary and binary evaluate an op that has kernels. They pass operands and
// output by value: on small tensors the copies to m.in and m.out would cost
// more than the kernel.

func (m *machine) unary(o *op, x ref) ref {
	m.op = o
	m.float(x)
	dst := m.alloc(m.like(x))
	if !x.l.Dense {
		copyDense(dst, x)
		x = dst
	}
	if x.l.DType == Float32 {
		o.un32(dense[float32](dst), dense[float32](x))
	} else {
		o.un64(dense[float64](dst), dense[float64](x))
	}
	m.madds += o.each * int64(dst.l.N)
	return dst
}

func (m *machine) binary(o *op, a, b ref) ref {
	m.op = o
	if a.l.DType != b.l.DType {
		m.mixed(a, b)
	}
	if a.l.DType == Bool || a.l.DType == Int64 && o.binI == nil {
		m.float(a)
	}
	var dst ref
	la, lb := a.l, b.l
	if la == lb && la.Plain {
		dst = m.alloc(la)
	} else {
		var lo *array.Layout
		la, lb, lo = m.broadcast2(a, b)
		dst = m.alloc(lo)
	}
	switch la.DType {
	case Float32:
		binaryAs(dst, a, b, la, lb, o.bin32)
	case Float64:
		binaryAs(dst, a, b, la, lb, o.bin64)
	default:
		binaryAs(dst, a, b, la, lb, o.binI)
	}
	m.madds += o.each * int64(dst.l.N)
	return dst
}

func binaryAs[T Element](dst, a, b ref, la, lb *array.Layout, k func(dst, a, b []T)) {
	if la.N == 0 {
		return // an operand that was broadcast to nothing may have elements
	}
	if la.Dense && lb.Dense {
		k(dense[T](dst), dense[T](a), dense[T](b))
		return
	}
	zip(dense[T](dst), whole[T](a), whole[T](b), la, lb, k)
}

// broadcast2 views two operands under their common shape and returns the
// layout of the result. It throws ErrShape when there is none.
func (m *machine) broadcast2(a, b ref) (la, lb, lo *array.Layout) {
	if a.l == b.l || array.SameShape(a.l.Shape, b.l.Shape) {
		return a.l, b.l, m.like(a)
	}
	shape, ok := array.BroadcastShapes(a.l.Shape, b.l.Shape)
	if !ok {
		e := fail(ErrShape, m.op.name, "extents must be equal or 1, aligned at the last axis",
			"shapes %s do not broadcast", shapesText(a.l.Shape, b.l.Shape))
		e.Shapes = [][]int{a.l.Shape, b.l.Shape}
		throw(e)
	}
	la, _ = a.l.BroadcastTo(shape)
	lb, _ = b.l.BroadcastTo(shape)
	return la, lb, m.shapes.contiguous(a.l.DType, shape)
}

// float throws ErrDType unless the operand is of a float type.
func (m *machine) float(r ref) {
	if !r.l.DType.IsFloat() {
		throw(fail(ErrDType, m.op.name, "Cast it to float32 or float64 first", "needs float32 or float64, not %s", r.l.DType))
	}
}

func (m *machine) floats(rs ...ref) {
	for _, r := range rs {
		m.float(r)
	}
}

// sameDType throws ErrDType when two operands differ in element type: nothing
// is converted silently.
func (m *machine) sameDType(i, j int) {
	if m.in[i].l.DType != m.in[j].l.DType {
		m.mixed(m.in[i], m.in[j])
	}
}

func (m *machine) mixed(a, b ref) {
	throw(fail(ErrDType, m.op.name, "Cast one of them; nothing is converted silently", "operands are %s and %s", a.l.DType, b.l.DType))
}

// needs throws ErrDType unless operand i has the element type dt.
func (m *machine) needs(i int, dt DType) {
	if got := m.in[i].l.DType; got != dt {
		throw(fail(ErrDType, m.op.name, "Cast it to "+dt.String()+" first", "operand %d is %s, not %s", i, got, dt))
	}
}

// misfit throws ErrShape with the operands' shapes.
func (m *machine) misfit(do, format string, args ...any) {
	e := fail(ErrShape, m.op.name, do, format, args...)
	for _, r := range m.in {
		e.Shapes = append(e.Shapes, r.l.Shape)
	}
	throw(e)
}

// axis resolves an axis of operand 0.
func (m *machine) axis(a int) int { return axisOf(m.op.name, a, len(m.in[0].l.Shape)) }
