// Package optim changes parameters by their gradients.
//
// An optimizer is made for a list of parameters and stepped with the gradients
// of one sweep:
//
//	adam := optim.NewAdam(3e-3, model.Params()...)
//	for batch := range batches {
//		loss := model.Loss(tape, batch)
//		grads, err := tape.Backward(loss)
//		…
//		if err := adam.Step(grads); err != nil { … }
//		tape.Reset()
//	}
//
// Three things hold for all of them. A parameter without a gradient, because
// the loss does not depend on it, is left alone, and so is its state: nothing
// decays, no step is counted. Where the gradient is row-sparse (see
// [backsweep.Grads.Rows]), only the rows that it has are touched: the other
// rows' values, moments and momenta stay as they are, as PyTorch's SparseAdam
// has it, so that a step costs what the batch touches and not what the table
// holds. And a step is the same, bit for bit, wherever it runs: every product
// is rounded before it is added.
package optim

import (
	"fmt"

	"github.com/backsweep/backsweep"
)

// slot is one parameter's gradient in one sweep.
type slot struct {
	param  *backsweep.Tensor
	values *backsweep.Tensor // nil without a gradient
	rows   *backsweep.Tensor // of a row-sparse gradient, else nil
}

// checked returns a copy of the list, or panics where it holds something that
// is not a parameter, or one twice.
func checked(op string, params []*backsweep.Tensor) []*backsweep.Tensor {
	seen := make(map[*backsweep.Tensor]bool, len(params))
	for i, p := range params {
		switch {
		case p == nil || !p.IsParam():
			panic(misuse(op, "make it with backsweep.NewParam", fmt.Sprintf("tensor %d is not a parameter", i)))
		case seen[p]:
			panic(misuse(op, "give each parameter once, also where two modules share it", fmt.Sprintf("parameter %q is there twice", p.Name())))
		}
		seen[p] = true
	}
	return append([]*backsweep.Tensor{}, params...)
}

func misuse(op, do, what string) *backsweep.Error {
	return &backsweep.Error{Kind: backsweep.ErrValue, Op: op, What: what, Do: do, Node: -1, Consumer: -1}
}

// slots finds the gradient of each parameter. With strict, one without is an
// error.
func slots(op string, params []*backsweep.Tensor, g *backsweep.Grads, strict bool) ([]slot, error) {
	found := make([]slot, len(params))
	for i, p := range params {
		found[i].param = p
		if rows, values, ok := g.Rows(p); ok {
			found[i].rows, found[i].values = rows, values
			continue
		}
		values, state := g.Lookup(p)
		if state != backsweep.Computed && strict {
			return nil, &backsweep.Error{
				Kind: backsweep.ErrNoGradient, Op: op, Tensor: p.Name(), Node: -1, Consumer: -1,
				What: fmt.Sprintf("parameter %q has no gradient (%s), and the optimizer is strict", p.Name(), state),
				Do:   "leave the parameter out, make the loss depend on it, or set Strict to false",
			}
		}
		found[i].values = values
	}
	return found, nil
}

// pieces calls f with the parts of the parameter that the gradient touches: all
// of it at once, or a row at a time. at is where the part starts in the
// parameter. It counts the parameter's version up once.
func pieces[T float32 | float64](s slot, f func(at int, w, g []T)) {
	backsweep.Update(s.param, func(w []T) {
		backsweep.Read(s.values, func(g []T) {
			if s.rows == nil {
				f(0, w, g)
				return
			}
			backsweep.Read(s.rows, func(rows []int64) {
				if len(rows) == 0 {
					return
				}
				width := len(g) / len(rows)
				for i, r := range rows {
					at := int(r) * width
					f(at, w[at:at+width], g[i*width:(i+1)*width])
				}
			})
		})
	})
}

// buffers are one parameter's state between steps, in its own element type.
// They are made at its first gradient.
type buffers struct {
	steps             int
	first32, second32 []float32
	first64, second64 []float64
}

// of returns the buffers in the element type T, the second only where it is
// asked for.
func of[T float32 | float64](b *buffers, n int, two bool) (first, second []T) {
	switch x := any(&first).(type) {
	case *[]float32:
		*x = made(&b.first32, n)
		if two {
			*any(&second).(*[]float32) = made(&b.second32, n)
		}
	case *[]float64:
		*x = made(&b.first64, n)
		if two {
			*any(&second).(*[]float64) = made(&b.second64, n)
		}
	}
	return first, second
}

func made[T any](s *[]T, n int) []T {
	if *s == nil {
		*s = make([]T, n)
	}
	return *s
}
