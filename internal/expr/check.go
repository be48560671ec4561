package expr

import (
	"go/ast"
	"go/token"
	"strings"
)

// checker walks a program once before it runs. It refuses what programs do not
// have, wherever it stands, tells inputs from names, and finds names that are
// consumed before they are produced.
type checker struct {
	p      *Program
	scopes []map[string]token.Pos // names and where each was produced
	ended  map[string]token.Pos   // names of blocks that are over
	depth  int
}

func (p *Program) check() error {
	c := &checker{p: p, scopes: []map[string]token.Pos{{}}, ended: map[string]token.Pos{}}
	var last ast.Stmt
	for _, s := range p.body {
		if _, empty := s.(*ast.EmptyStmt); !empty {
			last = s
		}
	}
	switch last.(type) {
	case nil:
		return p.errorAt(0, "for instance: y := tanh(x); sum(y)", "the program is empty")
	case *ast.ExprStmt, *ast.AssignStmt:
	default:
		return p.fail(last.Pos(), "end with its name, or an expression", "the last statement is the loss, and this one has no value")
	}
	return c.block(p.body, last)
}

func (c *checker) block(list []ast.Stmt, last ast.Stmt) error {
	for _, s := range list {
		if err := c.stmt(s, s == last); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) inner(list []ast.Stmt) error {
	if c.depth++; c.depth > MaxNesting {
		return c.tooDeep(list[0].Pos())
	}
	defer func() { c.depth-- }()
	c.scopes = append(c.scopes, map[string]token.Pos{})
	err := c.block(list, nil)
	c.leave()
	return err
}

// leave ends the innermost block.
func (c *checker) leave() {
	last := len(c.scopes) - 1
	for name, pos := range c.scopes[last] {
		c.ended[name] = pos
	}
	c.scopes = c.scopes[:last]
}

func (c *checker) tooDeep(pos token.Pos) error {
	return c.p.fail(pos, "give parts a name: h := …", "the program nests more than %d deep here", MaxNesting)
}

func (c *checker) stmt(s ast.Stmt, last bool) error {
	p := c.p
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return nil
	case *ast.ExprStmt:
		if err := c.expr(s.X); err != nil {
			return err
		}
		if !last {
			return p.fail(s.Pos(), "give it a name: h := …", "nothing receives this value; only the last statement, the loss, may be bare")
		}
		return nil
	case *ast.AssignStmt:
		return c.assign(s)
	case *ast.RangeStmt:
		return c.loop(s)
	case *ast.IfStmt:
		return c.branch(s)
	case *ast.ForStmt:
		return p.fail(s.Pos(), "write for i := range 5 { … }", "a bare for may never end")
	case *ast.IncDecStmt:
		return p.fail(s.TokPos, "write x = x + 1", "there is no %s here", s.Tok)
	case *ast.ReturnStmt:
		return p.fail(s.Pos(), "the last statement is the loss; leave return out", "there are no functions here")
	case *ast.BlockStmt:
		return p.fail(s.Pos(), "leave the braces out", "a block stands alone here")
	case *ast.DeclStmt:
		return p.fail(s.Pos(), "write name := …", "there are no declarations here")
	}
	return p.fail(s.Pos(), "statements are name := expr, for i := range 5 { … }, if x > 0 { … } else { … }", "this statement is not part of a program")
}

// assignOps are the operators that an assignment may carry.
var assignOps = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
}

func (c *checker) assign(s *ast.AssignStmt) error {
	p := c.p
	if s.Tok != token.DEFINE && s.Tok != token.ASSIGN {
		if _, ok := assignOps[s.Tok]; !ok {
			return p.fail(s.TokPos, "", "there is no operator %s here", s.Tok)
		}
	}
	if len(s.Rhs) != 1 {
		return p.fail(s.Rhs[1].Pos(), "write one statement for each", "several values are assigned at once")
	}
	if err := c.expr(s.Rhs[0]); err != nil {
		return err
	}
	for _, l := range s.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			return p.fail(l.Pos(), "tensors do not change; compute a new one under a name of its own", "only a name can stand on the left")
		}
		if err := c.produce(id, s.Tok); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) produce(id *ast.Ident, tok token.Token) error {
	p := c.p
	if err := c.name(id); err != nil || id.Name == "_" {
		return err
	}
	at, input := p.pos[id.Name]
	here := c.scopes[len(c.scopes)-1]
	if tok == token.DEFINE {
		switch _, known := here[id.Name]; {
		case input:
			return p.fail(at, "produce it first, or use another name", "%s is consumed here, before it is produced: that would be a cycle", id.Name)
		case known:
			return p.fail(id.Pos(), "write "+id.Name+" = … to give it another value", "%s has been produced already", id.Name)
		}
		here[id.Name] = id.Pos()
		return nil
	}
	switch {
	case c.known(id.Name):
	case input && len(c.scopes) > 1:
		// A loop or branch that goes on from an input; later uses see the last value.
		c.scopes[0][id.Name] = id.Pos()
	case input:
		return p.fail(at, "to go on from an input, give the result a name of its own: h := …", "%s is consumed here, before it is produced: that would be a cycle", id.Name)
	default:
		return p.fail(id.Pos(), "write "+id.Name+" := …", "%s has no value yet that = could replace", id.Name)
	}
	return nil
}

func (c *checker) known(name string) bool {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if _, ok := c.scopes[i][name]; ok {
			return true
		}
	}
	return false
}

// name refuses what looks like a name and is none.
func (c *checker) name(id *ast.Ident) error {
	switch id.Name {
	case "true", "false", "nil", "iota":
		return c.p.fail(id.Pos(), "", "%s is no tensor", id.Name)
	}
	return nil
}

func (c *checker) loop(s *ast.RangeStmt) error {
	p := c.p
	if s.Tok == token.ASSIGN || s.Value != nil {
		return p.fail(s.Pos(), "write for i := range 5 { … }", "a loop counts from 0 up, in a name of its own")
	}
	if err := c.expr(s.X); err != nil {
		return err
	}
	c.scopes = append(c.scopes, map[string]token.Pos{})
	defer c.leave()
	if s.Key != nil {
		id, ok := s.Key.(*ast.Ident)
		if !ok {
			return p.fail(s.Key.Pos(), "write for i := range 5 { … }", "a loop counts in a name")
		}
		if err := c.produce(id, token.DEFINE); err != nil {
			return err
		}
	}
	return c.inner(s.Body.List)
}

func (c *checker) branch(s *ast.IfStmt) error {
	for {
		if s.Init != nil {
			return c.p.fail(s.Init.Pos(), "put it on a line of its own before the if", "an if has a condition alone")
		}
		if err := c.expr(s.Cond); err != nil {
			return err
		}
		if err := c.inner(s.Body.List); err != nil {
			return err
		}
		switch next := s.Else.(type) {
		case nil:
			return nil
		case *ast.BlockStmt:
			return c.inner(next.List)
		case *ast.IfStmt:
			s = next
		}
	}
}

func (c *checker) exprs(list []ast.Expr) error {
	for _, x := range list {
		if err := c.expr(x); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) expr(x ast.Expr) error {
	if c.depth++; c.depth > MaxNesting {
		return c.tooDeep(x.Pos())
	}
	defer func() { c.depth-- }()
	p := c.p
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT || x.Kind == token.STRING {
			return nil
		}
		return p.fail(x.Pos(), "", "%s is no number", x.Value)
	case *ast.Ident:
		if x.Name == "_" {
			return p.fail(x.Pos(), "", "_ has no value")
		}
		if err := c.name(x); err != nil {
			return err
		}
		if _, input := p.pos[x.Name]; !input && !c.known(x.Name) {
			if _, over := c.ended[x.Name]; over {
				return p.fail(x.Pos(), "produce "+x.Name+" before the block with :=, and write "+x.Name+" = … inside it", "%s was produced inside a block, and ended with it", x.Name)
			}
			p.pos[x.Name] = x.Pos()
			p.inputs = append(p.inputs, x.Name)
		}
		return nil
	case *ast.ParenExpr:
		return c.expr(x.X)
	case *ast.UnaryExpr:
		if x.Op != token.SUB && x.Op != token.ADD && x.Op != token.NOT {
			return p.fail(x.Pos(), "", "there is no operator %s here", x.Op)
		}
		return c.expr(x.X)
	case *ast.StarExpr:
		return p.fail(x.Pos(), "for a power write square(x), pow_scalar(x, 3) or pow(x, y)", "there are no pointers, and no operator **, here")
	case *ast.BinaryExpr:
		return c.binary(x)
	case *ast.IndexExpr:
		return c.exprs([]ast.Expr{x.X, x.Index})
	case *ast.IndexListExpr:
		return p.fail(x.Lbrack, "write x[1][2]", "one position at a time")
	case *ast.SliceExpr:
		if x.Slice3 {
			return p.fail(x.Max.Pos(), "write slice(x, Range{1, 9, 2})", "a slice has no third part here")
		}
		for _, part := range []ast.Expr{x.X, x.Low, x.High} {
			if part == nil {
				continue
			}
			if err := c.expr(part); err != nil {
				return err
			}
		}
		return nil
	case *ast.CallExpr:
		return c.call(x)
	case *ast.SelectorExpr:
		return p.fail(x.Sel.Pos(), "a method is called: x."+x.Sel.Name+"()", "x.%s stands alone", x.Sel.Name)
	case *ast.CompositeLit:
		return p.fail(x.Pos(), "give values with --in x='[[1, 2], [3, 4]]'", "a literal stands only where an op takes attributes")
	case *ast.FuncLit:
		return p.fail(x.Pos(), "write its body out, or use for", "there are no functions here")
	case *ast.BadExpr:
		return p.fail(x.Pos(), "", "Go cannot parse this")
	}
	return p.fail(x.Pos(), "", "this expression is not part of a program")
}

func (c *checker) binary(x *ast.BinaryExpr) error {
	p := c.p
	switch x.Op {
	case token.ADD, token.SUB, token.MUL, token.QUO,
		token.GTR, token.GEQ, token.LSS, token.LEQ, token.EQL, token.NEQ, token.LAND, token.LOR:
	case token.XOR:
		return p.fail(x.OpPos, "for a power write square(x), pow_scalar(x, 3) or pow(x, y)", "there is no operator ^ here")
	default:
		return p.fail(x.OpPos, "there are + - * /, comparisons, and ops by name", "there is no operator %s here", x.Op)
	}
	if star, ok := x.Y.(*ast.StarExpr); ok && x.Op == token.MUL {
		what := "there is no operator ** here"
		if star.Star != x.OpPos+1 {
			what = "there are no pointers here"
		}
		return p.fail(x.OpPos, "for a power write square(x), pow_scalar(x, 3) or pow(x, y)", "%s", what)
	}
	return c.exprs([]ast.Expr{x.X, x.Y})
}

// call checks the operands of a call. Attributes are left to the op, since only
// it knows which they are; names among them are not inputs.
func (c *checker) call(x *ast.CallExpr) error {
	p := c.p
	if x.Ellipsis.IsValid() {
		return p.fail(x.Ellipsis, "write the values out", "there is no … here")
	}
	tensors := 0
	switch f := x.Fun.(type) {
	case *ast.Ident:
		info, ok := lookup(f.Name)
		if !ok {
			return p.noOp(f)
		}
		tensors = info.Tensors
	case *ast.SelectorExpr:
		m, ok := methods[f.Sel.Name]
		if !ok {
			return p.noMethod(f.Sel)
		}
		if err := c.expr(f.X); err != nil {
			return err
		}
		tensors = m.tensors - 1
	default:
		return p.fail(x.Pos(), "call an op by name: tanh(x), or a method: x.Tanh()", "this cannot be called")
	}
	for i, a := range x.Args {
		if tensors >= 0 && i >= tensors || isAttr(a) {
			if err := c.attr(a); err != nil {
				return err
			}
			continue
		}
		if err := c.expr(a); err != nil {
			return err
		}
	}
	return nil
}

// attr checks an attribute: a word, or an expression of numbers. Names in it
// must have been produced; a word that has not is left to the op.
func (c *checker) attr(x ast.Expr) error {
	switch x := x.(type) {
	case *ast.Ident, *ast.BasicLit:
		return nil
	case *ast.CompositeLit:
		if c.depth++; c.depth > MaxNesting {
			return c.tooDeep(x.Pos())
		}
		defer func() { c.depth-- }()
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			if err := c.attr(e); err != nil {
				return err
			}
		}
		return nil
	}
	return c.expr(x)
}

// isAttr tells a literal that can only be an attribute.
func isAttr(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CompositeLit:
		return true
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.Ident:
		return strings.EqualFold(x.Name, "true") || strings.EqualFold(x.Name, "false")
	}
	return false
}
