package kernel

//go:generate go -C gen run .

import "unsafe"

// vector is what the assembly of one path offers for one element type. Any
// function may be missing: the plain loop then does its work.
//
// Pointers are to the first of n elements; a function may not be preempted, so
// n is at most chunk.
type vector[T Number] struct {
	lanes   int // elements of a vector register
	tallest int // most rows of a tile

	// tile, by rows and by vectors of columns, is c = a·b or, with more, c += a·b,
	// for strips of as many rows, one under the other. Strides are in bytes.
	tile      [15][9]tileFunc[T]
	copyRows  func(k int, src *T, ss int, dst *T, ds int, n int)
	transpose func(k int, src *T, ss int, rows int, dst *T, ds int)
}

type tileFunc[T Number] func(k int, a *T, ars, acs, strip int, b *T, brs int, c *T, crs int, last, strips, more int)

// chunk is how many elements a call of assembly gets at most: a garbage
// collection waits for it.
const chunk = 1 << 16

// The vectors of the path in use; nil without assembly.
var (
	vector32 *vector[float32]
	vector64 *vector[float64]
)

// vectorOf is the vector of T, nil where there is none.
func vectorOf[T Number]() *vector[T] {
	if v, ok := any(vector32).(*vector[T]); ok {
		return v
	}
	if v, ok := any(vector64).(*vector[T]); ok {
		return v
	}
	return nil
}

// head is the address of the first element, hidden from escape analysis:
// functions in a table are not known to leave it alone, but assembly does.
func head[T any](s []T) *T {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return *(**T)(unsafe.Pointer(&p))
}
