package order

import (
	"iter"
	"math/bits"
)

// All yields every legal order, in lexicographic order. The slice is the same
// each time: clone it to keep it, and do not change it. The empty graph has one
// order, the empty one.
//
// It backtracks over the choices of Kahn's topological sorting, which never
// reaches a dead end (D. E. Knuth and J. L. Szwarcfiter, A structured program
// to generate all topological sorting arrangements, 1974); the choices made so
// far are the stack. From one order to the next takes O(m log n) at most, and
// little for those near each other.
func (g *Graph) All() iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		pending := g.pending()
		ready := newIDSet(g.n)
		for _, v := range g.Roots() {
			ready.add(v)
		}
		seq := make([]int32, g.n)
		depth := 0
		from := int32(0) // the least id that has not been tried at this depth
		for {
			for depth < g.n {
				v := ready.next(from)
				if v < 0 {
					break
				}
				seq[depth] = v
				depth++
				from = 0
				ready.remove(v)
				for _, p := range g.producers(v) {
					if pending[p]--; pending[p] == 0 {
						ready.add(p)
					}
				}
			}
			if depth == g.n && !yield(seq) {
				return
			}
			if depth == 0 {
				return
			}
			depth--
			v := seq[depth]
			from = v + 1
			for _, p := range g.producers(v) {
				if pending[p] == 0 {
					ready.remove(p)
				}
				pending[p]++
			}
			ready.add(v)
		}
	}
}

// idSet is a set of ids in which the next larger one is found in few steps:
// level 0 has a bit for each id, each higher level a bit for each word of the
// one below that is not empty.
type idSet struct{ levels [][]uint64 }

func newIDSet(n int) *idSet {
	s := new(idSet)
	for {
		n = (n + 63) / 64
		s.levels = append(s.levels, make([]uint64, max(1, n)))
		if n <= 1 {
			return s
		}
	}
}

func (s *idSet) add(id int32) {
	for _, level := range s.levels {
		setBit(level, id)
		id /= 64
	}
}

func (s *idSet) remove(id int32) {
	for _, level := range s.levels {
		clearBit(level, id)
		if id /= 64; level[id] != 0 {
			return
		}
	}
}

// next returns the smallest member that is from or larger, or -1.
func (s *idSet) next(from int32) int32 {
	for up, level := range s.levels {
		if int(from/64) >= len(level) {
			return -1
		}
		word := level[from/64] >> (from % 64) << (from % 64)
		if word == 0 {
			from = from/64 + 1
			continue
		}
		id := from/64*64 + int32(bits.TrailingZeros64(word))
		for ; up > 0; up-- {
			id = id*64 + int32(bits.TrailingZeros64(s.levels[up-1][id]))
		}
		return id
	}
	return -1
}
