package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"codeberg.org/sbinet/npyio/npy"

	"github.com/backsweep/backsweep"
)

// readNPY reads a NumPy file of numbers or truth values.
func readNPY(path string) (x *backsweep.Tensor, err error) {
	defer func() {
		if r := recover(); r != nil { // the reader panics on some broken headers
			x, err = nil, fmt.Errorf("%s: it is no NumPy file: %v", path, r)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %s", path)
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := npy.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: it is no NumPy file: %v", path, err)
	}
	shape, n := r.Header.Descr.Shape, 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxElements/d {
			return nil, fmt.Errorf("%s: shape %v is too large", path, shape)
		}
		n *= d
	}
	if int64(n) > info.Size() {
		return nil, fmt.Errorf("%s: the file is shorter than its shape %v says", path, shape)
	}
	if r.Header.Descr.Fortran && len(shape) > 1 {
		defer func() {
			if err == nil {
				x, err = fromFortran(x, shape)
			}
		}()
	}
	switch kind := strings.Trim(r.Header.Descr.Type, "<|='"); kind {
	case "f8":
		return npyAs[float64](r, shape, n)
	case "f4":
		return npyAs[float32](r, shape, n)
	case "i8":
		return npyAs[int64](r, shape, n)
	case "i4":
		return npyInts[int32](r, shape, n)
	case "i2":
		return npyInts[int16](r, shape, n)
	case "i1":
		return npyInts[int8](r, shape, n)
	case "u1":
		return npyInts[uint8](r, shape, n)
	case "b1":
		return npyAs[bool](r, shape, n)
	default:
		return nil, fmt.Errorf("%s: elements of type %s are not read; save float32, float64, int64 or bool", path, r.Header.Descr.Type)
	}
}

func npyAs[T backsweep.Element](r *npy.Reader, shape []int, n int) (*backsweep.Tensor, error) {
	data := make([]T, n)
	if err := r.Read(&data); err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("there are %d values for shape %v", len(data), shape)
	}
	return backsweep.New(data, append([]int{}, shape...)...), nil
}

func npyInts[T int32 | int16 | int8 | uint8](r *npy.Reader, shape []int, n int) (*backsweep.Tensor, error) {
	data := make([]T, n)
	if err := r.Read(&data); err != nil {
		return nil, err
	}
	if len(data) != n {
		return nil, fmt.Errorf("there are %d values for shape %v", len(data), shape)
	}
	wide := make([]int64, n)
	for i, v := range data {
		wide[i] = int64(v)
	}
	return backsweep.New(wide, append([]int{}, shape...)...), nil
}

// fromFortran turns column-major values into a tensor of the shape.
func fromFortran(x *backsweep.Tensor, shape []int) (*backsweep.Tensor, error) {
	back := slices.Clone(shape)
	slices.Reverse(back)
	y := x.Reshape(back...).Transpose()
	return y.Reshape(shape...), nil
}
