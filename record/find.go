package record

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Found is what a name stands for: a node, or else a tensor. The other is -1.
type Found struct {
	Node   int
	Tensor int
}

// FindError says that a name stands for nothing, or for several things.
type FindError struct {
	Name string
	// Several lists what the name may stand for, as "t3" or "n9 matmul", when
	// it is more than one thing.
	Several []string
	Near    []string // names that look like it, nearest first
}

func (e *FindError) Error() string {
	switch {
	case len(e.Several) > 0:
		return fmt.Sprintf("record: %q may be %s; say one of them by its id", e.Name, listing(e.Several, " or "))
	case len(e.Near) > 0:
		return fmt.Sprintf("record: nothing is called %q; there is %s", e.Name, listing(e.Near, ", "))
	default:
		return fmt.Sprintf("record: nothing is called %q; nodes are n0, n1, …, tensors t0, t1, … or their names", e.Name)
	}
}

func listing(names []string, between string) string {
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], between), len(names)-most)
	}
	return strings.Join(names, between)
}

// Find resolves a name: that of a tensor; "scope/path/name", whose last part is
// the name of a tensor or the op of a node in that scope; "t12" or "n9" by id;
// "n9 matmul" as [Record.NodeName] prints it. A tensor that was given the name
// "t1" is preferred to tensor 1. The error is a *FindError.
func (r *Record) Find(name string) (Found, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return Found{-1, -1}, &FindError{Name: name}
	}
	var hits []Found
	for t := range r.Tensors {
		if r.Tensors[t].Name == name {
			hits = append(hits, Found{-1, t})
		}
	}
	if len(hits) == 0 {
		if f, ok := r.byID(name); ok {
			return f, nil
		}
		hits = r.inScope(name)
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return Found{-1, -1}, &FindError{Name: name, Near: r.near(name)}
	}
	e := &FindError{Name: name}
	for _, h := range hits {
		if h.Node >= 0 {
			e.Several = append(e.Several, "n"+strconv.Itoa(h.Node))
		} else {
			e.Several = append(e.Several, "t"+strconv.Itoa(h.Tensor))
		}
	}
	return Found{-1, -1}, e
}

func (r *Record) byID(name string) (Found, bool) {
	digits, rest, _ := strings.Cut(name[1:], " ")
	id, err := strconv.Atoi(digits)
	if err != nil || id < 0 || digits[0] == '+' {
		return Found{}, false
	}
	switch {
	case name[0] == 't' && id < len(r.Tensors) && rest == "":
		return Found{-1, id}, true
	case name[0] == 'n' && id < len(r.Nodes) && (rest == "" || rest == r.Nodes[id].Op):
		return Found{id, -1}, true
	}
	return Found{}, false
}

// inScope finds what "path/last" names: tensors first, then nodes by op. Names
// may have slashes of their own, so every cut is tried.
func (r *Record) inScope(name string) []Found {
	paths := make([]string, len(r.Scopes))
	for i := 1; i < len(r.Scopes); i++ {
		up := paths[r.Scopes[i].Parent]
		switch {
		case len(up) > len(name):
			// Too long to match already, and so are all paths below it.
			paths[i] = up
		case up == "":
			paths[i] = r.Scopes[i].Name
		default:
			paths[i] = up + "/" + r.Scopes[i].Name
		}
	}
	last := func(scope int) (string, bool) {
		if scope == 0 {
			return name, true
		}
		return strings.CutPrefix(name, paths[scope]+"/")
	}
	var hits []Found
	for t := range r.Tensors {
		if n, ok := last(r.Tensors[t].Scope); ok && n == r.Tensors[t].Name {
			hits = append(hits, Found{-1, t})
		}
	}
	if len(hits) > 0 {
		return hits
	}
	for i := range r.Nodes {
		if n, ok := last(r.Nodes[i].Scope); ok && n == r.Nodes[i].Op {
			hits = append(hits, Found{i, -1})
		}
	}
	return hits
}

// near lists up to five names within a third of the name's length in edits, or
// that begin with it.
func (r *Record) near(name string) []string {
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	seen := map[string]bool{}
	try := func(other string) {
		if other == "" || seen[other] {
			return
		}
		seen[other] = true
		most := max(1, len(name)/3)
		d := edits(strings.ToLower(name), strings.ToLower(other), most)
		if d > most && strings.HasPrefix(other, name) {
			d = most
		}
		if d <= most {
			found = append(found, candidate{other, d})
		}
	}
	for i := range r.Tensors {
		try(r.Tensors[i].Name)
	}
	for i := range r.Nodes {
		try(r.Nodes[i].Op)
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(len(found), 5)] {
		names = append(names, c.name)
	}
	if len(names) == 0 {
		switch {
		case strings.HasPrefix(name, "n") && len(r.Nodes) > 0:
			names = append(names, fmt.Sprintf("n0 to n%d", len(r.Nodes)-1))
		case strings.HasPrefix(name, "t") && len(r.Tensors) > 0:
			names = append(names, fmt.Sprintf("t0 to t%d", len(r.Tensors)-1))
		}
	}
	return names
}

// edits is the Levenshtein distance (V. Levenshtein, 1966), or most+1 when it
// is above most. Names longer than 64 bytes are compared by their beginnings.
func edits(a, b string, most int) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
