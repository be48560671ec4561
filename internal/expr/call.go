package expr

import (
	"go/ast"
	"go/token"
	"strconv"

	"github.com/backsweep/backsweep"
)

// call applies an op by its table name or as a method.
func (r *runner) call(x *ast.CallExpr) (value, error) {
	pos := x.Fun.Pos()
	var in []value
	var m method
	args := x.Args
	switch f := x.Fun.(type) {
	case *ast.Ident:
		m = method{op: f.Name, tensors: ops[f.Name].Tensors}
	case *ast.SelectorExpr:
		pos = f.Sel.Pos()
		m = methods[f.Sel.Name]
		v, err := r.tensor(f.X)
		if err != nil {
			return v, err
		}
		switch f.Sel.Name {
		case "Index":
			if len(args) != 1 {
				return v, r.p.fail(pos, "write x.Index(0)", "Index takes one position")
			}
			return r.index(v, pos, args[0])
		case "T":
			return r.transposeLast(pos, v, args)
		}
		in = append(in, v)
	}
	for len(args) > 0 && (m.tensors < 0 || len(in) < m.tensors) && !isAttr(args[0]) {
		if lit, ok := args[0].(*ast.BasicLit); ok && m.tensors < 0 && lit.Kind == token.INT {
			break // an axis after any number of tensors
		}
		v, err := r.one(args[0])
		if err != nil {
			return v, err
		}
		if v.t == nil && m.tensors < 0 {
			break
		}
		in, args = append(in, v), args[1:]
	}
	if m.tensors >= 0 && len(in) < m.tensors || len(in) == 0 {
		return value{}, r.p.fail(x.Rparen, "", "%s takes %s, and %d are given", m.op, tensorsText(m.tensors), len(in))
	}
	at, err := r.attributes(ops[m.op], m.fixed, args)
	if err != nil {
		return value{}, err
	}
	return r.apply(pos, m.op, at, in...)
}

func tensorsText(n int) string {
	switch n {
	case -1:
		return "one tensor or more"
	case 1:
		return "one tensor"
	}
	return strconv.Itoa(n) + " tensors"
}

// transposeLast swaps the last two axes.
func (r *runner) transposeLast(pos token.Pos, v value, args []ast.Expr) (value, error) {
	n := v.t.Rank()
	if n < 2 {
		return v, r.p.fail(pos, "reshape it to two axes first", "T needs two axes, not shape %s", shapeText(v.t.Shape()))
	}
	if len(args) > 0 {
		return v, r.p.fail(args[0].Pos(), "write transpose(x, 1, 0)", "T takes nothing")
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = i
	}
	perm[n-2], perm[n-1] = n-1, n-2
	return r.apply(pos, "transpose", backsweep.Attrs{"perm": perm}, v)
}

// attributes reads what follows the tensors of a call: values by position, in
// the order of the op's row, and a last literal with values by name. A list of
// ints takes as many numbers as there are.
func (r *runner) attributes(info backsweep.OpInfo, fixed backsweep.Attrs, args []ast.Expr) (backsweep.Attrs, error) {
	at := backsweep.Attrs{}
	for k, v := range fixed {
		at[k] = v
	}
	if info.Name == "slice" && len(args) > 0 && isRange(args[0]) {
		return at, r.ranges(at, args)
	}
	var named *ast.CompositeLit
	if n := len(args); n > 0 {
		if lit, ok := args[n-1].(*ast.CompositeLit); ok && !isList(lit) {
			named, args = lit, args[:n-1]
		}
	}
	for _, a := range info.Attrs {
		if _, set := at[a.Name]; set {
			continue
		}
		v, rest, err := r.positional(a, args)
		if err != nil {
			return nil, err
		}
		if args = rest; v != nil {
			at[a.Name] = v
		}
	}
	if len(args) > 0 {
		return nil, r.p.fail(args[0].Pos(), "it takes "+takes(info), "%s has no use for this", info.Name)
	}
	if named != nil {
		if err := r.named(info, at, named); err != nil {
			return nil, err
		}
	}
	for _, a := range info.Attrs {
		if _, set := at[a.Name]; !set && !a.Optional && a.Type == "ints" {
			at[a.Name] = []int{} // a shape of no axes
		}
	}
	return at, nil
}

// takes says what an op takes, as a call of it.
func takes(info backsweep.OpInfo) string {
	if len(info.Attrs) == 0 {
		return tensorsText(info.Tensors) + " alone"
	}
	s := tensorsText(info.Tensors)
	for _, a := range info.Attrs {
		s += ", " + a.Name + " (" + a.Type + ")"
	}
	return s
}

// positional reads an attribute from the front of the arguments; nil when what
// stands there is not for it.
func (r *runner) positional(a backsweep.AttrInfo, args []ast.Expr) (any, []ast.Expr, error) {
	if len(args) == 0 {
		return nil, args, nil
	}
	if lit, ok := args[0].(*ast.CompositeLit); ok {
		if a.Type != "ints" {
			return nil, args, nil
		}
		list, err := r.list(lit)
		return list, args[1:], err
	}
	if word, ok := r.word(args[0]); ok {
		switch {
		case a.Type == "bool" && (word == "true" || word == "false"):
			return word == "true", args[1:], nil
		case a.Type == "word" || a.Type == "text" || a.Type == "dtype":
			return word, args[1:], nil
		}
		return nil, args, nil
	}
	switch a.Type {
	case "ints":
		var list []int
		for len(args) > 0 {
			if _, isWord := r.word(args[0]); isWord || isAttr(args[0]) {
				break
			}
			n, err := r.whole(args[0])
			if err != nil {
				return nil, args, err
			}
			list, args = append(list, n), args[1:]
		}
		return list, args, nil
	case "int":
		n, err := r.whole(args[0])
		return n, args[1:], err
	case "float":
		v, err := r.one(args[0])
		if err == nil && v.t != nil {
			err = r.p.fail(args[0].Pos(), "", "attribute %s is a number, and this is a tensor", a.Name)
		}
		return v.num, args[1:], err
	}
	return nil, args, nil
}

// word is a name that no statement and no input has, or a string.
func (r *runner) word(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.Ident:
		for _, s := range r.scopes {
			if _, ok := s[x.Name]; ok {
				return "", false
			}
		}
		return x.Name, true
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			s, err := strconv.Unquote(x.Value)
			return s, err == nil
		}
	}
	return "", false
}

// named reads opt{axis: 0, keepdims: true}.
func (r *runner) named(info backsweep.OpInfo, at backsweep.Attrs, lit *ast.CompositeLit) error {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return r.p.fail(e.Pos(), "write opt{axis: 0, keepdims: true}", "values in a literal have names")
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok {
			return r.p.fail(kv.Key.Pos(), "write opt{axis: 0, keepdims: true}", "this is no name of an attribute")
		}
		a, ok := attrOf(info, key.Name)
		if !ok {
			return r.p.fail(key.Pos(), "it takes "+takes(info), "%s has no attribute %s", info.Name, key.Name)
		}
		if _, set := at[a.Name]; set {
			return r.p.fail(key.Pos(), "", "attribute %s is given twice", a.Name)
		}
		v, rest, err := r.positional(a, []ast.Expr{kv.Value})
		if err != nil {
			return err
		}
		if v == nil || len(rest) > 0 {
			return r.p.fail(kv.Value.Pos(), "", "attribute %s is of type %s, and this is not", a.Name, a.Type)
		}
		at[a.Name] = v
	}
	return nil
}

// attrOf finds an attribute by name; axis stands for axes, and the other way
// round.
func attrOf(info backsweep.OpInfo, name string) (backsweep.AttrInfo, bool) {
	for _, a := range info.Attrs {
		if a.Name == name || a.Name == "axes" && name == "axis" || a.Name == "axis" && name == "axes" {
			return a, true
		}
	}
	return backsweep.AttrInfo{}, false
}

// isList tells a list of ints, []int{0, 1} or {0, 1}, from values by name.
func isList(lit *ast.CompositeLit) bool {
	if _, array := lit.Type.(*ast.ArrayType); array {
		return true
	}
	return lit.Type == nil
}

func (r *runner) list(lit *ast.CompositeLit) ([]int, error) {
	list := []int{}
	for _, e := range lit.Elts {
		n, err := r.whole(e)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// isRange tells Range{1, 3, 1} and All, as Tensor.Slice takes them.
func isRange(x ast.Expr) bool {
	if lit, ok := x.(*ast.CompositeLit); ok {
		x = lit.Type
	}
	id, ok := x.(*ast.Ident)
	return ok && (id.Name == "Range" || id.Name == "All")
}

func (r *runner) ranges(at backsweep.Attrs, args []ast.Expr) error {
	var start, stop, step []int
	for _, a := range args {
		if !isRange(a) {
			return r.p.fail(a.Pos(), "write slice(x, Range{1, 3, 1}, All)", "each axis takes a Range or All")
		}
		one := []int{0, backsweep.End, 1}
		if lit, ok := a.(*ast.CompositeLit); ok {
			if len(lit.Elts) < 2 || len(lit.Elts) > 3 {
				return r.p.fail(a.Pos(), "write Range{1, 3, 1}, or Range{1, End, 1}", "a Range is a start, a stop and a step")
			}
			for i, e := range lit.Elts {
				if id, ok := e.(*ast.Ident); ok && id.Name == "End" {
					one[i] = backsweep.End
					continue
				}
				n, err := r.whole(e)
				if err != nil {
					return err
				}
				one[i] = n
			}
		}
		start, stop, step = append(start, one[0]), append(stop, one[1]), append(step, one[2])
	}
	at["start"], at["stop"], at["step"] = start, stop, step
	return nil
}
