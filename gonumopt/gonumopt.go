// Package gonumopt lets gonum/optimize minimize a function that is written in
// ops, by derivatives that need no differences:
//
//	problem := gonumopt.Problem(func(in ...*backsweep.Tensor) *backsweep.Tensor {
//		x := in[0] // float64, one axis
//		…
//	})
//	result, err := optimize.Minimize(problem, start, nil, &optimize.Newton{})
package gonumopt

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/backsweep/backsweep"
)

// Problem adapts a scalar function of one float64 tensor with one axis: Func
// evaluates it without a tape, Grad takes one sweep, Hess a recorded sweep that
// is swept again. All three may be called from several goroutines at once, if f
// may.
//
// gonum's functions return no errors. A misuse of an op in f, or a value that is
// no scalar, makes the result NaN and is returned by the problem's Status, which
// ends the minimization with it.
func Problem(f backsweep.Func) optimize.Problem {
	p := &problem{f: f}
	return optimize.Problem{Func: p.value, Grad: p.grad, Hess: p.hess, Status: p.status}
}

type problem struct {
	f   backsweep.Func
	mu  sync.Mutex
	err error // the first
}

func (p *problem) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = fmt.Errorf("gonumopt: %w", err)
	}
}

func (p *problem) status() (optimize.Status, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return optimize.Failure, p.err
	}
	return optimize.NotTerminated, nil
}

func (p *problem) value(x []float64) float64 {
	v, err := p.evaluate(x)
	if err != nil {
		p.fail(err)
		return math.NaN()
	}
	return v
}

func (p *problem) evaluate(x []float64) (v float64, err error) {
	defer backsweep.Catch(&err)
	return p.f(backsweep.New(x)).Item(), nil
}

func (p *problem) grad(grad, x []float64) {
	g, err := backsweep.Grad(p.f, backsweep.New(x))
	if err != nil {
		p.fail(err)
		for i := range grad {
			grad[i] = math.NaN()
		}
		return
	}
	backsweep.Read(g[0], func(d []float64) { copy(grad, d) })
}

func (p *problem) hess(hess *mat.SymDense, x []float64) {
	h, err := backsweep.Hessian(p.f, backsweep.New(x))
	if err != nil {
		p.fail(err)
	}
	for i := range x {
		for j := range i + 1 {
			v := math.NaN()
			if err == nil {
				v = h.At(i, j)
			}
			hess.SetSym(i, j, v)
		}
	}
}
