package backsweep

import (
	"github.com/backsweep/backsweep/internal/kernel"
)

func (g *gift) retain(w *worker) {
	if w.recording {
		return
	}
	if g.g.buf == nil {
		// A rule gave a value of the tape or a constant as it is.
		c := w.m.alloc(w.m.like(g.g))
		copyDense(c, g.g)
		g.g = c
	}
	g.g.buf.Retain()
	if g.rows.l != nil {
		g.rows.buf.Retain()
	}
}

func (g *gift) release(w *worker) {
	if g.g.buf != nil {
		w.pool.Release(g.g.buf)
	}
	if g.rows.l != nil && g.rows.buf != nil {
		w.pool.Release(g.rows.buf)
	}
}

func (g *gift) bytes() int64 {
	n := int64(g.g.l.Bytes())
	if g.rows.l != nil {
		n += int64(g.rows.l.Bytes())
	}
	return n
}

// sum adds a contribution to what came before it, in place where nothing else
// holds the buffer, and returns the sum. It takes over the hold on a. v is the
// value that the gradient is of.
func (w *worker) sum(v int32, a, b gift) gift {
	switch {
	case w.recording:
		return w.recordSum(v, a, b)
	case a.rows.l != nil && b.rows.l != nil:
		return w.sumRows(a, b)
	case a.rows.l != nil:
		// Rows that a lacks are b's alone.
		c := w.own(b.g)
		addRows(c, a)
		w.m.madds += int64(a.g.l.N)
		a.release(w)
		return gift{g: c}
	}
	if !a.g.l.Dense || !a.g.buf.Sole() {
		c := w.own(a.g)
		a.release(w)
		a = gift{g: c}
	}
	if b.rows.l != nil {
		addRows(a.g, b)
	} else {
		addInto(w.flat(a.g), w.flat(b.g))
	}
	w.m.madds += int64(b.g.l.N)
	return a
}

// own copies a value into a buffer that only the caller holds.
func (w *worker) own(x ref) ref {
	flat := w.flat(x)
	l := w.m.like(flat)
	b := w.pool.Get(l.Bytes())
	c := ref{l: l, p: b.P, buf: b, at: offTape}
	copyDense(c, flat)
	if x.batched() {
		c.l, c.at = x.l, batchedAt
	}
	return c
}

// addRows adds the rows of b to a dense gradient.
func addRows(a ref, b gift) {
	width := 1
	for _, d := range a.l.Shape[1:] {
		width *= d
	}
	rows := dense[int64](b.rows)
	if a.l.DType == Float32 {
		addRowsAs[float32](a, b.g, rows, width)
	} else {
		addRowsAs[float64](a, b.g, rows, width)
	}
}

func addRowsAs[T float32 | float64](a, b ref, rows []int64, width int) {
	d, v := dense[T](a), dense[T](b)
	for i, r := range rows {
		x, y := d[int(r)*width:(int(r)+1)*width], v[i*width:(i+1)*width]
		kernel.Add(x, x, y)
	}
}

// sumRows merges two row-sparse gradients.
func (w *worker) sumRows(a, b gift) gift {
	w.m.in = append(w.m.inBuf[:0], a.rows, a.g, b.rows, b.g)
	w.m.atBuf = noAttrs
	w.m.at = &w.m.atBuf
	w.m.run(&table[opRowsAdd])
	c := gift{rows: w.m.out[0], g: w.m.out[1]}
	c.retain(w)
	a.release(w)
	return c
}

// recordSum is sum on a sweep that is recorded: it appends ops.
func (w *worker) recordSum(v int32, a, b gift) gift {
	if a.rows.l != nil && b.rows.l != nil {
		w.m.in = append(w.m.inBuf[:0], a.rows, a.g, b.rows, b.g)
		rows := w.do(opRowsAdd, nil)
		return gift{rows: rows, g: w.second()}
	}
	return gift{g: w.add(w.dense(v, a), w.dense(v, b))}
}

// dense returns a gradient with all its rows.
func (w *worker) dense(v int32, g gift) ref {
	if g.rows.l == nil {
		return g.g
	}
	return w.do2(opRowsDense, &attrs{ints: [3][]int{w.t.layoutOf(v).Shape}}, g.rows, g.g)
}
