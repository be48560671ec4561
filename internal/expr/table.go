package expr

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"

	"github.com/backsweep/backsweep"
)

var ops = func() map[string]backsweep.OpInfo {
	m := map[string]backsweep.OpInfo{}
	for _, o := range backsweep.Ops() {
		m[o.Name] = o
	}
	return m
}()

func lookup(name string) (backsweep.OpInfo, bool) {
	o, ok := ops[name]
	return o, ok
}

// method is a method of backsweep.Tensor that applies an op.
type method struct {
	op      string
	tensors int // the receiver included
	fixed   backsweep.Attrs
}

// methods are those of the Go type: one whose name is that of an op, but for
// capitals and underscores, and the few that stand for an op with attributes.
var methods = func() map[string]method {
	plain := map[string]backsweep.OpInfo{}
	for name, o := range ops {
		if !o.Engine && o.Tensors > 0 {
			plain[strings.ReplaceAll(name, "_", "")] = o
		}
	}
	m := map[string]method{
		"T":                {op: "transpose", tensors: 1},
		"Index":            {op: "slice", tensors: 1},
		"EmbeddingBagSum":  {op: "embedding_bag", tensors: 3, fixed: backsweep.Attrs{"mode": "sum"}},
		"CrossEntropySum":  {op: "cross_entropy", tensors: 2, fixed: backsweep.Attrs{"reduction": "sum"}},
		"CrossEntropyEach": {op: "cross_entropy", tensors: 2, fixed: backsweep.Attrs{"reduction": "none"}},
	}
	typ := reflect.TypeFor[*backsweep.Tensor]()
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		base, keep := strings.CutSuffix(name, "Keep")
		o, ok := plain[strings.ToLower(base)]
		if _, taken := m[name]; !ok || taken {
			continue
		}
		m[name] = method{op: o.Name, tensors: o.Tensors}
		if keep {
			m[name] = method{op: o.Name, tensors: o.Tensors, fixed: backsweep.Attrs{"keepdims": true}}
		}
	}
	return m
}()

func (p *Program) noOp(f *ast.Ident) error {
	hint := "backsweep ops lists them"
	var names []string
	for name := range ops {
		names = append(names, name)
	}
	if near := nearest(f.Name, names); near != "" {
		hint = "there is " + near
	}
	return p.fail(f.Pos(), hint, "there is no op %s", f.Name)
}

func (p *Program) noMethod(f *ast.Ident) error {
	hint := "ops can be called by their table name, too: tanh(x)"
	var names []string
	for name := range methods {
		names = append(names, name)
	}
	if near := nearest(f.Name, names); near != "" {
		hint = "there is " + near
	}
	return p.fail(f.Pos(), hint, "tensors have no method %s", f.Name)
}

// nearest is the name with the fewest edits from what was written, if that is
// at most a third of its letters.
func nearest(name string, names []string) string {
	slices.Sort(names)
	best, least := "", 1+max(1, len(name)/3)
	for _, n := range names {
		if d := edits(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// edits is the distance of V. Levenshtein (1966), in which two neighbours that
// changed places count as one edit too. Names are short.
func edits(a, b string) int {
	a, b = a[:min(len(a), 32)], b[:min(len(b), 32)]
	var rows [3][33]int
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		rows[2][0] = i
		for j := 1; j <= len(b); j++ {
			d := min(rows[1][j]+1, rows[2][j-1]+1)
			if a[i-1] == b[j-1] {
				d = min(d, rows[1][j-1])
			} else {
				d = min(d, rows[1][j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[0][j-2]+1)
			}
			rows[2][j] = d
		}
		rows[0], rows[1] = rows[1], rows[2]
	}
	return rows[1][len(b)]
}
