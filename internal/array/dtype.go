// Package array holds what lies under a tensor: element types, layouts (shape,
// strides, offset), broadcasting, and the pools that buffers come from. It
// knows nothing of tapes or gradients.
package array

import (
	"fmt"
	"unsafe"
)

// DType is the type of a tensor's elements.
type DType uint8

// The element types. Float32 is the default of the library; Int64 and Bool
// serve as indices and masks and carry no gradient.
const (
	Float32 DType = iota
	Float64
	Int64
	Bool
)

var dtypeNames = [...]string{"float32", "float64", "int64", "bool"}

// String returns the name of the type: float32, float64, int64 or bool.
func (d DType) String() string {
	if int(d) < len(dtypeNames) {
		return dtypeNames[d]
	}
	return fmt.Sprintf("dtype(%d)", uint8(d))
}

// Size is the number of bytes that one element takes.
func (d DType) Size() int {
	switch d {
	case Float32:
		return 4
	case Bool:
		return 1
	default:
		return 8
	}
}

// IsFloat reports whether the type can carry a gradient.
func (d DType) IsFloat() bool { return d <= Float64 }

// ParseDType reads a name as String writes it.
func ParseDType(s string) (DType, bool) {
	for i, n := range dtypeNames {
		if n == s {
			return DType(i), true
		}
	}
	return 0, false
}

// Element is the Go type of an element.
type Element interface {
	float32 | float64 | int64 | bool
}

// DTypeOf returns the DType of the Go type T.
func DTypeOf[T Element]() DType {
	var z T
	switch any(z).(type) {
	case float32:
		return Float32
	case float64:
		return Float64
	case int64:
		return Int64
	default:
		return Bool
	}
}

// Slice views n elements of type T at p. The caller vouches for type and
// length.
func Slice[T Element](p unsafe.Pointer, n int) []T {
	return unsafe.Slice((*T)(p), n)
}
