package draw

import "math"

// place gives every cell its x. Layer by layer, the cells move as near as
// possible to where their edges would be straight, without changing order or
// coming too close: the least weighted squares under those constraints, which
// is isotonic regression and is solved exactly by pooling adjacent violators
// (M. Ayer et al., "An empirical distribution function for sampling with
// incomplete information", 1955). Passes down and up spread that over the
// layers, as in the priority method of Sugiyama, Tagawa and Toda (1981).
func (c *cells) place() {
	for _, row := range c.rows {
		x := 0.0
		for i, v := range row {
			if i > 0 {
				x += c.right[row[i-1]] + c.left[v]
			}
			c.x[v] = x
		}
	}
	passes := 8
	if len(c.layer) > 20_000 {
		passes = 4
	}
	for range passes / 2 {
		c.pass(false)
		c.pass(true)
	}
	c.settle()
	c.snap()
	c.straighten()
	left := math.Inf(1)
	for v := range c.x {
		left = min(left, c.x[v]-c.left[v])
	}
	c.lv.width = 0
	for v := range c.x {
		c.x[v] = round(c.x[v] - left)
		c.lv.width = max(c.lv.width, c.x[v]+c.right[v])
	}
	c.lv.width = round(c.lv.width)
}

// round keeps whole pixels.
func round(x float64) float64 { return math.Floor(x + 0.5) }

// even rounds up to what has a whole half.
func even(x float64) float64 { return 2 * math.Ceil(x/2) }

// still is the weight of what should stay where it is.
const (
	still = 1e6
	idle  = 1e-12
)

// pass moves the layers one after the other towards their neighbours above
// (down) or below.
func (c *cells) pass(down bool) {
	var want, weight []float64
	for i := range c.rows {
		row := c.rows[i]
		if !down {
			row = c.rows[len(c.rows)-1-i]
		}
		want, weight = want[:0], weight[:0]
		for _, v := range row {
			x, w := c.pull(v, down)
			want, weight = append(want, x), append(weight, w)
		}
		c.fit(row, want, weight)
	}
}

// pull is where the neighbours on one side want a cell, and how much.
func (c *cells) pull(v int32, up bool) (x, weight float64) {
	if up {
		for _, k := range c.upsOf(v) {
			s := &c.segs[k]
			w := s.weight * s.loose
			x += float64(w * (c.x[s.from] + s.fromDX - s.toDX))
			weight += w
		}
	} else {
		for _, k := range c.downsOf(v) {
			s := &c.segs[k]
			w := s.weight * s.loose
			x += float64(w * (c.x[s.to] + s.toDX - s.fromDX))
			weight += w
		}
	}
	if weight == 0 {
		return c.x[v], idle
	}
	return x / weight, weight
}

// settle moves leaves and side branches to what consumes them, all else staying
// where it is.
func (c *cells) settle() {
	floating := make([]bool, len(c.layer))
	for i := len(c.rows) - 1; i >= 0; i-- {
		for _, v := range c.rows[i] {
			downs := c.downsOf(v)
			floating[v] = c.lv.leafAt(v)
			if len(downs) == 1 {
				d := &c.segs[downs[0]]
				floating[v] = d.loose <= sideways || floating[d.to]
			}
		}
	}
	var want, weight []float64
	for i := len(c.rows) - 1; i >= 0; i-- {
		want, weight = want[:0], weight[:0]
		for _, v := range c.rows[i] {
			x, w := c.x[v], still
			if floating[v] {
				x, w = c.pull(v, false)
			}
			want, weight = append(want, x), append(weight, w)
		}
		c.fit(c.rows[i], want, weight)
	}
}

// snap removes bends of less than a pixel.
func (c *cells) snap() {
	for _, row := range c.rows {
		for _, v := range row {
			best := -1.0
			x := c.x[v]
			for _, k := range c.upsOf(v) {
				s := &c.segs[k]
				if w := s.weight * s.loose; w > best {
					best, x = w, c.x[s.from]+s.fromDX-s.toDX
				}
			}
			if math.Abs(x-c.x[v]) < 1 {
				c.x[v] = x
			}
		}
	}
}

// leafAt reports whether a cell is a leaf's stub.
func (lv *level) leafAt(v int32) bool {
	return int(v) < len(lv.vertices) && lv.vertices[v].part == stubPart
}

// fit moves the cells of a row as near as possible to where they are wanted.
func (c *cells) fit(row []int32, want, weight []float64) {
	// A pool is a run of cells that touch, and moves as one.
	type pool struct {
		x, weight float64
		cells     int
	}
	pools := make([]pool, 0, len(row))
	offset := 0.0
	offsets := make([]float64, len(row))
	for i, v := range row {
		if i > 0 {
			offset += c.right[row[i-1]] + c.left[v]
		}
		offsets[i] = offset
		p := pool{want[i] - offset, weight[i], 1}
		for len(pools) > 0 && pools[len(pools)-1].x > p.x {
			q := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			p = pool{(float64(q.x*q.weight) + float64(p.x*p.weight)) / (q.weight + p.weight), q.weight + p.weight, q.cells + p.cells}
		}
		pools = append(pools, p)
	}
	i := 0
	for _, p := range pools {
		for range p.cells {
			c.x[row[i]] = p.x + offsets[i]
			i++
		}
	}
}

// straighten gives the pieces of a long edge one x where there is room.
func (c *cells) straighten() {
	for i, chain := range c.chain {
		if len(chain) == 0 {
			continue
		}
		w := &c.lv.wires[i]
		low, high := -1e18, 1e18
		for _, v := range chain {
			row := c.rows[c.layer[v]]
			if p := c.pos[v]; p > 0 {
				low = max(low, c.x[row[p-1]]+c.right[row[p-1]]+c.left[v])
			}
			if p := c.pos[v]; p+1 < len(row) {
				high = min(high, c.x[row[p+1]]-c.left[row[p+1]]-c.right[v])
			}
		}
		if low > high {
			continue
		}
		x := c.x[chain[len(chain)/2]]
		for _, end := range []float64{c.x[w.to] + w.toDX, c.x[w.from] + w.fromDX} {
			if end >= low && end <= high {
				x = end
				break
			}
		}
		for _, v := range chain {
			c.x[v] = min(max(x, low), high)
		}
	}
}
