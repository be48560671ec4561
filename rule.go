package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
)

// rule is what a gradient rule or a tangent rule sees: one node of the tape.
// Rules are written in ops: on a sweep that is recorded the same rule appends
// its ops to the tape, so gradients can be differentiated again.
type rule struct {
	t    *Tape
	m    machine
	node int32
	op   *op
	at   *attrs

	firstIn, nIn   int32
	firstOut, nOut int32
	recording      bool
	direct         bool   // neither recording nor batched: kernels may be called at once
	batch          int    // how many cotangents a batched sweep carries, else 0
	wants          []bool // by operand slot
	douts          []ref  // by output; l is nil where there is no gradient
	given          []gift // by operand slot
	tangents       []ref  // by operand slot, on a forward sweep
	made           []ref  // by output, on a forward sweep
	forward        bool
}

// gift is what a rule gives one operand: a gradient of the operand's shape, or
// the values of some of its rows.
type gift struct {
	g    ref
	rows ref // ascending row numbers, when only those rows are given; else l is nil
}

// set points the rule at a node.
func (r *rule) set(n int32) {
	r.node = n
	r.op = r.t.opOf(n)
	r.at = r.t.attrsOf(n)
	r.firstIn, r.nIn = r.t.insOf(n)
	r.firstOut, r.nOut = r.t.outsOf(n)
	r.wants = fit(r.wants, int(r.nIn))
	r.douts = fit(r.douts, int(r.nOut))
	r.given = fit(r.given, int(r.nIn))
	for i := range r.given {
		r.given[i].g.l, r.given[i].rows.l = nil, nil
	}
}

// fit returns a slice of n elements whose contents are undefined.
func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// value returns the value id of operand i.
func (r *rule) value(i int) int32 { return r.t.operand(r.firstIn + int32(i)) }

// in reads operand i back from the payload. A row that reads what its mask
// does not declare is a fault of the table.
func (r *rule) in(i int) ref {
	if !r.op.reads.in(i) {
		panic("backsweep: the rule of " + r.op.name + " reads an input that it does not declare")
	}
	return r.t.refOf(r.value(i))
}

// out reads output j back from the payload.
func (r *rule) out(j int) ref {
	if !r.op.reads.out(j) {
		panic("backsweep: the rule of " + r.op.name + " reads an output that it does not declare")
	}
	return r.t.refOf(r.firstOut + int32(j))
}

// layoutIn is the layout of operand i; shapes are known without its value.
func (r *rule) layoutIn(i int) *array.Layout { return r.t.layoutOf(r.value(i)) }

// shapeIn is the shape of operand i.
func (r *rule) shapeIn(i int) []int { return r.layoutIn(i).Shape }

// shapeOut is the shape of output j.
func (r *rule) shapeOut(j int) []int { return r.t.layoutOf(r.firstOut + int32(j)).Shape }

// dout is the cotangent of output j; has tells whether there is one.
func (r *rule) dout(j int) ref { return r.douts[j] }

func (r *rule) has(j int) bool { return r.douts[j].l != nil }

// want reports whether operand i's gradient leads to something asked for.
func (r *rule) want(i int) bool { return r.wants[i] }

// give hands operand i its cotangent. The engine sums it over the axes along
// which the operand was broadcast.
func (r *rule) give(i int, g ref) {
	if l := r.layoutIn(i); l != g.l && !r.forward && !array.SameShape(g.l.Shape, l.Shape) {
		g = r.sumTo(g, l.Shape)
	}
	if r.batch > 0 {
		g = r.repeat(g)
	}
	r.given[i].g = g
}

// sumTo sums over the axes along which a shape was broadcast. Where the rule
// has just computed what is summed, the additions complete the multiply-adds
// that its products were counted as, and are not counted again.
func (r *rule) sumTo(g ref, shape []int) ref {
	m := r.counter()
	before := m.madds
	sum := r.do1(opSumTo, &attrs{ints: [3][]int{shape}}, g)
	if g.p != r.douts[0].p {
		m.madds = before
	}
	return sum
}

// counter is the machine that evaluates, and counts, what the rule computes.
func (r *rule) counter() *machine {
	if r.recording {
		return &r.t.m
	}
	return &r.m
}

// giveRows hands operand i the cotangents of some of its rows: rows are
// ascending row numbers, g holds one row for each.
func (r *rule) giveRows(i int, rows, g ref) {
	if r.batch > 0 {
		r.give(i, r.do2(opRowsDense, &attrs{ints: [3][]int{r.shapeIn(i)}}, rows, g))
		return
	}
	r.given[i] = gift{g: g, rows: rows}
}

// tan is the tangent of operand i; hasTan tells whether there is one (an
// operand without one does not depend on the seed).
func (r *rule) tan(i int) ref     { return r.tangents[i] }
func (r *rule) hasTan(i int) bool { return r.tangents[i].l != nil }

// makes sets the tangent of output j.
func (r *rule) makes(j int, t ref) { r.made[j] = t }

// do1, do2 and do3 run an op of one, two or three operands on values of the
// engine.
func (r *rule) do1(code opcode, at *attrs, a ref) ref {
	if o := &table[code]; o.un32 != nil && r.direct {
		return r.m.unary(o, a)
	}
	r.m.in = append(r.m.inBuf[:0], a)
	return r.do(code, at)
}

func (r *rule) do2(code opcode, at *attrs, a, b ref) ref {
	if o := &table[code]; o.bin32 != nil && r.direct {
		return r.m.binary(o, a, b)
	}
	r.m.in = append(r.m.inBuf[:0], a, b)
	return r.do(code, at)
}

func (r *rule) do3(code opcode, at *attrs, a, b, c ref) ref {
	r.m.in = append(r.m.inBuf[:0], a, b, c)
	return r.do(code, at)
}

// doN runs an op of any number of operands.
func (r *rule) doN(code opcode, at *attrs, in []ref) ref {
	r.m.in = append(r.m.inBuf[:0], in...)
	return r.do(code, at)
}

// do runs an op on the operands in r.m.in and returns its first output; the
// others are in outs.
func (r *rule) do(code opcode, at *attrs) ref {
	m := &r.m
	if r.recording {
		var few [8]int32
		ids := few[:0]
		for _, x := range m.in {
			ids = append(ids, r.t.idOfRef(x))
		}
		first, n := r.t.record(code, at, ids)
		m.out = m.outBuf[:0]
		for j := range n {
			m.out = append(m.out, r.t.refOf(first+j))
		}
		return m.out[0]
	}
	if r.batch > 0 && slices.ContainsFunc(m.in, ref.batched) {
		return r.lift(code, at)
	}
	r.runNow(&table[code], at)
	return m.out[0]
}

// second is output 1 of the op that ran last.
func (r *rule) second() ref { return r.m.out[1] }

// idOfRef returns the value id of a ref of a recorded sweep.
func (t *Tape) idOfRef(x ref) int32 {
	if x.id() < 0 {
		panic("backsweep: a recorded rule uses a value that is not on the tape")
	}
	return x.id()
}

// full makes a value in which every element is c.
func (r *rule) full(c float64, dt DType, shape []int) ref {
	if r.recording {
		id := r.t.addLeaf(Full(dt, c, shape...).val, constantLeaf)
		return r.t.refOf(id)
	}
	x := r.m.alloc(r.m.shapes.contiguous(dt, shape))
	fillDense(x.p, x.l, c)
	return x
}

// constant makes a tensor that is on no tape an operand of what the rule
// computes.
func (r *rule) constant(x *Tensor) ref {
	if r.recording {
		return r.t.refOf(r.t.addLeaf(x.val, constantLeaf))
	}
	return x.ref(r.op.name)
}

// The ops that rules use most, by name.

func (r *rule) neg(a ref) ref              { return r.do1(opNeg, nil, a) }
func (r *rule) add(a, b ref) ref           { return r.do2(opAdd, nil, a, b) }
func (r *rule) sub(a, b ref) ref           { return r.do2(opSub, nil, a, b) }
func (r *rule) mul(a, b ref) ref           { return r.do2(opMul, nil, a, b) }
func (r *rule) div(a, b ref) ref           { return r.do2(opDiv, nil, a, b) }
func (r *rule) scale(a ref, c float64) ref { return r.do1(opMulScalar, &attrs{f: [2]float64{c}}, a) }
func (r *rule) plus(a ref, c float64) ref  { return r.do1(opAddScalar, &attrs{f: [2]float64{c}}, a) }
func (r *rule) spread(a ref, s []int) ref  { return r.do1(opBroadcastTo, &attrs{ints: [3][]int{s}}, a) }
func (r *rule) permute(a ref, p []int) ref { return r.do1(opTranspose, &attrs{ints: [3][]int{p}}, a) }
func (r *rule) matmul(a, b ref) ref        { return r.do2(opMatMul, nil, a, b) }
func (r *rule) reshape(a ref, shape []int) ref {
	if a.l.Plain && r.direct {
		a.l, a.at = r.m.shapes.contiguous(a.l.DType, shape), tapePlace(-1, a.sto())
		return a
	}
	return r.do1(opReshape, &attrs{ints: [3][]int{shape}}, a)
}
func (r *rule) sumOver(a ref, axes []int, keep bool) ref {
	return r.do1(opSum, &attrs{ints: [3][]int{axes}, b: keep}, a)
}
