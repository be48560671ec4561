package order

// Moment is what one worker holds while it visits one node, in bytes.
type Moment struct {
	Gradients int64 // accumulated so far, not yet let go
	Parked    int64 // contributions that wait for their turn
	Payload   int64 // storages not yet let go
	Output    int64 // what the visit itself hands out
}

// Held returns the sum.
func (m Moment) Held() int64 { return m.Gradients + m.Parked + m.Payload + m.Output }

// Moments returns what is held at each step of seq, at its height: after the
// node's rule has made its contributions and before anything is added or let
// go. It panics with the error of [Graph.Check] when seq is no legal order, and
// with that of [Sizes.Check] when s does not fit. Time and space are linear.
func (g *Graph) Moments(s Sizes, seq []int32) []Moment {
	l := g.ledger(s)
	g.mustCheck(seq)
	moments := make([]Moment, len(seq))
	for i, v := range seq {
		moments[i] = l.visit(v)
	}
	return moments
}

// Peak returns how many bytes one worker holds at each step of seq, as
// [Graph.Moments] has them, and the largest of them. It panics as Moments does.
func (g *Graph) Peak(s Sizes, seq []int32) (peak int64, curve []int64) {
	l := g.ledger(s)
	g.mustCheck(seq)
	return l.run(seq)
}

// ledger keeps account of what is held while nodes are visited.
type ledger struct {
	*model
	held Moment // Output is 0 between visits

	// turn[t] is the give to t that is to be added next. Those after it, up to
	// but without runEnd[t], are all parked, and have runParts[t] parts together;
	// so a gate that opens lets them in without a search.
	turn, runEnd []int32
	runParts     []int64
	arrived      []bool  // by give
	unread       []int32 // by storage: readers not yet visited
	lastReader   []int32 // by storage: the exclusive or of those readers, so the last one by name
}

func (g *Graph) ledger(s Sizes) *ledger {
	m, err := newModel(g, s)
	if err != nil {
		panic(err)
	}
	return newLedger(m)
}

func newLedger(m *model) *ledger {
	l := &ledger{
		model:      m,
		turn:       make([]int32, len(m.Grads)),
		runEnd:     make([]int32, len(m.Grads)),
		runParts:   make([]int64, len(m.Grads)),
		arrived:    make([]bool, len(m.giver)),
		unread:     make([]int32, len(m.Storages)),
		lastReader: make([]int32, len(m.Storages)),
	}
	for t, grad := range m.Grads {
		l.turn[t] = m.rankStart[t]
		l.runEnd[t] = l.turn[t] + 1
		if grad.Seeded {
			l.held.Gradients += grad.Bytes
		}
	}
	for b, storage := range m.Storages {
		readers := m.readers[m.readerStart[b]:m.readerStart[b+1]]
		l.unread[b] = int32(len(readers))
		for _, v := range readers {
			l.lastReader[b] ^= v
		}
		if len(readers) > 0 {
			l.held.Payload += storage.Bytes
		}
	}
	return l
}

// run visits all of seq.
func (l *ledger) run(seq []int32) (peak int64, curve []int64) {
	peak = l.held.Held()
	curve = make([]int64, len(seq))
	for i, v := range seq {
		curve[i] = l.visit(v).Held()
		peak = max(peak, curve[i])
	}
	return peak, curve
}

// visit accounts for the visit of v, all of whose consumers have been visited.
func (l *ledger) visit(v int32) Moment {
	during := l.held
	during.Output = l.handed[v]
	for _, k := range l.gives[l.giveStart[v]:l.giveStart[v+1]] {
		l.take(k)
	}
	for _, t := range l.outputs[l.outputStart[v]:l.outputStart[v+1]] {
		if l.drops(t) {
			l.held.Gradients -= l.Grads[t].Bytes
		}
	}
	for _, b := range l.reads[l.readStart[v]:l.readStart[v+1]] {
		l.lastReader[b] ^= v
		if l.unread[b]--; l.unread[b] == 0 && !l.Storages[b].Kept {
			l.held.Payload -= l.Storages[b].Bytes
		}
	}
	return during
}

// take adds give k, and all that waited for it alone, or parks it.
func (l *ledger) take(k int32) {
	t := l.tensor[k]
	bytes := l.Grads[t].Bytes
	l.arrived[k] = true
	if k != l.turn[t] {
		l.held.Parked += l.parts[k] * bytes
	} else {
		if l.opens(k) {
			l.held.Gradients += bytes
		}
		l.held.Parked -= l.runParts[t] * bytes
		l.turn[t] = l.runEnd[t]
		l.runEnd[t]++
		l.runParts[t] = 0
	}
	for end := l.rankStart[t+1]; l.runEnd[t] < end && l.arrived[l.runEnd[t]]; l.runEnd[t]++ {
		l.runParts[t] += l.parts[l.runEnd[t]]
	}
}

// opens reports whether give k is the first part of its tensor's gradient.
func (m *model) opens(k int32) bool {
	t := m.tensor[k]
	return k == m.rankStart[t] && !m.Grads[t].Seeded
}

// drops reports whether the visit of t's producer lets go t's gradient.
func (m *model) drops(t int32) bool {
	return !m.Grads[t].Kept && (m.Grads[t].Seeded || m.rankStart[t] < m.rankStart[t+1])
}
