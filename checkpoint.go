package backsweep

import (
	"sort"

	"github.com/backsweep/backsweep/record"
)

// segment is a range of the tape whose values were dropped after the forward
// pass: nodes from .. to-1, storages first .. last-1. A sweep replays the nodes
// before it visits the first of them.
type segment struct {
	from, to    int32
	first, last int32
	fed         []int32 // storages from before that the replay reads: each has one hold for it
	live        bool    // replayed: the values are there
	spent       bool    // the holds on fed were let go
}

// Checkpoint runs f, which records on the tape, and drops the values inside
// except for the tensors that f returns. A sweep that comes to one of its nodes
// first replays them: the same nodes compute the same bits again from what they
// read. It trades one more forward pass of that part for its payload (Griewank
// and Walther, "Algorithm 799: revolve", 2000). Changing a leaf that f read
// before the sweep is an error then; reading a value inside is one at once.
// Checkpoints do not nest.
func (t *Tape) Checkpoint(f func() []*Tensor) []*Tensor {
	t.enter("Checkpoint")
	if t.inside {
		t.leave()
		throw(fail(ErrUnsupported, "Checkpoint", "put one after the other", "checkpoints do not nest"))
	}
	t.inside = true
	from, first, epoch := t.nNodes, t.nStores, t.epoch
	t.leave()
	defer func() { t.inside = false }()
	outs := f()

	t.enter("Checkpoint")
	defer t.leave()
	if t.epoch != epoch {
		throw(fail(ErrReset, "Checkpoint", "reset between steps", "the tape was reset inside a checkpoint"))
	}
	stays := map[int32]bool{}
	for i, x := range outs {
		if x == nil || x.tape != t {
			throw(fail(ErrNotOnTape, "Checkpoint", "return tensors that f recorded", "output %d of f is not on the tape", i))
		}
		t.mustOwn(x)
		stays[t.storeOf(x.id)] = true
	}
	seen := map[int32]bool{}
	s := segment{from: from, to: t.nNodes, first: first, last: t.nStores, live: true}
	for n := s.from; n < s.to; n++ {
		k, nIn := t.insOf(n)
		for i := range nIn {
			sto := t.storeOf(t.operand(k + i))
			if (sto < first || stays[sto]) && !t.store(sto).has(inLeaf) && !seen[sto] {
				seen[sto] = true
				s.fed = append(s.fed, sto)
				t.hold(sto)
			}
		}
	}
	for sto := s.first; sto < s.last; sto++ {
		if stays[sto] {
			t.store(sto).set(returned)
		}
	}
	t.drop(&s)
	t.segments = append(t.segments, s)
	return outs
}

// drop gives the buffers inside a segment back to the tape's pool.
func (t *Tape) drop(s *segment) {
	for sto := s.first; sto < s.last; sto++ {
		r := t.store(sto)
		if r.has(inBuf) && !r.has(kept|returned|letGo) && t.bufs[r.loc] != nil {
			t.pool.Release(t.bufs[r.loc])
			t.bufs[r.loc] = nil
		}
	}
	s.live = false
}

// dropped reports whether a storage's buffer was dropped and not yet replayed.
func (t *Tape) dropped(sto int32) bool {
	r := t.store(sto)
	return r.has(inBuf) && !r.has(letGo) && t.bufs[r.loc] == nil
}

// inSegment reports whether a storage was made inside a checkpoint.
func (t *Tape) inSegment(sto int32) bool {
	k := sort.Search(len(t.segments), func(i int) bool { return t.segments[i].last > sto })
	return k < len(t.segments) && t.segments[k].first <= sto
}

// replays reports whether a replay that is to come will make the storage's
// value again: then it is not the sweep's to let go before that.
func (t *Tape) replays(sto int32) bool { return len(t.segments) > 0 && t.dropped(sto) }

// segmentOf returns the index of the segment that a node is in, or -1.
func (t *Tape) segmentOf(n int32) int {
	k := sort.Search(len(t.segments), func(i int) bool { return t.segments[i].to > n })
	if k < len(t.segments) && t.segments[k].from <= n {
		return k
	}
	return -1
}

// replay computes the values of a node's segment again, unless they are there,
// and lets go of those that only the replay itself needed.
func (s *sweep) replay(w *worker, n int32) {
	t := s.t
	k := t.segmentOf(n)
	if k < 0 || t.segments[k].live {
		return
	}
	g := &t.segments[k]
	g.live = true
	m := &t.again
	m.place, m.pool, m.tape = inPool, w.pool, t
	for n := g.from; n < g.to; n++ {
		if t.needsReplay(n) {
			s.replayNode(w, m, n)
		}
	}
	for sto := g.first; sto < g.last; sto++ {
		r := t.store(sto)
		if r.holds == 0 && r.has(inBuf) && !r.has(kept|returned) && t.bufs[r.loc] != nil && !s.p.options.retain {
			s.letGo(w, n, sto)
		}
	}
	if !s.p.options.retain && !g.spent {
		g.spent = true
		for _, sto := range g.fed {
			s.drop(w, n, sto)
		}
	}
}

// needsReplay reports whether an output of the node has a buffer that is gone.
func (t *Tape) needsReplay(n int32) bool {
	v, nOut := t.outsOf(n)
	for j := range nOut {
		if r := t.store(t.storeOf(v + j)); r.has(inBuf) && t.bufs[r.loc] == nil && !r.has(letGo) {
			return true
		}
	}
	return false
}

// replayNode runs a node's op again into new buffers of its storages.
func (s *sweep) replayNode(w *worker, m *machine, n int32) {
	t := s.t
	o := t.opOf(n)
	m.in = m.inBuf[:0]
	k, nIn := t.insOf(n)
	for i := range nIn {
		m.in = append(m.in, t.refOf(t.operand(k+i)))
	}
	m.atBuf = *t.attrsOf(n)
	m.at = &m.atBuf
	m.run(o)
	v, _ := t.outsOf(n)
	for j, y := range m.out {
		r := t.store(t.storeOf(v + int32(j)))
		if r.has(inBuf) && t.bufs[r.loc] == nil && y.buf != nil {
			y.buf.Retain()
			t.bufs[r.loc] = y.buf
		}
	}
	for _, b := range m.temps {
		w.pool.Release(b)
	}
	m.temps = m.temps[:0]
	if s.log {
		s.emit(Event{Kind: record.Replayed, Node: int(n), Slot: -1, Tensor: -1, Storage: -1, Rank: -1, Worker: w.id})
	}
}

// plannedReplay is what the first visit to a segment will do before it.
type plannedReplay struct {
	nodes []int   // computed again
	inner []int32 // storages that are then let go unless a rule reads them
	fed   []int32 // storages that then have one hold less
}

// planReplays says what each segment's replay will do, before the sweep starts.
func (p *plan) planReplays() []plannedReplay {
	t := p.t
	plans := make([]plannedReplay, len(t.segments))
	for i := range t.segments {
		g, r := &t.segments[i], &plans[i]
		if g.live {
			continue
		}
		for n := g.from; n < g.to; n++ {
			if t.needsReplay(n) {
				r.nodes = append(r.nodes, int(n))
			}
		}
		for sto := g.first; sto < g.last; sto++ {
			if t.dropped(sto) {
				r.inner = append(r.inner, sto)
			}
		}
		if !g.spent {
			r.fed = g.fed
		}
	}
	return plans
}

// endReplays drops the values of segments again after a sweep that retains, so
// that the tape is as it was. After a recorded sweep they stay: its own nodes
// read them.
func (s *sweep) endReplays() {
	if !s.p.options.retain || s.p.options.recorded {
		return
	}
	for i := range s.t.segments {
		if g := &s.t.segments[i]; g.live && !g.spent {
			s.t.drop(g)
		}
	}
}

// forgetSegments drops, before a sweep that does not retain, the holds for
// replays that it does not need: those of segments that it does not visit.
func (s *sweep) forgetSegments() {
	t, p := s.t, s.p
	for i := range t.segments {
		g := &t.segments[i]
		if g.spent {
			continue
		}
		visited := false
		for n := g.from; n < g.to; n++ {
			visited = visited || p.nodes[n]
		}
		if !visited || g.live {
			g.spent = true
			for _, sto := range g.fed {
				t.store(sto).holds--
			}
		}
	}
}

// checkSegments refuses a sweep that would replay a node on a leaf that was
// changed since the node ran.
func (p *plan) checkSegments(opName string) error {
	t := p.t
	for i := range t.segments {
		g := &t.segments[i]
		if g.live {
			continue
		}
		visited := false
		for n := g.from; n < g.to; n++ {
			visited = visited || p.nodes[n]
		}
		if !visited {
			continue
		}
		for n := g.from; n < g.to; n++ {
			k, nIn := t.insOf(n)
			for i := range nIn {
				v := t.operand(k + i)
				if t.producer(v) >= 0 {
					continue
				}
				if l := t.leafOf(v); l.version != l.val.st.version {
					e := fail(ErrChanged, opName, "change leaves after the sweep",
						"%s was changed (%s) after %s had read it, which the sweep has to replay", t.label(v), l.val.st.changedText(), t.nodeLabel(n))
					e.Node, e.Tensor = int(n), t.label(v)
					return e
				}
			}
		}
	}
	return nil
}
