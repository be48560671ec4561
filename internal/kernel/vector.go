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
	rowsTimes func(k int, a *T, ars int, rows int, x *T, c *T, more int)

	add, sub, mul, div, max, min                       binaryFunc[T]
	tanhGrad, sigmoidGrad, sqrtGrad, reluGrad, absGrad binaryFunc[T]
	geluGrad                                           binaryFunc[T]
	neg, abs, square, sqrt, recip, relu                unaryFunc[T]
	exp, log, tanh, sigmoid, gelu                      unaryFunc[T]
	addC, rsubC, mulC, divC, expSub                    scalarFunc[T]

	// where is for as many of the first n elements as make whole vectors.
	where func(dst *T, c *bool, a, b *T, n int)

	// sumBlocks and dotBlocks write the sums of blocks of terms, of the last block
	// too unless it has fewer terms than lanes. sumRows adds columns of a block of
	// rows, stride bytes apart.
	sumBlocks         func(dst, x *T, n int)
	dotBlocks         func(dst, a, b *T, n int)
	sumRows           func(dst, x *T, n, stride, columns int)
	largest, smallest func(x *T, n int) T

	adam, adamDecay       func(w, g, m, v *T, n int, s *T)
	descend, descendDecay func(w, g *T, n int, s *T)
}

type tileFunc[T Number] func(k int, a *T, ars, acs, strip int, b *T, brs int, c *T, crs int, last, strips, more int)

// chunk is how many elements a call of assembly gets at most: a garbage
// collection waits for it.
const chunk = 1 << 16

// The vectors of the path in use, without any function where there is no
// assembly.
var (
	vector32  = new(vector[float32])
	vector64  = new(vector[float64])
	vectorInt = new(vector[int64])
)

// vectorOf is the vector of T.
func vectorOf[T Number]() *vector[T] {
	if v, ok := any(vector32).(*vector[T]); ok {
		return v
	}
	if v, ok := any(vector64).(*vector[T]); ok {
		return v
	}
	return any(vectorInt).(*vector[T])
}

// Elementwise functions give an element the same bits whatever its place and
// n, also where dst is an operand. Their method run applies them to slices of
// one length and reports whether there is such a function.
type (
	unaryFunc[T Number]  func(dst, x *T, n int)
	binaryFunc[T Number] func(dst, a, b *T, n int)
	scalarFunc[T Number] func(dst, x *T, n int, c T)
)

func (f unaryFunc[T]) run(dst, x []T) bool {
	if f == nil {
		return false
	}
	for len(x) > chunk {
		f(head(dst), head(x), chunk)
		dst, x = dst[chunk:], x[chunk:]
	}
	f(head(dst), head(x), len(x))
	return true
}

func (f binaryFunc[T]) run(dst, a, b []T) bool {
	if f == nil {
		return false
	}
	for len(a) > chunk {
		f(head(dst), head(a), head(b), chunk)
		dst, a, b = dst[chunk:], a[chunk:], b[chunk:]
	}
	f(head(dst), head(a), head(b), len(a))
	return true
}

func (f scalarFunc[T]) run(dst, x []T, c T) bool {
	if f == nil {
		return false
	}
	for len(x) > chunk {
		f(head(dst), head(x), chunk, c)
		dst, x = dst[chunk:], x[chunk:]
	}
	f(head(dst), head(x), len(x), c)
	return true
}

// choose is where on slices; it returns how many elements it did.
func (v *vector[T]) choose(dst []T, c []bool, a, b []T) (done int) {
	if v.where == nil {
		return 0
	}
	for whole := len(c) - len(c)%v.lanes; done < whole; {
		n := min(chunk, whole-done)
		v.where(head(dst[done:]), head(c[done:]), head(a[done:]), head(b[done:]), n)
		done += n
	}
	return done
}

// head is the address of the first element, hidden from escape analysis:
// functions in a table are not known to leave it alone, but assembly does. No
// call may stand between the two lines, because one that grows the stack would
// move what lies there and leave p behind; hence no instrumentation.
//
//go:norace
//go:nocheckptr
func head[T any](s []T) *T {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	return *(**T)(unsafe.Pointer(&p))
}
