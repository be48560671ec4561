package record

import (
	"fmt"
	"math"
)

// A record's ids fit an int32, as package order has them.
const maxCount = math.MaxInt32 - 1

// validator carries what the checks of one record share.
type validator struct {
	r *Record
	// made[t] counts 1 for a leaf and for an output of a node passed so far.
	made []bool
}

// Validate reports the first thing that is wrong with the record, as a
// *PlaceError or a *VersionError. A record that passes can be drawn, questioned
// and compared without further checks. The time is linear in the record.
func (r *Record) Validate() error {
	v := &validator{r: r}
	for _, check := range []func() error{
		v.header, v.scopes, v.storages, v.sites, v.tensors, v.nodes, v.producers, v.sweep,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func bad(place, what string, args ...any) error {
	return &PlaceError{Place: place, What: fmt.Sprintf(what, args...)}
}

func (v *validator) header() error {
	r := v.r
	if r.Format != Format {
		return bad("format", "it is %.40q, and a record has %q; this file is something else", r.Format, Format)
	}
	if r.Version != Version {
		return &VersionError{Version: r.Version}
	}
	for _, part := range []struct {
		name string
		n    int
	}{{"tensors", len(r.Tensors)}, {"nodes", len(r.Nodes)}, {"scopes", len(r.Scopes)}, {"storages", len(r.Storages)}, {"sites", len(r.Sites)}} {
		if part.n > maxCount {
			return bad(part.name, "there are %d, and a record has at most %d", part.n, maxCount)
		}
	}
	return nil
}

// scopes checks that the scopes form a tree: a parent stands before its
// children, so that no cycle is possible.
func (v *validator) scopes() error {
	scopes := v.r.Scopes
	if len(scopes) == 0 {
		return bad("scopes", "there are none; scopes[0] must be the root")
	}
	if root := scopes[0]; root.ID != 0 || root.Parent != -1 || root.Name != "" {
		return bad("scopes[0]", "the root has id 0, parent -1 and no name, not id %d, parent %d and name %.40q", root.ID, root.Parent, root.Name)
	}
	for i, s := range scopes[1:] {
		i++
		if s.ID != i {
			return bad(fmt.Sprintf("scopes[%d].id", i), "it is %d; ids are dense, so it must be %d", s.ID, i)
		}
		if s.Parent < 0 || s.Parent >= i {
			return bad(fmt.Sprintf("scopes[%d].parent", i), "scope %d does not stand before scope %d", s.Parent, i)
		}
	}
	return nil
}

func (v *validator) storages() error {
	for i, s := range v.r.Storages {
		if s.ID != i {
			return bad(fmt.Sprintf("storages[%d].id", i), "it is %d; ids are dense, so it must be %d", s.ID, i)
		}
		if s.Bytes < 0 {
			return bad(fmt.Sprintf("storages[%d].bytes", i), "it is %d", s.Bytes)
		}
	}
	return nil
}

func (v *validator) sites() error {
	for i, s := range v.r.Sites {
		if s.Line < 0 {
			return bad(fmt.Sprintf("sites[%d].line", i), "it is %d", s.Line)
		}
	}
	return nil
}

var elementSizes = map[string]int64{"float32": 4, "float64": 8, "int64": 8, "bool": 1}

func (v *validator) tensors() error {
	v.made = make([]bool, len(v.r.Tensors))
	for i := range v.r.Tensors {
		if field, what := v.tensor(i, &v.r.Tensors[i]); what != "" {
			return bad(fmt.Sprintf("tensors[%d]%s", i, field), "%s", what)
		}
		v.made[i] = v.r.Tensors[i].Producer < 0
	}
	return nil
}

// tensor checks what a tensor says by itself, and returns the field and what is
// wrong with it.
func (v *validator) tensor(i int, t *Tensor) (field, what string) {
	r := v.r
	if t.ID != i {
		return ".id", fmt.Sprintf("it is %d; ids are dense, so it must be %d", t.ID, i)
	}
	switch t.Kind {
	case Param, Input, Constant:
		if t.Producer != -1 {
			return ".producer", fmt.Sprintf("it is %d, but a tensor of kind %q is a leaf, whose producer is -1", t.Producer, t.Kind)
		}
	case Computed:
		if t.Producer < 0 || t.Producer >= len(r.Nodes) {
			return ".producer", fmt.Sprintf("node %d does not exist", t.Producer)
		}
	default:
		return ".kind", fmt.Sprintf("%.40q is not a kind; the kinds are param, input, constant and computed", t.Kind)
	}
	size, ok := elementSizes[t.DType]
	if !ok {
		return ".dtype", fmt.Sprintf("%.40q is not an element type; there are float32, float64, int64 and bool", t.DType)
	}
	elements, axis := count(t.Shape)
	if axis >= 0 {
		return fmt.Sprintf(".shape[%d]", axis), fmt.Sprintf("extent %d is negative, or makes the number of elements overflow", t.Shape[axis])
	}
	if elements > math.MaxInt64/size {
		return ".shape", "its bytes overflow"
	}
	if t.Bytes != elements*size {
		return ".bytes", fmt.Sprintf("it is %d, but %d elements of %s take %d", t.Bytes, elements, t.DType, elements*size)
	}
	if t.Storage < 0 || t.Storage >= len(r.Storages) {
		return ".storage", fmt.Sprintf("storage %d does not exist", t.Storage)
	}
	if t.Scope < 0 || t.Scope >= len(r.Scopes) {
		return ".scope", fmt.Sprintf("scope %d does not exist", t.Scope)
	}
	switch t.Grad {
	case NoSweep, Known, Unconnected, Released, NotAsked:
	default:
		return ".grad", fmt.Sprintf("%.40q is not a state; the states are computed, unconnected, released and not_asked", t.Grad)
	}
	if s := t.Stats; s != nil && (s.Zeros < 0 || s.NaNs < 0 || s.Infs < 0 ||
		s.Zeros > elements || s.NaNs > elements || s.Infs > elements || s.Zeros+s.NaNs+s.Infs > elements) {
		return ".stats", fmt.Sprintf("the counts %d, %d and %d do not fit %d elements", s.Zeros, s.NaNs, s.Infs, elements)
	}
	return "", ""
}

// count multiplies the extents. It returns the axis at which something is
// wrong, or -1. An extent of 0 must not hide an overflow of the others.
func count(shape []int) (elements int64, axis int) {
	product := int64(1)
	empty := false
	for i, d := range shape {
		if d < 0 || (d > 0 && product > math.MaxInt64/int64(d)) {
			return 0, i
		}
		if d == 0 {
			empty = true
			continue
		}
		product *= int64(d)
	}
	if empty {
		return 0, -1
	}
	return product, -1
}

func (v *validator) nodes() error {
	for i := range v.r.Nodes {
		if field, what := v.node(i, &v.r.Nodes[i]); what != "" {
			return bad(fmt.Sprintf("nodes[%d]%s", i, field), "%s", what)
		}
	}
	return nil
}

func (v *validator) node(i int, n *Node) (field, what string) {
	r := v.r
	if n.ID != i {
		return ".id", fmt.Sprintf("it is %d; ids are dense, so it must be %d", n.ID, i)
	}
	if n.Op == "" {
		return ".op", "it is missing"
	}
	for slot, t := range n.Inputs {
		if t < 0 || t >= len(r.Tensors) {
			return fmt.Sprintf(".inputs[%d]", slot), fmt.Sprintf("tensor %d does not exist", t)
		}
		if !v.made[t] {
			return fmt.Sprintf(".inputs[%d]", slot), fmt.Sprintf("tensor %d does not exist yet; a node consumes leaves and outputs of earlier nodes", t)
		}
	}
	for k, t := range n.Outputs {
		place := fmt.Sprintf(".outputs[%d]", k)
		if t < 0 || t >= len(r.Tensors) {
			return place, fmt.Sprintf("tensor %d does not exist", t)
		}
		if p := &r.Tensors[t]; p.Producer != i {
			return place, fmt.Sprintf("tensor %d says that its producer is %d", t, p.Producer)
		} else if p.Output != k {
			return place, fmt.Sprintf("tensor %d says that it is output %d", t, p.Output)
		}
		v.made[t] = true
	}
	if n.Scope < 0 || n.Scope >= len(r.Scopes) {
		return ".scope", fmt.Sprintf("scope %d does not exist", n.Scope)
	}
	if n.Site < -1 || n.Site >= len(r.Sites) {
		return ".site", fmt.Sprintf("site %d does not exist", n.Site)
	}
	for k, s := range n.Saves {
		if s.Tensor < 0 || s.Tensor >= len(r.Tensors) || !v.made[s.Tensor] {
			return fmt.Sprintf(".saves[%d].tensor", k), fmt.Sprintf("tensor %d does not exist when the node has run", s.Tensor)
		}
	}
	if n.ForwardCost < 0 || n.ReverseCost < 0 || n.TangentCost < 0 {
		return "", "a cost is negative"
	}
	return "", ""
}

// producers checks that every computed tensor was listed by its producer.
func (v *validator) producers() error {
	for t, made := range v.made {
		if !made {
			return bad(fmt.Sprintf("tensors[%d].producer", t), "node %d does not list the tensor among its outputs", v.r.Tensors[t].Producer)
		}
	}
	return nil
}
