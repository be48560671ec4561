package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyRows writes k rows of up to two vectors side by side.
func (e *emitter) copyRows() {
	e.fun("copyRows", "(k int, src *%[1]s, ss int, dst *%[1]s, ds int, n int)",
		"copies k rows of n elements, at most two vectors. Strides are in bytes; what lies beyond n in a row of dst is left alone.")
	k, src, ss, dst, ds, n := e.arg("k"), e.arg("src"), e.arg("ss"), e.arg("dst"), e.arg("ds"), e.arg("n")
	wide, one, two, end := e.label("wide"), e.label("one"), e.label("two"), e.label("end")
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef(end))
	e.CMPQ(n, operand.U32(e.lanes()))
	e.JG(operand.LabelRef(wide))

	mask := e.tailMask(n)
	e.Label(one)
	e.storeTail(e.loadTail(operand.Mem{Base: src}, mask), operand.Mem{Base: dst}, mask)
	e.ADDQ(ss, src)
	e.ADDQ(ds, dst)
	e.DECQ(k)
	e.JNZ(operand.LabelRef(one))
	e.JMP(operand.LabelRef(end))

	e.Label(wide)
	e.SUBQ(operand.U32(e.lanes()), n)
	mask = e.tailMask(n)
	e.Label(two)
	e.PREFETCHT0(operand.Mem{Base: src, Index: ss, Scale: 8})
	first := e.load(operand.Mem{Base: src})
	second := e.loadTail(operand.Mem{Base: src, Disp: e.width()}, mask)
	e.store(first, operand.Mem{Base: dst})
	e.storeTail(second, operand.Mem{Base: dst, Disp: e.width()}, mask)
	e.ADDQ(ss, src)
	e.ADDQ(ds, dst)
	e.DECQ(k)
	e.JNZ(operand.LabelRef(two))
	e.Label(end)
	e.ret()
}

// transpose writes up to one vector's worth of rows as columns.
func (e *emitter) transpose() {
	e.fun("transpose", "(k int, src *%[1]s, ss int, rows int, dst *%[1]s, ds int)",
		"writes element p of row j of src to place j of row p of dst, for p below k and j below rows, at most a vector. Strides are in bytes.")
	k, src, ss, rows, dst, ds := e.arg("k"), e.arg("src"), e.arg("ss"), e.arg("rows"), e.arg("dst"), e.arg("ds")
	out := e.tailMask(rows)
	loop, tail, end := e.label("loop"), e.label("tail"), e.label("end")

	e.Label(loop)
	e.CMPQ(k, operand.U32(e.lanes()))
	e.JL(operand.LabelRef(tail))
	for _, column := range e.turned(src, ss, rows, func(m operand.Mem) reg.VecVirtual { return e.load(m) }) {
		e.storeTail(column, operand.Mem{Base: dst}, out)
		e.ADDQ(ds, dst)
	}
	e.ADDQ(operand.U32(e.width()), src)
	e.SUBQ(operand.U32(e.lanes()), k)
	e.JMP(operand.LabelRef(loop))

	e.Label(tail)
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef(end))
	in := e.tailMask(k)
	for _, column := range e.turned(src, ss, rows, func(m operand.Mem) reg.VecVirtual { return e.loadTail(m, in) }) {
		e.storeTail(column, operand.Mem{Base: dst}, out)
		e.ADDQ(ds, dst)
		e.DECQ(k)
		e.JZ(operand.LabelRef(end))
	}
	e.Label(end)
	e.ret()
}

// turned loads as many rows as a vector has lanes and returns the columns. In
// place of rows that do not exist it reads the last one again.
//
// Four rows of float32 (two of float64) are interleaved within each 16 bytes,
// then the 16-byte pieces change places.
func (e *emitter) turned(src, ss, rows reg.GPVirtual, load func(operand.Mem) reg.VecVirtual) []reg.VecVirtual {
	p, next := e.GP64(), e.GP64()
	e.MOVQ(src, p)
	var v []reg.VecVirtual
	for i := range e.lanes() {
		v = append(v, load(operand.Mem{Base: p}))
		if i < e.lanes()-1 {
			e.LEAQ(operand.Mem{Base: p, Index: ss, Scale: 1}, next)
			e.CMPQ(rows, operand.U32(i+1))
			e.CMOVQGT(next, p)
		}
	}
	pair := func(name string, a, b reg.VecVirtual) reg.VecVirtual {
		d := e.vec()
		e.raw(name, b, a, d)
		return d
	}
	group := 128 / e.bits
	var u [][]reg.VecVirtual // by group of rows, then by column within 16 bytes
	for i := 0; i < len(v); i += group {
		if group == 2 {
			u = append(u, []reg.VecVirtual{pair("VUNPCKLPD", v[i], v[i+1]), pair("VUNPCKHPD", v[i], v[i+1])})
			continue
		}
		l0, h0 := pair("VUNPCKLPS", v[i], v[i+1]), pair("VUNPCKHPS", v[i], v[i+1])
		l1, h1 := pair("VUNPCKLPS", v[i+2], v[i+3]), pair("VUNPCKHPS", v[i+2], v[i+3])
		u = append(u, []reg.VecVirtual{
			pair("VUNPCKLPD", l0, l1), pair("VUNPCKHPD", l0, l1),
			pair("VUNPCKLPD", h0, h1), pair("VUNPCKHPD", h0, h1),
		})
	}
	columns := make([]reg.VecVirtual, e.lanes())
	for c := range group {
		if e.isa == avx2 {
			columns[c], columns[c+group] = e.pieces("VPERM2F128", 0x20, u[0][c], u[1][c]), e.pieces("VPERM2F128", 0x31, u[0][c], u[1][c])
			continue
		}
		const even, odd = 0x88, 0xdd
		x0, x1 := e.pieces("VSHUFF32X4", even, u[0][c], u[1][c]), e.pieces("VSHUFF32X4", even, u[2][c], u[3][c])
		y0, y1 := e.pieces("VSHUFF32X4", odd, u[0][c], u[1][c]), e.pieces("VSHUFF32X4", odd, u[2][c], u[3][c])
		columns[c], columns[c+2*group] = e.pieces("VSHUFF32X4", even, x0, x1), e.pieces("VSHUFF32X4", odd, x0, x1)
		columns[c+group], columns[c+3*group] = e.pieces("VSHUFF32X4", even, y0, y1), e.pieces("VSHUFF32X4", odd, y0, y1)
	}
	return columns
}

func (e *emitter) pieces(name string, which uint8, a, b reg.VecVirtual) reg.VecVirtual {
	d := e.vec()
	e.raw(name, operand.U8(which), b, a, d)
	return d
}

// rowsTimes multiplies up to one vector's worth of rows by a vector, turning
// them on the way. Each sum is the chain that a tile makes.
func (e *emitter) rowsTimes() {
	e.fun("rowsTimes", "(k int, a *%[1]s, ars int, rows int, x *%[1]s, c *%[1]s, more int)",
		"multiplies rows rows of k terms, at most a vector of them, ars bytes apart, by x; it adds to c if more is not 0.")
	k, a, ars, rows, x := e.arg("k"), e.arg("a"), e.arg("ars"), e.arg("rows"), e.arg("x")
	sum := e.zero()
	loop, tail, end := e.label("loop"), e.label("tail"), e.label("end")
	term := func(column reg.VecVirtual, at int) {
		m := operand.Mem{Base: x, Disp: at}
		if e.isa == avx512 {
			e.accumulate(sum, column, broadcast{m})
		} else {
			e.accumulate(sum, column, e.spread(m))
		}
	}
	e.Label(loop)
	e.CMPQ(k, operand.U32(e.lanes()))
	e.JL(operand.LabelRef(tail))
	for i, column := range e.turned(a, ars, rows, func(m operand.Mem) reg.VecVirtual { return e.load(m) }) {
		term(column, i*e.size())
	}
	e.ADDQ(operand.U32(e.width()), a)
	e.ADDQ(operand.U32(e.width()), x)
	e.SUBQ(operand.U32(e.lanes()), k)
	e.JMP(operand.LabelRef(loop))

	e.Label(tail)
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef(end))
	in := e.tailMask(k)
	for i, column := range e.turned(a, ars, rows, func(m operand.Mem) reg.VecVirtual { return e.loadTail(m, in) }) {
		term(column, i*e.size())
		e.DECQ(k)
		e.JZ(operand.LabelRef(end))
	}
	e.Label(end)
	c, more := operand.Mem{Base: e.arg("c")}, e.arg("more")
	out, store := e.tailMask(rows), e.label("store")
	e.TESTQ(more, more)
	e.JZ(operand.LabelRef(store))
	before := e.loadTail(c, out)
	e.op("VADD", before, sum, sum)
	e.Label(store)
	e.storeTail(sum, c, out)
	e.ret()
}
