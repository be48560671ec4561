package order

import "slices"

// LeanestExact returns an order with the least peak that any legal order has,
// and that peak. It looks at no more than [IdealLimit] visited sets, and takes
// no more than [IdealNodes] nodes: beyond that the error is a *TooLargeError.
// The error is a *SizesError when s does not fit the graph.
//
// It is a dynamic program over visited sets (after M. Held and R. M. Karp, A
// dynamic programming approach to sequencing problems, 1962): what is held after
// some nodes have been visited depends on which they are, not on their
// order. Visits that would hold more than the order of [Graph.Leanest] does are
// not followed.
func (g *Graph) LeanestExact(s Sizes) (seq []int32, peak int64, err error) {
	m, err := newModel(g, s)
	if err != nil {
		return nil, 0, err
	}
	w, err := newIdeals(g, "leanest order", IdealLimit)
	if err != nil {
		return nil, 0, err
	}
	bound, _ := newLedger(m).run(g.Leanest(s))

	// Sets are numbered through all layers; came[k] is how set k is reached best.
	type arrival struct{ set, node int32 }
	came := []arrival{{-1, -1}}
	first := int32(0) // number of the current layer's first set
	start := newLedger(m).held.Held()
	held, best := []int64{start}, []int64{start} // by set of the current layer
	var nextHeld, nextBest []int64
	for range g.n {
		for i := range held {
			for _, v := range w.choices(i) {
				top := max(best[i], held[i]+m.handed[v])
				if top > bound {
					continue
				}
				j, fresh, ok := w.add(i, v)
				if !ok {
					return nil, 0, &TooLargeError{What: "leanest order", Unit: "visited sets", Size: -1, Limit: IdealLimit}
				}
				if fresh {
					nextHeld = append(nextHeld, held[i]+m.changeAt(w.visited(i), v))
					nextBest = append(nextBest, top)
					came = append(came, arrival{first + int32(i), v})
				} else if top < nextBest[j] {
					nextBest[j] = top
					came[first+int32(len(held)+j)] = arrival{first + int32(i), v}
				}
			}
		}
		first += int32(len(held))
		w.advance()
		held, nextHeld = nextHeld, held[:0]
		best, nextBest = nextBest, best[:0]
	}
	seq = make([]int32, 0, g.n)
	for a := came[first]; a.node >= 0; a = came[a.set] {
		seq = append(seq, a.node)
	}
	slices.Reverse(seq)
	return seq, best[0], nil
}

// changeAt returns by how many bytes the visit of v changes what is held after
// exactly the nodes of visited have been.
func (m *model) changeAt(visited []uint64, v int32) int64 {
	sum := int64(0)
	for _, k := range m.gives[m.giveStart[v]:m.giveStart[v+1]] {
		sum += m.gathered(m.tensor[k], visited, v) - m.gathered(m.tensor[k], visited, -1)
	}
	for _, t := range m.outputs[m.outputStart[v]:m.outputStart[v+1]] {
		if m.drops(t) {
			sum -= m.Grads[t].Bytes
		}
	}
	for _, b := range m.reads[m.readStart[v]:m.readStart[v+1]] {
		unread := slices.ContainsFunc(m.readers[m.readerStart[b]:m.readerStart[b+1]], func(r int32) bool {
			return r != v && !hasBit(visited, r)
		})
		if !unread && !m.Storages[b].Kept {
			sum -= m.Storages[b].Bytes
		}
	}
	return sum
}

// gathered returns the bytes of t's gradient and of what is parked for it
// after the nodes of visited, and also of also when it is not -1.
func (m *model) gathered(t int32, visited []uint64, also int32) int64 {
	open, waiting := m.Grads[t].Seeded, false
	parked := int64(0)
	for k := m.rankStart[t]; k < m.rankStart[t+1]; k++ {
		switch v := m.giver[k]; {
		case v != also && !hasBit(visited, v):
			waiting = true
		case waiting:
			parked += m.parts[k]
		default:
			open = true
		}
	}
	if open {
		parked++
	}
	return parked * m.Grads[t].Bytes
}
