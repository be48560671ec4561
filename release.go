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
				ch, i := t.storeAt(sto)
				ch.holds[i]--
			})
		}
	}
	for sto := range t.nStores {
		ch, i := t.storeAt(sto)
		if ch.holds[i] == 0 && ch.flag[i]&(inLeaf|kept|letGo) == 0 {
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
	ch, i := s.t.storeAt(sto)
	ch.holds[i]--
	if ch.holds[i] == 0 && ch.flag[i]&(inLeaf|kept) == 0 {
		s.letGo(w, n, sto)
	}
}

// letGo gives a storage back. Small values lie in the tape's slab, which comes
// back as a whole with Reset; from now on they cannot be read all the same.
func (s *sweep) letGo(w *worker, n, sto int32) {
	t := s.t
	ch, i := t.storeAt(sto)
	ch.flag[i] |= letGo
	if ch.flag[i]&inBuf != 0 {
		w.pool.Release(t.bufs[ch.loc[i]])
		t.bufs[ch.loc[i]] = nil
	}
	if s.log {
		s.emit(Event{Kind: record.Freed, Node: int(n), Slot: -1, Tensor: -1, Storage: int(sto), Rank: -1, Bytes: t.bytesOf(sto), Worker: w.id})
	}
}
