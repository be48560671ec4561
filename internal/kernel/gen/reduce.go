package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A sum is taken as package kernel defines it, with the same bits: in blocks of
// sumBlock terms, by sumLanes sums that take every eighth term each and are
// added in pairs. So these functions use vectors of at most 32 bytes, on every
// path.
const (
	sumBlock = 128
	sumLanes = 8
)

// eight is the sums of a block: one vector of float32 or two of float64.
type eight []reg.VecVirtual

func (e *emitter) eight(x func(at int) reg.VecVirtual) (s eight) {
	for i := 0; i < sumLanes; i += 32 / e.size() {
		s = append(s, x(i*e.size()))
	}
	return s
}

// pairs adds the eight sums: 0+4, 2+6, 1+5, 3+7, then the first two and the
// last two of these, then those.
func (e *emitter) pairs(s eight) reg.VecVirtual {
	low, high := s[0], e.XMM()
	if e.bits == 64 {
		t := e.YMM()
		e.VADDPD(s[1], s[0], t)
		low = t
	}
	e.VEXTRACTF128(operand.U8(1), low, high)
	d := e.XMM()
	e.op("VADD", high, low.AsX(), d)
	if e.bits == 32 {
		e.VMOVHLPS(d, d, high)
		e.VADDPS(high, d, d)
		e.VMOVSHDUP(d, high)
		e.VADDSS(high, d, d)
	} else {
		e.VUNPCKHPD(d, d, high)
		e.VADDSD(high, d, d)
	}
	return d
}

// sums writes sumBlocks, of one operand, or dotBlocks, of the products of two.
func (e *emitter) sums(name, doc string, operands ...string) {
	signature := "(dst, x *%[1]s, n int)"
	if len(operands) == 2 {
		signature = "(dst, a, b *%[1]s, n int)"
	}
	e.fun(name, signature, doc)
	dst, n := e.arg("dst"), e.arg("n")
	var src []reg.GPVirtual
	for _, o := range operands {
		src = append(src, e.arg(o))
	}
	term := func(at int, fetch func(operand.Mem) reg.VecVirtual) reg.VecVirtual {
		x := fetch(operand.Mem{Base: src[0], Disp: at})
		if len(src) == 1 {
			return x
		}
		y, d := fetch(operand.Mem{Base: src[1], Disp: at}), e.YMM()
		e.op("VMUL", y, x, d)
		return d
	}
	whole := func(m operand.Mem) reg.VecVirtual {
		d := e.YMM()
		e.op("VMOVU", m, d)
		return d
	}
	forward := func(terms int) {
		for _, p := range src {
			e.ADDQ(operand.U32(terms*e.size()), p)
		}
		e.SUBQ(operand.U32(terms), n)
	}
	save := func(s eight) {
		d := e.pairs(s)
		if e.bits == 32 {
			e.VMOVSS(d, operand.Mem{Base: dst})
		} else {
			e.VMOVSD(d, operand.Mem{Base: dst})
		}
	}
	block, rest, end := e.label("block"), e.label("rest"), e.label("end")
	e.Label(block)
	e.CMPQ(n, operand.U32(sumBlock))
	e.JL(operand.LabelRef(rest))
	s := e.eight(func(at int) reg.VecVirtual { return term(at, whole) })
	for i := sumLanes; i < sumBlock; i += sumLanes {
		for j, x := range e.eight(func(at int) reg.VecVirtual { return term(i*e.size()+at, whole) }) {
			e.op("VADD", x, s[j], s[j])
		}
	}
	save(s)
	e.ADDQ(operand.U32(e.size()), dst)
	forward(sumBlock)
	e.JMP(operand.LabelRef(block))

	e.Label(rest)
	e.CMPQ(n, operand.U32(sumLanes))
	e.JL(operand.LabelRef(end))
	s = e.eight(func(at int) reg.VecVirtual { return term(at, whole) })
	forward(sumLanes)
	more, last, done := e.label("more"), e.label("last"), e.label("done")
	e.Label(more)
	e.CMPQ(n, operand.U32(sumLanes))
	e.JL(operand.LabelRef(last))
	for j, x := range e.eight(func(at int) reg.VecVirtual { return term(at, whole) }) {
		e.op("VADD", x, s[j], s[j])
	}
	forward(sumLanes)
	e.JMP(operand.LabelRef(more))

	// The sums that have no more terms get -0, which changes none.
	e.Label(last)
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(done))
	for j := range s {
		mask := e.firstOf(n, j*32/e.size())
		x := term(j*32, func(m operand.Mem) reg.VecVirtual {
			d := e.YMM()
			e.op("VMASKMOV", m, mask, d)
			return d
		})
		sign := e.YMM()
		e.spreadTo(e.cbits(1<<(e.bits-1)).(broadcast).Mem, sign)
		off := e.YMM()
		e.op("VANDN", sign, mask, off)
		d := e.YMM()
		e.op("VAND", mask, x, d)
		e.op("VOR", off, d, d)
		e.op("VADD", d, s[j], s[j])
	}
	e.Label(done)
	save(s)
	e.Label(end)
	e.ret()
}

// firstOf is an AVX2 mask of the first n-skip lanes of 32 bytes, all or none
// where that is beyond them.
func (e *emitter) firstOf(n reg.GPVirtual, skip int) reg.VecVirtual {
	lanes := 32 / e.size()
	left, limit := e.GP64(), e.GP64()
	e.MOVQ(n, left)
	e.SUBQ(operand.U32(skip), left)
	e.XORQ(limit, limit)
	e.CMPQ(left, limit)
	e.CMOVQLT(limit, left)
	e.MOVQ(operand.U32(lanes), limit)
	e.CMPQ(left, limit)
	e.CMOVQGT(limit, left)
	at, d := e.GP64(), e.YMM()
	e.LEAQ(e.maskTable().Offset(32), at)
	e.NEGQ(left)
	e.VMOVUPS(operand.Mem{Base: at, Index: left, Scale: uint8(e.size())}, d)
	return d
}

// sumRows adds columns.
func (e *emitter) sumRows() {
	e.fun("sumRows", "(dst, x *%[1]s, n, stride, columns int)",
		"adds n rows, from 8 to 128, of columns elements that begin stride bytes apart: each column as a block.")
	dst, x, stride, columns := e.arg("dst"), e.arg("x"), e.arg("stride"), e.arg("columns")
	next, tail, end := e.label("next"), e.label("tail"), e.label("end")
	column := func(fetch func(operand.Mem) reg.VecVirtual) reg.VecVirtual {
		p, n := e.GP64(), e.arg("n")
		e.MOVQ(x, p)
		var s []reg.VecVirtual
		for range sumLanes {
			s = append(s, fetch(operand.Mem{Base: p}))
			e.ADDQ(stride, p)
		}
		e.SUBQ(operand.U32(sumLanes), n)
		loop, rest, done := e.label("rows"), e.label("rest"), e.label("done")
		e.Label(loop)
		e.CMPQ(n, operand.U32(sumLanes))
		e.JL(operand.LabelRef(rest))
		for i := range s {
			y := fetch(operand.Mem{Base: p})
			e.op("VADD", y, s[i], s[i])
			e.ADDQ(stride, p)
		}
		e.SUBQ(operand.U32(sumLanes), n)
		e.JMP(operand.LabelRef(loop))
		e.Label(rest)
		for i := range sumLanes - 1 {
			e.TESTQ(n, n)
			e.JZ(operand.LabelRef(done))
			y := fetch(operand.Mem{Base: p})
			e.op("VADD", y, s[i], s[i])
			e.ADDQ(stride, p)
			e.DECQ(n)
		}
		e.Label(done)
		return e.add(e.add(e.add(s[0], s[4]), e.add(s[2], s[6])), e.add(e.add(s[1], s[5]), e.add(s[3], s[7])))
	}
	e.Label(next)
	e.CMPQ(columns, operand.U32(e.lanes()))
	e.JL(operand.LabelRef(tail))
	e.store(column(func(m operand.Mem) reg.VecVirtual { return e.load(m) }), operand.Mem{Base: dst})
	e.ADDQ(operand.U32(e.width()), dst)
	e.ADDQ(operand.U32(e.width()), x)
	e.SUBQ(operand.U32(e.lanes()), columns)
	e.JMP(operand.LabelRef(next))
	e.Label(tail)
	e.TESTQ(columns, columns)
	e.JZ(operand.LabelRef(end))
	mask := e.tailMask(columns)
	e.storeTail(column(func(m operand.Mem) reg.VecVirtual { return e.loadTail(m, mask) }), operand.Mem{Base: dst}, mask)
	e.Label(end)
	e.ret()
}

// extreme writes the largest or smallest of n ≥ 1 elements.
func (e *emitter) extreme(name, doc string, pick func(a, b reg.VecVirtual) reg.VecVirtual) {
	e.fun(name, "(x *%[1]s, n int) %[1]s", doc)
	x, n := e.arg("x"), e.arg("n")
	first := e.spread(operand.Mem{Base: x})
	const side = 4
	var s []reg.VecVirtual
	for range side {
		s = append(s, e.copy(first))
	}
	for _, count := range []int{side, 1} {
		loop, next := e.label("loop"), e.label("next")
		e.Label(loop)
		e.CMPQ(n, operand.U32(count*e.lanes()))
		e.JL(operand.LabelRef(next))
		for i := range count {
			e.op("VMOVA", pick(s[i], e.load(operand.Mem{Base: x, Disp: i * e.width()})), s[i])
		}
		e.ADDQ(operand.U32(count*e.width()), x)
		e.SUBQ(operand.U32(count*e.lanes()), n)
		e.JMP(operand.LabelRef(loop))
		e.Label(next)
	}
	end := e.label("end")
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(end))
	mask := e.tailMask(n)
	e.op("VMOVA", pick(s[0], e.choose(mask, e.loadTail(operand.Mem{Base: x}, mask), first)), s[0])
	e.Label(end)
	r := pick(pick(s[0], s[1]), pick(s[2], s[3]))
	for _, d := range e.rotations(r) {
		r = pick(r, d(r))
	}
	at, err := e.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	if e.bits == 32 {
		e.VMOVSS(r.AsX(), at.Addr)
	} else {
		e.VMOVSD(r.AsX(), at.Addr)
	}
	e.ret()
}

// rotations are permutations that bring every lane to the first place by
// halving.
func (e *emitter) rotations(x reg.VecVirtual) (f []func(reg.VecVirtual) reg.VecVirtual) {
	permute := func(name string, imm uint8, twice bool) {
		f = append(f, func(x reg.VecVirtual) reg.VecVirtual {
			d := e.vec()
			if twice {
				e.raw(name, operand.U8(imm), x, x, d)
			} else {
				e.op(name, operand.U8(imm), x, d)
			}
			return d
		})
	}
	if e.isa == avx512 {
		permute("VSHUFF32X4", 0x4e, true)
		permute("VSHUFF32X4", 0xb1, true)
	} else {
		permute("VPERM2F128", 0x01, true)
	}
	if e.bits == 32 {
		permute("VPERMIL", 0x4e, false)
		permute("VPERMIL", 0xb1, false)
	} else {
		permute("VPERMIL", 0x55, false)
	}
	return f
}

func (e *emitter) reductions() {
	e.sums("sumBlocks", "writes the sum of each block of 128 elements and, if 8 or more are left, of those.", "x")
	e.sums("dotBlocks", "writes the sum of the products in each block of 128 elements and, if 8 or more are left, of those.", "a", "b")
	e.sumRows()
	e.extreme("largest", "is the largest of n elements: NaN if one is, and +0 of two zeros.", e.maximum)
	e.extreme("smallest", "is the smallest of n elements: NaN if one is, and -0 of two zeros.", e.minimum)
}
