package backsweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// OpInfo describes a row of the op table.
type OpInfo struct {
	Name     string     `json:"name"`
	Doc      string     `json:"doc"`
	Formula  string     `json:"formula,omitempty"` // of the gradient rule
	Tensors  int        `json:"tensors"`           // how many it takes; -1: one or more
	Outputs  int        `json:"outputs"`           // -1: decided by the attributes
	Attrs    []AttrInfo `json:"attrs,omitempty"`
	Reads    []string   `json:"reads,omitempty"`    // what its rules read back: "input 0", "output 0"
	NoGrad   []int      `json:"nograd,omitempty"`   // operands that carry no gradient
	Constant bool       `json:"constant,omitempty"` // no gradient flows through it
	Engine   bool       `json:"engine,omitempty"`   // gradient rules are written in it; it has no method
}

// AttrInfo describes one attribute of an op.
type AttrInfo struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"` // ints, int, float, bool, dtype, word, text
	Optional bool     `json:"optional,omitempty"`
	Default  string   `json:"default,omitempty"`
	Words    []string `json:"words,omitempty"`
}

// Attrs are the attributes of an op by name: []int, int, float64, bool, DType
// or string values, as [OpInfo] says.
type Attrs map[string]any

var kindNames = [...]string{pInts: "ints", pInt: "int", pFloat: "float", pBool: "bool", pDType: "dtype", pWord: "word", pText: "text", pCustom: "custom"}

// Ops lists the op table by name.
func Ops() []OpInfo {
	out := make([]OpInfo, 0, numOps)
	for i := range table {
		out = append(out, table[i].info())
	}
	slices.SortFunc(out, func(a, b OpInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (o *op) info() OpInfo {
	x := OpInfo{Name: o.name, Doc: o.doc, Formula: o.formula, Tensors: o.arity, Outputs: o.outs, Constant: o.is(constantOp), Engine: o.is(engineOnly)}
	for _, p := range o.params {
		x.Attrs = append(x.Attrs, AttrInfo{p.name, kindNames[p.kind], p.optional, p.def, p.words})
	}
	for i := range 8 {
		if o.reads.in(i) && (o.arity < 0 || i < o.arity) {
			x.Reads = append(x.Reads, "input "+strconv.Itoa(i))
		}
		if o.nograd.in(i) && (o.arity < 0 || i < o.arity) {
			x.NoGrad = append(x.NoGrad, i)
		}
	}
	for j := range 8 {
		if o.reads.out(j) {
			x.Reads = append(x.Reads, "output "+strconv.Itoa(j))
		}
	}
	return x
}

func (o *op) operandsText() string {
	switch o.arity {
	case -1:
		return "one tensor or more"
	case 1:
		return "one tensor"
	default:
		return strconv.Itoa(o.arity) + " tensors"
	}
}

// fill turns attributes by name into those of a node.
func (at Attrs) fill(o *op) (attrs, error) {
	var a attrs
	used := 0
	for i := range o.params {
		p := &o.params[i]
		v, ok := at[p.name]
		if !ok {
			if !p.optional {
				return a, fail(ErrValue, o.name, "see Ops()", "attribute %s is missing", p.name)
			}
			p.setDefault(&a)
			continue
		}
		used++
		if !p.set(&a, v) {
			return a, fail(ErrDType, o.name, "see Ops()", "attribute %s is %s, not %v", p.name, p.wants(), v)
		}
	}
	if used == len(at) {
		return a, nil
	}
	var extra []string
	for name := range at {
		if !slices.ContainsFunc(o.params, func(p param) bool { return p.name == name }) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	return a, fail(ErrValue, o.name, "see Ops()", "there is no attribute %s", strings.Join(extra, ", "))
}

func (p *param) wants() string {
	switch p.kind {
	case pInts:
		return "a list of ints"
	case pInt:
		return "an int"
	case pFloat:
		return "a number"
	case pBool:
		return "true or false"
	case pDType:
		return "an element type"
	case pText:
		return "a text"
	default:
		return "one of " + strings.Join(p.words, ", ")
	}
}

func (p *param) setDefault(a *attrs) {
	switch p.kind {
	case pInt:
		a.i, _ = strconv.Atoi(p.def)
	case pWord:
		a.i = max(0, slices.Index(p.words, p.def))
	case pFloat:
		a.f[p.slot], _ = strconv.ParseFloat(p.def, 64)
	case pBool:
		a.b = p.def == "true"
	}
}

func (p *param) set(a *attrs, v any) bool {
	switch v := v.(type) {
	case []int:
		if p.kind == pInts {
			a.ints[p.slot] = append([]int{}, v...)
			return true
		}
	case int:
		switch p.kind {
		case pInt:
			a.i = v
			return true
		case pInts:
			a.ints[p.slot] = []int{v}
			return true
		case pFloat:
			a.f[p.slot] = float64(v)
			return true
		}
	case float64:
		if p.kind == pFloat {
			a.f[p.slot] = v
			return true
		}
	case bool:
		if p.kind == pBool {
			a.b = v
			return true
		}
	case *Custom:
		if p.kind == pCustom && v != nil {
			a.custom = v
			return true
		}
	case DType:
		if p.kind == pDType {
			a.dtype = v
			return v <= Bool
		}
	case string:
		switch p.kind {
		case pWord:
			a.i = slices.Index(p.words, v)
			return a.i >= 0
		case pText:
			a.ints[p.slot] = intsOf(v)
			return true
		case pDType:
			dt, ok := ParseDType(v)
			a.dtype = dt
			return ok
		}
	}
	return false
}

// text prints the attributes of a node as in a program: "axes: [0], keepdims:
// true".
func (o *op) text(a *attrs) string {
	var b strings.Builder
	for i := range o.params {
		p := &o.params[i]
		if p.kind == pInts && a.ints[p.slot] == nil || p.kind == pBool && !a.b {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name)
		b.WriteString(": ")
		switch p.kind {
		case pInts:
			b.WriteString(intsText(a.ints[p.slot]))
		case pInt:
			fmt.Fprint(&b, a.i)
		case pFloat:
			fmt.Fprint(&b, a.f[p.slot])
		case pBool:
			fmt.Fprint(&b, a.b)
		case pDType:
			fmt.Fprint(&b, a.dtype)
		case pCustom:
			b.WriteString(a.custom.Name)
		case pWord:
			b.WriteString(p.words[a.i])
		case pText:
			b.WriteString(strconv.Quote(string(runesOf(a.ints[p.slot]))))
		}
	}
	return b.String()
}

func intsText(v []int) string {
	parts := make([]string, len(v))
	for i, x := range v {
		switch {
		case x == math.MaxInt:
			parts[i] = "end"
		default:
			parts[i] = strconv.Itoa(x)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
