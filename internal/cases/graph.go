package cases

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/backsweep/backsweep"
)

// Run runs a case. The error is nil when everything that the
// case expects holds, and wraps [ErrSkipped] when it could not be run.
func (c *Graph) Run() (err error) {
	for _, s := range c.Graph {
		if err := s.offered(); err != nil {
			return err
		}
	}
	err = c.check()
	if want := c.Expect.Error; want != "" {
		return expectError(err, want)
	}
	if want := c.Expect.AcceptError; want != "" && err != nil && expectError(err, want) == nil {
		return nil
	}
	return err
}

// classes are the kinds of error by the name that the files give them.
var classes = map[string]error{
	"shape": backsweep.ErrShape, "index": backsweep.ErrIndex, "dtype": backsweep.ErrDType, "value": backsweep.ErrValue,
	"unsupported": backsweep.ErrUnsupported,
}

func expectError(err error, class string) error {
	switch {
	case err == nil:
		return fmt.Errorf("no error, want one of class %s", class)
	case !errors.Is(err, classes[class]):
		return fmt.Errorf("want an error of class %s: %w", class, err)
	}
	return nil
}

func (c *Graph) check() error {
	r, err := c.record()
	if err != nil {
		return err
	}
	if err := c.oneOf("output", c.Expect.Outputs, c.Expect.OutputsAny, r.output); err != nil {
		return err
	}
	if c.Expect.JVP != nil {
		if err := c.forward(r); err != nil {
			return err
		}
	}
	if c.Expect.HVP != nil {
		return c.twice(r)
	}
	if len(c.Seed) == 0 {
		return nil
	}
	grads, err := r.sweep(c.Seed)
	if err != nil {
		return err
	}
	if err := c.gradients("gradient", grads, r, c.Expect.Grads, c.Expect.GradsAny); err != nil {
		return err
	}
	return c.modes(r, grads)
}

// run is a case on a tape.
type run struct {
	tape   *backsweep.Tape
	values map[string]*backsweep.Tensor
}

func (r *run) output(name string) (*backsweep.Tensor, error) {
	x, ok := r.values[name]
	if !ok {
		return nil, fmt.Errorf("no step makes %s", name)
	}
	return x, nil
}

func (c *Graph) record() (_ *run, err error) {
	defer backsweep.Catch(&err)
	r := &run{tape: backsweep.NewTape(), values: map[string]*backsweep.Tensor{}}
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		x := c.Inputs[name]
		r.values[name] = x.value()
		if x.Grad {
			r.values[name] = r.tape.Watch(r.values[name])
		}
	}
	for _, s := range c.Graph {
		in := make([]*backsweep.Tensor, len(s.In))
		for i, name := range s.In {
			in[i] = r.values[name]
		}
		if f := s.layer(); f != nil {
			r.values[s.Out[0]] = f(in)
			continue
		}
		out, err := backsweep.Call(s.row(), in, s.attrs())
		if err != nil {
			return nil, err
		}
		for i, name := range s.Out {
			r.values[name] = out[i]
		}
	}
	return r, nil
}

// sweep seeds every root in one backward pass. A root that does not depend on
// a differentiable input is on no tape and has nothing to give.
func (r *run) sweep(seed map[string]Tensor, opts ...backsweep.SweepOption) (*backsweep.Grads, error) {
	var roots []backsweep.Root
	for _, name := range slices.Sorted(maps.Keys(seed)) {
		x, err := r.output(name)
		if err != nil {
			return nil, err
		}
		if x.Tape() != nil {
			roots = append(roots, backsweep.Root{Tensor: x, Cotangent: seed[name].value().Cast(x.DType())})
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	return r.tape.BackwardFrom(roots, append(opts, backsweep.Retain())...)
}

// gradients compares gradients with what is expected of them. One that is
// unconnected passes for zeros.
func (c *Graph) gradients(what string, grads *backsweep.Grads, r *run, want map[string]Tensor, wantAny []map[string]Tensor) error {
	of := func(name string) (*backsweep.Tensor, error) {
		x, err := r.output(name)
		if err != nil || grads == nil {
			return nil, err
		}
		switch d, state := grads.Lookup(x); state {
		case backsweep.Computed:
			return d, nil
		case backsweep.Unconnected:
			return backsweep.Zeros(x.DType(), x.Shape()...), nil
		default:
			return nil, fmt.Errorf("the %s of %s: %v", what, name, state)
		}
	}
	if err := c.oneOf(what, want, wantAny, of); err != nil {
		return err
	}
	for _, name := range c.Expect.ZeroOrAbsent {
		d, err := of(name)
		if err != nil {
			return err
		}
		if d == nil {
			continue
		}
		for i, v := range d.Float64s() {
			if v != 0 {
				return fmt.Errorf("the %s of %s: element %d is %v, want zeros or none", what, name, i, v)
			}
		}
	}
	return nil
}

// forward checks the tangents of the named values.
func (c *Graph) forward(r *run) error {
	var seeds []backsweep.Seed
	for _, name := range slices.Sorted(maps.Keys(c.Expect.JVP.Tangent)) {
		seeds = append(seeds, backsweep.Seed{Tensor: r.values[name], Tangent: c.Expect.JVP.Tangent[name].value()})
	}
	tangents, err := r.tape.Forward(seeds)
	if err != nil {
		return err
	}
	return c.oneOf("tangent", c.Expect.JVP.Result, nil, func(name string) (*backsweep.Tensor, error) {
		x, err := r.output(name)
		if err != nil {
			return nil, err
		}
		if d, ok := tangents.Lookup(x); ok {
			return d, nil
		}
		return backsweep.Zeros(x.DType(), x.Shape()...), nil
	})
}

// twice sweeps with a record and differentiates Σ v·gradient again. First
// gradients that the case names are compared on the way.
func (c *Graph) twice(r *run) error {
	grads, err := r.sweep(c.Seed, backsweep.Recorded())
	if err != nil {
		return err
	}
	if c.Expect.Grads != nil || c.Expect.GradsAny != nil {
		first := *c
		first.Expect.ZeroOrAbsent = nil // of a case with hvp: of the second derivative
		if err := first.gradients("gradient", grads, r, c.Expect.Grads, c.Expect.GradsAny); err != nil {
			return err
		}
	}
	var s *backsweep.Tensor
	for _, name := range slices.Sorted(maps.Keys(c.Expect.HVP.V)) {
		d, state := grads.Lookup(r.values[name])
		if state != backsweep.Computed {
			continue
		}
		if term := d.Mul(c.Expect.HVP.V[name].value()).Sum(); s == nil {
			s = term
		} else {
			s = s.Add(term)
		}
	}
	var second *backsweep.Grads
	if s != nil && s.Tape() != nil {
		if second, err = r.tape.Backward(s, backsweep.Retain()); err != nil {
			return err
		}
	}
	return c.gradients("second derivative", second, r, c.Expect.HVP.Result, nil)
}

// oneOf compares tensors by name with what is expected, and with the
// alternatives.
func (c *Graph) oneOf(what string, want map[string]Tensor, alternatives []map[string]Tensor, get func(name string) (*backsweep.Tensor, error)) error {
	if err := c.all(what, want, get); err != nil {
		return err
	}
	var last error
	for _, a := range alternatives {
		if last = c.all(what, a, get); last == nil {
			return nil
		}
	}
	if last != nil {
		return fmt.Errorf("no alternative matches; the last: %w", last)
	}
	return nil
}

func (c *Graph) all(what string, want map[string]Tensor, get func(name string) (*backsweep.Tensor, error)) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w := want[name]
		got, err := get(name)
		if err != nil {
			return err
		}
		if got == nil {
			got = backsweep.Zeros(backsweep.Float64, append([]int{}, w.Shape...)...)
		}
		if c.Expect.StrictDType && got.DType().String() != w.DType {
			return fmt.Errorf("%s %s is %s, want %s", what, name, got.DType(), w.DType)
		}
		if err := c.Tol.matchAll(what+" "+name, got, w); err != nil {
			return err
		}
	}
	return nil
}
