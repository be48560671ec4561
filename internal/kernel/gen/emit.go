package main

import (
	"fmt"
	"math"
	"reflect"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set that kernels are generated for.
type isa int

const (
	avx2   isa = iota // AVX2 with FMA: 16 registers of 32 bytes
	avx512            // AVX-512 F, DQ, BW, VL: 32 registers of 64 bytes, 7 masks
)

func (s isa) String() string { return [...]string{"AVX2", "AVX512"}[s] }

// emitter writes one file of assembly for one instruction set and element
// size. Arithmetic methods return a new virtual register; avo assigns the
// machine's.
type emitter struct {
	*build.Context
	isa    isa
	bits   int // of an element in a register: 32 or 64
	memory int // of an element in memory: 32 where float64 computes for float32
	consts map[uint64]operand.Mem
	labels int
	names  []string // functions written, in order
}

func newEmitter(s isa, bits int) *emitter {
	return &emitter{Context: build.NewContext(), isa: s, bits: bits, memory: bits, consts: map[uint64]operand.Mem{}}
}

// size is the bytes of an element, width those of a vector, lanes the elements
// of a vector, and stride the bytes of memory that those take.
func (e *emitter) size() int   { return e.bits / 8 }
func (e *emitter) width() int  { return 32 << e.isa }
func (e *emitter) lanes() int  { return e.width() / e.size() }
func (e *emitter) stride() int { return e.lanes() * e.memory / 8 }

// float is the Go type of an element in memory.
func (e *emitter) float() string { return fmt.Sprintf("float%d", e.memory) }

// fun begins a function; its full name carries the element size and the
// instruction set.
func (e *emitter) fun(name, signature, doc string) {
	full := e.full(name)
	e.names = append(e.names, name)
	e.Function(full)
	e.Attributes(attr.NOSPLIT)
	e.SignatureExpr("func" + fmt.Sprintf(signature, e.float()))
	e.Doc(full + " " + doc)
	e.Pragma("noescape")
}

// full is the name of a function of this element size and instruction set.
func (e *emitter) full(name string) string { return fmt.Sprintf("%sF%d%v", name, e.memory, e.isa) }

// ret ends a function.
func (e *emitter) ret() {
	e.VZEROUPPER()
	e.RET()
}

// label makes a label that is unique in the file.
func (e *emitter) label(name string) string {
	e.labels++
	return fmt.Sprintf("%s%d", name, e.labels)
}

// arg loads an argument of 8 bytes.
func (e *emitter) arg(name string) reg.GPVirtual {
	r := e.GP64()
	e.Load(e.Param(name), r)
	return r
}

// vec is a new vector register.
func (e *emitter) vec() reg.VecVirtual {
	if e.isa == avx512 {
		return e.ZMM()
	}
	return e.YMM()
}

// broadcast is a constant in memory: one element that the instruction spreads
// (AVX-512), or a whole vector of copies.
type broadcast struct{ operand.Mem }

// c is a constant operand with the value v.
func (e *emitter) c(v float64) operand.Op {
	if e.bits == 32 {
		return e.cbits(uint64(math.Float32bits(float32(v))))
	}
	return e.cbits(math.Float64bits(v))
}

// cbits is a constant operand with the given bits.
func (e *emitter) cbits(bits uint64) operand.Op {
	if m, ok := e.consts[bits]; ok {
		return broadcast{m}
	}
	m := e.StaticGlobal(fmt.Sprintf("x%0*x", e.bits/4, bits))
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	copies := 1
	if e.isa == avx2 {
		copies = e.lanes()
	}
	for i := range copies {
		if e.bits == 32 {
			e.AddDatum(4*i, operand.U32(bits))
		} else {
			e.AddDatum(8*i, operand.U64(bits))
		}
	}
	e.consts[bits] = m
	return broadcast{m}
}

// op writes the instruction of this name for the element type: VADD becomes
// VADDPS or VADDPD. Operands are in Go's order, the destination last.
func (e *emitter) op(name string, ops ...operand.Op) {
	e.raw(name+map[int]string{32: "PS", 64: "PD"}[e.bits], ops...)
}

// integer writes VPADD and the like for integers of the element's size: VPADDD
// or VPADDQ.
func (e *emitter) integer(name string, ops ...operand.Op) {
	e.raw(name+map[int]string{32: "D", 64: "Q"}[e.bits], ops...)
}

// raw writes the instruction of exactly this name, in its broadcasting form
// where an operand is a constant.
func (e *emitter) raw(name string, ops ...operand.Op) {
	args := make([]reflect.Value, len(ops))
	for i, o := range ops {
		if b, ok := o.(broadcast); ok {
			o = b.Mem
			if e.isa == avx512 {
				name += "_BCST"
			}
		}
		args[i] = reflect.ValueOf(o)
	}
	m := reflect.ValueOf(e.Context).MethodByName(name)
	if !m.IsValid() {
		panic("no instruction " + name)
	}
	m.Call(args)
}

// load reads a vector, or spreads a constant.
func (e *emitter) load(x operand.Op) reg.VecVirtual {
	d := e.vec()
	e.loadTo(x, d)
	return d
}

func (e *emitter) loadTo(x operand.Op, d reg.Register) {
	if b, ok := x.(broadcast); ok && e.isa == avx512 {
		e.raw(map[int]string{32: "VBROADCASTSS", 64: "VBROADCASTSD"}[e.bits], b.Mem, d)
		return
	}
	if b, ok := x.(broadcast); ok {
		x = b.Mem
	}
	e.op("VMOVU", x, d)
}

// spread reads one element into every lane.
func (e *emitter) spread(x operand.Op) reg.VecVirtual {
	d := e.vec()
	e.spreadTo(x, d)
	return d
}

func (e *emitter) spreadTo(x operand.Op, d reg.Register) {
	e.raw(map[int]string{32: "VBROADCASTSS", 64: "VBROADCASTSD"}[e.bits], x, d)
}

// zero is a vector of zeros.
func (e *emitter) zero() reg.VecVirtual {
	d := e.vec()
	e.clear(d)
	return d
}

func (e *emitter) clear(d reg.Register) {
	if e.isa == avx512 {
		e.VPXORD(d, d, d)
	} else {
		e.VXORPS(d, d, d)
	}
}

func (e *emitter) copy(x operand.Op) reg.VecVirtual {
	d := e.vec()
	e.op("VMOVA", x, d)
	return d
}

func (e *emitter) two(name string, a, b operand.Op) reg.VecVirtual {
	d := e.vec()
	e.op(name, b, a, d)
	return d
}

func (e *emitter) add(a, b operand.Op) reg.VecVirtual { return e.two("VADD", a, b) }
func (e *emitter) sub(a, b operand.Op) reg.VecVirtual { return e.two("VSUB", a, b) }
func (e *emitter) mul(a, b operand.Op) reg.VecVirtual { return e.two("VMUL", a, b) }
func (e *emitter) div(a, b operand.Op) reg.VecVirtual { return e.two("VDIV", a, b) }

// larger is a > b ? a : b, and smaller a < b ? a : b: both give b where either
// is NaN, and for two zeros.
func (e *emitter) larger(a, b operand.Op) reg.VecVirtual  { return e.two("VMAX", a, b) }
func (e *emitter) smaller(a, b operand.Op) reg.VecVirtual { return e.two("VMIN", a, b) }

func (e *emitter) and(a, b operand.Op) reg.VecVirtual { return e.two("VAND", a, b) }
func (e *emitter) or(a, b operand.Op) reg.VecVirtual  { return e.two("VOR", a, b) }
func (e *emitter) xor(a, b operand.Op) reg.VecVirtual { return e.two("VXOR", a, b) }

func (e *emitter) signBit() operand.Op { return e.cbits(1 << (e.bits - 1)) }

func (e *emitter) abs(x operand.Op) reg.VecVirtual {
	return e.and(x, e.cbits(1<<(e.bits-1)-1))
}

// fma makes d = d·a + c.
func (e *emitter) fma(d, a, c operand.Op) { e.op("VFMADD213", c, a, d) }

// accumulate makes d = d + a·b, and deplete d = d - a·b.
func (e *emitter) accumulate(d, a, b operand.Op) { e.op("VFMADD231", b, a, d) }
func (e *emitter) deplete(d, a, b operand.Op)    { e.op("VFNMADD231", b, a, d) }

// poly is a polynomial in x by Horner's rule, highest coefficient first.
func (e *emitter) poly(x operand.Op, coefs ...float64) reg.VecVirtual {
	p := e.load(e.c(coefs[0]))
	for _, k := range coefs[1:] {
		e.fma(p, x, e.c(k))
	}
	return p
}

// Predicates of compare. Ordered ones are false on NaN.
const (
	equal     = 0x00
	less      = 0x11
	lessEqual = 0x12
	unordered = 0x03
)

// compare is a mask of the lanes in which the predicate holds of a and b.
func (e *emitter) compare(predicate uint8, a, b operand.Op) reg.Register {
	var d reg.Register = e.YMM()
	if e.isa == avx512 {
		d = e.K()
	}
	e.op("VCMP", operand.U8(predicate), b, a, d)
	return d
}

// choose takes yes in the lanes of the mask and no elsewhere. Either may be a
// constant where the instruction set has it: yes always.
func (e *emitter) choose(mask reg.Register, yes, no operand.Op) reg.VecVirtual {
	d := e.vec()
	if e.isa == avx512 {
		e.op("VBLENDM", yes, no, mask, d)
	} else {
		e.op("VBLENDV", mask, yes, no, d)
	}
	return d
}
