package order

import (
	"math/bits"
	"slices"
)

// ideals walks the sets of nodes that a sweep may have visited at some moment,
// the ideals of "waits for", all of one size at a time: from each set of the
// current layer, visiting a ready node leads to a set of the next one.
type ideals struct {
	g         *Graph
	words     int      // of a set
	label     []uint64 // random, by node: a set's hash is the exclusive or of its nodes' (A. L. Zobrist, 1970)
	left      int64    // how many more sets may be looked at
	cur, next *layer
	list      []int32 // scratch of choices
}

// layer is a hash table of sets; set i is at visited[i*words:(i+1)*words].
type layer struct {
	hash    []uint64
	visited []uint64
	ready   []uint64 // the nodes that may go next, as visited
	slots   []int32  // open addressing; 0 is free, otherwise 1 + index of a set
}

// newIdeals begins with the empty set as the current layer.
func newIdeals(g *Graph, what string, limit int64) (*ideals, error) {
	if g.n > IdealNodes {
		return nil, &TooLargeError{What: what, Unit: "nodes", Size: int64(g.n), Limit: IdealNodes}
	}
	w := &ideals{g: g, words: max(1, (g.n+63)/64), label: make([]uint64, g.n), left: limit - 1, cur: new(layer), next: new(layer)}
	x := uint64(1)
	for v := range w.label {
		x, w.label[v] = splitMix(x)
	}
	w.cur.hash, w.cur.visited, w.cur.ready = make([]uint64, 1), make([]uint64, w.words), make([]uint64, w.words)
	for _, v := range g.Roots() {
		setBit(w.cur.ready, v)
	}
	return w, nil
}

// splitMix is SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom
// number generators, 2014).
func splitMix(state uint64) (next, value uint64) {
	state += 0x9e3779b97f4a7c15
	z := state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return state, z ^ z>>31
}

// choices returns the ready nodes of set i, larger ids first. The slice is
// valid until the next call.
func (w *ideals) choices(i int) []int32 {
	list := w.list[:0]
	ready := w.cur.ready[i*w.words : (i+1)*w.words]
	for at := len(ready) - 1; at >= 0; at-- {
		for word := ready[at]; word != 0; {
			b := 63 - bits.LeadingZeros64(word)
			word &^= 1 << b
			list = append(list, int32(at*64+b))
		}
	}
	w.list = list
	return list
}

// visited returns set i of the current layer.
func (w *ideals) visited(i int) []uint64 {
	return w.cur.visited[i*w.words : (i+1)*w.words]
}

// add puts set i of the current layer with v into the next layer. It returns
// the set's index there and whether it is new. ok is false when it would be one
// set too many.
func (w *ideals) add(i int, v int32) (j int, fresh, ok bool) {
	l := w.next
	if 2*(len(l.hash)+1) > len(l.slots) {
		l.grow()
	}
	hash := w.cur.hash[i] ^ w.label[v]
	mask := uint64(len(l.slots) - 1)
	at := hash & mask
	for ; l.slots[at] != 0; at = (at + 1) & mask {
		j := int(l.slots[at] - 1)
		if l.hash[j] == hash && w.isWith(l.visited[j*w.words:(j+1)*w.words], w.visited(i), v) {
			return j, false, true
		}
	}
	if w.left == 0 {
		return 0, false, false
	}
	w.left--
	j = len(l.hash)
	l.slots[at] = int32(j + 1)
	l.hash = append(l.hash, hash)
	l.visited = append(l.visited, w.visited(i)...)
	l.ready = append(l.ready, w.cur.ready[i*w.words:(i+1)*w.words]...)
	visited, ready := l.visited[j*w.words:], l.ready[j*w.words:]
	setBit(visited, v)
	clearBit(ready, v)
	for _, p := range w.g.producers(v) {
		if !slices.ContainsFunc(w.g.consumers(p), func(c int32) bool { return !hasBit(visited, c) }) {
			setBit(ready, p)
		}
	}
	return j, true, true
}

// isWith reports whether set is base with v.
func (w *ideals) isWith(set, base []uint64, v int32) bool {
	for k := range set {
		word := base[k]
		if k == int(v/64) {
			word |= 1 << (v % 64)
		}
		if set[k] != word {
			return false
		}
	}
	return true
}

// advance makes the next layer the current one.
func (w *ideals) advance() {
	w.cur, w.next = w.next, w.cur
	l := w.next
	clear(l.slots)
	l.hash, l.visited, l.ready = l.hash[:0], l.visited[:0], l.ready[:0]
}

func (l *layer) grow() {
	l.slots = make([]int32, max(16, 2*len(l.slots)))
	mask := uint64(len(l.slots) - 1)
	for j, hash := range l.hash {
		at := hash & mask
		for l.slots[at] != 0 {
			at = (at + 1) & mask
		}
		l.slots[at] = int32(j + 1)
	}
}

func setBit(set []uint64, v int32)      { set[v/64] |= 1 << (v % 64) }
func clearBit(set []uint64, v int32)    { set[v/64] &^= 1 << (v % 64) }
func hasBit(set []uint64, v int32) bool { return set[v/64]>>(v%64)&1 != 0 }
