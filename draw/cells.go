package draw

// cells are the vertices of a level and the pieces of its long edges, one for
// each layer that an edge passes: all that has to be ordered and placed.
type cells struct {
	s  *scene
	lv *level
	n  int // cells; those below len(lv.vertices) are the vertices

	layer       []int
	left, right []float64 // how far a cell reaches from its x, gap included
	x           []float64
	pos         []int     // on the layer
	rows        [][]int32 // the cells of each layer, from left to right

	// The segments, each from a layer to the next.
	segs []segment
	// The segments that end at cell v are ups[upStart[v]:upStart[v+1]], by
	// where they enter; those that begin there likewise.
	upStart, ups, downStart, downs []int32
	chain                          [][]int32 // by wire: its pieces, from top to bottom
}

// sideways is the looseness of a side branch.
const sideways = 1e-6

// segment is the part of an edge between two layers.
type segment struct {
	from, to     int32
	fromDX, toDX float64
	fromAt, toAt float64 // where on the cell, from -0.45 to 0.45 of a position
	weight       float64 // how much it should be straight
	loose        float64 // below 1 where other edges of the consumer are to be straight first
}

func newCells(s *scene, lv *level) *cells {
	c := &cells{s: s, lv: lv, n: len(lv.vertices)}
	for i := range lv.wires {
		lv.wires[i].fromDX, lv.wires[i].toDX = s.portDX(lv, &lv.wires[i], true), s.portDX(lv, &lv.wires[i], false)
	}
	for i := range lv.vertices {
		v := &lv.vertices[i]
		gap := 9.0
		if v.part == inPort || v.part == outPort {
			gap = 2
		}
		c.add(v.layer, v.left+gap, v.right+gap)
	}
	c.chain = make([][]int32, len(lv.wires))
	for i := range lv.wires {
		w := &lv.wires[i]
		at := int32(w.from)
		for layer := lv.vertices[w.from].layer + 1; layer < lv.vertices[w.to].layer; layer++ {
			next := c.add(layer, 7, 7)
			c.chain[i] = append(c.chain[i], next)
			c.join(w, at, next)
			at = next
		}
		c.join(w, at, int32(w.to))
	}
	c.index()
	return c
}

func (c *cells) add(layer int, left, right float64) int32 {
	c.layer = append(c.layer, layer)
	c.left, c.right = append(c.left, left), append(c.right, right)
	return int32(len(c.layer) - 1)
}

func (c *cells) join(w *wire, from, to int32) {
	s := segment{from: from, to: to, weight: 2, loose: 1}
	piece := func(v int32) bool { return int(v) >= c.n }
	if !piece(from) {
		s.fromDX = w.fromDX
		if w.fromDX != 0 {
			s.fromAt = 0.45 * min(1, max(-1, w.fromDX/c.left[from]))
		}
	}
	// A chain runs straight past what skips over it.
	if !piece(from) && piece(to) {
		s.loose = 1e-3
	}
	switch to := &c.lv.vertices[w.to]; {
	case c.lv.vertices[w.from].part == stubPart:
		s.loose = 1e-9
	case to.part == boxPart && to.spine >= 0 && to.spine != w.slot:
		s.loose = sideways
	}
	if !piece(to) {
		s.toDX = w.toDX
		if w.toDX != 0 {
			s.toAt = 0.45 * min(1, max(-1, w.toDX/c.left[to]))
		}
	}
	if piece(from) && piece(to) {
		s.weight = 8
	}
	c.segs = append(c.segs, s)
}

// index builds the tables of neighbours.
func (c *cells) index() {
	n := len(c.layer)
	c.x, c.pos = make([]float64, n), make([]int, n)
	last := 0
	for _, l := range c.layer {
		last = max(last, l)
	}
	c.rows = make([][]int32, last+1)
	c.upStart, c.ups = rows(n, len(c.segs), func(i int) (int32, int32) { return c.segs[i].to, int32(i) })
	c.downStart, c.downs = rows(n, len(c.segs), func(i int) (int32, int32) { return c.segs[i].from, int32(i) })
	for v := range n {
		sortBy(c.upsOf(int32(v)), func(i int32) float64 { return c.segs[i].toAt })
		sortBy(c.downsOf(int32(v)), func(i int32) float64 { return c.segs[i].fromAt })
	}
}

func (c *cells) upsOf(v int32) []int32   { return c.ups[c.upStart[v]:c.upStart[v+1]] }
func (c *cells) downsOf(v int32) []int32 { return c.downs[c.downStart[v]:c.downStart[v+1]] }

// portDX is where a wire meets one of its ends, from the end's anchor.
func (s *scene) portDX(lv *level, w *wire, from bool) float64 {
	end := w.to
	if from {
		end = w.from
	}
	v := &lv.vertices[end]
	switch {
	case v.part == framePart:
		inner := s.levels[v.frame]
		port := inner.entry
		if from {
			port = inner.exit
		}
		return inner.vertices[port[w.tensor]].x - inner.width/2
	case v.part != boxPart:
		return 0
	case from:
		return s.outputDX(v, w.tensor)
	default:
		return s.inputDX(v, w.slot)
	}
}
