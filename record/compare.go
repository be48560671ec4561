package record

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// What happened to a part between two records.
type What string

// What can happen.
const (
	Appeared What = "appeared" // only the second record has it
	Went     What = "went"     // only the first has it
	Changed  What = "changed"
)

// Change is one property that two partners do not share.
type Change struct {
	Field string `json:"field"` // attrs, operands, shape, payload, gradient, …
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Difference is about one node, or one leaf, or the sweep as a whole.
type Difference struct {
	What    What     `json:"what"`
	Part    string   `json:"part"`  // node, leaf or sweep
	A       int      `json:"a"`     // id in the first record, or -1
	B       int      `json:"b"`     // id in the second record, or -1
	Name    string   `json:"name"`  // printed name, of the second record where it is there
	Scope   string   `json:"scope"` // path
	Changes []Change `json:"changes,omitempty"`
}

// Comparison is how a second record differs from a first.
type Comparison struct {
	Same        int          `json:"same"` // nodes that both have and that are alike
	Differences []Difference `json:"differences"`
}

// Compare aligns two valid records, by scope path and then by op and operands,
// and says what appeared, went and changed: of nodes the attributes, operands,
// payload and turn in the sweep; of a node's outputs and of leaves the name,
// shape, element type and state of the gradient. Differences are sorted: the
// sweep, leaves, nodes, each by id (where one went, by its id in the first
// record). Time is close to linear.
func Compare(a, b *Record) *Comparison {
	al := align(a, b)
	c := &Comparison{}
	if s := al.sweepChanges(); len(s) > 0 {
		c.Differences = append(c.Differences, Difference{What: Changed, Part: "sweep", A: -1, B: -1, Name: "sweep", Changes: s})
	}
	var leaves, nodes []Difference
	for i := range a.Tensors {
		t := &a.Tensors[i]
		if t.Kind != Computed && al.tensors[i] < 0 {
			leaves = append(leaves, Difference{What: Went, Part: "leaf", A: i, B: -1, Name: leafName(a, i), Scope: a.ScopePath(t.Scope)})
		}
	}
	for i := range b.Tensors {
		t := &b.Tensors[i]
		if t.Kind == Computed {
			continue
		}
		d := Difference{What: Appeared, Part: "leaf", A: al.tba[i], B: i, Name: leafName(b, i), Scope: b.ScopePath(t.Scope)}
		if d.A >= 0 {
			d.What, d.Changes = Changed, al.tensorChanges(d.A, i, "")
			if len(d.Changes) == 0 {
				continue
			}
		}
		leaves = append(leaves, d)
	}
	moved := al.moved()
	for i := range a.Nodes {
		if al.nodes[i] < 0 {
			nodes = append(nodes, Difference{What: Went, Part: "node", A: i, B: -1, Name: a.NodeName(i), Scope: a.ScopePath(a.Nodes[i].Scope)})
		}
	}
	for i := range b.Nodes {
		d := Difference{What: Appeared, Part: "node", A: al.back[i], B: i, Name: b.NodeName(i), Scope: b.ScopePath(b.Nodes[i].Scope)}
		if d.A >= 0 {
			d.What, d.Changes = Changed, al.nodeChanges(d.A, i, moved)
			if len(d.Changes) == 0 {
				c.Same++
				continue
			}
		}
		nodes = append(nodes, d)
	}
	for _, list := range [][]Difference{leaves, nodes} {
		slices.SortStableFunc(list, func(x, y Difference) int {
			return cmp.Or(cmp.Compare(x.id(), y.id()), cmp.Compare(y.What, x.What))
		})
		c.Differences = append(c.Differences, list...)
	}
	return c
}

func (d *Difference) id() int {
	if d.B >= 0 {
		return d.B
	}
	return d.A
}

func leafName(r *Record, t int) string {
	if r.Tensors[t].Name == "" {
		return r.TensorName(t)
	}
	return fmt.Sprintf("t%d %s", t, r.Tensors[t].Name)
}

// changes gathers what differs.
type changes []Change

func (c *changes) add(field, old, now string) {
	if old != now {
		*c = append(*c, Change{Field: field, Old: old, New: now})
	}
}

func (al *alignment) nodeChanges(i, j int, moved map[int][2]int) []Change {
	a, b := &al.a.Nodes[i], &al.b.Nodes[j]
	var c changes
	c.add("attrs", a.Attrs, b.Attrs)
	if !al.sameTensors(a.Inputs, b.Inputs) {
		c = append(c, Change{"operands", al.a.tensorList(a.Inputs), al.b.tensorList(b.Inputs)})
	}
	if len(a.Outputs) != len(b.Outputs) {
		c.add("outputs", fmt.Sprint(len(a.Outputs)), fmt.Sprint(len(b.Outputs)))
	}
	for k := range min(len(a.Outputs), len(b.Outputs)) {
		prefix := ""
		if len(b.Outputs) > 1 {
			prefix = fmt.Sprintf("output %d ", k)
		}
		c = append(c, al.tensorChanges(a.Outputs[k], b.Outputs[k], prefix)...)
	}
	c.add("payload", payloadText(al.a, i), payloadText(al.b, j))
	if m, ok := moved[j]; ok {
		c = append(c, Change{"turn in the sweep", fmt.Sprint(m[0] + 1), fmt.Sprint(m[1] + 1)})
	}
	return c
}

func (al *alignment) tensorChanges(i, j int, prefix string) []Change {
	a, b := &al.a.Tensors[i], &al.b.Tensors[j]
	var c changes
	c.add(prefix+"name", a.Name, b.Name)
	c.add(prefix+"kind", string(a.Kind), string(b.Kind))
	c.add(prefix+"dtype", a.DType, b.DType)
	c.add(prefix+"shape", ShapeText(a.Shape), ShapeText(b.Shape))
	c.add(prefix+"gradient", a.Grad.Words(), b.Grad.Words())
	return c
}

// Words is the state in words: "no sweep" for NoSweep, "not asked", or the
// state as it is written.
func (s State) Words() string {
	switch s {
	case NoSweep:
		return "no sweep"
	case NotAsked:
		return "not asked"
	}
	return string(s)
}

func (al *alignment) sameTensors(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if al.tensors[a[k]] != b[k] {
			return false
		}
	}
	return true
}

func (r *Record) tensorList(ids []int) string {
	names := make([]string, len(ids))
	for k, t := range ids {
		names[k] = r.TensorName(t)
		if p := r.Tensors[t].Producer; p >= 0 {
			names[k] += " of " + r.NodeName(p)
		}
	}
	return strings.Join(names, ", ")
}

// payloadText says what a node keeps, by role, so that ids do not matter.
func payloadText(r *Record, node int) string {
	saves := r.Nodes[node].Saves
	if len(saves) == 0 {
		return "nothing"
	}
	roles := make([]string, len(saves))
	for k, s := range saves {
		roles[k] = s.Role
	}
	slices.Sort(roles)
	return strings.Join(roles, ", ") + " (" + BytesText(r.PayloadBytes(node)) + ")"
}

func (al *alignment) sweepChanges() []Change {
	a, b := al.a.Sweep, al.b.Sweep
	var c changes
	if a == nil || b == nil {
		has := func(s *Sweep) string {
			if s == nil {
				return "none"
			}
			return fmt.Sprintf("of %d nodes", len(s.Sequence))
		}
		c.add("sweep", has(a), has(b))
		return c
	}
	c.add("order", a.Order, b.Order)
	c.add("seed", fmt.Sprint(a.Seed), fmt.Sprint(b.Seed))
	c.add("workers", fmt.Sprint(a.Workers), fmt.Sprint(b.Workers))
	c.add("retain", fmt.Sprint(a.Retain), fmt.Sprint(b.Retain))
	if !al.sameTensors(a.Roots, b.Roots) {
		c = append(c, Change{"roots", al.a.tensorList(a.Roots), al.b.tensorList(b.Roots)})
	}
	c.add("visits", fmt.Sprint(len(a.Sequence)), fmt.Sprint(len(b.Sequence)))
	return c
}

// moved finds the fewest nodes whose turns changed: those outside a longest
// common subsequence of the two sweeps (M. Fredman, "On computing the length
// of longest increasing subsequences", 1975). It maps ids of b to the turns in
// a and in b.
func (al *alignment) moved() map[int][2]int {
	if al.a.Sweep == nil || al.b.Sweep == nil {
		return nil
	}
	turnB := absent(len(al.b.Nodes))
	for i, n := range al.b.Sweep.Sequence {
		turnB[n] = i
	}
	var turnsA, turnsB []int // of nodes that both sweeps visit, in the order of a
	for i, n := range al.a.Sweep.Sequence {
		if m := al.nodes[n]; m >= 0 && turnB[m] >= 0 {
			turnsA, turnsB = append(turnsA, i), append(turnsB, turnB[m])
		}
	}
	var tails []int // tails[k] ends the increasing subsequence of length k+1 with the smallest end
	before := absent(len(turnsB))
	for i, x := range turnsB {
		k, _ := slices.BinarySearchFunc(tails, x, func(at, x int) int { return cmp.Compare(turnsB[at], x) })
		if k > 0 {
			before[i] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, i)
		} else {
			tails[k] = i
		}
	}
	stays := make([]bool, len(turnsB))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stays[i] = true
		}
	}
	moved := map[int][2]int{}
	for i, x := range turnsB {
		if !stays[i] {
			moved[al.b.Sweep.Sequence[x]] = [2]int{turnsA[i], x}
		}
	}
	return moved
}

// WriteTo prints the comparison, a line for each difference and an indented
// line for each change:
//
//	1 appeared, 0 went, 1 changed, 3 nodes alike
//	+ n4 relu  in tower
//	~ n5 matmul  in tower
//	    operands: h of n3 tanh, w → h of n4 relu, w
func (c *Comparison) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, c.String())
	return int64(n), err
}

// String is the comparison as WriteTo prints it.
func (c *Comparison) String() string {
	var b strings.Builder
	counts := map[What]int{}
	for _, d := range c.Differences {
		counts[d.What]++
	}
	fmt.Fprintf(&b, "%d appeared, %d went, %d changed, %d nodes alike\n", counts[Appeared], counts[Went], counts[Changed], c.Same)
	for _, d := range c.Differences {
		b.WriteString(map[What]string{Appeared: "+ ", Went: "- ", Changed: "~ "}[d.What])
		if d.Part == "leaf" {
			b.WriteString("leaf ")
		}
		b.WriteString(d.Name)
		if d.Scope != "" {
			b.WriteString("  in " + d.Scope)
		}
		b.WriteString("\n")
		for _, x := range d.Changes {
			fmt.Fprintf(&b, "    %s: %s → %s\n", x.Field, orNothing(x.Old), orNothing(x.New))
		}
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
