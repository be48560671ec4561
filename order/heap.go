package order

// indexHeap is a binary heap of ids (J. W. J. Williams, Algorithm 232:
// Heapsort, 1964) that knows where each id is, so that one whose rank has
// changed can be moved.
type indexHeap struct {
	before func(a, b int32) bool
	ids    []int32
	at     []int32 // position of each id in ids, -1 when it is not there
}

func newIndexHeap(n int, before func(a, b int32) bool) *indexHeap {
	h := &indexHeap{before: before, at: make([]int32, n)}
	for i := range h.at {
		h.at[i] = -1
	}
	return h
}

func (h *indexHeap) has(id int32) bool { return h.at[id] >= 0 }

func (h *indexHeap) push(id int32) {
	h.ids = append(h.ids, id)
	h.at[id] = int32(len(h.ids) - 1)
	h.up(len(h.ids) - 1)
}

func (h *indexHeap) pop() int32 {
	id, last := h.ids[0], len(h.ids)-1
	h.swap(0, last)
	h.ids = h.ids[:last]
	h.at[id] = -1
	h.down(0)
	return id
}

// fix restores the heap after the rank of id has changed.
func (h *indexHeap) fix(id int32) {
	h.up(int(h.at[id]))
	h.down(int(h.at[id]))
}

func (h *indexHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.before(h.ids[i], h.ids[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *indexHeap) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.ids); child++ {
			if h.before(h.ids[child], h.ids[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		i = first
	}
}

func (h *indexHeap) swap(i, j int) {
	h.ids[i], h.ids[j] = h.ids[j], h.ids[i]
	h.at[h.ids[i]], h.at[h.ids[j]] = int32(i), int32(j)
}
