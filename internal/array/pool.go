package array

import (
	"math/bits"
	"unsafe"
)

// Buf is a buffer with a count of the places that hold it. Its memory is not
// cleared when it comes from a pool. The count is a plain number: workers of a
// sweep change it under the sweep's lock.
type Buf struct {
	P     unsafe.Pointer
	bytes int
	class int32
	refs  int32
}

// Lent is a buffer over memory that is somebody else's: it never has a sole
// holder, so nobody writes into it, and it never gets into a pool.
func Lent(p unsafe.Pointer) *Buf { return &Buf{P: p, refs: 1} }

// Bytes is the size of the buffer, which may exceed what was asked for.
func (b *Buf) Bytes() int { return b.bytes }

// Retain adds a holder.
func (b *Buf) Retain() { b.refs++ }

// Sole reports whether the caller, who holds the buffer, is its only holder.
// Nobody else can become one meanwhile, so the caller may then write into it.
func (b *Buf) Sole() bool { return b.refs == 1 }

// Pool keeps free buffers by size class: powers of two and three steps between
// them, so that at most a fifth of a buffer lies idle. It is not safe for use
// from several goroutines at once; each worker of a sweep has its own.
type Pool struct {
	free [numClasses][]*Buf
	held int64 // bytes in free buffers
	made int64 // bytes taken from the Go heap so far
}

const (
	minBytes   = 64
	numClasses = 4 * 48
)

// classOf returns the size class that holds n bytes, and its size.
func classOf(n int) (class, size int) {
	if n <= minBytes {
		return 0, minBytes
	}
	// size = (4+q) << s with q in 0..3 and 4<<s the power of two below.
	s := bits.Len(uint(n-1)) - 3
	q := (n - 1) >> s // 4..7
	size = (q + 1) << s
	return 4*(s-4) + q - 3, size
}

// Get returns a buffer of at least n bytes, held once. What it contains is
// undefined.
func (p *Pool) Get(n int) *Buf {
	c, size := classOf(n)
	if l := p.free[c]; len(l) > 0 {
		b := l[len(l)-1]
		p.free[c] = l[:len(l)-1]
		p.held -= int64(size)
		b.refs = 1
		return b
	}
	p.made += int64(size)
	mem := make([]uint64, size/8)
	b := &Buf{P: unsafe.Pointer(unsafe.SliceData(mem)), bytes: size, class: int32(c), refs: 1}
	return b
}

// Release drops one holder. The last one gives the buffer to the pool.
func (p *Pool) Release(b *Buf) {
	if b.refs--; b.refs == 0 {
		p.free[b.class] = append(p.free[b.class], b)
		p.held += int64(b.bytes)
	}
}

// Absorb moves the free buffers of another pool into this one.
func (p *Pool) Absorb(q *Pool) {
	for c := range q.free {
		p.free[c] = append(p.free[c], q.free[c]...)
		clear(q.free[c])
		q.free[c] = q.free[c][:0]
	}
	p.held += q.held
	p.made += q.made
	q.held, q.made = 0, 0
}

// Held is the number of bytes in free buffers.
func (p *Pool) Held() int64 { return p.held }

// Made is the number of bytes that the pool has taken from the Go heap.
func (p *Pool) Made() int64 { return p.made }
