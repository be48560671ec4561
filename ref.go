package backsweep

import (
	"unsafe"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// ref is a value inside the engine: a layout over a storage. It is passed by
// value and holds nothing alive that the tape, a worker's pool or a tensor
// does not hold already.
type ref struct {
	l   *array.Layout
	p   unsafe.Pointer // start of the storage
	buf *array.Buf     // the counted buffer of a gradient or a temporary; else nil
	at  onTapeAt       // where on the tape, if it is there
}

// onTapeAt is a value id and a storage id in one word, either -1 where there is
// none. A ref has four words so that the compiler keeps it in registers.
type onTapeAt int64

const offTape onTapeAt = -1

func tapePlace(id, sto int32) onTapeAt { return onTapeAt(sto)<<32 | onTapeAt(uint32(id)) }

func (r ref) id() int32  { return int32(r.at) }
func (r ref) sto() int32 { return int32(r.at >> 32) }

func ptrAt(p unsafe.Pointer, bytes int) unsafe.Pointer { return unsafe.Add(p, bytes) }

// dense views the elements of a dense ref in row-major order.
func dense[T Element](r ref) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Add(r.p, r.l.Offset*int(unsafe.Sizeof(z)))), r.l.N)
}

// whole views the storage from its start to the last element that the layout
// reaches.
func whole[T Element](r ref) []T { return unsafe.Slice((*T)(r.p), extent(r.l)) }

// copyDense copies src, whatever its strides, into dst, which is dense and of
// the same shape and element type.
func copyDense(dst, src ref) {
	switch src.l.DType {
	case Float32:
		copyOut(dense[float32](dst), src)
	case Float64:
		copyOut(dense[float64](dst), src)
	case Int64:
		copyOut(dense[int64](dst), src)
	case Bool:
		copyOut(dense[bool](dst), src)
	}
}

// zero clears a dense ref.
func zero(r ref) {
	clear(unsafe.Slice((*byte)(unsafe.Add(r.p, r.l.Offset*r.l.DType.Size())), r.l.Bytes()))
}

// addInto adds src to the dense dst, element by element.
func addInto(dst, src ref) {
	if dst.l.DType == Float32 {
		addIntoAs[float32](dst, src)
	} else {
		addIntoAs[float64](dst, src)
	}
}

func addIntoAs[T float32 | float64](dst, src ref) {
	d := dense[T](dst)
	if src.l.Dense {
		kernel.Add(d, d, dense[T](src))
		return
	}
	zip(d, d, whole[T](src), array.Contiguous(dst.l.DType, dst.l.Shape), src.l, kernel.Add[T])
}

// bytesOf views a dense ref as bytes.
func bytesOf(r ref) []byte {
	size := r.l.DType.Size()
	return unsafe.Slice((*byte)(unsafe.Add(r.p, r.l.Offset*size)), r.l.N*size)
}
