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
// holds. And a step is the same, bit for bit, wherever it runs on one kernel
// path: every product is rounded before it is added.
//
// Rates may follow a [Schedule], parameters may be in groups with rates and
// decays of their own ([Group]), gradients may be clipped before the step
// ([ClipNorm], [ClipValue]) or come from several sweeps ([Total]), and what an
// optimizer keeps between steps can be saved and set again (State, SetState).
package optim

import (
	"fmt"

	"github.com/backsweep/backsweep"
)

// Gradients are what a step goes by: those of a sweep (*backsweep.Grads),
// clipped ones ([Clipped]), or a [Total] of several sweeps.
type Gradients interface {
	// Lookup returns the gradient of a parameter and its state. It is nil unless
	// the state is Computed.
	Lookup(param *backsweep.Tensor) (*backsweep.Tensor, backsweep.State)
	// Rows returns a row-sparse gradient: ascending row numbers, and a row of
	// values for each. ok is false for one that is dense, or not there.
	Rows(param *backsweep.Tensor) (rows, values *backsweep.Tensor, ok bool)
}

// Group is parameters that share a rate and a decay. An optimizer is its own
// first group: what is set on it holds for the parameters that it was made
// with. All fields may be changed between steps.
type Group struct {
	LR          float64  // learning rate
	Schedule    Schedule // gives the rate in LR's place, where it is set
	WeightDecay float64  // 0 for none
	of          *steps
}

// Rate is the rate that the next step will use. Asking changes nothing.
func (g *Group) Rate() float64 {
	if g.Schedule != nil {
		return g.Schedule(g.of.updates)
	}
	return g.LR
}

// steps is what all optimizers share: groups of parameters, what is kept for
// each between steps, and how many steps there were.
type steps struct {
	name    string
	groups  []*Group
	params  []*entry
	updates int
}

// entry is a parameter, and what is kept for it between steps, in its own
// element type; the slices are made when they are first needed.
type entry struct {
	param *backsweep.Tensor
	group *Group
	steps int // those in which it had a gradient
	f32   [slots][]float32
	f64   [slots][]float64
}

const slots = 3

func (o *steps) begin(name string, first *Group, params []*backsweep.Tensor) {
	o.name = name
	o.join(first, params)
}

// AddGroup adds parameters with a rate and a decay of their own, which begin as
// those of the first group. It panics with a *backsweep.Error where one of them
// is not a parameter, or is there twice.
func (o *steps) AddGroup(params ...*backsweep.Tensor) *Group {
	g := *o.groups[0]
	o.join(&g, params)
	return &g
}

func (o *steps) join(g *Group, params []*backsweep.Tensor) {
	seen := make(map[*backsweep.Tensor]bool)
	for _, e := range o.params {
		seen[e.param] = true
	}
	for i, p := range params {
		switch {
		case p == nil || !p.IsParam():
			panic(misuse(o.name, "make it with backsweep.NewParam", fmt.Sprintf("tensor %d is not a parameter", i)))
		case seen[p]:
			panic(misuse(o.name, "give each parameter once, also where two modules share it", fmt.Sprintf("parameter %q is there twice", p.Name())))
		}
		seen[p] = true
	}
	g.of = o
	o.groups = append(o.groups, g)
	for _, p := range params {
		o.params = append(o.params, &entry{param: p, group: g})
	}
}

// Params lists the parameters of all groups, in the order in which they were
// given.
func (o *steps) Params() []*backsweep.Tensor {
	out := make([]*backsweep.Tensor, len(o.params))
	for i, e := range o.params {
		out[i] = e.param
	}
	return out
}

// Updates is the number of steps that were taken.
func (o *steps) Updates() int { return o.updates }

func misuse(op, do, what string) *backsweep.Error {
	return &backsweep.Error{Kind: backsweep.ErrValue, Op: op, What: what, Do: do, Node: -1, Consumer: -1}
}

// gradient is one parameter's.
type gradient struct {
	values *backsweep.Tensor // nil for none
	rows   *backsweep.Tensor // of a row-sparse gradient, else nil
}

// step changes every parameter that has a gradient. On an error it has changed
// none. With strict, a parameter without a gradient is an error.
func (o *steps) step(strict bool, g Gradients, change32, change64 func(e *entry, g gradient)) (err error) {
	defer backsweep.Catch(&err)
	found := make([]gradient, len(o.params))
	for i, e := range o.params {
		if found[i], err = o.find(e.param, g, strict); err != nil {
			return err
		}
	}
	for i, e := range o.params {
		switch {
		case found[i].values == nil:
		case e.param.DType() == backsweep.Float32:
			change32(e, found[i])
		default:
			change64(e, found[i])
		}
	}
	o.updates++
	return nil
}

func (o *steps) find(p *backsweep.Tensor, g Gradients, strict bool) (gradient, error) {
	op := o.name + ".Step"
	rows, values, ok := g.Rows(p)
	if !ok {
		var state backsweep.State
		values, state = g.Lookup(p)
		if state != backsweep.Computed {
			if strict {
				return gradient{}, &backsweep.Error{
					Kind: backsweep.ErrNoGradient, Op: op, Tensor: p.Name(), Node: -1, Consumer: -1,
					What: fmt.Sprintf("parameter %q has no gradient (%s), and the optimizer is strict", p.Name(), state),
					Do:   "leave the parameter out, make the loss depend on it, or set Strict to false",
				}
			}
			return gradient{}, nil
		}
	}
	if values.DType() != p.DType() || !ok && !values.SameShape(p) {
		return gradient{}, &backsweep.Error{
			Kind: backsweep.ErrShape, Op: op, Tensor: p.Name(), Node: -1, Consumer: -1,
			What: fmt.Sprintf("the gradient of parameter %q is %s%v, not %s%v", p.Name(), values.DType(), values.Shape(), p.DType(), p.Shape()),
			Do:   "step with gradients of this parameter",
		}
	}
	return gradient{values: values, rows: rows}, nil
}

// apply calls f with the parts of the parameter that the gradient touches: all
// of it at once, or a row at a time. at is where the part starts in the
// parameter. It counts the parameter's version up once.
func apply[T float32 | float64](p *backsweep.Tensor, s gradient, f func(at int, w, g []T)) {
	backsweep.UpdateAs("Step of an optimizer", p, func(w []T) {
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

// kept returns one of the slices that are kept for a parameter.
func kept[T float32 | float64](e *entry, slot int) (out []T) {
	n := e.param.Len()
	switch x := any(&out).(type) {
	case *[]float32:
		*x = made(&e.f32[slot], n)
	case *[]float64:
		*x = made(&e.f64[slot], n)
	}
	return out
}

func made[T any](s *[]T, n int) []T {
	if *s == nil {
		*s = make([]T, n)
	}
	return *s
}
