package backsweep

import "github.com/backsweep/backsweep/record"

// A sweep that does not retain lets go, before its first visit, of every value
// that none of its rules will read, and of each payload as it passes the last
// node that reads it.

// letGoUnread drops the holds of nodes that the sweep does not visit, keeps
// the roots, and lets go of what nothing holds.
func (s *sweep) letGoUnread(w *worker) {
	t, p := s.t, s.p
	for _, r := range p.roots {
		t.keep(r.id)
	}
	for n := range t.nNodes {
		if !p.nodes[n] && t.opOf(n).reads != 0 {
			t.eachHold(n, func(sto int32) {
				t.store(sto).holds--
			})
		}
	}
	for sto := range t.nStores {
		if r := t.store(sto); r.holds == 0 && !r.has(inLeaf|kept|letGo) && !t.replays(sto) {
			s.letGo(w, -1, sto)
		}
	}
}

// letGoRead counts down the holds of a node that was visited.
func (s *sweep) letGoRead(w *worker, n int32) {
	t := s.t
	reads := w.op.reads
	for i := range w.nIn {
		if reads.in(int(i)) {
			s.drop(w, n, t.storeOf(t.operand(w.firstIn+i)))
		}
	}
	for j := range w.nOut {
		if reads.out(int(j)) {
			s.drop(w, n, t.storeOf(w.firstOut+j))
		}
	}
}

func (s *sweep) drop(w *worker, n, sto int32) {
	r := s.t.store(sto)
	r.holds--
	if r.holds == 0 && !r.has(inLeaf|kept) {
		s.letGo(w, n, sto)
	}
}

// letGo gives a storage back. Small values lie in the tape's slab, which comes
// back as a whole with Reset; from now on they cannot be read all the same.
func (s *sweep) letGo(w *worker, n, sto int32) {
	t := s.t
	r := t.store(sto)
	r.set(letGo)
	if r.has(inBuf) && t.bufs[r.loc] != nil {
		w.pool.Release(t.bufs[r.loc])
		t.bufs[r.loc] = nil
	}
	if s.log {
		s.emit(Event{Kind: record.Freed, Node: int(n), Slot: -1, Tensor: -1, Storage: int(sto), Rank: -1, Bytes: t.bytesOf(sto), Worker: w.id})
	}
}
