package backsweep

import "github.com/backsweep/backsweep/internal/array"

// Func is a function of tensors, written in ops. The transforms call it with
// handles on a tape: a new one, or, when an input is on a tape already, that
// one, so that transforms nest: what an inner one returns can then be
// differentiated by an outer one. A function that closes over a tensor of an
// outer tape must get its inputs on that tape (Tape.Input).
type Func func(in ...*Tensor) *Tensor

// call is one evaluation of a function on a tape.
type call struct {
	tape  *Tape
	in    []*Tensor // fresh handles: only what f makes of them counts, not what it closes over
	out   *Tensor
	outer bool // the tape is the caller's: results stay on it
}

func start(opName string, f Func, in []*Tensor) (c call) {
	for i, x := range in {
		if x == nil {
			throw(fail(ErrValue, opName, "pass a tensor", "input %d is nil", i))
		}
		if x.tape != nil {
			if c.tape != nil && c.tape != x.tape {
				throw(fail(ErrTwoTapes, opName, "record both on one tape", "the inputs are on two different tapes"))
			}
			c.tape, c.outer = x.tape, true
		}
	}
	if c.tape == nil {
		c.tape = NewTape()
	}
	c.in = make([]*Tensor, len(in))
	for i, x := range in {
		if x.DType().IsFloat() {
			if !c.outer {
				x = x.Detach() // a leaf of its own, also where one tensor is given twice
			}
			x = x.onto(c.tape)
			x = c.tape.Watch(x.Reshape(x.Shape()...))
		} else {
			x = x.onto(c.tape)
		}
		c.in[i] = x
	}
	c.out = f(c.in...)
	if c.out == nil {
		throw(fail(ErrValue, opName, "return the value", "the function returned nil"))
	}
	c.out = c.out.onto(c.tape)
	return c
}

// onto puts a tensor on the tape unless it is there.
func (x *Tensor) onto(t *Tape) *Tensor {
	if x.tape == t {
		return x
	}
	return t.Input("", x)
}

// options of the sweeps inside a transform.
func (c *call) options() []SweepOption {
	if c.outer {
		return []SweepOption{Recorded()}
	}
	return []SweepOption{Retain()}
}

// result hands a tensor to the caller: on the caller's tape, or a copy on none.
func (c *call) result(x *Tensor) *Tensor {
	if c.outer {
		return x
	}
	return x.Clone()
}

// grads collects the inputs' gradients; one that the output does not depend on
// gets plain zeros, and one that is not of a float type nil.
func (c *call) grads(g *Grads) []*Tensor {
	out := make([]*Tensor, len(c.in))
	for i, x := range c.in {
		if x.DType().IsFloat() {
			out[i] = c.result(g.OrZeros(x))
		}
	}
	return out
}

// Grad returns the gradients of a scalar function with respect to its inputs,
// each of its input's shape and element type, nil for one that is not of a
// float type, and zeros for one that the value does not depend on.
func Grad(f Func, in ...*Tensor) ([]*Tensor, error) {
	_, grads, err := ValueAndGrad(f, in...)
	return grads, err
}

// ValueAndGrad is Grad with the function's value.
func ValueAndGrad(f Func, in ...*Tensor) (value *Tensor, grads []*Tensor, err error) {
	return VJP(f, nil, in...)
}

// VJP returns the value of a function and the product of a cotangent with its
// Jacobian: one reverse sweep. The cotangent has the value's shape; nil stands
// for 1 where the value is a scalar.
func VJP(f Func, cotangent *Tensor, in ...*Tensor) (value *Tensor, grads []*Tensor, err error) {
	defer Catch(&err)
	c := start("VJP", f, in)
	g, err := c.tape.BackwardFrom([]Root{{c.out, cotangent}}, c.options()...)
	if err != nil {
		return nil, nil, err
	}
	return c.result(c.out), c.grads(g), nil
}

// JVP returns the value of a function and its derivative in the direction of
// the tangents, of which nil stands for zero: one forward sweep. The tangents
// have their inputs' shapes.
func JVP(f Func, in, tangents []*Tensor) (value, tangent *Tensor, err error) {
	defer Catch(&err)
	if len(tangents) != len(in) {
		return nil, nil, fail(ErrValue, "JVP", "give each input a tangent, or nil", "%d inputs have %d tangents", len(in), len(tangents))
	}
	c := start("JVP", f, in)
	g, err := c.push(c.in, tangents)
	if err != nil {
		return nil, nil, err
	}
	return c.result(c.out), c.tangent(g, c.out), nil
}

// push runs a forward sweep from the given tensors.
func (c *call) push(at, tangents []*Tensor) (*Tangents, error) {
	var seeds []Seed
	for i, t := range tangents {
		if t != nil {
			seeds = append(seeds, Seed{at[i], t})
		}
	}
	return c.tape.Forward(seeds, c.options()...)
}

// tangent is the tangent of x, or plain zeros where it does not depend on a
// seed.
func (c *call) tangent(g *Tangents, x *Tensor) *Tensor {
	if t, ok := g.Lookup(x); ok {
		return c.result(t)
	}
	return Zeros(x.DType(), x.Shape()...)
}

// HVP returns the value of a scalar function and the product of its Hessian
// with a vector, given and returned as one tensor an input: a forward sweep
// over a recorded reverse sweep. It never forms the Hessian. nil in v stands
// for zero.
func HVP(f Func, in, v []*Tensor) (value *Tensor, product []*Tensor, err error) {
	defer Catch(&err)
	if len(v) != len(in) {
		return nil, nil, fail(ErrValue, "HVP", "give each input a vector of its shape, or nil", "%d inputs have %d vectors", len(in), len(v))
	}
	c := start("HVP", f, in)
	g, err := c.tape.Backward(c.out, Recorded())
	if err != nil {
		return nil, nil, err
	}
	firsts := c.firsts(g)
	t, err := c.push(c.in, v)
	if err != nil {
		return nil, nil, err
	}
	product = make([]*Tensor, len(in))
	for i, d := range firsts {
		switch {
		case !c.in[i].DType().IsFloat():
		case d == nil:
			product[i] = Zeros(c.in[i].DType(), c.in[i].Shape()...)
		default:
			product[i] = c.tangent(t, d)
		}
	}
	return c.result(c.out), product, nil
}

// firsts are the recorded gradients of the inputs; nil where there is none.
func (c *call) firsts(g *Grads) []*Tensor {
	out := make([]*Tensor, len(c.in))
	for i, x := range c.in {
		if x.DType().IsFloat() {
			out[i], _ = g.Lookup(x)
		}
	}
	return out
}

// Mode says by which sweeps a Jacobian was computed.
type Mode string

// The modes: one reverse sweep yields a row, one forward sweep a column.
const (
	ByRows    Mode = "rows, by reverse sweeps"
	ByColumns Mode = "columns, by forward sweeps"
)

// Jacobian returns the derivatives of every element of f(x) with respect to
// every element of x, as a tensor of f(x)'s shape followed by x's, and says how
// it went about it: by rows where f(x) has no more elements than x, by columns
// otherwise.
func Jacobian(f Func, x *Tensor) (jacobian *Tensor, mode Mode, err error) {
	defer Catch(&err)
	c := start("Jacobian", f, []*Tensor{x})
	in, out := c.in[0].layout(), c.out.layout()
	if !in.DType.IsFloat() || out.DType != in.DType {
		return nil, "", fail(ErrDType, "Jacobian", "Cast one of them", "the input is %s and the value %s", in.DType, out.DType)
	}
	mode = ByRows
	if out.N > in.N {
		mode = ByColumns
	}
	j, err := c.jacobian(c.out, mode)
	return j, mode, err
}

// Hessian returns the second derivatives of a scalar function, as a tensor of
// x's shape twice. It records one reverse sweep and sweeps that for all rows.
func Hessian(f Func, x *Tensor) (hessian *Tensor, err error) {
	defer Catch(&err)
	c := start("Hessian", f, []*Tensor{x})
	g, err := c.tape.Backward(c.out, Recorded())
	if err != nil {
		return nil, err
	}
	first := c.firsts(g)[0]
	if first == nil {
		shape := c.in[0].Shape()
		return Zeros(c.in[0].DType(), append(shape, shape...)...), nil
	}
	return c.jacobian(first, ByRows)
}

// jacobian computes the derivatives of y with respect to the one input.
func (c *call) jacobian(y *Tensor, mode Mode) (*Tensor, error) {
	in, out := c.in[0].layout(), y.layout()
	if in.N > 0 && out.N > 1<<40/in.N {
		return nil, fail(ErrValue, "Jacobian", "use VJP, JVP or HVP, which never form it", "a Jacobian of %d by %d elements is too large", out.N, in.N)
	}
	shape := append(append([]int{}, out.Shape...), in.Shape...)
	if in.N == 0 || out.N == 0 {
		return Zeros(in.DType, shape...), nil
	}
	n, each := out, in
	if mode == ByColumns {
		n, each = in, out
	}
	var j *Tensor
	var err error
	if c.outer {
		j, err = c.recordedLines(y, n, mode)
	} else {
		j, err = c.batchedLines(y, n, each.N, mode)
	}
	if err != nil {
		return nil, err
	}
	j = j.Reshape(n.N, each.N)
	if mode == ByColumns {
		j = j.T()
	}
	return j.Reshape(shape...), nil
}

// recordedLines sweeps once for each row or column, since only sweeps of their
// own can be recorded.
func (c *call) recordedLines(y *Tensor, n *array.Layout, mode Mode) (*Tensor, error) {
	lines := make([]*Tensor, n.N)
	for i := range lines {
		unit := Zeros(n.DType, n.N)
		unit.SetAt(1, i)
		x, err := c.line(y, unit.Reshape(shapeOrScalar(n.Shape)...), mode, c.options())
		if err != nil {
			return nil, err
		}
		lines[i] = x
	}
	return Stack(0, lines...), nil
}

// batchedLines lets many rows or columns travel as one leading axis; how many
// is limited by what one gradient of the batch may take.
func (c *call) batchedLines(y *Tensor, n *array.Layout, each int, mode Mode) (*Tensor, error) {
	t := c.tape
	j := Zeros(n.DType, n.N, each)
	size := each * n.DType.Size()
	most := min(n.N, max(1, batchBytes/max(1, c.widest())))
	for from := 0; from < n.N; from += most {
		k := min(most, n.N-from)
		units := Zeros(n.DType, k, n.N)
		one := &array.Layout{DType: n.DType, N: 1, Dense: true}
		for i := range k {
			fillDense(ptrAt(units.val.st.p, (i*n.N+from+i)*n.DType.Size()), one, 1)
		}
		mark := len(t.grads)
		x, err := c.line(y, units.Reshape(append([]int{k}, n.Shape...)...), mode, []SweepOption{Retain(), batched(k)})
		if err != nil {
			return nil, err
		}
		part := array.Contiguous(n.DType, x.layout().Shape)
		copyDense(ref{l: part, p: ptrAt(j.val.st.p, from*size), at: offTape}, x.ref("Jacobian"))
		for _, b := range t.grads[mark:] {
			t.pool.Release(b)
		}
		t.grads = t.grads[:mark]
	}
	return j, nil
}

// batchBytes is how much one gradient of a batched sweep may take.
const batchBytes = 1 << 18

// widest is the number of bytes of the largest value on the tape.
func (c *call) widest() int {
	most := 0
	for _, l := range c.tape.lays {
		most = max(most, l.Bytes())
	}
	return most
}

// line computes a row or a column, or as many as the unit cotangent, or
// tangent, has items in a leading axis.
func (c *call) line(y, unit *Tensor, mode Mode, options []SweepOption) (*Tensor, error) {
	x := c.in[0]
	if mode == ByRows {
		g, err := c.tape.BackwardFrom([]Root{{y, unit}}, options...)
		if err != nil {
			return nil, err
		}
		if d, ok := g.Lookup(x); ok == Computed {
			return d, nil
		}
		return Zeros(x.DType(), append(unit.Shape()[:unit.Rank()-y.Rank()], x.Shape()...)...), nil
	}
	g, err := c.tape.Forward([]Seed{{x, unit}}, options...)
	if err != nil {
		return nil, err
	}
	if d, ok := g.Lookup(y); ok {
		return d, nil
	}
	return Zeros(y.DType(), append(unit.Shape()[:unit.Rank()-x.Rank()], y.Shape()...)...), nil
}
