package draw

import "container/heap"

// cell is a column of a line: a character and what leads to the next column.
type cell struct{ at, after rune }

// tracks follows which tensor is in which column as the tape goes on.
type tracks struct {
	d      *textDrawing
	tensor []int // by column, or -1
	column []int // by tensor, or -1
	free   intHeap
	beyond int // columns in use that are not drawn
}

func newTracks(d *textDrawing) *tracks {
	t := &tracks{d: d, column: make([]int, len(d.rec.Tensors))}
	for i := range t.column {
		t.column[i] = -1
	}
	return t
}

// textRow is the line of one op.
type textRow struct {
	cells   []cell
	outputs []int // the column of each output
}

// take finds the leftmost free column.
func (t *tracks) take(tensor int) int {
	var c int
	if len(t.free) > 0 {
		c = heap.Pop(&t.free).(int)
	} else {
		c = len(t.tensor)
		t.tensor = append(t.tensor, -1)
	}
	t.tensor[c] = tensor
	if c >= t.d.most {
		t.beyond++
	}
	return c
}

func (t *tracks) release(c int) {
	t.tensor[c] = -1
	heap.Push(&t.free, c)
	if c >= t.d.most {
		t.beyond--
	}
}

// passing is a line on which nothing happens.
func (t *tracks) passing(through rune) []cell {
	cells := make([]cell, min(len(t.tensor), t.d.most))
	for c := range cells {
		cells[c] = cell{' ', ' '}
		if t.tensor[c] >= 0 {
			cells[c].at = through
		}
	}
	return t.trim(cells)
}

// trim pads a line to all columns and says whether there are more.
func (t *tracks) trim(cells []cell) []cell {
	for len(cells) < t.d.most {
		cells = append(cells, cell{' ', ' '})
	}
	if t.beyond > 0 && len(cells) > 0 {
		cells[len(cells)-1].after = '…'
	}
	return cells
}

// step runs a node: what it consumes for the last time leaves its column, the
// node stands in the leftmost of those or in a free one, and its outputs begin.
func (t *tracks) step(n int) textRow {
	x := &t.d.rec.Nodes[n]
	var ending, going []int
	for _, in := range x.Inputs {
		c := t.column[in]
		if c < 0 || t.tensor[c] != in {
			continue
		}
		if t.d.last[in] == n {
			ending = append(ending, c)
			t.tensor[c] = -2 - in // seen, for an operand that comes twice
		} else {
			going = append(going, c)
		}
	}
	at := -1
	for _, c := range ending {
		if at < 0 || c < at {
			at = c
		}
	}
	if at < 0 {
		at = t.take(-1)
	}
	cells := t.passing('│')
	join := func(c int, end bool) { t.join(cells, at, c, end) }
	row := textRow{outputs: make([]int, len(x.Outputs))}
	for _, c := range going {
		join(c, false)
	}
	for _, c := range ending {
		if c != at {
			join(c, true)
		}
	}
	here := false
	for k, out := range x.Outputs {
		row.outputs[k] = at
		if t.d.last[out] < 0 {
			continue
		}
		c := at
		if here {
			c = t.take(out)
			for c >= len(cells) && len(cells) < t.d.most {
				cells = append(cells, cell{' ', ' '})
			}
			t.join(cells, at, c, true)
			if c < len(cells) {
				cells[c].at = begins(cells[c].at)
			}
		}
		here = true
		t.tensor[c], t.column[out], row.outputs[k] = out, c, c
	}
	if !here {
		t.release(at)
	}
	for _, c := range ending {
		if c != at {
			t.release(c)
		}
	}
	if at < len(cells) {
		cells[at].at = t.glyph(n)
	}
	row.cells = t.trim(cells)
	return row
}

func (t *tracks) glyph(n int) rune {
	for _, out := range t.d.rec.Nodes[n].Outputs {
		if out == t.d.loss && t.d.o.Style == Ops {
			return '◉'
		}
	}
	switch {
	case t.d.o.Style == Bipartite:
		return '■'
	case t.d.turn[n] == 0 && t.d.digit > 0:
		return '○'
	}
	return '●'
}

// join draws the line between the node's column and another, at which a tensor
// ends or goes on.
func (t *tracks) join(cells []cell, at, c int, end bool) {
	from, to := min(at, c), max(at, c)
	for k := from; k < to && k < len(cells); k++ {
		cells[k].after = '─'
		if k > from {
			cells[k].at = crossed(cells[k].at)
		}
	}
	if c >= len(cells) {
		return
	}
	outer := c == to && (c+1 > len(cells) || cells[c].after != '─') || c == from && (c == 0 || cells[c-1].after != '─')
	switch {
	case end && outer && c > at:
		cells[c].at = '╯'
	case end && outer:
		cells[c].at = '╰'
	case end:
		cells[c].at = '┴'
	case outer && c > at:
		cells[c].at = '┤'
	case outer:
		cells[c].at = '├'
	default:
		cells[c].at = '┼'
	}
}

// crossed is a column after a line runs on behind it to a farther one.
func crossed(r rune) rune {
	switch r {
	case ' ':
		return '─'
	case '╯', '╰':
		return '┴'
	case '╮', '╭':
		return '┬'
	case '┤', '├':
		return '┼'
	}
	return r
}

// begins turns the end of a tensor into the beginning of one.
func begins(r rune) rune {
	switch r {
	case '╯':
		return '╮'
	case '╰':
		return '╭'
	case '┴':
		return '┬'
	}
	return r
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
