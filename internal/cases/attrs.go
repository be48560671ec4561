package cases

import (
	"fmt"

	"github.com/backsweep/backsweep"
)

// offered returns ErrSkipped when the library does not have the op, or an
// attribute that is set.
func (s *Step) offered() error {
	for _, o := range backsweep.Ops() {
		if o.Name != s.Op || o.Engine {
			continue
		}
		if o.Tensors >= 0 && len(s.In) != o.Tensors {
			return fmt.Errorf("%w: %s of %d tensors", ErrSkipped, s.Op, len(s.In))
		}
		known := map[string]bool{}
		for _, a := range o.Attrs {
			known[a.Name] = true
		}
		for name, v := range s.Attr {
			if !known[name] && !neutral(s.Op, name, v) {
				return fmt.Errorf("%w: %s of %s", ErrSkipped, name, s.Op)
			}
		}
		return nil
	}
	return fmt.Errorf("%w: %s", ErrSkipped, s.Op)
}

// neutral reports whether an attribute that the library does not have is set to
// what it does anyway.
func neutral(op, name string, v any) bool {
	switch op + " " + name {
	case "gelu approx":
		return v == "none"
	case "cross_entropy label_smoothing":
		return v == 0.0
	}
	return v == nil
}

// attrs turns a step's attributes into those of the op table: null entries
// become the defaults.
func (s *Step) attrs() backsweep.Attrs {
	at := backsweep.Attrs{}
	if s.Op == "slice" {
		return s.slice()
	}
	for name, v := range s.Attr {
		switch v := v.(type) {
		case nil:
		case []any:
			at[name] = ints(v, 0)
		case float64:
			at[name] = v
			if name == "axis" {
				at[name] = int(v)
			}
		default:
			if !neutral(s.Op, name, v) {
				at[name] = v
			}
		}
	}
	if s.Op == "cross_entropy" {
		delete(at, "label_smoothing")
	}
	return at
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
