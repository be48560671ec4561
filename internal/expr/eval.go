package expr

import (
	"go/ast"
	"go/token"
	"math"
	"strconv"

	"github.com/backsweep/backsweep"
)

// eval works an expression out. It recurses as deep as the text nests, which
// check has bounded.
func (r *runner) eval(x ast.Expr) (value, error) {
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return value{}, r.p.fail(x.Pos(), "", "a word stands only where an op takes one")
		}
		n, err := number(x)
		if err != nil {
			return value{}, r.p.fail(x.Pos(), "", "%s is not a number: %v", x.Value, err)
		}
		return value{num: n}, nil
	case *ast.Ident:
		return r.ident(x)
	case *ast.ParenExpr:
		return r.eval(x.X)
	case *ast.UnaryExpr:
		return r.unary(x)
	case *ast.BinaryExpr:
		return r.binary(x)
	case *ast.IndexExpr:
		v, err := r.tensor(x.X)
		if err != nil {
			return v, err
		}
		return r.index(v, x.Lbrack, x.Index)
	case *ast.SliceExpr:
		return r.slice(x)
	case *ast.CallExpr:
		return r.call(x)
	}
	return value{}, r.p.fail(x.Pos(), "", "this expression is not part of a program")
}

// one is eval for a place that takes one value.
func (r *runner) one(x ast.Expr) (value, error) {
	v, err := r.eval(x)
	if err == nil && v.many != nil {
		err = r.p.fail(x.Pos(), "name them: a, b := …", "this yields %d tensors, and one is wanted", len(v.many))
	}
	return v, err
}

func number(x *ast.BasicLit) (float64, error) {
	if x.Kind == token.INT {
		n, err := strconv.ParseInt(x.Value, 0, 64)
		if err == nil {
			return float64(n), nil
		}
	}
	return strconv.ParseFloat(x.Value, 64)
}

func (r *runner) ident(x *ast.Ident) (value, error) {
	for i := len(r.scopes) - 1; i >= 0; i-- {
		if v, ok := r.scopes[i][x.Name]; ok {
			return v, nil
		}
	}
	t, err := r.o.Input(x.Name)
	if err != nil {
		return value{}, r.p.fail(x.Pos(), "", "input %s: %v", x.Name, err)
	}
	t = r.Tape.Input(x.Name, t)
	if t.DType().IsFloat() {
		t = r.Tape.Watch(t)
	}
	r.know(t)
	r.Inputs[x.Name] = t
	v := value{t: t}
	r.scopes[0][x.Name] = v
	return v, nil
}

func (r *runner) unary(x *ast.UnaryExpr) (value, error) {
	v, err := r.one(x.X)
	if err != nil {
		return v, err
	}
	switch {
	case x.Op == token.NOT:
		return v, r.p.fail(x.OpPos, "", "! stands only in the condition of an if")
	case x.Op == token.ADD:
		return v, nil
	case v.t == nil:
		return value{num: -v.num}, nil
	}
	return r.apply(x.OpPos, "neg", nil, v)
}

var binaryOps = map[token.Token]string{
	token.ADD: "add", token.SUB: "sub", token.MUL: "mul", token.QUO: "div",
	token.GTR: "gt", token.GEQ: "ge", token.LSS: "lt", token.LEQ: "le", token.EQL: "eq", token.NEQ: "ne",
}

func (r *runner) binary(x *ast.BinaryExpr) (value, error) {
	name, ok := binaryOps[x.Op]
	if !ok {
		return value{}, r.p.fail(x.OpPos, "", "%s stands only in the condition of an if", x.Op)
	}
	a, err := r.one(x.X)
	if err != nil {
		return a, err
	}
	b, err := r.one(x.Y)
	if err != nil {
		return b, err
	}
	if a.t == nil && b.t == nil {
		return r.numbers(x, a.num, b.num)
	}
	switch {
	case a.t != nil && b.t != nil:
	case x.Op == token.ADD && a.t == nil:
		return r.withNumber(x.OpPos, "add_scalar", b, a.num)
	case x.Op == token.ADD:
		return r.withNumber(x.OpPos, "add_scalar", a, b.num)
	case x.Op == token.SUB && b.t == nil:
		return r.withNumber(x.OpPos, "add_scalar", a, -b.num)
	case x.Op == token.SUB:
		neg, err := r.apply(x.OpPos, "neg", nil, b)
		if err != nil {
			return neg, err
		}
		return r.withNumber(x.OpPos, "add_scalar", neg, a.num)
	case x.Op == token.MUL && a.t == nil:
		return r.withNumber(x.OpPos, "mul_scalar", b, a.num)
	case x.Op == token.MUL:
		return r.withNumber(x.OpPos, "mul_scalar", a, b.num)
	case x.Op == token.QUO && b.t == nil:
		// The product with 1/c has the bits of the quotient by c only where 1/c is
		// exact.
		if f, _ := math.Frexp(b.num); math.Abs(f) == 0.5 && math.Abs(b.num) < 1<<100 && math.Abs(b.num) > 1./(1<<100) {
			return r.withNumber(x.OpPos, "mul_scalar", a, 1/b.num)
		}
	}
	return r.apply(x.OpPos, name, nil, a, b)
}

// numbers works out an operator between two numbers.
func (r *runner) numbers(x *ast.BinaryExpr, a, b float64) (value, error) {
	switch x.Op {
	case token.ADD:
		return value{num: a + b}, nil
	case token.SUB:
		return value{num: a - b}, nil
	case token.MUL:
		return value{num: a * b}, nil
	case token.QUO:
		if b == 0 {
			return value{}, r.p.fail(x.OpPos, "", "a number is divided by 0")
		}
		return value{num: a / b}, nil
	}
	return value{}, r.p.fail(x.OpPos, "", "two numbers are compared only in the condition of an if")
}

func (r *runner) withNumber(pos token.Pos, op string, v value, c float64) (value, error) {
	return r.apply(pos, op, backsweep.Attrs{"c": c}, v)
}

// apply records an op. Numbers among the operands become constants.
func (r *runner) apply(pos token.Pos, op string, at backsweep.Attrs, vs ...value) (value, error) {
	if err := r.step(pos); err != nil {
		return value{}, err
	}
	dt, found := r.o.DType, false
	for _, v := range vs {
		if v.t != nil && v.t.DType().IsFloat() && !found {
			dt, found = v.t.DType(), true
		}
	}
	in := make([]*backsweep.Tensor, len(vs))
	for i, v := range vs {
		if in[i] = v.t; v.t == nil {
			c, err := r.constant(dt, v.num)
			if err != nil {
				return value{}, r.opError(pos, err)
			}
			in[i] = c
		}
	}
	out, err := backsweep.Call(op, in, at)
	if err != nil {
		return value{}, r.opError(pos, err)
	}
	for _, t := range out {
		r.know(t)
	}
	if info := ops[op]; info.Outputs != 1 {
		return value{many: out}, nil
	}
	return value{t: out[0]}, nil
}

// constant is the leaf that stands for a number; equal numbers share one.
func (r *runner) constant(dt backsweep.DType, v float64) (t *backsweep.Tensor, err error) {
	key := constant{dt, math.Float64bits(v)}
	if t, ok := r.constants[key]; ok {
		return t, nil
	}
	defer backsweep.Catch(&err)
	t = r.know(r.Tape.Input(strconv.FormatFloat(v, 'g', -1, 64), backsweep.Full(dt, v)))
	r.constants[key] = t
	return t, nil
}

// whole is an expression that must be a whole number.
func (r *runner) whole(x ast.Expr) (int, error) {
	v, err := r.one(x)
	switch {
	case err != nil:
		return 0, err
	case v.t != nil:
		return 0, r.p.fail(x.Pos(), "", "a number is wanted here, and this is a tensor")
	case v.num != math.Trunc(v.num) || math.Abs(v.num) > 1<<53:
		return 0, r.p.fail(x.Pos(), "", "a whole number is wanted here, not %v", v.num)
	}
	return int(v.num), nil
}

// index takes a position of the first axis, which is dropped.
func (r *runner) index(v value, pos token.Pos, at ast.Expr) (value, error) {
	shape := v.t.Shape()
	if len(shape) == 0 {
		return v, r.p.fail(pos, "", "a scalar has no positions")
	}
	i, err := r.whole(at)
	if err != nil {
		return v, err
	}
	if n := shape[0]; i < -n || i >= n {
		return v, r.p.fail(at.Pos(), "positions run from 0; -1 is the last", "there is no position %d in shape %s", i, shapeText(shape))
	} else if i < 0 {
		i += n
	}
	part, err := r.apply(pos, "slice", backsweep.Attrs{"start": []int{i}, "stop": []int{i + 1}}, v)
	if err != nil {
		return part, err
	}
	return r.apply(pos, "squeeze", backsweep.Attrs{"axes": []int{0}}, part)
}

// slice takes a range of the first axis.
func (r *runner) slice(x *ast.SliceExpr) (value, error) {
	v, err := r.tensor(x.X)
	if err != nil {
		return v, err
	}
	low, high := 0, backsweep.End
	if x.Low != nil {
		if low, err = r.whole(x.Low); err != nil {
			return v, err
		}
	}
	if x.High != nil {
		if high, err = r.whole(x.High); err != nil {
			return v, err
		}
	}
	return r.apply(x.Lbrack, "slice", backsweep.Attrs{"start": []int{low}, "stop": []int{high}}, v)
}

func (r *runner) tensor(x ast.Expr) (value, error) {
	v, err := r.one(x)
	if err == nil && v.t == nil {
		err = r.p.fail(x.Pos(), "", "a tensor is wanted here, and this is the number %v", v.num)
	}
	return v, err
}
