package draw

import (
	"cmp"
	"slices"
)

func sortBy(ids []int32, key func(int32) float64) {
	slices.SortStableFunc(ids, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
}

// order puts the cells of each layer into an order in which few edges cross:
// depth-first from below, which is free of crossings on a tree, and then
// sweeps down and up by barycenters (Sugiyama, Tagawa and Toda 1981), each
// followed by exchanges of neighbours (E. Gansner, E. Koutsofios, S. North and
// K.-P. Vo, "A technique for drawing directed graphs", 1993). The best order
// seen is kept. Ties keep the order before, so the result is one.
func (c *cells) order() {
	c.startOrder()
	best, crossings := c.copyRows(), c.crossings()
	rounds := min(max(400_000/(len(c.layer)+1), 4), 24)
	for round, idle := 0, 0; crossings > 0 && round < rounds && idle < 6; round++ {
		c.barycenters(round%2 == 0)
		if len(c.layer) < 20_000 {
			c.exchange()
		}
		if now := c.crossings(); now < crossings {
			best, crossings, idle = c.copyRows(), now, 0
		} else {
			idle++
		}
	}
	c.rows = best
	c.renumber()
}

func (c *cells) copyRows() [][]int32 {
	rows := make([][]int32, len(c.rows))
	for i := range rows {
		rows[i] = slices.Clone(c.rows[i])
	}
	return rows
}

func (c *cells) renumber() {
	for _, row := range c.rows {
		for i, v := range row {
			c.pos[v] = i
		}
	}
}

// startOrder visits the cells depth first, from the loss and the other ends
// upwards, operands from left to right.
func (c *cells) startOrder() {
	seen := make([]bool, len(c.layer))
	var stack []int32
	visit := func(root int32) {
		if seen[root] {
			return
		}
		seen[root] = true
		stack = append(stack, root)
		for len(stack) > 0 {
			v := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			c.rows[c.layer[v]] = append(c.rows[c.layer[v]], v)
			ups := c.upsOf(v)
			for i := len(ups) - 1; i >= 0; i-- {
				if u := c.segs[ups[i]].from; !seen[u] {
					seen[u] = true
					stack = append(stack, u)
				}
			}
		}
	}
	for v := range c.lv.vertices {
		if p := c.lv.vertices[v].part; p == outPort || c.s.loss >= 0 && c.lv.vertices[v].tensor == c.s.loss && p != stubPart {
			visit(int32(v))
		}
	}
	for v := range c.layer {
		if len(c.downsOf(int32(v))) == 0 {
			visit(int32(v))
		}
	}
	c.renumber()
}

// barycenters orders each layer by the mean place of the neighbours on the
// layer before; cells without any keep their places.
func (c *cells) barycenters(down bool) {
	key := make([]float64, len(c.layer))
	for i := range c.rows {
		row := c.rows[i]
		if !down {
			row = c.rows[len(c.rows)-1-i]
		}
		var movable []int32
		for _, v := range row {
			sum, n := 0.0, 0
			if down {
				for _, k := range c.upsOf(v) {
					sum += float64(c.pos[c.segs[k].from]) + c.segs[k].fromAt
					n++
				}
			} else {
				for _, k := range c.downsOf(v) {
					sum += float64(c.pos[c.segs[k].to]) + c.segs[k].toAt
					n++
				}
			}
			if n > 0 {
				key[v] = sum / float64(n)
				movable = append(movable, v)
			}
		}
		movableAt := make([]int, 0, len(movable))
		for _, v := range movable {
			movableAt = append(movableAt, c.pos[v])
		}
		sortBy(movable, func(v int32) float64 { return key[v] })
		for k, v := range movable {
			row[movableAt[k]] = v
			c.pos[v] = movableAt[k]
		}
	}
}

// exchange swaps neighbours while that removes crossings.
func (c *cells) exchange() {
	for range 4 {
		better := false
		for _, row := range c.rows {
			for i := 1; i < len(row); i++ {
				a, b := row[i-1], row[i]
				if c.pairCrossings(b, a) < c.pairCrossings(a, b) {
					row[i-1], row[i] = b, a
					c.pos[a], c.pos[b] = i, i-1
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// pairCrossings counts the crossings between the edges of a and those of b, a
// standing to the left.
func (c *cells) pairCrossings(a, b int32) int {
	const most = 64 // beyond that, a count costs more than the exchange is worth
	count := func(of func(int32) []int32, far func(k int32) float64) int {
		n := 0
		ks, ls := of(a), of(b)
		for _, k := range ks[:min(len(ks), most)] {
			for _, l := range ls[:min(len(ls), most)] {
				if far(k) > far(l) {
					n++
				}
			}
		}
		return n
	}
	return count(c.upsOf, func(k int32) float64 { return float64(c.pos[c.segs[k].from]) + c.segs[k].fromAt }) +
		count(c.downsOf, func(k int32) float64 { return float64(c.pos[c.segs[k].to]) + c.segs[k].toAt })
}

// crossingsOf counts the crossings of the edges that leave a cell, if there are
// several and the layer is not so long that looking would cost too much.
func (c *cells) crossingsOf(v int32) int {
	row := c.rows[c.layer[v]]
	if len(c.downsOf(v)) < 2 || len(row) > 2000 {
		return 0
	}
	n := 0
	for i, u := range row {
		switch {
		case i < c.pos[v]:
			n += c.pairCrossings(u, v)
		case i > c.pos[v]:
			n += c.pairCrossings(v, u)
		}
	}
	return n
}

// crossings counts all crossings between neighbouring layers, with an
// accumulator tree (W. Barth, M. Jünger and P. Mutzel, "Simple and efficient
// bilayer cross counting", 2002).
func (c *cells) crossings() int {
	total := 0
	type ends struct{ upper, lower float64 }
	var list []ends
	var lower []float64
	var tree []int
	for _, row := range c.rows {
		list, lower = list[:0], lower[:0]
		for _, v := range row {
			for _, k := range c.downsOf(v) {
				s := &c.segs[k]
				e := ends{float64(c.pos[v]) + s.fromAt, float64(c.pos[s.to]) + s.toAt}
				list, lower = append(list, e), append(lower, e.lower)
			}
		}
		slices.SortFunc(list, func(a, b ends) int { return cmp.Or(cmp.Compare(a.upper, b.upper), cmp.Compare(a.lower, b.lower)) })
		slices.Sort(lower)
		lower = slices.Compact(lower)
		tree = append(tree[:0], make([]int, len(lower)+1)...)
		done := 0 // edges with a smaller upper end are in the tree
		for i, e := range list {
			for list[done].upper < e.upper {
				at, _ := slices.BinarySearch(lower, list[done].lower)
				for at++; at < len(tree); at += at & -at {
					tree[at]++
				}
				done++
			}
			at, _ := slices.BinarySearch(lower, list[i].lower)
			total += done
			for at++; at > 0; at -= at & -at {
				total -= tree[at]
			}
		}
	}
	return total
}
