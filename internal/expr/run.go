package expr

import (
	"context"
	"errors"
	"go/ast"
	"go/token"
	"math"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep"
)

// MaxOps is how many ops a run may record, and how many statements it may take,
// unless Options say otherwise.
const MaxOps = 1 << 20

// Options say how a program runs.
type Options struct {
	DType backsweep.DType // of numbers that become tensors
	// Input gives an input its value. It is called once for each input that the
	// run meets, in the order in which it meets them.
	Input   func(name string) (*backsweep.Tensor, error)
	MaxOps  int             // 0 means MaxOps
	AnyLoss bool            // the loss may have any shape and type
	Context context.Context // ends the run; nil means never
}

// Run is what a program recorded.
type Run struct {
	Tape    *backsweep.Tape
	Loss    *backsweep.Tensor
	Tensors []*backsweep.Tensor          // by id
	Inputs  map[string]*backsweep.Tensor // those that the run met
}

// Run runs the program on an empty tape. Inputs of a float type are watched.
// Tensors get the names that statements give them, a bare loss is called
// "loss", and every pass of a loop is a scope, "i=3". The error is an *Error, or
// that of Options.Context.
func (p *Program) Run(tape *backsweep.Tape, o Options) (*Run, error) {
	r := &runner{
		Run: Run{Tape: tape, Inputs: map[string]*backsweep.Tensor{}}, p: p, o: o,
		scopes: []map[string]value{{}}, constants: map[constant]*backsweep.Tensor{},
	}
	if r.o.MaxOps == 0 {
		r.o.MaxOps = MaxOps
	}
	if err := r.block(p.body); err != nil {
		return nil, err
	}
	if r.last.t == nil {
		return nil, p.fail(r.lastPos, "use at least one input: tanh(x)", "the loss is a number, not a tensor: nothing was recorded")
	}
	r.Loss = r.last.t
	if shape := r.Loss.Shape(); !o.AnyLoss && (len(shape) > 0 || !r.Loss.DType().IsFloat()) {
		return nil, p.fail(r.lastPos, "reduce it: sum(…), mean(…)", "the loss is a single number of a float type, and this is %s of shape %s", r.Loss.DType(), shapeText(shape))
	}
	if r.Loss.Name() == "" && !r.taken("loss") {
		r.Loss.Named("loss")
	}
	return &r.Run, nil
}

// value is what an expression yields: a tensor, several, or else a number.
type value struct {
	t    *backsweep.Tensor
	many []*backsweep.Tensor
	num  float64
}

type constant struct {
	dt   backsweep.DType
	bits uint64
}

type runner struct {
	Run
	p         *Program
	o         Options
	scopes    []map[string]value
	constants map[constant]*backsweep.Tensor
	steps     int
	last      value
	lastPos   token.Pos
}

func (r *runner) taken(name string) bool {
	for _, t := range r.Tensors {
		if t != nil && t.Name() == name {
			return true
		}
	}
	return false
}

// know enters a tensor of the tape under its id.
func (r *runner) know(t *backsweep.Tensor) *backsweep.Tensor {
	for len(r.Tensors) <= t.ID() {
		r.Tensors = append(r.Tensors, nil)
	}
	r.Tensors[t.ID()] = t
	return t
}

// step counts one op or statement, and ends a run that has gone on too long.
func (r *runner) step(pos token.Pos) error {
	if r.steps++; r.steps > r.o.MaxOps {
		return r.p.fail(pos, "record larger graphs with the Go library", "the program has gone on for %d ops and statements, which is the limit", r.o.MaxOps)
	}
	if r.o.Context != nil && r.steps%256 == 0 {
		if err := context.Cause(r.o.Context); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) block(list []ast.Stmt) error {
	for _, s := range list {
		if err := r.step(s.Pos()); err != nil {
			return err
		}
		if err := r.stmt(s); err != nil {
			return err
		}
	}
	return nil
}

// inner runs a block whose names end with it.
func (r *runner) inner(list []ast.Stmt) error {
	r.scopes = append(r.scopes, map[string]value{})
	err := r.block(list)
	r.scopes = r.scopes[:len(r.scopes)-1]
	return err
}

func (r *runner) stmt(s ast.Stmt) error {
	switch s := s.(type) {
	case *ast.ExprStmt:
		v, err := r.one(s.X)
		r.last, r.lastPos = v, s.Pos()
		return err
	case *ast.AssignStmt:
		return r.assign(s)
	case *ast.RangeStmt:
		return r.loop(s)
	case *ast.IfStmt:
		for {
			yes, err := r.condition(s.Cond)
			if err != nil {
				return err
			}
			if yes {
				return r.inner(s.Body.List)
			}
			switch next := s.Else.(type) {
			case *ast.BlockStmt:
				return r.inner(next.List)
			case *ast.IfStmt:
				s = next
				continue
			}
			return nil
		}
	}
	return nil
}

func (r *runner) assign(s *ast.AssignStmt) error {
	x := s.Rhs[0]
	if op, ok := assignOps[s.Tok]; ok {
		x = &ast.BinaryExpr{X: s.Lhs[0], OpPos: s.TokPos, Op: op, Y: x}
	}
	v, err := r.eval(x)
	if err != nil {
		return err
	}
	many := v.many
	if many == nil {
		many = []*backsweep.Tensor{v.t}
	}
	if len(many) != len(s.Lhs) {
		return r.p.fail(s.Lhs[0].Pos(), "name each of the tensors that the op yields, or _", "%d on the right, and %d on the left", len(many), len(s.Lhs))
	}
	for i, l := range s.Lhs {
		name := l.(*ast.Ident).Name
		one := value{t: many[i], num: v.num}
		r.last, r.lastPos = one, l.Pos()
		if name == "_" {
			continue
		}
		if one.t != nil && one.t.Name() == "" {
			one.t.Named(name)
		}
		r.set(name, one, s.Tok == token.DEFINE)
	}
	return nil
}

func (r *runner) set(name string, v value, define bool) {
	at := len(r.scopes) - 1
	if !define {
		for ; at > 0; at-- {
			if _, ok := r.scopes[at][name]; ok {
				break
			}
		}
	}
	r.scopes[at][name] = v
}

func (r *runner) loop(s *ast.RangeStmt) error {
	v, err := r.eval(s.X)
	if err != nil {
		return err
	}
	if v.t != nil || v.many != nil {
		return r.p.fail(s.X.Pos(), "write for i := range 5 { … }", "a loop runs over a number, not a tensor")
	}
	if v.num != math.Trunc(v.num) || math.Abs(v.num) > 1<<53 {
		return r.p.fail(s.X.Pos(), "write for i := range 5 { … }", "a loop runs over a whole number, not %v", v.num)
	}
	name := "pass"
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
		name = id.Name
	}
	r.scopes = append(r.scopes, map[string]value{})
	defer func() { r.scopes = r.scopes[:len(r.scopes)-1] }()
	for i := range int(v.num) {
		if err := r.step(s.Pos()); err != nil {
			return err
		}
		if s.Key != nil {
			r.scopes[len(r.scopes)-1][name] = value{num: float64(i)}
		}
		end := r.Tape.Scope(name + "=" + strconv.Itoa(i))
		err := r.inner(s.Body.List)
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// condition decides an if. It reads values; what it compares is recorded, but
// the comparison is not.
func (r *runner) condition(x ast.Expr) (bool, error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return r.condition(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			yes, err := r.condition(x.X)
			return !yes, err
		}
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			yes, err := r.condition(x.X)
			if err != nil || yes == (x.Op == token.LOR) {
				return yes, err
			}
			return r.condition(x.Y)
		case token.GTR, token.GEQ, token.LSS, token.LEQ, token.EQL, token.NEQ:
			a, err := r.scalar(x.X)
			if err != nil {
				return false, err
			}
			b, err := r.scalar(x.Y)
			if err != nil {
				return false, err
			}
			return compare(x.Op, a, b), nil
		}
	}
	return false, r.p.fail(x.Pos(), "write if max(x) > 0 { … }", "an if compares a scalar with a number")
}

func compare(op token.Token, a, b float64) bool {
	switch op {
	case token.GTR:
		return a > b
	case token.GEQ:
		return a >= b
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.EQL:
		return a == b
	default:
		return a != b
	}
}

// scalar is the number that an expression stands for now.
func (r *runner) scalar(x ast.Expr) (float64, error) {
	v, err := r.one(x)
	if err != nil || v.t == nil {
		return v.num, err
	}
	if v.t.Len() != 1 {
		return 0, r.p.fail(x.Pos(), "reduce it: max(x), sum(x)", "an if compares one number, and this has shape %s", shapeText(v.t.Shape()))
	}
	return v.t.Item(), nil
}

func shapeText(shape []int) string {
	parts := make([]string, len(shape))
	for i, d := range shape {
		parts[i] = strconv.Itoa(d)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// opError gives an error of the library its place in the program.
func (r *runner) opError(pos token.Pos, err error) error {
	var e *backsweep.Error
	if !errors.As(err, &e) {
		return err
	}
	what, hint := e.What, e.Do
	if e.Op != "" {
		what = e.Op + ": " + what
	}
	if hint == "see Ops()" {
		hint = "backsweep ops lists what it takes"
	}
	at := r.p.fail(pos, hint, "%s", what)
	at.cause = err
	return at
}
