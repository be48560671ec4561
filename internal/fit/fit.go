// Package fit tells how two dictionaries of tensors differ in what they hold.
package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/backsweep/backsweep"
)

// Mismatch is everything in which a dictionary differs from what was to be
// filled by it. The lists are sorted by name.
type Mismatch struct {
	Missing    []string // wanted, but not there
	Unexpected []string // there, but not wanted
	Unlike     []Unlike // of another shape or element type
}

// Unlike is a tensor of another shape or element type than the one of its name.
type Unlike struct {
	Name                string
	Shape, WantShape    []int
	DType, WantDType    backsweep.DType
	SameShape, SameType bool
}

// Error lists it all on one line.
func (m *Mismatch) Error() string {
	var parts []string
	list := func(what string, names []string) {
		if len(names) == 0 {
			return
		}
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = fmt.Sprintf("%q", n)
		}
		parts = append(parts, what+" "+strings.Join(quoted, ", "))
	}
	list("missing:", m.Missing)
	list("unexpected:", m.Unexpected)
	for _, u := range m.Unlike {
		got, want := fmt.Sprint(u.Shape), fmt.Sprint(u.WantShape)
		if !u.SameType {
			got, want = u.DType.String()+got, u.WantDType.String()+want
		}
		parts = append(parts, fmt.Sprintf("%q is %s, not %s", u.Name, got, want))
	}
	return "the tensors do not fit: " + strings.Join(parts, "; ")
}

// Check compares names, shapes and element types. The error is a *Mismatch.
func Check(want, got map[string]*backsweep.Tensor) error {
	var m Mismatch
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w, g := want[name], got[name]
		if g == nil {
			m.Missing = append(m.Missing, name)
			continue
		}
		u := Unlike{Name: name, Shape: g.Shape(), WantShape: w.Shape(), DType: g.DType(), WantDType: w.DType()}
		u.SameShape, u.SameType = slices.Equal(u.Shape, u.WantShape), u.DType == u.WantDType
		if !u.SameShape || !u.SameType {
			m.Unlike = append(m.Unlike, u)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == nil {
			m.Unexpected = append(m.Unexpected, name)
		}
	}
	if m.Missing == nil && m.Unexpected == nil && m.Unlike == nil {
		return nil
	}
	return &m
}
