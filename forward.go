package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
)

// Seed is where a forward sweep starts: a tensor of the tape and its tangent.
type Seed struct {
	Tensor  *Tensor
	Tangent *Tensor
}

// Tangents are what a forward sweep computed: for each tensor, its derivative
// in the direction of the seeds. They live until the tape's Reset.
type Tangents struct {
	t        *Tape
	epoch    uint32
	refs     []ref // by value; l is nil where the tensor does not depend on a seed
	cost     int64
	nVals    int32
	tensors  map[int32]*Tensor
	recorded bool
}

// Forward pushes tangents along the tape, in tape order, reading the same
// payload that a backward sweep would: one forward sweep yields the derivative
// of every tensor with respect to one input direction. It lets nothing go. Of
// the options it takes Recorded and Context.
func (t *Tape) Forward(seeds []Seed, opts ...SweepOption) (out *Tangents, err error) {
	defer Catch(&err)
	defer locate(&err)
	o, err := gatherOptions("Forward", opts)
	if err != nil {
		return nil, err
	}
	if o.order.kind != "" || o.workers != 1 {
		return nil, fail(ErrUnsupported, "Forward", "leave WithOrder and Workers out", "a forward sweep runs in tape order on one worker")
	}
	t.enter("Forward")
	defer t.leave()
	if t.swept != "" {
		return nil, t.sweptError("Forward", nil)
	}
	p := &plan{t: t, options: o, nValues: t.nValues, top: t.nNodes}
	s := &sweep{t: t, p: p, opName: "Forward"}
	out = &Tangents{t: t, epoch: t.epoch, refs: make([]ref, t.nValues), nVals: t.nValues, tensors: map[int32]*Tensor{}, recorded: o.recorded}
	if o.recorded {
		t.begin()
	}
	w := s.newWorker(0)
	before := w.counter().madds
	w.forward = true
	defer func() { w.forward = false }()
	for _, sd := range seeds {
		if err := out.seed(w, sd); err != nil {
			return nil, err
		}
	}
	p.nodes = resize(t.scratch.nodes, int(t.nNodes))
	t.scratch.nodes = p.nodes
	for n := range p.top {
		k, nIn := t.insOf(n)
		for i := range nIn {
			if x := t.operand(k + i); out.refs[x].l != nil && !t.opOf(n).nograd.in(int(i)) {
				p.nodes[n] = !t.opOf(n).is(constantOp)
			}
		}
		v, nOut := t.outsOf(n)
		for j := range nOut {
			if p.nodes[n] && out.refs[v+j].l == nil && t.layoutOf(v+j).DType.IsFloat() {
				out.refs[v+j].l = pending
			}
		}
	}
	if err := p.checkVersions("Forward"); err != nil {
		return nil, err
	}
	if err := p.checkSegments("Forward"); err != nil {
		return nil, err
	}
	s.p.options.retain = true // a forward sweep lets nothing go
	for n := range p.top {
		if !p.nodes[n] {
			continue
		}
		if err := s.cancelled(); err != nil {
			return nil, err
		}
		if len(t.segments) > 0 {
			s.replay(w, n)
		}
		out.visit(w, n)
		s.done++
	}
	for v := range out.refs {
		if out.refs[v].l == pending {
			out.refs[v].l = nil
		}
	}
	out.cost = w.counter().madds - before
	if !o.recorded {
		for i, x := range out.refs {
			if x.buf != nil {
				t.grads = append(t.grads, x.buf)
				out.refs[i] = w.shapeOfBatch(x)
			}
		}
	}
	s.endReplays()
	t.open = false
	return out, nil
}

// pending marks a value whose tangent will be computed.
var pending = &array.Layout{}

func (out *Tangents) seed(w *worker, sd Seed) error {
	t := out.t
	if sd.Tensor == nil || sd.Tangent == nil {
		return fail(ErrValue, "Forward", "pass both", "a seed needs a tensor and its tangent")
	}
	var v int32
	switch x := sd.Tensor; {
	case x.tape == nil:
		id, ok := t.joined[x.val]
		if !ok {
			return fail(ErrNotOnTape, "Forward", "seed a tensor that the tape has recorded", "%s is not on the tape", x.label())
		}
		v = id
	case x.tape != t:
		return fail(ErrTwoTapes, "Forward", "call it on the tensor's own tape", "%s is on another tape", x.label())
	default:
		t.mustOwn(x)
		v = x.id
	}
	l, c := t.layoutOf(v), sd.Tangent.layout()
	if !batchedShape(c, l, w.batch) {
		e := fail(ErrCotangent, "Forward", "a tangent has the shape of its tensor; it is never broadcast",
			"the tangent of %s has shape %s, not %s", t.label(v), array.ShapeString(c.Shape), array.ShapeString(l.Shape))
		e.Shapes = [][]int{l.Shape, c.Shape}
		return e
	}
	if l.DType != c.DType || !l.DType.IsFloat() {
		return fail(ErrDType, "Forward", "Cast the tangent", "%s is %s and its tangent is %s", t.label(v), l.DType, c.DType)
	}
	switch sd.Tangent.tape {
	case nil:
		t.admit(sd.Tangent, "Forward")
	case t:
	default:
		return fail(ErrTwoTapes, "Forward", "Detach or Clone it", "the tangent of %s is on another tape", t.label(v))
	}
	if w.recording {
		out.refs[v] = t.refOf(t.idOf(sd.Tangent, "Forward"))
		return nil
	}
	r := sd.Tangent.ref("Forward")
	x := w.own(r)
	if w.batch > 0 {
		x.l, x.at = w.m.shapes.contiguous(l.DType, l.Shape), batchedAt
	}
	out.refs[v] = x
	return nil
}

// visit computes the tangents of a node's outputs.
func (out *Tangents) visit(w *worker, n int32) {
	w.set(n)
	w.tangents = resize(w.tangents, int(w.nIn))
	w.made = resize(w.made, int(w.nOut))
	some := false
	for i := range w.tangents {
		if x := out.refs[w.value(i)]; x.l != nil && x.l != pending && !w.op.nograd.in(i) {
			w.tangents[i] = x
			some = true
		}
	}
	if !some {
		// The operands looked as if they depended on a seed, until a rule left
		// an output out.
		return
	}
	switch o := w.op; {
	case o.tangent != nil:
		o.tangent(&w.rule)
	case o.is(linear):
		w.tangentOfLinear()
	default:
		w.tangentOfElementwise()
	}
	for j, x := range w.made {
		v := w.firstOut + int32(j)
		if out.refs[v].l != nil && out.refs[v].l != pending {
			continue // seeded: its own tangent is the seed
		}
		if x.l == nil {
			out.refs[v] = ref{}
			continue
		}
		if !w.recording {
			if w.batch > 0 {
				x = w.repeat(x)
			}
			if x.buf == nil || !x.l.Plain {
				x = w.own(x)
			} else {
				x.buf.Retain()
			}
		}
		out.refs[v] = x
	}
	w.flush()
}

// tangentOfLinear applies the op itself to the tangents; absent ones are
// zeros.
func (w *worker) tangentOfLinear() {
	ins := make([]ref, w.nIn)
	for i := range ins {
		switch {
		case w.op.nograd.in(i):
			ins[i] = w.t.refOf(w.value(i))
		case w.hasTan(i):
			ins[i] = w.tan(i)
		default:
			l := w.layoutIn(i)
			ins[i] = w.full(0, l.DType, l.Shape)
		}
	}
	w.doN(w.op.code, w.at, ins)
	for j := range w.made {
		w.made[j] = w.m.out[j]
	}
}

// tangentOfElementwise uses the gradient rule: where output i depends on
// element i of each operand alone, the rule multiplies by the same derivative
// in either direction.
func (w *worker) tangentOfElementwise() {
	shape := w.shapeOut(0)
	var sum ref
	for i := range w.tangents {
		if !w.hasTan(i) {
			continue
		}
		x := w.tan(i)
		if !array.SameShape(x.l.Shape, shape) {
			x = w.spread(x, shape)
		}
		clear(w.wants)
		w.wants[i] = true
		w.douts[0] = x
		w.op.grad(&w.rule)
		if y := w.given[i].g; sum.l == nil {
			sum = y
		} else {
			sum = w.add(sum, y)
		}
	}
	w.made[0] = sum
}

// Lookup returns the tangent of a tensor. ok is false when the tensor does not
// depend on a seed: its tangent is zero by mathematics, and none was computed.
func (g *Tangents) Lookup(x *Tensor) (tangent *Tensor, ok bool) {
	if g.epoch != g.t.epoch {
		throw(fail(ErrReset, "Tangents", "use tangents before Tape.Reset, or Clone them", "the tangents belonged to the tape before it was reset"))
	}
	v := int32(-1)
	if x.tape == g.t {
		g.t.mustOwn(x)
		v = x.id
	} else if x.tape == nil {
		if id, ok := g.t.joined[x.val]; ok {
			v = id
		}
	}
	if v < 0 || v >= g.nVals || g.refs[v].l == nil {
		return nil, false
	}
	r := g.refs[v]
	if g.recorded {
		return &Tensor{tape: g.t, id: r.id(), epoch: g.epoch}, true
	}
	y, ok := g.tensors[v]
	if !ok {
		y = plainTensor(r.l, &storage{p: r.p})
		y.val.name = "tangent of " + g.t.label(v)
		y.val.owner, y.val.epoch = g.t, g.epoch
		y.val.taint = &taint{op: "Forward"}
		g.tensors[v] = y
	}
	return y, true
}

// Of returns the tangent of a tensor. It panics with ErrNoGradient when the
// tensor does not depend on a seed.
func (g *Tangents) Of(x *Tensor) *Tensor {
	y, ok := g.Lookup(x)
	if !ok {
		throw(fail(ErrNoGradient, "Of", "use Lookup", "%s does not depend on a seed, so its tangent is zero by mathematics, and none was computed", x.label()))
	}
	return y
}

// Cost is the number of multiply-adds that the sweep's rules took.
func (g *Tangents) Cost() int64 { return g.cost }
