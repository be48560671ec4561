package backsweep

import (
	"context"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/record"
)

// Backward sweeps the tape from a scalar loss, whose gradient is 1 (or from
// any tensor, with the option Cotangent), and returns the gradients of the
// parameters and watched tensors.
//
// Unless told to Retain, it lets every value of the tape go that nothing needs
// any more; the loss and kept values stay until Reset. The error is an *Error
// that says what to do.
func (t *Tape) Backward(loss *Tensor, opts ...SweepOption) (grads *Grads, err error) {
	defer locate(&err)
	o, err := gatherOptions("Backward", opts)
	if err != nil {
		return nil, err
	}
	return t.backward("Backward", []Root{{loss, o.cotangent}}, o)
}

// BackwardFrom sweeps from several roots at once, each with a cotangent of its
// own: the gradients are those of the sum of ⟨cotangent, root⟩.
func (t *Tape) BackwardFrom(roots []Root, opts ...SweepOption) (grads *Grads, err error) {
	defer locate(&err)
	o, err := gatherOptions("BackwardFrom", opts)
	if err != nil {
		return nil, err
	}
	if o.cotangent != nil {
		return nil, fail(ErrValue, "BackwardFrom", "put the cotangent into its Root", "Cotangent is an option of Backward")
	}
	return t.backward("BackwardFrom", roots, o)
}

func (t *Tape) backward(opName string, roots []Root, o sweepOptions) (grads *Grads, err error) {
	defer Catch(&err)
	t.enter(opName)
	defer t.leave()
	p, err := t.newPlan(opName, roots, o)
	if err != nil {
		return nil, err
	}
	for _, r := range roots {
		if r.Cotangent != nil && r.Cotangent.tape == nil {
			t.admit(r.Cotangent, opName)
		}
	}
	s := newSweep(opName, p)
	return s.run(roots)
}

// sweep executes a plan.
type sweep struct {
	t      *Tape
	p      *plan
	opName string
	slots  []slot  // gradients that are being summed or wait for their producer
	free   []int32 // unused slots
	slotOf []int32 // by value, 1 + its slot, or 0
	events []Event
	log    bool
	done   int // nodes visited
	cost   int64
}

// slot is the gradient of one value while it is summed.
type slot struct {
	sum    gift
	next   int32 // the rank whose turn it is
	parked []parkedGift
}

type parkedGift struct {
	rank int32
	node int32
	slot int32
	gift gift
}

// worker runs rules. The goroutine that called the sweep is one; Workers(n)
// adds others, each with a pool of its own.
type worker struct {
	rule
	s    *sweep
	id   int
	pool *array.Pool
}

func newSweep(opName string, p *plan) *sweep {
	t := p.t
	mem := &t.scratch
	mem.slotOf = resize(mem.slotOf, int(t.nValues))
	return &sweep{
		t: t, p: p, opName: opName,
		slots: mem.slots[:0], free: mem.free[:0], slotOf: mem.slotOf,
		log: p.options.observe != nil || p.options.trace,
	}
}

// newWorker lends the sweep a worker; worker 0 shares the tape's pool.
func (s *sweep) newWorker(id int) *worker {
	mem := &s.t.scratch
	for len(mem.rules) <= id {
		mem.rules = append(mem.rules, &worker{id: len(mem.rules), pool: &array.Pool{}})
	}
	w := mem.rules[id]
	w.s, w.t = s, s.t
	if id == 0 {
		w.pool = &s.t.pool
	}
	w.m.place, w.m.pool, w.m.tape = inPool, w.pool, s.t
	w.m.madds = 0
	w.recording, w.batch = s.p.options.recorded, s.p.options.batch
	w.direct = !w.recording && w.batch == 0
	w.forward = false
	return w
}

func (s *sweep) run(roots []Root) (grads *Grads, err error) {
	t, p := s.t, s.p
	ok := false
	if p.options.recorded {
		t.begin() // a recorded sweep that fails takes its nodes back
	}
	defer func() {
		if !ok {
			s.abandon()
		}
	}()
	w := s.newWorker(0)
	before := w.counter().madds
	if !p.options.retain {
		t.swept = s.opName
		t.sweptBy = callers(t.sweptBy)
		t.broken = true
		s.forgetSegments()
		s.letGoUnread(w)
	}
	for i, r := range p.roots {
		s.seed(w, r, roots[i])
	}
	switch {
	case p.options.workers > 1:
		err = s.runWorkers()
	case p.full != nil:
		for _, d := range p.full.seq {
			if err = s.step(w, p.full.ids[d]); err != nil {
				break
			}
		}
	default:
		for n := p.top - 1; n >= 0; n-- {
			if p.nodes[n] {
				if err = s.step(w, n); err != nil {
					break
				}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	s.cost += w.counter().madds - before
	grads = s.collect(w)
	s.endReplays()
	if p.options.trace {
		t.last = s.remember()
	}
	ok, t.open, t.broken = true, false, false
	t.scratch.slots, t.scratch.free = s.slots, s.free
	return grads, nil
}

// abandon leaves nothing half-done behind a sweep that failed.
func (s *sweep) abandon() {
	clear(s.slots)
	s.t.scratch.slots, s.t.scratch.free = nil, nil
}

// cancelled returns the error of a context that is done.
func (s *sweep) cancelled() error {
	ctx := s.p.options.ctx
	if ctx == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		e := fail(ErrUnsupported, s.opName, "with Retain the tape could be swept again; otherwise Reset it", "stopped after %d nodes: %v", s.done, context.Cause(ctx))
		e.Kind, e.cause = ctx.Err(), context.Cause(ctx)
		return e
	default:
		return nil
	}
}

// step visits one node and hands out what its rule gives.
func (s *sweep) step(w *worker, n int32) error {
	if err := s.cancelled(); err != nil {
		return err
	}
	s.load(w, n)
	w.op.grad(&w.rule)
	s.settle(w)
	return nil
}

// load prepares a worker to visit a node: what it wants and the cotangents of
// its outputs.
func (s *sweep) load(w *worker, n int32) {
	if len(s.t.segments) > 0 {
		s.replay(w, n)
	}
	w.set(n)
	for i := range w.wants {
		w.wants[i] = s.p.wants(w.op, i, w.value(i))
	}
	for j := range w.douts {
		k := s.slotOf[w.firstOut+int32(j)]
		if k == 0 {
			w.douts[j] = ref{}
			continue
		}
		if s.t.hooks != nil {
			s.hook(w, w.firstOut+int32(j), &s.slots[k-1])
		}
		if sum := &s.slots[k-1].sum; sum.rows.l == nil {
			w.douts[j] = sum.g
		} else {
			w.douts[j] = w.dense(w.firstOut+int32(j), *sum)
		}
	}
}

// settle does the bookkeeping of a visit: it adds or parks each contribution,
// lets go of the gradients that the visit consumed, and of the payload whose
// last reader it was.
func (s *sweep) settle(w *worker) {
	n := w.node
	s.done++
	if s.log {
		s.emit(Event{Kind: record.Visited, Node: int(n), Slot: -1, Tensor: -1, Storage: -1, Rank: -1, Worker: w.id})
	}
	for i := range w.given {
		if !w.wants[i] {
			continue
		}
		g := &w.given[i]
		if g.g.l == nil {
			panic("backsweep: the rule of " + w.op.name + " gave no gradient to an operand that wants one")
		}
		s.deliver(w, n, int32(i), w.value(i), g)
	}
	for j := range w.nOut {
		s.consume(w, n, w.firstOut+j)
	}
	w.flush()
	if !s.p.options.retain && w.op.reads != 0 {
		s.letGoRead(w, n)
	}
}

// flush lets go of the buffers that the rule made and gave to nobody.
func (w *worker) flush() {
	for _, b := range w.m.temps {
		w.pool.Release(b)
	}
	w.m.temps = w.m.temps[:0]
}

// slotFor returns the slot of a value, taking one at its first contribution.
func (s *sweep) slotFor(v int32) *slot {
	if k := s.slotOf[v]; k > 0 {
		return &s.slots[k-1]
	}
	var k int32
	if l := len(s.free); l > 0 {
		k = s.free[l-1]
		s.free = s.free[:l-1]
	} else {
		if len(s.slots) < cap(s.slots) {
			s.slots = s.slots[:len(s.slots)+1]
		} else {
			s.slots = append(s.slots, slot{})
		}
		k = int32(len(s.slots) - 1)
	}
	s.slotOf[v] = k + 1
	sl := &s.slots[k]
	sl.next = 0
	return sl
}

// deliver adds a contribution when it is its turn, and parks it otherwise.
func (s *sweep) deliver(w *worker, n, i, v int32, g *gift) {
	sl := s.slotFor(v)
	if s.p.full != nil {
		k, _ := s.t.insOf(n)
		if rank := s.p.full.ranks[k+i]; rank != sl.next {
			g.retain(w)
			sl.parked = append(sl.parked, parkedGift{rank, n, i, *g})
			if s.log {
				s.emit(Event{Kind: record.Parked, Node: int(n), Slot: int(i), Tensor: int(v), Storage: -1, Rank: int(rank), Bytes: g.bytes(), Worker: w.id})
			}
			return
		}
	}
	s.accept(w, sl, n, i, v, g)
	for k := 0; k < len(sl.parked); {
		p := sl.parked[k]
		if p.rank != sl.next {
			k++
			continue
		}
		last := len(sl.parked) - 1
		sl.parked[k] = sl.parked[last]
		sl.parked[last] = parkedGift{}
		sl.parked = sl.parked[:last]
		s.accept(w, sl, p.node, p.slot, v, &p.gift)
		p.gift.release(w)
		k = 0
	}
}

// accept adds the contribution whose turn it is.
func (s *sweep) accept(w *worker, sl *slot, n, i, v int32, g *gift) {
	if s.log {
		s.emit(Event{Kind: record.Added, Node: int(n), Slot: int(i), Tensor: int(v), Storage: -1, Rank: int(sl.next), Bytes: g.bytes(), Worker: w.id})
	}
	if sl.next == 0 {
		g.retain(w)
		sl.sum.g, sl.sum.rows = g.g, g.rows
	} else {
		sl.sum = w.sum(v, sl.sum, *g)
	}
	sl.next++
}

// consume lets go of the gradient of an output of the node just visited,
// unless it was asked for.
func (s *sweep) consume(w *worker, n, v int32) {
	k := s.slotOf[v]
	if k == 0 || s.p.values[v]&asked != 0 {
		return
	}
	sl := &s.slots[k-1]
	sl.sum.release(w)
	s.slotOf[v] = 0
	s.free = append(s.free, k-1)
	if s.log {
		s.emit(Event{Kind: record.GradReleased, Node: int(n), Slot: -1, Tensor: int(v), Storage: -1, Rank: -1, Bytes: sl.sum.bytes(), Worker: w.id})
	}
}

// seed gives a root its cotangent.
func (s *sweep) seed(w *worker, r root, from Root) {
	l := s.t.layoutOf(r.id)
	var g ref
	switch {
	case w.recording && r.cot.l != nil:
		g = s.t.refOf(s.t.idOf(from.Cotangent, s.opName))
	case r.cot.l != nil && r.cot.l.Plain && from.Cotangent.tape == nil && w.batch == 0:
		g = r.cot // the caller's for the time of the sweep
		g.buf = array.Lent(g.p)
	case r.cot.l != nil:
		g = w.m.alloc(w.m.like(r.cot))
		copyDense(g, r.cot)
		if w.batch > 0 {
			g.l, g.at = w.m.shapes.contiguous(l.DType, l.Shape), batchedAt
		}
	default:
		g = w.full(1, l.DType, l.Shape)
	}
	sl := s.slotFor(r.id)
	if s.log {
		s.emit(Event{Kind: record.Seeded, Node: -1, Slot: -1, Tensor: int(r.id), Storage: -1, Rank: int(sl.next), Bytes: int64(l.Bytes()), Worker: w.id})
	}
	x := gift{g: g}
	if sl.next == 0 {
		x.retain(w)
		sl.sum = x
	} else {
		sl.sum = w.sum(r.id, sl.sum, x)
	}
	sl.next++
	w.flush()
}

func (s *sweep) emit(e Event) {
	if s.p.options.trace {
		s.events = append(s.events, e)
	}
	if s.p.options.observe != nil {
		s.p.options.observe(e)
	}
}
