// Package gradcheck checks the derivatives of a function, or of an op of the
// table, against central finite differences, and the two modes against each
// other.
//
// For a function f of tensors it draws a random cotangent u and a random
// direction v (all ones would hide faults: the softmax's gradient under an
// all-ones cotangent is zero whatever its rule says) and compares
//
//	⟨v, Jᵀu⟩  the reverse sweep
//	⟨u, Jv⟩   the forward sweep
//	⟨u, (f(x+hv) - f(x-hv)) / 2h⟩
//
// where J is the Jacobian of f at the inputs. [Full] compares every entry of
// every gradient, and [Twice] does the same to the gradient's own derivatives.
package gradcheck

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/backsweep/backsweep"
)

type tensor = backsweep.Tensor

// Option is an option of one check.
type Option func(*settings)

type settings struct {
	seed     uint64
	full     bool
	twice    bool
	tol      float64
	step     float64
	constant map[int]bool
}

// Seed draws the cotangent and the directions from another seed; the default
// is 1.
func Seed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// Full compares each entry of each gradient with a difference of its own: two
// evaluations of f an entry.
func Full() Option { return func(s *settings) { s.full = true } }

// Twice also checks the derivatives of the gradient: the reverse sweep is
// recorded, swept in reverse once more and swept forward, and both are compared
// with central differences of the gradient.
func Twice() Option { return func(s *settings) { s.twice = true } }

// Tolerance is how far two numbers may be apart, relative to their size and to
// that of the largest beside them. The default is 1e-6 for float64 inputs and
// 0.02 where one is float32.
func Tolerance(tol float64) Option { return func(s *settings) { s.tol = tol } }

// Step is the h of the differences. The default is the cube root of the
// rounding unit of the inputs' type, which balances the two errors that a
// central difference makes.
func Step(h float64) Option { return func(s *settings) { s.step = h } }

// Constant names inputs that are not differentiated, by position. Integer and
// bool inputs never are.
func Constant(inputs ...int) Option {
	return func(s *settings) {
		for _, i := range inputs {
			s.constant[i] = true
		}
	}
}

// Error is the comparison that failed, with the entry that is furthest off.
type Error struct {
	What      string // which two numbers were compared
	Of        string // the tensor: "input 0", "output 1"; "" for a product of all entries
	Index     []int  // the entry; nil for a product of all entries
	Got, Want float64
	Allowed   float64 // the difference that would have passed
}

func (e *Error) Error() string {
	at := ""
	if e.Of != "" {
		at = fmt.Sprintf(" of %s at %v", e.Of, e.Index)
	}
	return fmt.Sprintf("gradcheck: %s%s: %g and %g differ by %.3g, more than %.3g", e.What, at, e.Got, e.Want, math.Abs(e.Got-e.Want), e.Allowed)
}

// Check checks the derivatives of f at the inputs. f is called many times, with
// tensors on a tape and with tensors on none, and must compute the same each
// time. The inputs are copied. It returns an [*Error] for a comparison that
// fails (a NaN always does), another error where f, or a sweep, fails, or where
// an input that f depends on has no gradient.
func Check(f func(in []*backsweep.Tensor) *backsweep.Tensor, inputs []*backsweep.Tensor, opts ...Option) error {
	many := func(in []*tensor) []*tensor { return []*tensor{f(in)} }
	return check(many, inputs, opts)
}

// Op checks an op of the table by its name: see [backsweep.Call] and
// [backsweep.Ops]. Operands that carry no gradient are held constant.
func Op(name string, inputs []*backsweep.Tensor, at backsweep.Attrs, opts ...Option) error {
	for _, info := range backsweep.Ops() {
		if info.Name == name {
			opts = append([]Option{Constant(info.NoGrad...)}, opts...)
		}
	}
	call := func(in []*tensor) []*tensor {
		out, err := backsweep.Call(name, in, at)
		if err != nil {
			panic(failed{err})
		}
		return out
	}
	return check(call, inputs, opts)
}

// failed carries an error of Call out of a function under check.
type failed struct{ err error }

type checker struct {
	settings
	f     func(in []*tensor) []*tensor
	in    []*tensor
	free  []int       // the inputs that are differentiated
	x     [][]float64 // their values
	y     [][]float64 // the outputs' values; nil where one is not float
	shape [][]int     // of the outputs
	u     [][]float64 // the cotangent, by output
	v     [][]float64 // the direction, by free input
	rng   *rand.Rand
}

func check(f func(in []*tensor) []*tensor, inputs []*tensor, opts []Option) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(failed)
			if !ok {
				panic(r)
			}
			err = e.err
		}
	}()
	defer backsweep.Catch(&err)
	c := &checker{f: f, settings: settings{seed: 1, constant: map[int]bool{}}}
	for _, o := range opts {
		o(&c.settings)
	}
	c.rng = rand.New(rand.NewPCG(c.seed, 0x6772616463686563))
	eps := 0x1p-53
	tol := 1e-6
	for i, x := range inputs {
		c.in = append(c.in, x.Clone())
		if !x.DType().IsFloat() || c.constant[i] {
			continue
		}
		c.free = append(c.free, i)
		c.x = append(c.x, x.Float64s())
		if x.DType() == backsweep.Float32 {
			eps, tol = 0x1p-24, 0.02
		}
	}
	if c.tol == 0 {
		c.tol = tol
	}
	if c.step == 0 {
		c.step = math.Cbrt(eps)
	}
	for _, y := range f(c.in) {
		c.shape = append(c.shape, y.Shape())
		if !y.DType().IsFloat() {
			c.y, c.u = append(c.y, nil), append(c.u, nil)
			continue
		}
		c.y = append(c.y, y.Float64s())
		c.u = append(c.u, c.draw(y.Len()))
	}
	for _, x := range c.x {
		c.v = append(c.v, c.draw(len(x)))
	}
	if err := c.once(); err != nil {
		return err
	}
	if c.twice {
		return c.again()
	}
	return nil
}

// draw returns n numbers from [-1, 1], none of them near 0.
func (c *checker) draw(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = 0.25 + float64(0.75*c.rng.Float64())
		if c.rng.IntN(2) == 0 {
			d[i] = -d[i]
		}
	}
	return d
}

// moved returns the inputs with h·v added to those that are differentiated.
func (c *checker) moved(v [][]float64, h float64) []*tensor {
	in := append([]*tensor{}, c.in...)
	for k, i := range c.free {
		d := append([]float64{}, c.x[k]...)
		for j := range d {
			d[j] += float64(h * v[k][j])
		}
		in[i] = like(c.in[i], d)
	}
	return in
}

// like makes a tensor on no tape of x's shape and element type.
func like(x *tensor, d []float64) *tensor {
	return made(d, x.Shape(), x.DType())
}

func made(d []float64, shape []int, dt backsweep.DType) *tensor {
	y := backsweep.New(d, shape...)
	if dt != backsweep.Float64 {
		y = y.Cast(dt)
	}
	return y
}

// difference is the central difference of what g computes, along v.
func (c *checker) difference(g func(in []*tensor) [][]float64, v [][]float64) [][]float64 {
	up, down := g(c.moved(v, c.step)), g(c.moved(v, -c.step))
	for i := range up {
		for j := range up[i] {
			up[i][j] = (up[i][j] - down[i][j]) / (2 * c.step)
		}
	}
	return up
}

// values evaluates f on no tape.
func (c *checker) values(in []*tensor) [][]float64 {
	out := make([][]float64, len(c.y))
	for i, y := range c.f(in) {
		if c.y[i] != nil {
			out[i] = y.Float64s()
		}
	}
	return out
}

// inner is the inner product of two lists of vectors, and the sum of the sizes
// of its terms.
func inner(a, b [][]float64) (sum, size float64) {
	for i := range a {
		for j := range a[i] {
			p := float64(a[i][j] * b[i][j])
			sum += p
			size += math.Abs(p)
		}
	}
	return sum, size
}
