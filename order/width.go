package order

import "math/bits"

// Width returns a largest antichain, ascending: nodes none of which waits for
// another, so that so many workers could visit them at once, and more never
// can be busy. The graph's width is their number. The error is a
// *TooLargeError beyond [WidthLimit] nodes.
//
// By R. P. Dilworth (A decomposition theorem for partially ordered sets, 1950)
// the width is the least number of chains that cover the graph. D. R. Fulkerson
// (1956) gets the chains from a matching in the bipartite graph that joins x on
// the left with y on the right when x waits for y; J. E. Hopcroft and R. M. Karp (An
// n^5/2 algorithm for maximum matchings in bipartite graphs, 1973) find a
// largest one, and D. König's theorem (1931) turns it into a smallest
// vertex cover. The nodes that have neither side in the cover are the antichain.
func (g *Graph) Width() (antichain []int32, err error) {
	if g.n > WidthLimit {
		return nil, &TooLargeError{What: "width", Unit: "nodes", Size: int64(g.n), Limit: WidthLimit}
	}
	m := newMatching(g)
	for m.layers() {
		for x := range int32(g.n) {
			if m.right[x] == none {
				m.augment(x)
			}
		}
	}
	// The last search found no way to a free right side: what it reached is what
	// alternating paths from free left sides reach.
	for v := range int32(g.n) {
		if m.level[v] != none && hasBit(m.fresh, v) {
			antichain = append(antichain, v)
		}
	}
	return antichain, nil
}

const none int32 = -1

// matching pairs left sides, which wait, with right sides, for which they wait.
type matching struct {
	words       int
	waits       []uint64 // row x, of words: what x waits for
	right, left []int32  // partner of a left side, of a right side
	level       []int32  // of a left side in the layers, or none
	last        int32    // the level from which free right sides can be reached
	fresh       []uint64 // right sides that the current search has not reached
	at          []int32  // by left side: the word of its row where augment goes on
}

func newMatching(g *Graph) *matching {
	words := (g.n + 63) / 64
	m := &matching{
		words: words,
		waits: make([]uint64, words*g.n),
		right: make([]int32, g.n),
		left:  make([]int32, g.n),
		level: make([]int32, g.n),
		fresh: make([]uint64, words),
		at:    make([]int32, g.n),
	}
	for v := int32(g.n) - 1; v >= 0; v-- {
		m.right[v], m.left[v] = none, none
		row := m.row(v)
		for _, c := range g.consumers(v) {
			for k, word := range m.row(c) {
				row[k] |= word
			}
			setBit(row, c)
		}
	}
	return m
}

func (m *matching) row(x int32) []uint64 {
	return m.waits[int(x)*m.words : (int(x)+1)*m.words]
}

// layers searches breadth-first along alternating paths from all free left
// sides, up to the level that reaches free right sides, and reports whether there
// is one. It looks at each right side once, however many rows have it.
func (m *matching) layers() bool {
	m.refresh()
	var queue []int32
	for x := range m.level {
		m.level[x] = none
		if m.right[x] == none {
			m.level[x] = 0
			queue = append(queue, int32(x))
		}
	}
	found := false
	for at := 0; at < len(queue); at++ {
		x := queue[at]
		if found && m.level[x] > m.last {
			break
		}
		for k, word := range m.row(x) {
			word &= m.fresh[k]
			m.fresh[k] &^= word
			for ; word != 0; word &= word - 1 {
				y := int32(k*64 + bits.TrailingZeros64(word))
				if next := m.left[y]; next == none {
					found, m.last = true, m.level[x]
				} else if m.level[next] == none {
					m.level[next] = m.level[x] + 1
					queue = append(queue, next)
				}
			}
		}
	}
	if found {
		m.refresh()
		clear(m.at)
	}
	return found
}

func (m *matching) refresh() {
	for k := range m.fresh {
		m.fresh[k] = ^uint64(0)
	}
}

// augment searches depth-first for an alternating path from the free left side
// x to a free right side that goes up one layer at each step, and swaps the
// pairs along it. A right side that one search has used or given up is not
// tried again until the next layers.
func (m *matching) augment(x int32) {
	type step struct{ x, y int32 }
	path := []step{{x, none}}
	for len(path) > 0 {
		top := &path[len(path)-1]
		y := m.step(top.x)
		if y == none {
			path = path[:len(path)-1]
			continue
		}
		top.y = y
		if next := m.left[y]; next != none {
			path = append(path, step{next, none})
			continue
		}
		for _, s := range path {
			m.right[s.x], m.left[s.y] = s.y, s.x
		}
		return
	}
}

// step takes the next right side to try from x, or none.
func (m *matching) step(x int32) int32 {
	if m.level[x] > m.last {
		return none
	}
	row := m.row(x)
	for ; int(m.at[x]) < m.words; m.at[x]++ {
		k := m.at[x]
		for word := row[k] & m.fresh[k]; word != 0; word &= word - 1 {
			y := k*64 + int32(bits.TrailingZeros64(word))
			if next := m.left[y]; next == none || m.level[next] == m.level[x]+1 {
				clearBit(m.fresh, y)
				return y
			}
		}
	}
	return none
}
