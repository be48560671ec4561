package state

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
)

// kind is a type of element in a file. Those that the library does not have are
// read as the one that holds all their values: smaller integers as int64, float16
// and bfloat16 as float32.
type kind struct {
	size int
	as   backsweep.DType
	code byte // f, g (bfloat16), i, u or b
}

// maxRank is NumPy's.
const maxRank = 64

// sizeOf returns the number of elements of a shape and of their bytes. ok is
// false where they are more than limit bytes, or the shape is none.
func (k kind) sizeOf(shape []int, limit int64) (elements, bytes int, ok bool) {
	if len(shape) > maxRank {
		return 0, 0, false
	}
	n, empty := 1, false
	for _, d := range shape {
		switch {
		case d < 0:
			return 0, 0, false
		case d == 0:
			empty = true
		case n > math.MaxInt/16/d: // so that strides fit too
			return 0, 0, false
		default:
			n *= d
		}
	}
	if empty {
		return 0, 0, true
	}
	return n, n * k.size, int64(n) <= limit/int64(k.size)
}

// tensor makes a tensor of the elements in b, which has as many as the shape.
// The error is about a value that has no place in the library's type.
func (k kind) tensor(b []byte, order binary.ByteOrder, shape []int) (x *backsweep.Tensor, err error) {
	x = backsweep.Zeros(k.as, append([]int{}, shape...)...)
	if x.Len() == 0 {
		return x, nil
	}
	switch k.as {
	case backsweep.Float32:
		backsweep.Update(x, func(d []float32) { k.floats(d, b, order) })
	case backsweep.Float64:
		backsweep.Update(x, func(d []float64) {
			for i := range d {
				d[i] = math.Float64frombits(order.Uint64(b[8*i:]))
			}
		})
	case backsweep.Int64:
		backsweep.Update(x, func(d []int64) { err = k.ints(d, b, order) })
	default:
		backsweep.Update(x, func(d []bool) {
			for i, v := range b {
				if v > 1 && err == nil {
					err = fmt.Errorf("element %d is %d, which is neither false nor true", i, v)
				}
				d[i] = v == 1
			}
		})
	}
	return x, err
}

func (k kind) floats(d []float32, b []byte, order binary.ByteOrder) {
	for i := range d {
		switch {
		case k.size == 4:
			d[i] = math.Float32frombits(order.Uint32(b[4*i:]))
		case k.code == 'g':
			d[i] = math.Float32frombits(uint32(order.Uint16(b[2*i:])) << 16)
		default:
			d[i] = half(order.Uint16(b[2*i:]))
		}
	}
}

// half widens an IEEE 754 binary16.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	case 0:
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

func (k kind) ints(d []int64, b []byte, order binary.ByteOrder) error {
	for i := range d {
		switch {
		case k.size == 8:
			v := order.Uint64(b[8*i:])
			if k.code == 'u' && v > math.MaxInt64 {
				return fmt.Errorf("element %d is %d, too large for an int64", i, v)
			}
			d[i] = int64(v)
		case k.size == 4 && k.code == 'i':
			d[i] = int64(int32(order.Uint32(b[4*i:])))
		case k.size == 4:
			d[i] = int64(order.Uint32(b[4*i:]))
		case k.size == 2 && k.code == 'i':
			d[i] = int64(int16(order.Uint16(b[2*i:])))
		case k.size == 2:
			d[i] = int64(order.Uint16(b[2*i:]))
		case k.code == 'i':
			d[i] = int64(int8(b[i]))
		default:
			d[i] = int64(b[i])
		}
	}
	return nil
}

// bytesOf returns the elements of a tensor, little-endian, in row-major order.
func bytesOf(x *backsweep.Tensor) (out []byte) {
	out = make([]byte, 0, x.Len()*x.DType().Size())
	switch x.DType() {
	case backsweep.Float32:
		backsweep.Read(x, func(d []float32) {
			for _, v := range d {
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
			}
		})
	case backsweep.Float64:
		backsweep.Read(x, func(d []float64) {
			for _, v := range d {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
			}
		})
	case backsweep.Int64:
		backsweep.Read(x, func(d []int64) {
			for _, v := range d {
				out = binary.LittleEndian.AppendUint64(out, uint64(v))
			}
		})
	default:
		backsweep.Read(x, func(d []bool) {
			for _, v := range d {
				if v {
					out = append(out, 1)
				} else {
					out = append(out, 0)
				}
			}
		})
	}
	return out
}
