package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
)

// ErrNotFinite says that gradients have an infinite norm or none: an element is
// infinite or no number.
var ErrNotFinite = errors.New("gradients are not finite")

// Clipped are the gradients of parameters, changed on their way to a step. Those
// of other tensors are as they were.
type Clipped struct {
	of     Gradients
	params map[*backsweep.Tensor]bool
	change func(x *backsweep.Tensor) *backsweep.Tensor
}

// Lookup returns the changed gradient of a parameter.
func (c *Clipped) Lookup(p *backsweep.Tensor) (*backsweep.Tensor, backsweep.State) {
	x, state := c.of.Lookup(p)
	if x == nil || !c.params[p] {
		return x, state
	}
	return c.change(x), state
}

// Rows returns the changed rows of a parameter's row-sparse gradient.
func (c *Clipped) Rows(p *backsweep.Tensor) (rows, values *backsweep.Tensor, ok bool) {
	rows, values, ok = c.of.Rows(p)
	if ok && c.params[p] {
		values = c.change(values)
	}
	return rows, values, ok
}

func clipped(g Gradients, params []*backsweep.Tensor, change func(x *backsweep.Tensor) *backsweep.Tensor) *Clipped {
	c := &Clipped{of: g, params: make(map[*backsweep.Tensor]bool, len(params)), change: change}
	for _, p := range params {
		c.params[p] = true
	}
	return c
}

// ClipNorm limits the norm of all the parameters' gradients together (R.
// Pascanu et al., "On the difficulty of training recurrent neural networks",
// 2013): where it is above limit, each is multiplied by limit/norm. It returns
// the norm as it was. p is 2 for the Euclidean norm, math.Inf(1) for the largest
// element, or any other positive number. A parameter without a gradient counts
// nothing; of a row-sparse gradient its rows count.
//
//	clipped, norm, err := optim.ClipNorm(grads, 1, 2, adam.Params()...)
//
// Where the norm is infinite or no number, nothing is clipped: the error wraps
// [ErrNotFinite] and names the first parameter to blame, the norm is returned
// with it, and the gradients are nil, so that such a step is not taken unseen.
func ClipNorm(g Gradients, limit, p float64, params ...*backsweep.Tensor) (_ *Clipped, norm float64, err error) {
	defer backsweep.Catch(&err)
	if !(limit >= 0) {
		return nil, 0, misuse("ClipNorm", "give a limit of 0 or more", fmt.Sprintf("the limit is %v", limit))
	}
	norm, blame, err := normOf(g, p, params)
	if err != nil {
		return nil, 0, err
	}
	if math.IsInf(norm, 0) || math.IsNaN(norm) {
		if blame == "" {
			blame = "all parameters together"
		}
		return nil, norm, fmt.Errorf("optim: ClipNorm: the norm is %v, because of the gradient of %s: %w", norm, blame, ErrNotFinite)
	}
	scale := 1.0
	if norm > limit {
		scale = limit / norm
	}
	return clipped(g, params, func(x *backsweep.Tensor) *backsweep.Tensor {
		if scale == 1 {
			return x
		}
		return plain(x).MulScalar(scale)
	}), norm, nil
}

// Norm is the norm of all the parameters' gradients together, as of
// [ClipNorm]. It may be infinite or no number.
func Norm(g Gradients, p float64, params ...*backsweep.Tensor) (norm float64, err error) {
	defer backsweep.Catch(&err)
	norm, _, err = normOf(g, p, params)
	return norm, err
}

// ClipValue limits every element of the parameters' gradients to [-limit,
// limit]. One that is no number stays so.
func ClipValue(g Gradients, limit float64, params ...*backsweep.Tensor) *Clipped {
	if !(limit >= 0) {
		panic(misuse("ClipValue", "give a limit of 0 or more", fmt.Sprintf("the limit is %v", limit)))
	}
	return clipped(g, params, func(x *backsweep.Tensor) *backsweep.Tensor {
		x = plain(x)
		most := backsweep.Full(x.DType(), limit)
		return x.Minimum(most).Maximum(most.Neg())
	})
}

// plain takes a gradient off the tape of a sweep that was recorded, so that a
// step is no part of it.
func plain(x *backsweep.Tensor) *backsweep.Tensor {
	if x.Tape() != nil {
		return x.Clone()
	}
	return x
}

// normOf divides by the largest element before it takes powers, so that none
// overflows where the norm does not. blame names the first parameter whose
// gradient is not finite.
func normOf(g Gradients, p float64, params []*backsweep.Tensor) (norm float64, blame string, err error) {
	if !(p > 0) {
		return 0, "", misuse("ClipNorm", "give a positive p, or math.Inf(1)", fmt.Sprintf("there is no norm with p = %v", p))
	}
	var all []*backsweep.Tensor
	largest := 0.0
	for _, w := range params {
		_, x, ok := g.Rows(w)
		if !ok {
			x, _ = g.Lookup(w)
		}
		if x == nil {
			continue
		}
		all = append(all, x)
		most := 0.0
		elements(x, func(v float64) { most = max(most, math.Abs(v)) })
		if blame == "" && (math.IsNaN(most) || math.IsInf(most, 0)) {
			blame = w.Name()
		}
		largest = max(largest, most)
	}
	if largest == 0 || math.IsNaN(largest) || math.IsInf(largest, 0) || math.IsInf(p, 0) {
		return largest, blame, nil
	}
	sum := 0.0
	for _, x := range all {
		switch p {
		case 2:
			elements(x, func(v float64) { v /= largest; sum += float64(v * v) })
		case 1:
			elements(x, func(v float64) { sum += math.Abs(v / largest) })
		default:
			elements(x, func(v float64) { sum += math.Pow(math.Abs(v/largest), p) })
		}
	}
	return largest * math.Pow(sum, 1/p), blame, nil
}

func elements(x *backsweep.Tensor, f func(v float64)) {
	if x.DType() == backsweep.Float32 {
		backsweep.Read(x, func(d []float32) {
			for _, v := range d {
				f(float64(v))
			}
		})
		return
	}
	backsweep.Read(x, func(d []float64) {
		for _, v := range d {
			f(v)
		}
	})
}
