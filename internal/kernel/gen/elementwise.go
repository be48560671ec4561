package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// body emits what does not change from vector to vector, then returns what
// emits the result for one vector of each operand.
type body func(e *emitter) func(x []reg.VecVirtual) reg.VecVirtual

// unary, binary and scalar write loops with one operand, two, and one and a
// number.
func (e *emitter) unary(name, doc string, unroll int, f body) {
	e.fun(name, "(dst, x *%[1]s, n int)", "is "+doc+".")
	e.loop([]string{"x"}, unroll, f)
}

func (e *emitter) binary(name, doc string, unroll int, f body) {
	e.fun(name, "(dst, a, b *%[1]s, n int)", "is "+doc+".")
	e.loop([]string{"a", "b"}, unroll, f)
}

func (e *emitter) scalar(name, doc string, unroll int, f body) {
	e.fun(name, "(dst, x *%[1]s, n int, c %[1]s)", "is "+doc+".")
	e.loop([]string{"x"}, unroll, f)
}

// number reads a scalar argument into every lane.
func (e *emitter) number(name string) reg.VecVirtual {
	at, err := e.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return e.spread(at.Addr)
}

// loop applies f to vectors of the named operands: unroll of them at a time,
// then one at a time, then what is left behind a mask. So an element's bits
// depend on neither its place nor n.
func (e *emitter) loop(operands []string, unroll int, f body) {
	dst := e.arg("dst")
	var src []reg.GPVirtual
	for _, name := range operands {
		src = append(src, e.arg(name))
	}
	n := e.arg("n")
	each := f(e)
	step := func(count int) {
		for i := range count {
			var x []reg.VecVirtual
			for _, p := range src {
				x = append(x, e.fetch(operand.Mem{Base: p, Disp: i * e.stride()}))
			}
			e.put(each(x), operand.Mem{Base: dst, Disp: i * e.stride()})
		}
		for _, p := range append([]reg.GPVirtual{dst}, src...) {
			e.ADDQ(operand.U32(count*e.stride()), p)
		}
		e.SUBQ(operand.U32(count*e.lanes()), n)
	}
	for _, count := range []int{unroll, 1} {
		loop, next := e.label("loop"), e.label("next")
		e.Label(loop)
		e.CMPQ(n, operand.U32(count*e.lanes()))
		e.JL(operand.LabelRef(next))
		step(count)
		e.JMP(operand.LabelRef(loop))
		e.Label(next)
		if unroll == 1 {
			break
		}
	}
	end := e.label("end")
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(end))
	mask := e.tailMask(n)
	var x []reg.VecVirtual
	for _, p := range src {
		x = append(x, e.fetchTail(operand.Mem{Base: p}, mask))
	}
	e.putTail(each(x), operand.Mem{Base: dst}, mask)
	e.Label(end)
	e.ret()
}

// simple makes a body without anything that does not change.
func simple(f func(e *emitter, x []reg.VecVirtual) reg.VecVirtual) body {
	return func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		return func(x []reg.VecVirtual) reg.VecVirtual { return f(e, x) }
	}
}

// arithmetic writes what the instruction set has, or nearly.
func (e *emitter) arithmetic() {
	e.binary("add", "a + b", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.add(x[0], x[1]) }))
	e.binary("sub", "a - b", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.sub(x[0], x[1]) }))
	e.binary("mul", "a·b", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.mul(x[0], x[1]) }))
	e.binary("div", "a/b", 2, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.div(x[0], x[1]) }))
	e.binary("max", "the larger of a and b: NaN if either is, and +0 of two zeros", 2, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.maximum(x[0], x[1]) }))
	e.binary("min", "the smaller of a and b: NaN if either is, and -0 of two zeros", 2, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.minimum(x[0], x[1]) }))

	e.unary("neg", "-x", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.xor(x[0], e.signBit()) }))
	e.unary("abs", "|x|", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.abs(x[0]) }))
	e.unary("square", "x·x", 4, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual { return e.mul(x[0], x[0]) }))
	e.unary("sqrt", "the square root", 2, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual {
		d := e.vec()
		e.op("VSQRT", x[0], d)
		return d
	}))
	e.unary("recip", "1/x", 2, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		one := e.load(e.c(1))
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.div(one, x[0]) }
	})
	// The first operand is taken only if it is larger: x survives a NaN, and
	// adding +0 turns -0 into +0.
	e.unary("relu", "max(x, 0), NaN where x is, and never -0", 4, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		zero := e.zero()
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.add(e.larger(zero, x[0]), zero) }
	})

	e.scalar("addC", "x + c", 4, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		c := e.number("c")
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.add(x[0], c) }
	})
	e.scalar("rsubC", "c - x", 4, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		c := e.number("c")
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.sub(c, x[0]) }
	})
	e.scalar("mulC", "x·c", 4, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		c := e.number("c")
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.mul(x[0], c) }
	})

	e.scalar("divC", "x/c", 2, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		c := e.number("c")
		return func(x []reg.VecVirtual) reg.VecVirtual { return e.div(x[0], c) }
	})

	e.binary("tanhGrad", "a·(1 - b²)", 2, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		one := e.load(e.c(1))
		return func(x []reg.VecVirtual) reg.VecVirtual {
			return e.mul(x[0], e.sub(one, e.mul(x[1], x[1])))
		}
	})
	e.binary("sigmoidGrad", "a·(b·(1 - b))", 2, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		one := e.load(e.c(1))
		return func(x []reg.VecVirtual) reg.VecVirtual {
			return e.mul(x[0], e.mul(x[1], e.sub(one, x[1])))
		}
	})
	e.binary("sqrtGrad", "a/(2b)", 2, simple(func(e *emitter, x []reg.VecVirtual) reg.VecVirtual {
		return e.div(x[0], e.add(x[1], x[1]))
	}))
	e.binary("reluGrad", "a, and +0 where b ≤ 0", 4, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		zero := e.zero()
		return func(x []reg.VecVirtual) reg.VecVirtual {
			return e.choose(e.compare(lessEqual, x[1], zero), zero, x[0])
		}
	})
	e.where()
	e.binary("absGrad", "a·sign(b), +0 where b is 0, and b where it is NaN", 2, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		zero := e.zero()
		return func(x []reg.VecVirtual) reg.VecVirtual {
			signed := e.xor(x[0], e.and(x[1], e.signBit()))
			signed = e.choose(e.compare(equal, x[1], zero), zero, signed)
			return e.choose(e.compare(unordered, x[1], x[1]), x[1], signed)
		}
	})
}

// maximum and minimum treat NaN and zeros as Go's max and min do. The two
// orders of the machine's differ in zeros only, and where there is a NaN.
func (e *emitter) maximum(a, b reg.VecVirtual) reg.VecVirtual {
	both := e.and(e.larger(a, b), e.larger(b, a))
	return e.choose(e.compare(unordered, a, b), e.add(a, b), both)
}

func (e *emitter) minimum(a, b reg.VecVirtual) reg.VecVirtual {
	both := e.or(e.smaller(a, b), e.smaller(b, a))
	return e.choose(e.compare(unordered, a, b), e.add(a, b), both)
}

// where writes the choice of whole vectors by bytes.
func (e *emitter) where() {
	e.fun("where", "(dst *%[1]s, c *bool, a, b *%[1]s, n int)", "is a where c and b elsewhere, for as many of the first n as make whole vectors.")
	dst, c, a, b, n := e.arg("dst"), e.arg("c"), e.arg("a"), e.arg("b"), e.arg("n")
	widen := map[int]string{32: "VPMOVZXBD", 64: "VPMOVZXBQ"}[e.bits]
	zero := e.zero()
	loop, end := e.label("loop"), e.label("end")
	e.Label(loop)
	e.CMPQ(n, operand.U32(e.lanes()))
	e.JL(operand.LabelRef(end))
	w := e.vec()
	e.raw(widen, operand.Mem{Base: c}, w)
	var mask reg.Register
	if e.isa == avx512 {
		mask = e.K()
		e.integer("VPTESTM", w, w, mask)
	} else {
		mask = e.YMM()
		e.integer("VPCMPGT", zero, w, mask)
	}
	e.store(e.choose(mask, e.load(operand.Mem{Base: a}), e.load(operand.Mem{Base: b})), operand.Mem{Base: dst})
	for _, p := range []reg.GPVirtual{dst, a, b} {
		e.ADDQ(operand.U32(e.width()), p)
	}
	e.ADDQ(operand.U32(e.lanes()), c)
	e.SUBQ(operand.U32(e.lanes()), n)
	e.JMP(operand.LabelRef(loop))
	e.Label(end)
	e.ret()
}
