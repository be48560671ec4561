package kernel

import (
	"sync"
	"unsafe"
)

// product is Gemm by vector tiles. Each element is, for every depthOf terms, a
// chain of fused multiply-adds from zero in ascending k, and the chains are
// added in order; so the bits depend on k alone, and it may be cut and packed
// as speed likes (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008).
type product[T Float] struct {
	v        *vector[T]
	m, n, k  int
	a        []T
	ars, acs int
	b        []T
	brs, bcs int
	c        []T
	crs      int
}

// Sizes of blocks, in elements of 4 bytes; half of them for 8.
const (
	depthBytes = 512 * 4  // terms of a chain
	rowsBytes  = 196 * 4  // rows of a that are packed at a time; the block stays in the second-level cache
	colsBytes  = 2048 * 4 // columns of b that are packed at a time
)

// callTerms is how many multiply-adds one call of assembly does at most, unless
// a single tile has more: some fifty microseconds, for a garbage collection
// waits for it.
const callTerms = 1 << 22

// packedStride stands for the row stride of a packed block.
const packedStride = -1

// scratch keeps packed blocks from call to call.
var scratch32, scratch64 = sync.Pool{New: func() any { return new(packed[float32]) }}, sync.Pool{New: func() any { return new(packed[float64]) }}

type packed[T Float] struct{ a, b []T }

func scratchOf[T Float]() *sync.Pool {
	if isNarrow[T]() {
		return &scratch32
	}
	return &scratch64
}

// grown is a slice of n elements, buf itself if it is large enough.
func grown[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	return (*buf)[:n]
}

func (p *product[T]) run() {
	size := int(unsafe.Sizeof(*new(T)))
	if p.bcs != 1 && p.m == 1 {
		// A row times a turned matrix is the matrix times a column, unpacked.
		p.m, p.n = p.n, 1
		p.a, p.ars, p.acs, p.b, p.brs, p.bcs = p.b, p.bcs, p.brs, p.a, p.acs, 1
		p.crs = 1
	}
	if p.n == 1 {
		if p.acs == 1 && p.brs == 1 && p.crs == 1 {
			p.column()
			return
		}
		p.bcs = 1
	}
	depth, wide := depthBytes/size, 2*p.v.lanes
	packB := p.bcs != 1 || p.m > 256 && p.brs*size >= 4096
	packA := p.n > 512 && (p.acs == 1 || p.acs*size > 2048) || p.n >= 256 && p.m > 64 && p.acs == 1 && p.ars*size >= 4096
	if !packB && !packA {
		for at := 0; at < p.k; at += depth {
			p.columns(at, min(depth, p.k-at), 0, p.m, 0, p.n, p.a[at*p.acs:], p.ars, p.acs, p.b[at*p.brs:], p.brs)
		}
		return
	}
	pool := scratchOf[T]()
	mem := pool.Get().(*packed[T])
	defer pool.Put(mem)
	rows, cols := p.m, p.n
	if packA {
		rows = min(rows, rowsBytes/size)
	}
	if packB {
		cols = min(cols, colsBytes/size)
	}
	for j := 0; j < p.n; j += cols {
		width := min(cols, p.n-j)
		for at := 0; at < p.k; at += depth {
			d := min(depth, p.k-at)
			b, brs := p.b[at*p.brs+j*p.bcs:], p.brs
			if packB {
				b, brs = p.packB(grown(&mem.b, d*(width+wide)), b, d, width), packedStride
			}
			for i := 0; i < p.m; i += rows {
				height := min(rows, p.m-i)
				a, ars := p.a[i*p.ars+at*p.acs:], p.ars
				if packA {
					a, ars = p.packA(grown(&mem.a, d*(height+p.v.lanes)), a, height, d), packedStride
				}
				p.columns(at, d, i, height, j, width, a, ars, p.acs, b, brs)
			}
		}
	}
}

// column multiplies rows that lie densely by a dense vector.
func (p *product[T]) column() {
	size := int(unsafe.Sizeof(*new(T)))
	for at := 0; at < p.k; at += depthBytes / size {
		d, more := min(depthBytes/size, p.k-at), 0
		if at > 0 {
			more = 1
		}
		for i := 0; i < p.m; i += p.v.lanes {
			p.v.rowsTimes(d, head(p.a[i*p.ars+at:]), p.ars*size, min(p.v.lanes, p.m-i), head(p.b[at:]), head(p.c[i:]), more)
		}
	}
}

// strips are tiles of equal height, one under the other.
type strips struct{ count, rows int }

// strips cuts rows into strips as equal as can be: higher ones, then ones lower
// by a row.
func (p *product[T]) strips(rows int) [2]strips {
	count := (rows + p.v.tallest - 1) / p.v.tallest
	low := rows / count
	high := rows - low*count
	return [2]strips{{high, low + 1}, {count - high, low}}
}

// wide is how many of the vectors of columns that are left to take at once: two,
// as they are packed, and more for a low strip.
func (p *product[T]) wide(height, left int, packed bool) int {
	if !packed && height <= p.v.tallest {
		for _, v := range [...]int{8, 4} {
			if left >= v && p.v.tile[height][v] != nil {
				return v
			}
		}
	}
	return min(left, 2)
}

// columns computes c[i:i+height, j:j+width] over d terms from at on. Packed
// blocks have packedStride.
func (p *product[T]) columns(at, d, i, height, j, width int, a []T, ars, acs int, b []T, brs int) {
	size, lanes := int(unsafe.Sizeof(*new(T))), p.v.lanes
	more := 0
	if at > 0 {
		more = 1
	}
	for x := 0; x < width; {
		vectors := p.wide(height, (width-x+lanes-1)/lanes, brs == packedStride)
		n := min(vectors*lanes, width-x)
		bx, step := b, 2*lanes*size
		if brs == packedStride {
			bx = b[x*d:]
		} else {
			bx, step = b[x:], brs*size
		}
		y := 0
		for _, s := range p.strips(height) {
			atOnce := max(1, callTerms/(s.rows*d*vectors*lanes))
			for left := s.count; left > 0; left -= atOnce {
				ay, rs, cs, next := a, ars*size, acs*size, s.rows*ars*size
				if ars == packedStride {
					ay, rs, cs, next = a[y*d:], size, s.rows*size, s.rows*d*size
				} else {
					ay = a[y*ars:]
				}
				count := min(atOnce, left)
				p.v.tile[s.rows][vectors](d, head(ay), rs, cs, next, head(bx), step, head(p.c[(i+y)*p.crs+j+x:]), p.crs*size, n-(vectors-1)*lanes, count, more)
				y += s.rows * count
			}
		}
		x += n
	}
}

// packA lays each strip of rows out term by term.
func (p *product[T]) packA(to, a []T, height, d int) []T {
	size, lanes := int(unsafe.Sizeof(*new(T))), p.v.lanes
	y := 0
	for _, s := range p.strips(height) {
		h := s.rows
		for range s.count {
			from := a[y*p.ars:]
			switch {
			case p.acs == 1:
				for r := 0; r < h; r += lanes {
					p.v.transpose(d, head(from[r*p.ars:]), p.ars*size, min(lanes, h-r), head(to[y*d+r:]), h*size)
				}
			case p.ars == 1:
				p.v.copyRows(d, head(from), p.acs*size, head(to[y*d:]), h*size, h)
			default:
				for q := range d {
					for r := range h {
						to[y*d+q*h+r] = from[r*p.ars+q*p.acs]
					}
				}
			}
			y += h
		}
	}
	return to
}

// packB lays each panel of columns, two vectors wide, out term by term. What
// lies beyond the last column is not written.
func (p *product[T]) packB(to, b []T, d, width int) []T {
	size, lanes := int(unsafe.Sizeof(*new(T))), p.v.lanes
	for x := 0; x < width; x += 2 * lanes {
		n := min(2*lanes, width-x)
		panel, from := to[x*d:], b[x*p.bcs:]
		switch {
		case p.bcs == 1:
			p.v.copyRows(d, head(from), p.brs*size, head(panel), 2*lanes*size, n)
		case p.brs == 1:
			for r := 0; r < n; r += lanes {
				p.v.transpose(d, head(from[r*p.bcs:]), p.bcs*size, min(lanes, n-r), head(panel[r:]), 2*lanes*size)
			}
		default:
			for q := range d {
				for r := range n {
					panel[q*2*lanes+r] = from[q*p.brs+r*p.bcs]
				}
			}
		}
	}
	return to
}
