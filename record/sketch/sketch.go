// Package sketch builds records from a few words a line, for tests and
// documentation that need a graph but no tensors' values:
//
//	param w 3x4
//	input x 2x3
//	scope tower
//	h:2x4 matmul x w
//	y tanh h
//	scope
//	loss: sum y
//
// A line is "param", "input" or "const" with a name and a shape; "scope" with
// the path of the scope that the lines after it are in; or a node: its outputs,
// its op and its operands. An output has the shape of the first operand unless
// it says its own after a colon, which nothing may follow, for a scalar.
// Outputs are joined by commas. An output called "_" has no name.
package sketch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep/record"
)

// keeps says which operands and outputs the gradient rule of an op reads; other
// ops' rules read nothing.
var keeps = map[string]struct{ inputs, outputs bool }{
	"mul": {inputs: true}, "matmul": {inputs: true}, "dot": {inputs: true}, "div": {inputs: true}, "linear": {inputs: true},
	"square": {inputs: true}, "relu": {inputs: true}, "tanh": {outputs: true}, "exp": {outputs: true}, "softmax": {outputs: true},
	"unit": {inputs: true, outputs: true}, "xent": {inputs: true},
}

// Record builds a record without a sweep. It panics on a text that is wrong.
func Record(text string) *record.Record {
	s := &sketch{rec: &record.Record{Format: record.Format, Version: record.Version, Scopes: []record.Scope{{Parent: -1}}},
		named: map[string]int{}, scopes: map[string]int{"": 0}}
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		s.line = i + 1
		switch words[0] {
		case "param", "input", "const":
			kind := map[string]record.Kind{"param": record.Param, "input": record.Input, "const": record.Constant}[words[0]]
			shape := ""
			if len(words) > 2 {
				shape = words[2]
			}
			s.named[words[1]] = s.tensor(record.Tensor{Name: words[1], Kind: kind, Producer: -1, Shape: s.shape(shape), Watched: kind == record.Param})
		case "scope":
			s.enter(strings.Join(words[1:], " "))
		default:
			if len(words) < 2 {
				s.fail("a node needs an op")
			}
			s.node(strings.Split(words[0], ","), words[1], words[2:])
		}
	}
	return s.rec
}

type sketch struct {
	rec    *record.Record
	named  map[string]int
	scopes map[string]int
	scope  int
	line   int
}

func (s *sketch) fail(what string, args ...any) {
	panic(fmt.Sprintf("sketch: line %d: %s", s.line, fmt.Sprintf(what, args...)))
}

func (s *sketch) shape(text string) []int {
	shape := []int{}
	if text == "" {
		return shape
	}
	for _, d := range strings.Split(text, "x") {
		n, err := strconv.Atoi(d)
		if err != nil {
			s.fail("%q is no shape", text)
		}
		shape = append(shape, n)
	}
	return shape
}

func (s *sketch) tensor(t record.Tensor) int {
	t.ID, t.DType, t.Scope, t.Storage = len(s.rec.Tensors), "float32", s.scope, len(s.rec.Storages)
	t.Bytes = 4
	for _, d := range t.Shape {
		t.Bytes *= int64(d)
	}
	s.rec.Storages = append(s.rec.Storages, record.Storage{ID: t.Storage, Bytes: t.Bytes, Leaf: t.Kind != record.Computed})
	s.rec.Tensors = append(s.rec.Tensors, t)
	return t.ID
}

func (s *sketch) enter(path string) {
	s.scope = 0
	joined := ""
	for _, name := range strings.Split(path, "/") {
		if name == "" {
			continue
		}
		joined += "/" + name
		id, ok := s.scopes[joined]
		if !ok {
			id = len(s.rec.Scopes)
			s.scopes[joined] = id
			s.rec.Scopes = append(s.rec.Scopes, record.Scope{ID: id, Parent: s.scope, Name: name})
		}
		s.scope = id
	}
}

func (s *sketch) node(outputs []string, op string, operands []string) {
	n := record.Node{ID: len(s.rec.Nodes), Op: op, Scope: s.scope, Site: -1, Inputs: []int{}}
	for _, name := range operands {
		if attrs, ok := strings.CutPrefix(name, "@"); ok {
			n.Attrs = attrs
			continue
		}
		t, ok := s.named[name]
		if !ok {
			s.fail("nothing is called %q", name)
		}
		n.Inputs = append(n.Inputs, t)
	}
	for k, out := range outputs {
		name, shape, own := strings.Cut(out, ":")
		t := record.Tensor{Kind: record.Computed, Producer: n.ID, Output: k, Shape: []int{}}
		if own {
			t.Shape = s.shape(shape)
		} else if len(n.Inputs) > 0 {
			t.Shape = slices.Clone(s.rec.Tensors[n.Inputs[0]].Shape)
		}
		if name != "_" {
			t.Name = name
		}
		id := s.tensor(t)
		n.Outputs = append(n.Outputs, id)
		s.named[name] = id
	}
	for slot, t := range n.Inputs {
		if keeps[op].inputs {
			n.Saves = append(n.Saves, record.Save{Tensor: t, Role: fmt.Sprintf("input %d", slot), Reason: "the rule of " + op + " reads it"})
		}
	}
	for k, t := range n.Outputs {
		if keeps[op].outputs {
			n.Saves = append(n.Saves, record.Save{Tensor: t, Role: fmt.Sprintf("output %d", k), Reason: "the rule of " + op + " reads it"})
		}
	}
	s.rec.Nodes = append(s.rec.Nodes, n)
}
