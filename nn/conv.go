package nn

import (
	"math"

	"github.com/backsweep/backsweep"
)

// Conv is a convolution with a bias: Conv1d and Conv2d make one.
type Conv struct {
	W    *backsweep.Tensor // [out, in/groups, extent...]
	B    *backsweep.Tensor // [out], or nil for none
	Spec backsweep.ConvSpec
}

// NewConv1d makes a float32 layer for sequences, [n, in, length], with a kernel
// of so many elements and parameters name.w and name.b. W is drawn from the
// normal distribution with mean 0 and variance 1/fan-in (see [InitNamed]); B is
// 0.
func NewConv1d(rng backsweep.Normal, name string, in, out, kernel int, s backsweep.ConvSpec) Conv {
	return newConv(rng, name, s, in, out, kernel)
}

// NewConv2d is NewConv1d for images, [n, in, height, width], and a square
// kernel.
func NewConv2d(rng backsweep.Normal, name string, in, out, kernel int, s backsweep.ConvSpec) Conv {
	return newConv(rng, name, s, in, out, kernel, kernel)
}

func newConv(rng backsweep.Normal, name string, s backsweep.ConvSpec, in, out int, kernel ...int) Conv {
	shape := append([]int{out, in / max(s.Groups, 1)}, kernel...)
	fan, _ := Fans(shape...)
	return Conv{
		W:    param(name+".w", backsweep.Randn(rng, shape...).MulScalar(1/math.Sqrt(float64(max(fan, 1))))),
		B:    param(name+".b", zeros(out)),
		Spec: s,
	}
}

// Forward maps [n, in, extent...] to [n, out, extent...]; see
// [backsweep.Tensor.Conv].
func (c Conv) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	y := x.Conv(c.W, c.Spec)
	if c.B == nil {
		return y
	}
	shape := []int{-1}
	for a := 2; a < y.Rank(); a++ {
		shape = append(shape, 1)
	}
	return y.Add(c.B.Reshape(shape...))
}

// Params lists W and B.
func (c Conv) Params() []*backsweep.Tensor {
	if c.B == nil {
		return []*backsweep.Tensor{c.W}
	}
	return []*backsweep.Tensor{c.W, c.B}
}

// MaxPool is [backsweep.Tensor.MaxPool] as a layer.
type MaxPool backsweep.PoolSpec

// Forward pools images.
func (p MaxPool) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	return x.MaxPool(backsweep.PoolSpec(p))
}

// Params lists nothing.
func (p MaxPool) Params() []*backsweep.Tensor { return nil }

// AvgPool is [backsweep.Tensor.AvgPool] as a layer.
type AvgPool backsweep.PoolSpec

// Forward pools images.
func (p AvgPool) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	return x.AvgPool(backsweep.PoolSpec(p))
}

// Params lists nothing.
func (p AvgPool) Params() []*backsweep.Tensor { return nil }

// Flatten makes each item of a batch one row: [n, ...] becomes [n, m].
func Flatten() Layer {
	return Func(func(x *backsweep.Tensor) *backsweep.Tensor {
		m := 1
		for _, d := range x.Shape()[1:] {
			m *= d
		}
		return x.Reshape(x.Dim(0), m)
	})
}
