package backsweep

import (
	"sync"
)

// An op is recorded when one of its operands is on a tape, and is plain
// evaluation otherwise.

func apply1(code opcode, at *attrs, x *Tensor) *Tensor {
	xs := [1]*Tensor{x}
	return apply(code, at, xs[:])
}

func apply2(code opcode, at *attrs, x, y *Tensor) *Tensor {
	xs := [2]*Tensor{x, y}
	return apply(code, at, xs[:])
}

func apply3(code opcode, at *attrs, x, y, z *Tensor) *Tensor {
	xs := [3]*Tensor{x, y, z}
	return apply(code, at, xs[:])
}

func apply(code opcode, at *attrs, xs []*Tensor) *Tensor {
	t := tapeOf(code, xs)
	if t == nil {
		return evaluate(code, at, xs)[0]
	}
	first, _ := t.do(code, at, xs)
	return t.handle(first)
}

// handle makes the tensor of a value. Handles come from slabs of a few, which
// saves the allocator and the collector most of their work; a handle that is
// kept keeps its slab, of some 400 bytes.
func (t *Tape) handle(id int32) *Tensor {
	if len(t.handles) == 0 {
		t.handles = make([]Tensor, 16)
	}
	x := &t.handles[0]
	t.handles = t.handles[1:]
	x.tape, x.id, x.epoch = t, id, t.epoch
	return x
}

// applyAll is apply for ops of several outputs.
func applyAll(code opcode, at *attrs, xs []*Tensor) []*Tensor {
	t := tapeOf(code, xs)
	if t == nil {
		return evaluate(code, at, xs)
	}
	first, n := t.do(code, at, xs)
	out := make([]*Tensor, n)
	for i := range out {
		out[i] = &Tensor{tape: t, id: first + int32(i), epoch: t.epoch}
	}
	return out
}

// tapeOf returns the tape that the operands are on, or nil.
func tapeOf(code opcode, xs []*Tensor) *Tape {
	var t *Tape
	for i, x := range xs {
		if x == nil {
			throw(fail(ErrValue, table[code].name, "pass a tensor", "operand %d is nil", i))
		}
		if x.tape == nil || x.tape == t {
			continue
		}
		if t != nil {
			throw(fail(ErrTwoTapes, table[code].name, "Detach one of them, or record both on one tape", "the operands are on two different tapes"))
		}
		t = x.tape
	}
	return t
}

// do records one op and returns its first output and their number.
func (t *Tape) do(code opcode, at *attrs, xs []*Tensor) (first, n int32) {
	o := &table[code]
	t.enter(o.name)
	defer t.leave()
	t.begin()
	var few [8]int32
	ids := few[:0]
	for _, x := range xs {
		ids = append(ids, t.idOf(x, o.name))
	}
	first, n = t.record(code, at, ids)
	t.open = false
	return first, n
}

// record evaluates an op on values of the tape and appends its node. The
// caller holds the tape.
func (t *Tape) record(code opcode, at *attrs, ids []int32) (first, n int32) {
	o := &table[code]
	if t.swept != "" {
		t.cannotGoOn(o.name)
	}
	m := &t.m
	switch {
	case o.un32 != nil:
		r := m.unary(o, t.refOf(ids[0]))
		return t.recordOne(o, ids, &r), 1
	case o.bin32 != nil:
		r := m.binary(o, t.refOf(ids[0]), t.refOf(ids[1]))
		return t.recordOne(o, ids, &r), 1
	}
	m.in = m.inBuf[:0]
	for _, v := range ids {
		m.in = append(m.in, t.refOf(v))
	}
	m.atBuf = noAttrs
	if at != nil {
		m.atBuf = *at
	}
	m.at = &m.atBuf
	m.run(o)
	atID := int32(-1)
	if len(o.params) > 0 {
		atID = t.attrID(code, m.at)
	}
	node := t.appendNode(o, len(m.out), atID, ids)
	first = t.nValues
	for i := range m.out {
		r := &m.out[i]
		t.addValue(node, t.layoutID(r.l), r.sto())
		if o.reads.out(i) {
			t.hold(r.sto())
		}
	}
	return first, int32(len(m.out))
}

func (t *Tape) cannotGoOn(op string) {
	throw(fail(ErrSwept, op, "call Reset before the next step, or sweep with Retain", "the tape cannot go on: %s let its values go", t.sweptText()))
}

// recordOne appends the node of an op without attributes that has one output.
func (t *Tape) recordOne(o *op, ids []int32, r *ref) int32 {
	node := t.appendNode(o, 1, -1, ids)
	if o.reads.out(0) {
		t.hold(r.sto())
	}
	return t.addValue(node, t.layoutID(r.l), r.sto())
}

// appendNode appends a node and its operands, and counts the holds of its
// payload on them.
func (t *Tape) appendNode(o *op, outs int, atID int32, ids []int32) int32 {
	node := t.addNode(o.code, outs, atID, t.nValues)
	for i, v := range ids {
		t.addOperand(v)
		if o.reads.in(i) {
			t.hold(t.storeOf(v))
		}
	}
	if t.sites {
		t.site()
	}
	return node
}

func (t *Tape) hold(sto int32) {
	t.store(sto).holds++
}

// eachHold calls f with the storage of each tensor of a node's payload.
func (t *Tape) eachHold(node int32, f func(sto int32)) {
	reads := t.opOf(node).reads
	if reads == 0 {
		return
	}
	k, n := t.insOf(node)
	for i := int32(0); i < n; i++ {
		if reads.in(int(i)) {
			f(t.storeOf(t.operand(k + i)))
		}
	}
	v, n := t.outsOf(node)
	for j := int32(0); j < n; j++ {
		if reads.out(int(j)) {
			f(t.storeOf(v + j))
		}
	}
}

// machines lends plain evaluation its machines.
var machines = sync.Pool{New: func() any { return new(machine) }}

// evaluate runs an op on tensors that are on no tape.
func evaluate(code opcode, at *attrs, xs []*Tensor) []*Tensor {
	o := &table[code]
	m := machines.Get().(*machine)
	defer func() {
		clear(m.inBuf[:])
		clear(m.outBuf[:])
		m.in, m.out, m.at = nil, nil, nil
		machines.Put(m)
	}()
	m.place = onHeap
	m.in = m.inBuf[:0]
	for _, x := range xs {
		m.in = append(m.in, x.ref(o.name))
	}
	m.atBuf = noAttrs
	if at != nil {
		m.atBuf = *at
	}
	m.at = &m.atBuf
	m.run(o)
	out := make([]*Tensor, len(m.out))
	for i, r := range m.out {
		out[i] = wrap(r, i, o, at, xs)
	}
	return out
}

// wrap makes a tensor of output i of plain evaluation, and lets it remember the
// parameter that it was computed from.
func wrap(r ref, i int, o *op, at *attrs, xs []*Tensor) *Tensor {
	v := &value{layout: r.l, st: &storage{p: r.p}}
	x0 := xs[0].val
	if o.is(viewing) && r.p == x0.st.p {
		v.st = x0.st
		v.owner, v.epoch = x0.owner, x0.epoch
	}
	if r.l.DType.IsFloat() && o.code != opDetach {
		if o.is(viewing) && len(xs) == 1 && (x0.param || x0.view != nil) {
			v.view = &paramView{base: xs[0], op: o.code, at: cloneAttrs(at), out: int32(i)}
		} else {
			v.taint = taintOf(o, xs)
		}
	}
	return &Tensor{val: v, id: -1}
}

func cloneAttrs(at *attrs) attrs {
	if at == nil {
		return noAttrs
	}
	c := *at
	for k, v := range c.ints {
		if v != nil {
			c.ints[k] = append([]int{}, v...)
		}
	}
	return c
}

func taintOf(o *op, xs []*Tensor) *taint {
	for i, x := range xs {
		v := x.val
		switch {
		case o.nograd.in(i):
		case v.taint != nil:
			return v.taint
		case v.param:
			return &taint{param: v.name, op: o.name}
		case v.view != nil:
			return &taint{param: v.view.root(), op: o.name}
		}
	}
	return nil
}

// Call applies the op with the given name of the table. See [Ops] for the
// names and the attributes. It returns an error where the method would panic.
func Call(name string, in []*Tensor, at Attrs) (out []*Tensor, err error) {
	defer Catch(&err)
	defer locate(&err)
	code, ok := byName[name]
	if !ok {
		return nil, fail(ErrValue, name, "Ops() lists the table", "there is no op of this name")
	}
	o := &table[code]
	if o.arity >= 0 && len(in) != o.arity || len(in) == 0 {
		return nil, fail(ErrValue, name, "see Ops()", "takes %s, but %d were given", o.operandsText(), len(in))
	}
	a, err := at.fill(o)
	if err != nil {
		return nil, err
	}
	if code == opEinsum && len(in) > 2 {
		return []*Tensor{Einsum(string(runesOf(a.ints[2])), in...)}, nil
	}
	return applyAll(code, &a, in), nil
}
