package gradcheck

import (
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
)

// run is f on a tape, with the differentiated inputs watched.
type run struct {
	tape *backsweep.Tape
	in   []*tensor // handles of the differentiated inputs
	out  []*tensor
}

func (c *checker) record(in []*tensor) *run {
	r := &run{tape: backsweep.NewTape()}
	on := append([]*tensor{}, in...)
	for _, i := range c.free {
		on[i] = r.tape.Watch(in[i])
		r.in = append(r.in, on[i])
	}
	r.out = c.f(on)
	return r
}

// roots pairs each output that is on the tape with its cotangent.
func (c *checker) roots(r *run, u []*tensor) []backsweep.Root {
	var roots []backsweep.Root
	for i, y := range r.out {
		if u[i] != nil && y.Tape() != nil {
			roots = append(roots, backsweep.Root{Tensor: y, Cotangent: u[i]})
		}
	}
	return roots
}

// cotangents are c.u as tensors; nil where an output is not float.
func (c *checker) cotangents(r *run) []*tensor {
	u := make([]*tensor, len(c.u))
	for i := range u {
		if c.u[i] != nil {
			u[i] = made(c.u[i], c.shape[i], r.out[i].DType())
		}
	}
	return u
}

// gradient is Jᵀu by a reverse sweep at the given inputs, with zeros where the
// state says that there is no connection, and whether each was computed.
func (c *checker) gradient(in []*tensor) (g [][]float64, computed []bool) {
	r := c.record(in)
	roots := c.roots(r, c.cotangents(r))
	if len(roots) == 0 {
		return zeros(c.x), make([]bool, len(c.x))
	}
	grads, err := r.tape.BackwardFrom(roots)
	if err != nil {
		panic(failed{err})
	}
	return collect(grads, r.in)
}

func collect(grads *backsweep.Grads, of []*tensor) (g [][]float64, computed []bool) {
	for _, x := range of {
		d, state := grads.Lookup(x)
		computed = append(computed, state == backsweep.Computed)
		if d == nil {
			g = append(g, make([]float64, x.Len()))
			continue
		}
		g = append(g, d.Float64s())
	}
	return g, computed
}

func zeros(like [][]float64) [][]float64 {
	z := make([][]float64, len(like))
	for i, x := range like {
		z[i] = make([]float64, len(x))
	}
	return z
}

// push is Jv by a forward sweep: the tangents of the given tensors.
func (c *checker) push(tape *backsweep.Tape, in []*tensor, v [][]float64, of []*tensor) [][]float64 {
	var seeds []backsweep.Seed
	for k, x := range in {
		seeds = append(seeds, backsweep.Seed{Tensor: x, Tangent: like(x, v[k])})
	}
	tangents, err := tape.Forward(seeds)
	if err != nil {
		panic(failed{err})
	}
	out := make([][]float64, len(of))
	for i, y := range of {
		if y == nil || !y.DType().IsFloat() {
			continue
		}
		if t, ok := tangents.Lookup(y); ok {
			out[i] = t.Float64s()
		} else {
			out[i] = make([]float64, y.Len())
		}
	}
	return out
}

func (c *checker) input(k int) (string, []int) {
	return fmt.Sprintf("input %d", c.free[k]), c.in[c.free[k]].Shape()
}

func (c *checker) output(k int) (string, []int) {
	return fmt.Sprintf("output %d", k), c.shape[k]
}

// once checks the first derivatives.
func (c *checker) once() error {
	r := c.record(c.in)
	for i, y := range r.out {
		if c.y[i] == nil {
			continue
		}
		if err := entries("the value on a tape against the value on none", [][]float64{y.Float64s()}, [][]float64{c.y[i]},
			func(int) (string, []int) { return c.output(i) }, 0); err != nil {
			return err
		}
	}
	slope := c.difference(c.values, c.v)
	want, size := inner(c.u, slope)

	g, computed := c.gradient(c.in)
	got, _ := inner(c.v, g)
	if err := c.products("the reverse sweep against central differences", got, want, size, c.tol); err != nil {
		return c.absent(computed, err)
	}
	jv := c.push(r.tape, r.in, c.v, r.out)
	if err := entries("the forward sweep against central differences", jv, slope, c.output, c.tol); err != nil {
		return err
	}
	forward, size := inner(c.u, jv)
	if err := c.products("the reverse sweep against the forward sweep", got, forward, size, c.tol*strict); err != nil {
		return err
	}
	if !c.full {
		return nil
	}
	slopes := c.eachEntry(func(e [][]float64) float64 {
		s, _ := inner(c.u, c.difference(c.values, e))
		return s
	})
	if err := entries("the reverse sweep against central differences", g, slopes, c.input, c.tol); err != nil {
		return c.absent(computed, err)
	}
	return nil
}

// eachEntry calls f with each unit direction and collects what it returns.
func (c *checker) eachEntry(f func(e [][]float64) float64) [][]float64 {
	out, e := zeros(c.x), zeros(c.x)
	for k := range e {
		for j := range e[k] {
			e[k][j] = 1
			out[k][j] = f(e)
			e[k][j] = 0
		}
	}
	return out
}

// absent explains a mismatch by the first input that has no gradient although
// the outputs change with it.
func (c *checker) absent(computed []bool, mismatch error) error {
	for k, ok := range computed {
		if ok {
			continue
		}
		alone := zeros(c.x)
		alone[k] = c.v[k]
		if s, _ := inner(c.u, c.difference(c.values, alone)); math.Abs(s) > c.tol {
			return fmt.Errorf("gradcheck: input %d has no gradient, although the outputs change with it (%w)", c.free[k], mismatch)
		}
	}
	return mismatch
}

// again checks the derivatives of the gradient: with s = ⟨v, Jᵀu⟩, those of s
// by a second reverse sweep, and those of Jᵀu along w by a forward sweep.
func (c *checker) again() error {
	r := c.record(c.in)
	u := c.cotangents(r)
	var on []*tensor // the cotangents on the tape
	for i := range u {
		if u[i] != nil {
			u[i] = r.tape.Watch(u[i])
			on = append(on, u[i])
		}
	}
	roots := c.roots(r, u)
	if len(roots) == 0 {
		return nil
	}
	grads, err := r.tape.BackwardFrom(roots, backsweep.Recorded())
	if err != nil {
		return err
	}
	g := make([]*tensor, len(r.in))
	var s *tensor
	for k, x := range r.in {
		d, _ := grads.Lookup(x)
		if d == nil {
			continue
		}
		g[k] = d
		term := d.Mul(like(x, c.v[k])).Sum()
		if s == nil {
			s = term
		} else {
			s = s.Add(term.Cast(s.DType()))
		}
	}
	if s == nil {
		return nil
	}
	gradient := func(in []*tensor) [][]float64 {
		g, _ := c.gradient(in)
		return g
	}
	w := make([][]float64, len(c.x))
	for k := range w {
		w[k] = c.draw(len(c.x[k]))
	}
	slope := c.difference(gradient, w)
	for k := range g {
		if g[k] == nil {
			g[k] = r.in[k].Detach()
		}
	}
	hw := c.push(r.tape, r.in, w, g)
	if err := entries("the gradient's forward sweep against central differences of the gradient", hw, slope, c.input, c.tol); err != nil {
		return err
	}
	second, err := r.tape.Backward(s)
	if err != nil {
		return err
	}
	hv, _ := collect(second, r.in)
	got, _ := inner(w, hv)
	want, size := inner(c.v, slope)
	if err := c.products("the gradient's reverse sweep against central differences of the gradient", got, want, size, c.tol); err != nil {
		return err
	}
	// s is linear in u, and its derivative is Jv.
	du, _ := collect(second, on)
	var jv [][]float64
	var index []int
	slopes := c.difference(c.values, c.v)
	for i := range c.u {
		if c.u[i] != nil {
			jv, index = append(jv, slopes[i]), append(index, i)
		}
	}
	of := func(k int) (string, []int) { return c.output(index[k]) }
	if err := entries("the recorded sweep's derivative by its cotangent against central differences", du, jv, of, c.tol); err != nil {
		return err
	}
	if !c.full {
		return nil
	}
	curves := c.eachEntry(func(e [][]float64) float64 {
		s, _ := inner(c.v, c.difference(gradient, e))
		return s
	})
	return entries("the gradient's reverse sweep against central differences of the gradient", hv, curves, c.input, c.tol)
}
