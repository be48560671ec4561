package cases

import (
	"github.com/backsweep/backsweep"
)

// layer returns the methods that a step stands for where it is not one row of
// the op table by the same name and attributes; nil where it is.
func (s *Step) layer() func(in []*backsweep.Tensor) *backsweep.Tensor {
	switch s.Op {
	case "conv", "conv_transpose":
		return s.conv
	case "avg_pool":
		return func(in []*backsweep.Tensor) *backsweep.Tensor {
			ceil, _ := s.Attr["ceil"].(bool)
			whole, given := s.Attr["count_include_pad"].(bool)
			return in[0].AvgPool(backsweep.PoolSpec{
				Kernel: s.list("kernel"), Stride: s.list("stride"), Pad: s.list("pad"), Ceil: ceil, ExcludePad: given && !whole,
			})
		}
	case "batch_norm":
		return func(in []*backsweep.Tensor) *backsweep.Tensor {
			eps, _ := s.Attr["eps"].(float64)
			if len(in) == 5 {
				return in[0].BatchNormWith(in[1], in[2], in[3], in[4], eps)
			}
			y, _, _ := in[0].BatchNorm(in[1], in[2], eps)
			return y
		}
	}
	return nil
}

// conv is a convolution, with a bias where there is a third operand.
func (s *Step) conv(in []*backsweep.Tensor) *backsweep.Tensor {
	groups, _ := s.Attr["groups"].(float64)
	spec := backsweep.ConvSpec{
		Stride: s.list("stride"), Pad: s.list("pad"), Dilation: s.list("dilation"), OutputPad: s.list("output_pad"), Groups: int(groups),
	}
	f := in[0].Conv
	if s.Op == "conv_transpose" {
		f = in[0].ConvTranspose
	}
	y := f(in[1], spec)
	if len(in) == 3 {
		shape := []int{-1}
		for a := 2; a < y.Rank(); a++ {
			shape = append(shape, 1)
		}
		y = y.Add(in[2].Reshape(shape...))
	}
	return y
}

// list reads an attribute that is a number or a list of them.
func (s *Step) list(name string) []int {
	switch v := s.Attr[name].(type) {
	case float64:
		return []int{int(v)}
	case []any:
		return ints(v, 0)
	}
	return nil
}
