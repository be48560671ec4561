// Package state keeps tensors by name in files: the parameters of a model, what
// an optimizer keeps between steps, or both in one file.
//
//	d := state.Dict{}
//	d.Add("model/", nn.State(model))
//	d.Add("adam/", adam.State())
//	err := state.Save("run.safetensors", d)
//
// and, into a model and an optimizer that were made alike,
//
//	d, err := state.Load("run.safetensors")
//	err = state.Restore(nn.State(model), d.Under("model/"))
//	err = adam.SetState(d.Under("adam/"))
//
// A training that goes on from there is, bit for bit, the one that never
// stopped.
//
// Files are safetensors or NumPy's npz, by the end of their name. A file appears
// whole or not at all: a process that is killed while it saves leaves the old
// one. Reading trusts nothing: a file that is cut off, contradicts itself or
// claims more than it has is a [*FormatError] that says what is wrong and where,
// and nothing is allocated on the word of a header that the file does not cover.
package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/fit"
)

// Dict is tensors by name.
type Dict map[string]*backsweep.Tensor

// Names are sorted.
func (d Dict) Names() []string { return slices.Sorted(maps.Keys(d)) }

// Add puts tensors into the dictionary, each name after the prefix. It panics
// with a *backsweep.Error where a name is taken.
func (d Dict) Add(prefix string, from map[string]*backsweep.Tensor) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if d[prefix+name] != nil {
			panic(misuse("Dict.Add", "use another prefix", fmt.Sprintf("the name %q is taken", prefix+name)))
		}
		d[prefix+name] = from[name]
	}
}

// Under returns the tensors whose names begin with the prefix, by what follows
// it.
func (d Dict) Under(prefix string) Dict {
	under := Dict{}
	for name, x := range d {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			under[rest] = x
		}
	}
	return under
}

// Mismatch is everything in which a dictionary differs from what was to be
// filled by it.
type Mismatch = fit.Mismatch

// Option lets [Restore] overlook something.
type Option func(*Mismatch)

// AllowMissing leaves tensors as they are for which there is no new value.
func AllowMissing() Option { return func(m *Mismatch) { m.Missing = nil } }

// AllowUnexpected leaves out new values for which there is no tensor.
func AllowUnexpected() Option { return func(m *Mismatch) { m.Unexpected = nil } }

// Restore copies values into the tensors of their names, which are parameters or
// other leaves, such as running statistics. The names must be the same on both
// sides, and so must shapes and element types: otherwise the error is a
// [*Mismatch] that lists all that is missing, unexpected or unlike, and nothing
// was changed.
func Restore(into, from Dict, opts ...Option) (err error) {
	defer backsweep.Catch(&err)
	if e := fit.Check(into, from); e != nil {
		m := e.(*Mismatch)
		for _, o := range opts {
			o(m)
		}
		if m.Missing != nil || m.Unexpected != nil || m.Unlike != nil {
			return fmt.Errorf("state: Restore: %w", m)
		}
	}
	for _, name := range into.Names() {
		switch x := from[name]; {
		case x == nil:
		case x.DType() == backsweep.Float32:
			set[float32](into[name], x)
		case x.DType() == backsweep.Float64:
			set[float64](into[name], x)
		case x.DType() == backsweep.Int64:
			set[int64](into[name], x)
		default:
			set[bool](into[name], x)
		}
	}
	return nil
}

func set[T backsweep.Element](into, from *backsweep.Tensor) {
	backsweep.SetData(into, backsweep.Data[T](from))
}

func misuse(op, do, what string) *backsweep.Error {
	return &backsweep.Error{Kind: backsweep.ErrValue, Op: op, What: what, Do: do, Node: -1, Consumer: -1}
}
