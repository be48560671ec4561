package nn

import (
	"fmt"
	"reflect"

	"github.com/backsweep/backsweep"
)

// State returns the tensors of a model by name, for files: its parameters by
// their own names, and every other tensor, such as the running statistics of a
// BatchNorm, by the first path of fields and indices that leads to it, as
// "Norms.0.Mean". They are the model's own tensors, not copies. A model is any
// value made of structs, pointers, slices, arrays, maps and interfaces, such as
// a Layer or a struct of layers; unexported fields count too. What a function
// value closes over cannot be seen, so it is not there.
//
// State panics with a *backsweep.Error where two tensors have one name.
func State(model any) map[string]*backsweep.Tensor {
	found, seen := map[string]*backsweep.Tensor{}, map[*backsweep.Tensor]bool{}
	w := walker{tensor: func(path string, x *backsweep.Tensor) *backsweep.Tensor {
		if seen[x] {
			return x
		}
		seen[x] = true
		name := path
		if x.Name() != "" {
			name = x.Name()
		}
		if found[name] != nil {
			misuse(backsweep.ErrValue, "State", "give each parameter a name of its own", fmt.Sprintf("two tensors have the name %q", name))
		}
		found[name] = x
		return x
	}}
	w.walk("", reflect.ValueOf(model))
	return found
}

// Clone returns a copy of a model that shares no tensor with it: parameters
// become parameters of the same names, and where two fields share a tensor, those
// of the copy share its copy. What has no tensors is shared, generators of random
// numbers among it, and so is what a function value closes over. So a service can
// answer from a copy while the original is trained.
//
// A tensor that is on a tape makes Clone panic with a *backsweep.Error.
func Clone[M any](model M) M {
	copies := map[*backsweep.Tensor]*backsweep.Tensor{}
	w := walker{tensor: func(path string, x *backsweep.Tensor) *backsweep.Tensor {
		if copies[x] == nil {
			switch {
			case x.Tape() != nil:
				misuse(backsweep.ErrValue, "Clone", "clone a model whose tensors are parameters or constants", fmt.Sprintf("%s is on a tape", path))
			case x.IsParam():
				copies[x] = backsweep.NewParam(x.Name(), x)
			default:
				copies[x] = x.Clone()
			}
		}
		return copies[x]
	}}
	v := reflect.ValueOf(&model).Elem()
	if c, changed := w.walk("", v); changed {
		v.Set(c)
	}
	return model
}
