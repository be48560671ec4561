package order

// Leanest returns an order that is chosen greedily to hold few bytes at its
// height. It is a heuristic, since the least peak is hard to find (R. Sethi,
// Complete register allocation problems, 1975), but it never holds more than
// reverse tape order or the depth-first order, because it returns the best of the
// three. Among equals reverse tape order comes first, greed last.
// [Graph.LeanestExact] finds the least peak of a small graph.
//
// Leanest panics with the error of [Sizes.Check] when s does not fit the graph.
// Time is O(m log n) for m edges, uses and readers, space is linear.
func (g *Graph) Leanest(s Sizes) []int32 {
	m, err := newModel(g, s)
	if err != nil {
		panic(err)
	}
	best := g.Tape()
	least, _ := newLedger(m).run(best)
	for _, seq := range [][]int32{g.Depth(), g.greedy(m)} {
		if peak, _ := newLedger(m).run(seq); peak < least {
			best, least = seq, peak
		}
	}
	return best
}

// greedy visits one ready node after another.
//
// Correctness: only ready nodes are in the heap.
//
// Taste: the node goes after whose visit the fewest bytes are held. What is held
// during a visit comes second, since each node's visit holds its output once,
// whenever it is, and least in all when little else is held.
//
// The last tie-break is the larger id, as in reverse tape order.
func (g *Graph) greedy(m *model) []int32 {
	l := newLedger(m)
	after := make([]int64, g.n) // by which a ready node's visit changes what is held
	ready := newIndexHeap(g.n, func(a, b int32) bool {
		if after[a] != after[b] {
			return after[a] < after[b]
		}
		if l.handed[a] != l.handed[b] {
			return l.handed[a] < l.handed[b]
		}
		return a > b
	})
	enter := func(v int32) {
		after[v] = l.change(v)
		ready.push(v)
	}
	review := func(v int32) {
		if ready.has(v) {
			after[v] = l.change(v)
			ready.fix(v)
		}
	}
	pending := g.pending()
	seq := make([]int32, 0, g.n)
	for _, v := range g.Roots() {
		enter(v)
	}
	for len(ready.ids) > 0 {
		v := ready.pop()
		seq = append(seq, v)
		l.visit(v)
		l.affected(v, review)
		for _, p := range g.producers(v) {
			if pending[p]--; pending[p] == 0 {
				enter(p)
			}
		}
	}
	return seq
}

// change returns by how many bytes the visit of v would change what is held.
func (l *ledger) change(v int32) int64 {
	sum := int64(0)
	for _, k := range l.gives[l.giveStart[v]:l.giveStart[v+1]] {
		t := l.tensor[k]
		bytes := l.Grads[t].Bytes
		if k != l.turn[t] {
			sum += l.parts[k] * bytes
			continue
		}
		if l.opens(k) {
			sum += bytes
		}
		sum -= l.runParts[t] * bytes
	}
	for _, t := range l.outputs[l.outputStart[v]:l.outputStart[v+1]] {
		if l.drops(t) {
			sum -= l.Grads[t].Bytes
		}
	}
	for _, b := range l.reads[l.readStart[v]:l.readStart[v+1]] {
		if l.unread[b] == 1 && !l.Storages[b].Kept {
			sum -= l.Storages[b].Bytes
		}
	}
	return sum
}

// affected calls review for each node whose change may be another one now that
// v has been visited: those whose turn it is at a tensor that v gave to, since
// they let in what is parked behind them, and those that became the last reader
// of a storage.
func (l *ledger) affected(v int32, review func(int32)) {
	for _, k := range l.gives[l.giveStart[v]:l.giveStart[v+1]] {
		t := l.tensor[k]
		if turn := l.turn[t]; turn < l.rankStart[t+1] {
			review(l.giver[turn])
		}
	}
	for _, b := range l.reads[l.readStart[v]:l.readStart[v+1]] {
		if l.unread[b] == 1 {
			review(l.lastReader[b])
		}
	}
}
