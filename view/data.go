package view

import (
	"errors"
	"fmt"
	"strings"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
)

// MaxNodes is how many nodes a record may have to be shown. Tensors count as a
// quarter of a node each.
const MaxNodes = 200_000

// TooLargeError says that a record has too much in it to be shown.
type TooLargeError struct{ Nodes, Tensors int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("view: the record has %d nodes and %d tensors, and the page takes at most %d nodes; draw it as text, which takes any number",
		e.Nodes, e.Tensors, MaxNodes)
}

// content is all that the page is told about a record.
type content struct {
	Record   *record.Record     `json:"record"` // without events
	Loss     int                `json:"loss"`   // tensor, or -1
	Plans    []Plan             `json:"plans"`  // the record's own first; none without a sweep
	Fixed    string             `json:"fixed,omitempty"`
	Regions  []Region           `json:"regions"`
	Pictures []*Picture         `json:"pictures"` // the one to begin with first
	Live     bool               `json:"live"`     // a server makes other pictures and plans
	Windows  [][2]int32         `json:"windows"`  // by node: the earliest and the latest visit, or [-1, -1]
	Critical []int              `json:"critical"` // nodes
	Widest   []int              `json:"widest"`   // nodes none of which waits for another
	Ends     map[int][]int      `json:"ends"`     // by unconnected tensor: the nodes at which its connection ends
	FirstNaN int                `json:"nan"`      // tensor, or -1
	Compared *record.Comparison `json:"compared,omitempty"`
	DOT      string             `json:"dot,omitempty"`
	Mermaid  string             `json:"mermaid,omitempty"`
}

// Plan is a named order of the record's sweep.
type Plan struct {
	Order    string `json:"order"` // tape, depth, breadth, leanest, random, given
	Seed     uint64 `json:"seed,omitempty"`
	Own      bool   `json:"own,omitempty"` // it is the record's own
	Sequence []int  `json:"sequence"`
}

const (
	widthLimit = 5000 // nodes of which the widest antichain is looked for
	textLimit  = 2000 // nodes of which DOT and Mermaid are offered
)

// describe works out what the page is told, apart from pictures.
func describe(f *folder, against *record.Record) (*content, error) {
	rec := f.rec
	c := &content{Loss: f.loss, Regions: f.regions, Plans: []Plan{}, FirstNaN: firstNaN(rec), Ends: ends(rec, f.uses, f.loss)}
	if against != nil {
		c.Compared = record.Compare(against, rec)
	}
	slim := *rec
	if rec.Sweep != nil {
		sweep := *rec.Sweep
		sweep.Events = nil
		slim.Sweep = &sweep
	}
	c.Record = &slim
	if err := c.plans(rec); err != nil {
		return nil, err
	}
	if err := c.measures(rec); err != nil {
		return nil, err
	}
	if len(rec.Nodes) <= textLimit && len(rec.Tensors) <= 4*textLimit {
		var dot, mermaid strings.Builder
		if err := errors.Join(draw.DOT(&dot, rec, draw.Options{}), draw.Mermaid(&mermaid, rec, draw.Options{})); err != nil {
			return nil, err
		}
		c.DOT, c.Mermaid = dot.String(), mermaid.String()
	}
	return c, nil
}

// plans lists the orders that the page offers from the beginning.
func (c *content) plans(rec *record.Record) error {
	if rec.Sweep == nil {
		return nil
	}
	c.Plans = append(c.Plans, Plan{Order: rec.Sweep.Order, Seed: rec.Sweep.Seed, Own: true, Sequence: rec.Sweep.Sequence})
	for i := range rec.Sweep.Steps {
		if len(rec.Sweep.Steps[i].Replays) > 0 {
			c.Fixed = "The sweep replays checkpoints, whose plan only the tape can work out: ask for another order when it is recorded."
			return nil
		}
	}
	for _, name := range []string{"tape", "depth", "breadth", "leanest"} {
		if name == rec.Sweep.Order {
			continue
		}
		p, err := plan(rec, name, 0)
		if err != nil {
			return err
		}
		c.Plans = append(c.Plans, p)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		p, err := plan(rec, "random", seed)
		if err != nil {
			return err
		}
		c.Plans = append(c.Plans, p)
	}
	return nil
}

// plan works out a named order.
func plan(rec *record.Record, name string, seed uint64) (Plan, error) {
	g, nodes, err := rec.Graph()
	if err != nil {
		return Plan{}, err
	}
	var seq []int32
	switch name {
	case "tape":
		seq = g.Tape()
	case "depth":
		seq = g.Depth()
	case "breadth":
		seq = g.Breadth()
	case "random":
		seq = g.Random(seed)
	case "leanest":
		sizes, err := rec.Sizes()
		if err != nil {
			return Plan{}, err
		}
		seq = g.Leanest(sizes)
	default:
		return Plan{}, fmt.Errorf("view: there is no order %q", name)
	}
	return Plan{Order: name, Seed: seed, Sequence: named(nodes, seq)}, nil
}

func named(nodes []int, vertices []int32) []int {
	ids := make([]int, len(vertices))
	for i, v := range vertices {
		ids[i] = nodes[v]
	}
	return ids
}

// measures works out the freedom that the graph leaves.
func (c *content) measures(rec *record.Record) error {
	c.Windows, c.Critical, c.Widest = [][2]int32{}, []int{}, []int{}
	g, nodes, err := rec.Graph()
	if err != nil {
		return err
	}
	c.Critical = named(nodes, g.CriticalPath(nil))
	if windows, err := g.Windows(); err == nil { // otherwise it takes too long
		c.Windows = make([][2]int32, len(rec.Nodes))
		for n := range c.Windows {
			c.Windows[n] = [2]int32{-1, -1}
		}
		for v, w := range windows {
			c.Windows[nodes[v]] = [2]int32{w.Earliest, w.Latest}
		}
	}
	if g.Len() <= widthLimit {
		widest, err := g.Width()
		if err != nil {
			return err
		}
		c.Widest = named(nodes, widest)
	}
	return nil
}

// firstNaN is the first tensor in which the record has seen a NaN or an infinity
// though none was in what it was computed from, or -1.
func firstNaN(rec *record.Record) int {
	bad := func(t int) bool {
		s := rec.Tensors[t].Stats
		return s != nil && (s.NaNs > 0 || s.Infs > 0)
	}
	for t := range rec.Tensors {
		if rec.Tensors[t].Producer < 0 && bad(t) {
			return t
		}
	}
	for n := range rec.Nodes {
		for _, t := range rec.Nodes[n].Outputs {
			if bad(t) {
				return t
			}
		}
	}
	return -1
}

// ends says for each unconnected tensor at which nodes its connection to the
// loss ends: they lead on to the loss, but no gradient comes back through them.
// None means that no path leads to the loss at all. At most four are named.
func ends(rec *record.Record, uses *record.Consumers, loss int) map[int][]int {
	const most = 4
	found := map[int][]int{}
	if loss < 0 {
		return found
	}
	leads := make([]bool, len(rec.Tensors))
	leads[loss] = true
	unconnected := func(t int) bool { return t != loss && rec.Tensors[t].Grad == record.Unconnected }
	visit := func(t int) {
		if !unconnected(t) {
			return
		}
		list := []int{}
		add := func(n int) {
			if len(list) < most && (len(list) == 0 || list[len(list)-1] != n) {
				list = append(list, n)
			}
		}
		for _, u := range uses.Of(t) {
			for _, o := range rec.Nodes[u.Node].Outputs {
				switch {
				case !leads[o]:
				case unconnected(o) && strings.HasPrefix(rec.Tensors[o].DType, "float"):
					for _, n := range found[o] {
						add(n)
					}
				default:
					add(u.Node)
				}
			}
		}
		found[t] = list
	}
	for n := len(rec.Nodes) - 1; n >= 0; n-- {
		on := false
		for _, o := range rec.Nodes[n].Outputs {
			on = on || leads[o]
			visit(o)
		}
		if !on {
			continue
		}
		for _, t := range rec.Nodes[n].Inputs {
			leads[t] = true
		}
	}
	for t := range rec.Tensors {
		if rec.Tensors[t].Producer < 0 {
			visit(t)
		}
	}
	return found
}
