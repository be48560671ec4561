package backsweep

import "slices"

// Verify checks every invariant of the tape and returns an *Error of the kind
// ErrTape for the first that does not hold: ids and topological order, the
// attributes of nodes, the leaves and what they are, layouts inside their
// storages, one owner for each buffer, payload holds equal to what the rows'
// masks say, nothing let go that is kept or held, scopes and call sites. It
// takes time linear in the tape; tests call it after recording and after
// sweeps.
func (t *Tape) Verify() (err error) {
	defer Catch(&err)
	t.enter("Verify")
	defer t.leave()
	for _, check := range []func(*Tape){
		(*Tape).verifyNodes, (*Tape).verifyValues, (*Tape).verifyLeaves, (*Tape).verifyStores, (*Tape).verifyHolds, (*Tape).verifyPlaces,
	} {
		check(t)
	}
	return nil
}

// must throws an ErrTape unless ok. It takes numbers alone, so that a check that
// holds allocates nothing.
func must(ok bool, format string, numbers ...int) {
	if !ok {
		flaw(format, numbers)
	}
}

func flaw(format string, numbers []int) {
	args := make([]any, len(numbers))
	for i, n := range numbers {
		args[i] = n
	}
	throw(fail(ErrTape, "Verify", "this is a fault of backsweep; please report it", format, args...))
}

// verifyNodes checks that operands and outputs of nodes are where their rows
// say, and that every operand is older than the node.
func (t *Tape) verifyNodes() {
	must(!t.open, "an op is half recorded")
	operands, values := int32(0), int32(0)
	for n := range t.nNodes {
		r := t.node(n)
		must(r.op < numOps, "node %d has no op", int(n))
		o := &table[r.op]
		must(r.in == operands, "operands of node %d start at %d, not at %d", int(n), int(r.in), int(operands))
		k, nIn := t.insOf(n)
		must(nIn > 0 && (o.arity < 0 || nIn == int32(o.arity)), "node %d has %d operands", int(n), int(nIn))
		operands += nIn
		must(r.outs > 0 && (o.outs < 0 || int(r.outs) == o.outs), "node %d has %d outputs", int(n), int(r.outs))
		must(r.out >= values && r.out+int32(r.outs) <= t.nValues, "outputs of node %d are no values", int(n))
		for v := values; v < r.out; v++ {
			must(t.producer(v) < 0, "value %d lies between two nodes' outputs and is no leaf", int(v))
		}
		values = r.out + int32(r.outs)
		for i := range nIn {
			v := t.operand(k + i)
			must(v >= 0 && v < r.out, "operand %d of node %d is not older than it", int(i), int(n))
		}
		must(r.attr < int32(len(t.attrs)) && (r.attr >= 0) == (len(o.params) > 0), "attributes of node %d are missing", int(n))
	}
	must(operands == t.nOperands, "the last %d operands belong to no node", int(t.nOperands-operands))
	for v := values; v < t.nValues; v++ {
		must(t.producer(v) < 0, "value %d is younger than the last node and is no leaf", int(v))
	}
}

// verifyValues checks that each value knows its producer, its layout and a
// storage that is large enough.
func (t *Tape) verifyValues() {
	for v := range t.nValues {
		r := t.value(v)
		if r.prod >= 0 {
			must(r.prod < t.nNodes, "the producer of value %d does not exist", int(v))
			first, n := t.outsOf(r.prod)
			must(v >= first && v < first+n, "value %d is no output of node %d", int(v), int(r.prod))
		} else {
			k := int(-1 - r.prod)
			must(k < len(t.leaves) && t.leaves[k].id == v, "value %d is no leaf", int(v))
		}
		must(int(r.lay>>valueFlagBits) < len(t.lays), "value %d has no layout", int(v))
		must(r.sto >= 0 && r.sto < t.nStores, "value %d has no storage", int(v))
		l := t.layoutOf(v)
		low, high := l.Offset, l.Offset
		for i, d := range l.Shape {
			reach := (d - 1) * l.Strides[i]
			low, high = low+min(reach, 0), high+max(reach, 0)
		}
		must(l.N == 0 || low >= 0, "value %d begins %d elements before its storage", int(v), int(-low))
		must(l.N == 0 || int64(high+1)*int64(l.DType.Size()) <= t.bytesOf(r.sto), "value %d does not fit its storage of %d bytes", int(v), int(t.bytesOf(r.sto)))
	}
}

// verifyLeaves checks that the tape finds each leaf by what it is.
func (t *Tape) verifyLeaves() {
	found := 0
	for k := range t.leaves {
		l := &t.leaves[k]
		must(l.val != nil && l.id >= 0 && l.id < t.nValues && t.producer(l.id) == int32(-1-k), "leaf %d has no value", k)
		must(l.sto == t.storeOf(l.id) && t.store(l.sto).has(inLeaf) && t.store(l.sto).loc == uint32(k), "leaf %d does not own its storage", k)
		must(l.p == l.val.st.p && l.version <= l.val.st.version, "leaf %d is not what joined", k)
		a, b := t.layoutOf(l.id), l.val.layout
		must(a.DType == b.DType && a.Offset == b.Offset && slices.Equal(a.Shape, b.Shape) && slices.Equal(a.Strides, b.Strides), "leaf %d has another layout than what joined", k)
		id, ok := t.joined[l.val]
		must(ok && id >= l.id && t.leafOf(id).val == l.val, "leaf %d cannot be found", k)
		if id == l.id {
			found++
		}
		must(l.kind != paramLeaf || l.val.param && t.value(l.id).has(watched), "leaf %d is no parameter, or is not watched", k)
	}
	must(found == len(t.joined), "tensors count as joined that are no leaves")
	for i := range t.recent {
		if e := &t.recent[i]; e.val != nil {
			must(e.id < t.nValues && t.producer(e.id) < 0 && t.leafOf(e.id).val == e.val, "a stale entry in the cache of leaves")
		}
	}
}

// verifyStores checks that buffers, leaves and slab words have one owner each,
// and that nothing that is kept or held was let go.
func (t *Tape) verifyStores() {
	owned := make([]bool, len(t.bufs))
	slab := uint32(0)
	leaves := 0
	for s := range t.nStores {
		r := t.store(s)
		gone := r.has(letGo)
		must(!gone || t.swept != "", "storage %d was let go, but no sweep did", int(s))
		must(!gone || !r.has(kept|inLeaf), "storage %d was let go, but is kept", int(s))
		must(!gone || r.holds == 0, "storage %d was let go, but %d rules will read it", int(s), int(r.holds))
		switch {
		case r.has(inBuf) && r.has(inLeaf):
			must(false, "storage %d is a buffer and a leaf", int(s))
		case r.has(inBuf):
			must(int(r.loc) < len(t.bufs) && !owned[r.loc], "storage %d has no buffer of its own", int(s))
			owned[r.loc] = true
			b := t.bufs[r.loc]
			must(b == nil || !gone, "storage %d and its buffer disagree on whether it was let go", int(s))
			must(b != nil || gone || t.inSegment(s), "storage %d and its buffer disagree on whether it was let go", int(s))
			must(b == nil || b.Bytes() >= t.sizes[r.loc], "the buffer of storage %d is too small", int(s))
		case r.has(inLeaf):
			must(int(r.loc) < len(t.leaves) && t.leaves[r.loc].sto == s, "storage %d belongs to no leaf", int(s))
			leaves++
		default:
			units := uint32(max(t.bytesOf(s)+7, 8) / 8)
			must(r.loc >= slab && r.loc/slabUnits == (r.loc+units-1)/slabUnits, "storage %d overlaps another in the slab", int(s))
			slab = r.loc + units
			must(int((slab-1)/slabUnits) < len(t.slabs), "storage %d lies outside the slab", int(s))
		}
	}
	must(slab == t.slabAt, "the slab is filled to %d, not to %d", int(slab), int(t.slabAt))
	must(leaves == len(t.leaves), "%d leaves, but %d storages of leaves", len(t.leaves), leaves)
	for i, ok := range owned {
		must(ok, "buffer %d belongs to no storage", i)
	}
}

// verifyHolds counts again how often rules will read each storage. A sweep
// that does not retain counts down, so afterwards there may be fewer.
func (t *Tape) verifyHolds() {
	want := make([]int32, t.nStores)
	for n := range t.nNodes {
		t.eachHold(n, func(sto int32) { want[sto]++ })
	}
	for i := range t.segments {
		if g := &t.segments[i]; !g.spent {
			for _, sto := range g.fed {
				want[sto]++
			}
		}
	}
	for s, w := range want {
		h := t.store(int32(s)).holds
		must(h == w || t.swept != "" && h >= 0 && h < w, "storage %d has %d holds, and rules read it %d times", s, int(h), int(w))
	}
}

// verifyPlaces checks scopes and call sites.
func (t *Tape) verifyPlaces() {
	for i, s := range t.scopes {
		must(int(s.parent) < i, "scope %d lies in one that is younger", i)
	}
	for i, r := range t.runs {
		must(int(r.scope) < len(t.scopes) && r.node <= t.nNodes, "run %d of scopes is out of range", i)
		must(i == 0 && r.node == 0 || i > 0 && r.node > t.runs[i-1].node, "runs of scopes do not ascend")
	}
	if !t.sites {
		return
	}
	must(len(t.siteIDs) == int(t.nNodes), "%d call sites for %d nodes", len(t.siteIDs), int(t.nNodes))
	for n, s := range t.siteIDs {
		must(s >= -1 && int(s) < len(t.siteTable), "node %d was called at no known site", int(n))
	}
}
