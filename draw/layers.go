package draw

import (
	"cmp"
	"slices"
)

// layers gives every vertex of the level its layer, 0 at the top: as high as
// what it consumes allows, and then as low as its consumers allow where that
// shortens edges. Leaves get their stubs just above their consumers.
func (lv *level) layers(s *scene, at int) {
	n := len(lv.vertices)
	outStart, out := rows(n, len(lv.wires), func(i int) (int32, int32) { return int32(lv.wires[i].from), int32(lv.wires[i].to) })
	inDegree := make([]int, n)
	for _, w := range lv.wires {
		inDegree[w.to]++
	}
	left := slices.Clone(inDegree)
	order := make([]int32, 0, n)
	for v := range n {
		if left[v] == 0 {
			order = append(order, int32(v))
		}
	}
	for i := 0; i < len(order); i++ {
		v := order[i]
		for _, w := range out[outStart[v]:outStart[v+1]] {
			lv.vertices[w].layer = max(lv.vertices[w].layer, lv.vertices[v].layer+1)
			if left[w]--; left[w] == 0 {
				order = append(order, w)
			}
		}
	}
	// What alone leads from leaves to one consumer may follow it down whole.
	follows := make([]bool, n)
	for v := range n {
		follows[v] = lv.vertices[v].part != inPort
		lv.vertices[v].depth = lv.vertices[v].layer
	}
	for _, v := range order {
		consumers := out[outStart[v]:outStart[v+1]]
		for _, w := range consumers {
			follows[w] = follows[w] && follows[v] && len(consumers) == 1
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		consumers := out[outStart[v]:outStart[v+1]]
		if lv.vertices[v].part == inPort || len(consumers) == 0 || inDegree[v] >= len(consumers) && !follows[v] {
			continue
		}
		lowest := lv.vertices[consumers[0]].layer
		for _, w := range consumers {
			lowest = min(lowest, lv.vertices[w].layer)
		}
		lv.vertices[v].layer = lowest - 1
	}
	lv.spines()
	lv.stubs(s, at)
	lv.cutLong(s)
	lv.edgesOfFrame(s)
}

// spines finds for each box the operand with the deepest history, if there is
// one deepest.
func (lv *level) spines() {
	deepest := make([]int, len(lv.vertices))
	for v := range lv.vertices {
		deepest[v], lv.vertices[v].spine = -1, -1
	}
	for i := range lv.wires {
		w := &lv.wires[i]
		switch depth := lv.vertices[w.from].depth; {
		case depth > deepest[w.to]:
			deepest[w.to], lv.vertices[w.to].spine = depth, w.slot
		case depth == deepest[w.to]:
			lv.vertices[w.to].spine = -1
		}
	}
}

// stubs makes the stubs of the leaves: one for consumers on neighbouring
// layers. The one with the first consumer of the record is the leaf's own
// stub; the others are its ghosts.
func (lv *level) stubs(s *scene, at int) {
	slices.SortStableFunc(lv.uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.tensor, b.tensor), cmp.Compare(lv.vertices[a.to].layer, lv.vertices[b.to].layer))
	})
	const reach = 1 // layers that the consumers of one stub may be apart
	for i := 0; i < len(lv.uses); {
		first := lv.uses[i]
		j := i
		own := false
		for j < len(lv.uses) && lv.uses[j].tensor == first.tensor &&
			lv.vertices[lv.uses[j].to].layer <= lv.vertices[first.to].layer+reach {
			own = own || s.firstUse[first.tensor] == lv.uses[j].strand
			j++
		}
		v := s.stubVertex(first.tensor, !own)
		v.layer = lv.vertices[first.to].layer - 1
		lv.vertices = append(lv.vertices, v)
		for _, u := range lv.uses[i:j] {
			s.strands[u.strand].ghost = !own
			s.strands[u.strand].path = []link{{at, len(lv.wires)}}
			lv.wires = append(lv.wires, wire{tensor: u.tensor, from: len(lv.vertices) - 1, to: u.to, slot: u.slot})
		}
		i = j
	}
}

// spread gives a leaf whose consumers came to stand far apart on one layer a
// ghost for each group of them, and one whose edges cross several others a ghost
// for each consumer. It reports whether there was such a leaf.
func (lv *level) spread(s *scene, c *cells) bool {
	const (
		far  = 3 // places between neighbours that do not share a stub
		many = 3 // crossings that are worth more than a ghost
	)
	next := func(u *use) int {
		wire := s.strands[u.strand].path[0].wire
		if chain := c.chain[wire]; len(chain) > 0 {
			return c.pos[chain[0]]
		}
		return c.pos[lv.wires[wire].to]
	}
	stub := func(u *use) int { return lv.wires[s.strands[u.strand].path[0].wire].from }
	slices.SortStableFunc(lv.uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(stub(&a), stub(&b)), cmp.Compare(next(&a), next(&b)))
	})
	var groups [][]use // that get a ghost
	for i := 0; i < len(lv.uses); {
		j, from := i+1, i
		gap := far
		if c.crossingsOf(int32(stub(&lv.uses[i]))) >= many {
			gap = 0
		}
		var parts [][]use
		for ; j < len(lv.uses) && stub(&lv.uses[j]) == stub(&lv.uses[i]); j++ {
			if next(&lv.uses[j])-next(&lv.uses[j-1]) > gap {
				parts, from = append(parts, lv.uses[from:j]), j
			}
		}
		parts = append(parts, lv.uses[from:j])
		// The stub stays with the first consumer of the record, or is a ghost
		// already and stays with the leftmost.
		stays := max(slices.IndexFunc(parts, func(part []use) bool {
			return slices.ContainsFunc(part, func(u use) bool { return s.firstUse[u.tensor] == u.strand })
		}), 0)
		groups = append(append(groups, parts[:stays]...), parts[stays+1:]...)
		i = j
	}
	for _, group := range groups {
		v := s.stubVertex(group[0].tensor, true)
		v.layer = lv.vertices[stub(&group[0])].layer
		lv.vertices = append(lv.vertices, v)
		for k := range group {
			s.strands[group[k].strand].ghost = true
			lv.wires[s.strands[group[k].strand].path[0].wire].from = len(lv.vertices) - 1
		}
	}
	return len(groups) > 0
}

// cutLong replaces the upper part of very long edges by ghosts of their
// tensors, longest first, until the pieces that the others are cut into are
// few enough to lay out.
func (lv *level) cutLong(s *scene) {
	most := 20_000 + 4*len(lv.vertices)
	span := func(w *wire) int { return lv.vertices[w.to].layer - lv.vertices[w.from].layer }
	var spans []int
	total := 0
	for i := range lv.wires {
		total += span(&lv.wires[i])
		spans = append(spans, span(&lv.wires[i]))
	}
	if total <= most {
		return
	}
	slices.Sort(spans)
	for len(spans) > 0 && total > most {
		total -= spans[len(spans)-1]
		spans = spans[:len(spans)-1]
	}
	longest := 1
	if len(spans) > 0 {
		longest = max(spans[len(spans)-1], 2)
	}
	for i := range lv.wires {
		w := &lv.wires[i]
		if span(w) <= longest || lv.vertices[w.to].part == outPort {
			continue
		}
		v := s.stubVertex(w.tensor, true)
		v.layer = lv.vertices[w.to].layer - 1
		w.from = len(lv.vertices)
		lv.vertices = append(lv.vertices, v)
	}
}

// edgesOfFrame puts the ports of the frame on its first and last layers, and
// the loss on the last.
func (lv *level) edgesOfFrame(s *scene) {
	top, bottom := 0, 0
	for i := range lv.vertices {
		if v := &lv.vertices[i]; v.part != inPort {
			top, bottom = min(top, v.layer), max(bottom, v.layer)
		}
	}
	if len(lv.entry) > 0 {
		top--
	}
	for i := range lv.vertices {
		v := &lv.vertices[i]
		switch {
		case v.part == inPort:
			v.layer = 0
		case v.part == outPort:
			v.layer = bottom - top + 1
		default:
			v.layer -= top
		}
	}
	bottom -= top
	for i := range lv.vertices {
		v := &lv.vertices[i]
		if s.loss < 0 {
			break
		}
		if v.part >= inPort || v.tensor != s.loss || v.part == stubPart {
			continue
		}
		alone := true
		for k := range lv.vertices {
			alone = alone && (k == i || lv.vertices[k].layer < bottom)
		}
		if s.style == Bipartite && s.consumed(v.tensor) {
			continue
		}
		v.layer = bottom
		if !alone {
			v.layer++
		}
	}
}

// consumed reports whether the loss is itself consumed, so that a circle of it
// cannot stand last.
func (s *scene) consumed(tensor int) bool {
	for i := s.rec.Tensors[tensor].Producer + 1; i < len(s.rec.Nodes); i++ {
		if slices.Contains(s.rec.Nodes[i].Inputs, tensor) {
			return true
		}
	}
	return false
}
