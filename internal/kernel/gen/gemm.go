package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tallest is the most rows of a tile, by instruction set: 14 rows of two
// vectors are 28 accumulators of 32 registers; 6 rows are 12 of 16.
func tallest(s isa) int { return [...]int{6, 14}[s] }

// tileShapes lists the tiles as (rows, vectors). Low tiles come wider too, so
// that there are enough independent sums to hide the latency of an addition.
func tileShapes(s isa) (shapes [][2]int) {
	for h := 1; h <= tallest(s); h++ {
		for _, v := range []int{1, 2, 4, 8} {
			if v <= 2 || h*v <= [...]int{8, 12}[s] {
				shapes = append(shapes, [2]int{h, v})
			}
		}
	}
	return shapes
}

// gemm writes the tiles and what packs their operands.
func (e *emitter) gemm() {
	for _, s := range tileShapes(e.isa) {
		e.tile(s[0], s[1])
	}
	e.copyRows()
	e.transpose()
	e.rowsTimes()
}

// prefetchDepth is how many terms before its end a tile of at least twice as
// many asks for c's lines.
const prefetchDepth = 64

// tile writes c = a·b, or c += a·b, for strips of h rows, one under the other,
// and v vectors of columns. Each element is one chain of fused multiply-adds
// over k from zero, so its bits depend neither on the tile's shape nor on the
// element's place in it.
func (e *emitter) tile(h, v int) {
	e.fun(fmt.Sprintf("tile%dx%d", h, v), "(k int, a *%[1]s, ars, acs, strip int, b *%[1]s, brs int, c *%[1]s, crs int, last, strips, more int)",
		fmt.Sprintf("is strips tiles of %d rows and %d vectors, the last one of last lanes. Strides are in bytes, strip that from one tile of a to the next; it adds to c if more is not 0.", h, v))
	ars, acs := e.arg("ars"), e.arg("acs")
	from := e.arg("a")
	brs := e.arg("brs")
	mask := e.tailMask(e.arg("last"))
	c, crs := e.arg("c"), e.arg("crs")
	again := e.label("strip")
	e.Label(again)
	rows := e.rowPointers(from, ars, h)
	k, b := e.arg("k"), e.arg("b")

	rest := e.GP64()
	near := e.label("near")
	e.XORQ(rest, rest)
	e.CMPQ(k, operand.U32(2*prefetchDepth))
	e.JL(operand.LabelRef(near))
	e.MOVQ(operand.U32(prefetchDepth), rest)
	e.SUBQ(rest, k)
	e.Label(near)

	sums := make([][]reg.VecVirtual, h)
	for i := range sums {
		for range v {
			sums[i] = append(sums[i], e.zero())
		}
	}
	ahead := e.GP64()
	e.MOVQ(brs, ahead)
	e.SHLQ(operand.U8(3), ahead)
	loop, done := e.label("loop"), e.label("done")
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef(done))
	e.Label(loop)
	for j := 0; j < v*e.width(); j += 64 {
		e.PREFETCHT0(operand.Mem{Base: b, Disp: j, Index: ahead, Scale: 1})
	}
	column := func(j int) reg.VecVirtual {
		m := operand.Mem{Base: b, Disp: j * e.width()}
		if j == v-1 {
			return e.loadTail(m, mask)
		}
		return e.load(m)
	}
	switch {
	case v == 1 && e.isa == avx512:
		y := column(0)
		for i := range h {
			e.accumulate(sums[i][0], y, broadcast{rows.at(i)})
		}
	case v <= 2:
		var ys []reg.VecVirtual
		for j := range v {
			ys = append(ys, column(j))
		}
		for i := range h {
			x := e.spread(rows.at(i))
			for j, y := range ys {
				e.accumulate(sums[i][j], y, x)
			}
		}
	default:
		var xs []reg.VecVirtual
		for i := range h {
			xs = append(xs, e.spread(rows.at(i)))
		}
		for j := range v {
			y := column(j)
			for i, x := range xs {
				e.accumulate(sums[i][j], y, x)
			}
		}
	}
	e.ADDQ(brs, b)
	for _, p := range rows.base {
		e.ADDQ(acs, p)
	}
	e.DECQ(k)
	e.JNZ(operand.LabelRef(loop))
	e.MOVQ(rest, k)
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef(done))

	// The lines of c are asked for a while before they are needed.
	e.XORQ(rest, rest)
	crows := e.GP64()
	e.MOVQ(c, crows)
	for i := range h {
		for j := 0; j < v*e.width(); j += 64 {
			e.PREFETCHT0(operand.Mem{Base: crows, Disp: j})
		}
		if i < h-1 {
			e.ADDQ(crs, crows)
		}
	}
	e.JMP(operand.LabelRef(loop))
	e.Label(done)

	more := e.GP64()
	e.Load(e.Param("more"), more)
	add, end := e.label("add"), e.label("end")
	e.TESTQ(more, more)
	e.JNZ(operand.LabelRef(add))
	for _, adding := range []bool{false, true} {
		if adding {
			e.Label(add)
		}
		for i := range h {
			for j := range v {
				m := operand.Mem{Base: c, Disp: j * e.width()}
				s := sums[i][j]
				if j == v-1 {
					if adding {
						s = e.add(s, e.loadTail(m, mask))
					}
					e.storeTail(s, m, mask)
				} else {
					if adding {
						s = e.add(s, m)
					}
					e.store(s, m)
				}
			}
			e.ADDQ(crs, c)
		}
		if !adding {
			e.JMP(operand.LabelRef(end))
		}
	}
	e.Label(end)
	strip := e.arg("strip")
	e.ADDQ(strip, from)
	left := e.arg("strips")
	e.DECQ(left)
	e.Store(left, e.Param("strips"))
	e.JNZ(operand.LabelRef(again))
	e.ret()
}

// rowPointers addresses up to 15 rows at a stride through a base for every
// five: base + {0, 1, 2, 3, 4}·stride.
type rowPointers struct {
	base          []reg.GPVirtual
	stride, times reg.GPVirtual // the stride and three times it
}

func (e *emitter) rowPointers(from, stride reg.GPVirtual, rows int) rowPointers {
	r := rowPointers{stride: stride}
	if rows > 3 {
		r.times = e.GP64()
		e.LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, r.times)
	}
	p := e.GP64()
	e.MOVQ(from, p)
	r.base = append(r.base, p)
	for i := 5; i < rows; i += 5 {
		q := e.GP64()
		e.LEAQ(operand.Mem{Base: p, Index: stride, Scale: 4}, q)
		e.ADDQ(stride, q)
		r.base = append(r.base, q)
		p = q
	}
	return r
}

func (r rowPointers) at(i int) operand.Mem {
	m := operand.Mem{Base: r.base[i/5]}
	switch i % 5 {
	case 1:
		m.Index, m.Scale = r.stride, 1
	case 2:
		m.Index, m.Scale = r.stride, 2
	case 3:
		m.Index, m.Scale = r.times, 1
	case 4:
		m.Index, m.Scale = r.stride, 4
	}
	return m
}
