package backsweep

import "unsafe"

func hashPointer[T any](p *T) uintptr {
	h := uintptr(unsafe.Pointer(p))
	return h>>4 ^ h>>12
}

// idOf returns the value id of an operand, which joins the tape as a leaf when
// it is on none.
func (t *Tape) idOf(x *Tensor, op string) int32 {
	if x.tape == t {
		if x.epoch != t.epoch || t.swept != "" || len(t.segments) > 0 {
			t.mustHave(x, op)
		}
		return x.id
	}
	e := &t.recent[hashPointer(x.val)%joinCache]
	if e.val == x.val && t.leafOf(e.id).version == x.val.st.version {
		return e.id
	}
	id := t.join(x, op)
	if x.val.view == nil {
		*e = joinEntry{x.val, id}
	}
	return id
}

// join makes a tensor that is on no tape a leaf of this one. A view of a
// parameter is recorded again on the parameter's leaf.
func (t *Tape) join(x *Tensor, op string) int32 {
	v := x.val
	t.admit(x, op)
	if v.view != nil {
		var chain []*paramView
		base := x
		for base.val.view != nil {
			chain = append(chain, base.val.view)
			base = base.val.view.base
		}
		id := t.idOf(base, op)
		for i := len(chain) - 1; i >= 0; i-- {
			ids := [1]int32{id}
			first, _ := t.record(chain[i].op, &chain[i].at, ids[:])
			id = first + chain[i].out
		}
		return id
	}
	if id, ok := t.joined[v]; ok {
		if l := t.leafOf(id); l.version == v.st.version {
			return id
		} else if l.kind != constantLeaf {
			e := fail(ErrChanged, op, "change parameters between steps: after the sweep, and call Reset",
				"%s was changed (%s) since this tape first read it", t.label(id), v.st.changedText())
			e.Tensor = t.label(id)
			throw(e)
		}
	}
	kind := constantLeaf
	if v.param {
		kind = paramLeaf
	}
	return t.addLeaf(v, kind)
}

// admit throws when a value may not meet a tape.
func (t *Tape) admit(x *Tensor, op string) {
	v := x.val
	if v.owner != nil && v.epoch != v.owner.epoch {
		throw(fail(ErrReset, op, "copy it (Clone, Data) before Tape.Reset", "%s is a gradient of a tape that was reset since", x.label()))
	}
	if v.taint == nil {
		return
	}
	if v.taint.custom {
		throw(fail(ErrOffTape, op, "compute it in the rule from what the rule is given, or Detach it if it is a constant",
			"%s was computed inside custom op %s, so the tape does not know how it depends on the operands", x.label(), v.taint.op))
	}
	if v.taint.param == "" {
		throw(fail(ErrOffTape, op, "sweep with Recorded() to differentiate gradients, or Detach it",
			"%s is a gradient of a sweep that was not recorded, so the tape does not know where it comes from", x.label()))
	}
	throw(fail(ErrOffTape, op, "compute it from the handle that tape.Watch(param) returns, or Detach it",
		"%s was computed (%s) from parameter %q off the tape, so its gradient would be lost", x.label(), v.taint.op, v.taint.param))
}

func (t *Tape) addLeaf(v *value, kind leafKind) int32 {
	k := len(t.leaves)
	sto := t.addStore(uint32(k), 0, inLeaf)
	l := v.layout
	if l.Plain {
		// One layout for all of a shape, so that equal shapes are equal pointers.
		l = t.m.shapes.contiguous(l.DType, l.Shape)
	}
	id := t.addValue(int32(-1-k), t.layoutID(l), sto)
	t.leaves = append(t.leaves, leaf{val: v, p: v.st.p, version: v.st.version, bytes: v.layout.Bytes(), kind: kind, id: id, sto: sto})
	t.joined[v] = id
	if v.name != "" {
		t.names[id] = v.name
	}
	if kind == paramLeaf {
		t.value(id).set(watched)
	}
	return id
}

// Input puts a tensor on the tape under a name: what flows from it is
// recorded. Its own gradient is asked for with Watch. It shares the tensor's
// values, so changing them before the sweep is an error then.
func (t *Tape) Input(name string, x *Tensor) *Tensor {
	t.enter("Input")
	defer t.leave()
	t.begin()
	id := t.leafFor(x, "Input")
	if l := t.leafOf(id); l.kind == constantLeaf {
		l.kind = inputLeaf
	}
	if name != "" {
		t.names[id] = name
	}
	t.open = false
	return &Tensor{tape: t, id: id, epoch: t.epoch}
}

// Watch asks for the gradient of a tensor and returns its handle on the tape.
// The tensor may be a parameter, any other tensor on no tape, or one that is
// on this tape already, leaf or not.
func (t *Tape) Watch(x *Tensor) *Tensor {
	t.enter("Watch")
	defer t.leave()
	t.begin()
	id := t.leafFor(x, "Watch")
	if dt := t.layoutOf(id).DType; !dt.IsFloat() {
		throw(fail(ErrDType, "Watch", "watch a float32 or float64 tensor", "%s is %s, which carries no gradient", t.label(id), dt))
	}
	if l := t.producer(id); l < 0 && t.leafOf(id).kind == constantLeaf {
		t.leafOf(id).kind = inputLeaf
	}
	t.value(id).set(watched)
	t.open = false
	return &Tensor{tape: t, id: id, epoch: t.epoch}
}

// leafFor is idOf for the tape's own methods.
func (t *Tape) leafFor(x *Tensor, op string) int32 {
	if x == nil {
		throw(fail(ErrValue, op, "pass a tensor", "the tensor is nil"))
	}
	if x.tape != nil && x.tape != t {
		throw(fail(ErrTwoTapes, op, "Detach it first, or record on one tape", "%s is on another tape", x.label()))
	}
	if t.swept != "" {
		t.cannotGoOn(op)
	}
	return t.idOf(x, op)
}
