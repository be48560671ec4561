// Package cases runs the case files of testdata/cases through the public API.
// The cases restate faults of automatic differentiation libraries, as reported
// by their users, with small numbers; each says where it comes from.
package cases

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/backsweep/backsweep"
)

// Head is what every case has.
type Head struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Kind  string    `json:"kind"`
	Type  string    `json:"type"`  // graph, optim, schedule, clip or format
	Level string    `json:"level"` // must, convention or stretch
	Tol   Tolerance `json:"tol"`
}

// Graph is a case of type graph: a small program, and what it has to give.
type Graph struct {
	Head
	Inputs map[string]Tensor `json:"inputs"`
	Graph  []Step            `json:"graph"`
	Seed   map[string]Tensor `json:"seed"` // cotangents, by root
	Expect Expect            `json:"expect"`
}

// Step is one op: its outputs and operands by name, and its attributes.
type Step struct {
	Out  []string       `json:"out"`
	Op   string         `json:"op"`
	In   []string       `json:"in"`
	Attr map[string]any `json:"attr"`
}

// Expect is what a case wants. Of the alternatives in outputs_any and
// grads_any one must match as a whole.
type Expect struct {
	Outputs      map[string]Tensor   `json:"outputs"`
	OutputsAny   []map[string]Tensor `json:"outputs_any"`
	Grads        map[string]Tensor   `json:"grads"`
	GradsAny     []map[string]Tensor `json:"grads_any"`
	ZeroOrAbsent []string            `json:"zero_or_absent"`
	HVP          *struct {
		V      map[string]Tensor `json:"v"`
		Result map[string]Tensor `json:"result"`
	} `json:"hvp"`
	JVP *struct {
		Tangent map[string]Tensor `json:"tangent"`
		Result  map[string]Tensor `json:"result"`
	} `json:"jvp"`
	Error       string `json:"error"`
	AcceptError string `json:"accept_error"`
	StrictDType bool   `json:"strict_dtype"`
}

// Tolerance lets v pass for e when |v-e| ≤ ATol + RTol·|e|.
type Tolerance struct {
	RTol float64 `json:"rtol"`
	ATol float64 `json:"atol"`
}

func (tol Tolerance) match(v, e float64) bool {
	return v == e || math.IsNaN(v) && math.IsNaN(e) || math.Abs(v-e) <= tol.ATol+float64(tol.RTol*math.Abs(e)) && !math.IsInf(e, 0)
}

// Tensor is a value in a file.
type Tensor struct {
	DType string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Data  []Number `json:"data"`
	Grad  bool     `json:"grad"`
}

// Number is an element: a number, true or false, or the words nan, inf, -inf.
type Number float64

// UnmarshalJSON reads an element.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"nan"`:
		*n = Number(math.NaN())
	case `"inf"`:
		*n = Number(math.Inf(1))
	case `"-inf"`:
		*n = Number(math.Inf(-1))
	case "true":
		*n = 1
	case "false":
		*n = 0
	default:
		return json.Unmarshal(b, (*float64)(n))
	}
	return nil
}

// value makes the tensor.
func (x Tensor) value() *backsweep.Tensor {
	d := make([]float64, len(x.Data))
	for i, v := range x.Data {
		d[i] = float64(v)
	}
	dt, ok := backsweep.ParseDType(x.DType)
	if !ok {
		panic("cases: no element type " + x.DType)
	}
	return backsweep.New(d, append([]int{}, x.Shape...)...).Cast(dt)
}

// matchAll compares a tensor with what is expected of it.
func (tol Tolerance) matchAll(what string, got *backsweep.Tensor, want Tensor) error {
	if !slices.Equal(got.Shape(), want.Shape) {
		return fmt.Errorf("%s has shape %v, want %v", what, got.Shape(), want.Shape)
	}
	for i, v := range got.Float64s() {
		if e := float64(want.Data[i]); !tol.match(v, e) {
			return fmt.Errorf("%s: element %d is %v, want %v", what, i, v, e)
		}
	}
	return nil
}
