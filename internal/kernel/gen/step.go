package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// steps writes the optimizers' passes, with the roundings of the plain loops.
func (e *emitter) steps() {
	e.adam("adam", "steps w against dw by the averages m and v; s is keep1, add1, keep2, add2, rate, root, eps, shrink, decay.", false)
	e.adam("adamDecay", "is adam with decay·w added to dw.", true)
	e.descend("descend", "takes rate·dw off w; s is rate, decay.", false)
	e.descend("descendDecay", "takes rate·(dw + decay·w) off w; s is rate, decay.", true)
}

// pass applies f to vectors at the places of pointers, and a last time behind a
// mask.
func (e *emitter) pass(pointers []reg.GPVirtual, n reg.GPVirtual, f func(load func(i int) reg.VecVirtual, store func(x reg.VecVirtual, i int))) {
	loop, tail, end := e.label("loop"), e.label("tail"), e.label("end")
	at := func(i int) operand.Mem { return operand.Mem{Base: pointers[i]} }
	e.Label(loop)
	e.CMPQ(n, operand.U32(e.lanes()))
	e.JL(operand.LabelRef(tail))
	f(func(i int) reg.VecVirtual { return e.load(at(i)) }, func(x reg.VecVirtual, i int) { e.store(x, at(i)) })
	for _, p := range pointers {
		e.ADDQ(operand.U32(e.width()), p)
	}
	e.SUBQ(operand.U32(e.lanes()), n)
	e.JMP(operand.LabelRef(loop))
	e.Label(tail)
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef(end))
	mask := e.tailMask(n)
	f(func(i int) reg.VecVirtual { return e.loadTail(at(i), mask) }, func(x reg.VecVirtual, i int) { e.storeTail(x, at(i), mask) })
	e.Label(end)
	e.ret()
}

func (e *emitter) adam(name, doc string, decay bool) {
	e.fun(name, "(w, dw, m, v *%[1]s, n int, s *%[1]s)", doc)
	p := []reg.GPVirtual{e.arg("w"), e.arg("dw"), e.arg("m"), e.arg("v")}
	n, s := e.arg("n"), e.arg("s")
	var k []reg.VecVirtual
	for i := range 9 {
		if i < 8 || decay {
			k = append(k, e.spread(operand.Mem{Base: s, Disp: i * e.size()}))
		}
	}
	e.pass(p, n, func(load func(int) reg.VecVirtual, store func(reg.VecVirtual, int)) {
		x, d := load(0), load(1)
		if decay {
			d = e.add(d, e.mul(x, k[8]))
		}
		m := e.add(e.mul(load(2), k[0]), e.mul(d, k[1]))
		store(m, 2)
		v := e.add(e.mul(load(3), k[2]), e.mul(e.mul(d, d), k[3]))
		store(v, 3)
		e.op("VSQRT", v, v)
		by := e.add(e.mul(v, k[5]), k[6])
		store(e.sub(e.mul(x, k[7]), e.div(e.mul(m, k[4]), by)), 0)
	})
}

func (e *emitter) descend(name, doc string, decay bool) {
	e.fun(name, "(w, dw *%[1]s, n int, s *%[1]s)", doc)
	p := []reg.GPVirtual{e.arg("w"), e.arg("dw")}
	n, s := e.arg("n"), e.arg("s")
	rate := e.spread(operand.Mem{Base: s})
	rest := e.spread(operand.Mem{Base: s, Disp: e.size()})
	e.pass(p, n, func(load func(int) reg.VecVirtual, store func(reg.VecVirtual, int)) {
		x, d := load(0), load(1)
		if decay {
			d = e.add(d, e.mul(x, rest))
		}
		store(e.sub(x, e.mul(d, rate)), 0)
	})
}
