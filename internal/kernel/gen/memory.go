package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tailMask makes a mask of the first n lanes, with n below the number of
// lanes (or equal to it), in a register of its own.
func (e *emitter) tailMask(n reg.GPVirtual) reg.Register {
	if e.isa == avx512 {
		bits, k := e.GP32(), e.K()
		e.MOVL(operand.U32(math.MaxUint32), bits)
		e.BZHIL(n.As32(), bits, bits)
		e.KMOVW(bits, k)
		return k
	}
	table := e.maskTable()
	at, d := e.GP64(), e.YMM()
	e.LEAQ(table.Offset(32), at)
	left := e.GP64()
	e.MOVQ(n, left)
	e.NEGQ(left)
	e.VMOVUPS(operand.Mem{Base: at, Index: left, Scale: uint8(e.size())}, d)
	return d
}

// maskTable is a vector of ones before a vector of zeros.
func (e *emitter) maskTable() operand.Mem {
	const key = math.MaxUint64 - 1
	if m, ok := e.consts[key]; ok {
		return m
	}
	m := e.StaticGlobal("ones")
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		bits := uint64(0)
		if i < 4 {
			bits = math.MaxUint64
		}
		e.AddDatum(8*i, operand.U64(bits))
	}
	e.consts[key] = m
	return m
}

// loadTail reads the lanes of the mask; the others are zero and their memory
// is not touched.
func (e *emitter) loadTail(m operand.Mem, mask reg.Register) reg.VecVirtual {
	d := e.vec()
	e.loadTailTo(m, mask, d)
	return d
}

func (e *emitter) loadTailTo(m operand.Mem, mask, d reg.Register) {
	if e.isa == avx512 {
		e.raw(map[int]string{32: "VMOVUPS_Z", 64: "VMOVUPD_Z"}[e.bits], m, mask, d)
	} else {
		e.op("VMASKMOV", m, mask, d)
	}
}

// storeTail writes the lanes of the mask and no other memory.
func (e *emitter) storeTail(x reg.Register, m operand.Mem, mask reg.Register) {
	if e.isa == avx512 {
		e.op("VMOVU", x, mask, m)
	} else {
		e.op("VMASKMOV", x, mask, m)
	}
}

func (e *emitter) store(x reg.Register, m operand.Mem) { e.op("VMOVU", x, m) }

// half is the lower half of a vector.
func half(x reg.VecVirtual) reg.Register {
	if x.Size() == 64 {
		return x.AsY()
	}
	return x.AsX()
}

// fetch and put read and write a vector, fetchTail and putTail the lanes of a
// mask; they convert where memory holds narrower elements.
func (e *emitter) fetch(m operand.Mem) reg.VecVirtual {
	if e.memory == e.bits {
		return e.load(m)
	}
	d := e.vec()
	e.VCVTPS2PD(m, d)
	return d
}

func (e *emitter) put(x reg.VecVirtual, m operand.Mem) {
	if e.memory == e.bits {
		e.store(x, m)
		return
	}
	y := e.vec()
	e.narrow(x, half(y))
	e.VMOVUPS(half(y), m)
}

// narrow converts to float32.
func (e *emitter) narrow(x reg.VecVirtual, y reg.Register) {
	if e.isa == avx512 {
		e.VCVTPD2PS(x, y)
	} else {
		e.VCVTPD2PSY(x, y)
	}
}

func (e *emitter) fetchTail(m operand.Mem, mask reg.Register) reg.VecVirtual {
	if e.memory == e.bits {
		return e.loadTail(m, mask)
	}
	d := e.vec()
	if e.isa == avx512 {
		e.VCVTPS2PD_Z(m, mask, d)
		return d
	}
	e.VMASKMOVPS(m, e.narrowMask(mask), half(d))
	e.VCVTPS2PD(half(d), d)
	return d
}

func (e *emitter) putTail(x reg.VecVirtual, m operand.Mem, mask reg.Register) {
	if e.memory == e.bits {
		e.storeTail(x, m, mask)
		return
	}
	y := e.vec()
	e.narrow(x, half(y))
	if e.isa == avx512 {
		e.VMOVUPS(half(y), mask, m)
	} else {
		e.VMASKMOVPS(half(y), e.narrowMask(mask), m)
	}
}

// narrowMask is the AVX2 mask for four float32 of that for four float64: the
// even 32-bit words of its halves.
func (e *emitter) narrowMask(mask reg.Register) reg.Register {
	high, d := e.XMM(), e.XMM()
	low := mask.(reg.VecVirtual).AsX()
	e.VEXTRACTF128(operand.U8(1), mask, high)
	e.VSHUFPS(operand.U8(0x88), high, low, d)
	return d
}
