package cases

import (
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
)

// row maps the files' names of ops to those of the table where they differ: by
// name, by the number of operands or by an attribute.
func (s *Step) row() string {
	switch {
	case s.Op == "gelu" && s.Attr["approx"] == "tanh":
		return "gelu_tanh"
	case s.Op == "cross_entropy" && len(s.In) == 3:
		return "weighted_cross_entropy"
	}
	return s.Op
}

// table is the op table by name.
var table = func() map[string]backsweep.OpInfo {
	t := map[string]backsweep.OpInfo{}
	for _, o := range backsweep.Ops() {
		if !o.Engine {
			t[o.Name] = o
		}
	}
	return t
}()

// offered returns ErrSkipped when the library does not have the op, or an
// attribute that is set.
func (s *Step) offered() error {
	if s.layer() != nil {
		return nil
	}
	o, ok := table[s.row()]
	if !ok {
		return fmt.Errorf("%w: %s", ErrSkipped, s.Op)
	}
	if o.Tensors >= 0 && len(s.In) != o.Tensors {
		return fmt.Errorf("%w: %s of %d tensors", ErrSkipped, s.Op, len(s.In))
	}
	known := map[string]bool{}
	for _, a := range o.Attrs {
		known[a.Name] = true
	}
	for name, v := range s.Attr {
		if !known[name] && v != nil && !s.special(name) {
			return fmt.Errorf("%w: %s of %s", ErrSkipped, name, s.Op)
		}
	}
	return nil
}

// special reports whether an attribute is read by row or attrs itself.
func (s *Step) special(name string) bool {
	return s.Op == "gelu" && name == "approx" || s.Op == "pad" && name == "pads"
}

// attrs turns a step's attributes into those of the op table: null entries
// become the defaults.
func (s *Step) attrs() backsweep.Attrs {
	if s.Op == "slice" {
		return s.slice()
	}
	at := backsweep.Attrs{}
	for _, a := range table[s.row()].Attrs {
		if v := s.Attr[a.Name]; v != nil {
			at[a.Name] = attr(v, a.Type)
		}
	}
	if s.Op == "pad" {
		var before, after []int
		pads, _ := s.Attr["pads"].([]any)
		for _, p := range pads {
			pair := ints(p.([]any), 0)
			before, after = append(before, pair[0]), append(after, pair[1])
		}
		at["before"], at["after"] = before, after
	}
	return at
}

// attr reads a value as the table's type of attribute has it. A whole number is
// an int where one is wanted; nan, inf and -inf are numbers.
func attr(v any, kind string) any {
	switch v := v.(type) {
	case []any:
		return ints(v, 0)
	case float64:
		if kind == "int" || kind == "ints" {
			return int(v)
		}
	case string:
		if kind == "float" {
			switch v {
			case "nan":
				return math.NaN()
			case "inf":
				return math.Inf(1)
			case "-inf":
				return math.Inf(-1)
			}
		}
	}
	return v
}

// slice reads start:stop:step, in which null stands for Python's default.
func (s *Step) slice() backsweep.Attrs {
	get := func(name string) []any { v, _ := s.Attr[name].([]any); return v }
	n := max(len(get("start")), len(get("stop")), len(get("step")))
	at := func(list []any, i int) any {
		if i < len(list) {
			return list[i]
		}
		return nil
	}
	start, stop, step := make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		step[i] = number(at(get("step"), i), 1)
		first, end := 0, backsweep.End
		if step[i] < 0 {
			first, end = backsweep.End, -backsweep.End
		}
		start[i], stop[i] = number(at(get("start"), i), first), number(at(get("stop"), i), end)
	}
	return backsweep.Attrs{"start": start, "stop": stop, "step": step}
}

func ints(v []any, null int) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = number(x, null)
	}
	return out
}

func number(v any, null int) int {
	if f, ok := v.(float64); ok {
		return int(f)
	}
	return null
}
