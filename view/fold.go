package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
)

func sortRegions(found []Region) {
	slices.SortStableFunc(found, func(a, b Region) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(a.Scope, b.Scope))
	})
}

// Picture is a layout of a record in which some regions are open, as the page
// reads it. Coordinates are in pixels.
type Picture struct {
	Open   []int        `json:"open"` // regions, ascending
	Style  draw.Style   `json:"style"`
	Width  float64      `json:"w"`
	Height float64      `json:"h"`
	Boxes  [][6]float64 `json:"boxes"` // x, y, width, height, node or -1, region or -1
	Stubs  []Stub       `json:"stubs"`
	Labels []Label      `json:"labels"`
	Edges  []Edge       `json:"edges"`
	Frames []Frame      `json:"frames"`
}

// Stub is the end of an edge that has no box there.
type Stub struct {
	Tensor int        `json:"t"`
	Rect   [4]float64 `json:"r"`
	Label  string     `json:"s"`
	Ghost  bool       `json:"ghost,omitempty"`
	End    bool       `json:"end,omitempty"`
}

// Label is the text beside an edge.
type Label struct {
	Tensor int        `json:"t"`
	Text   string     `json:"s"`
	Rect   [4]float64 `json:"r"`
}

// Edge leads from one box to another; -1 stands for a leaf or an end.
type Edge struct {
	Tensor int       `json:"t"`
	From   int       `json:"a"` // index into Boxes
	To     int       `json:"b"`
	Slot   int       `json:"slot"`
	Ghost  bool      `json:"ghost,omitempty"`
	Points []float64 `json:"p"` // x, y, x, y, …
}

// Frame is drawn around an open region.
type Frame struct {
	Region int        `json:"region"`
	Rect   [4]float64 `json:"r"`
}

// folder makes pictures of one record.
type folder struct {
	rec     *record.Record
	regions []Region
	uses    *record.Consumers
	loss    int
}

func newFolder(rec *record.Record) *folder {
	return &folder{rec: rec, regions: regions(rec), uses: rec.Consumers(), loss: rec.Loss()}
}

// unit is one box of a picture: a node, or a region that is folded.
type unit struct{ node, region, within int }

// units lists the boxes of a picture, in tape order, with the innermost open
// region of each, or -1.
func (f *folder) units(open []bool) []unit {
	var list []unit
	var inside []int
	next := 0
	for n := 0; n < len(f.rec.Nodes); {
		for len(inside) > 0 && f.regions[inside[len(inside)-1]].To <= n {
			inside = inside[:len(inside)-1]
		}
		folded := -1
		for next < len(f.regions) && f.regions[next].From <= n {
			r := next
			next++
			if f.regions[r].From < n {
				continue
			}
			if !open[r] {
				folded = r
				break
			}
			inside = append(inside, r)
		}
		within := -1
		if len(inside) > 0 {
			within = inside[len(inside)-1]
		}
		if folded >= 0 {
			list = append(list, unit{-1, folded, within})
			n = f.regions[folded].To
			continue
		}
		list = append(list, unit{n, -1, within})
		n++
	}
	return list
}

// picture lays the record out with the given regions open.
func (f *folder) picture(open []bool, style draw.Style) (*Picture, error) {
	units := f.units(open)
	c := f.contract(units, open)
	layout, err := draw.NewLayout(c.rec, draw.Options{Style: style})
	if err != nil {
		return nil, err
	}
	p := &Picture{Open: []int{}, Style: layout.Style, Width: half(layout.Width), Height: half(layout.Height),
		Boxes: [][6]float64{}, Stubs: []Stub{}, Labels: []Label{}, Edges: []Edge{}, Frames: []Frame{}}
	for r, is := range open {
		if is {
			p.Open = append(p.Open, r)
		}
	}
	for _, b := range layout.Boxes {
		u := units[b.Node]
		p.Boxes = append(p.Boxes, [6]float64{half(b.Rect.X), half(b.Rect.Y), half(b.Rect.W), half(b.Rect.H), float64(u.node), float64(u.region)})
	}
	for _, s := range layout.Stubs {
		p.Stubs = append(p.Stubs, Stub{Tensor: c.tensors[s.Tensor], Rect: corners(s.Rect), Label: s.Label, Ghost: s.Ghost, End: s.End})
	}
	for _, l := range layout.Labels {
		p.Labels = append(p.Labels, Label{Tensor: c.tensors[l.Tensor], Text: l.Text, Rect: corners(l.Rect)})
	}
	for _, e := range layout.Edges {
		points := make([]float64, 0, 2*len(e.Points))
		for _, q := range e.Points {
			points = append(points, half(q.X), half(q.Y))
		}
		p.Edges = append(p.Edges, Edge{Tensor: c.tensors[e.Tensor], From: e.From, To: e.To, Slot: e.Slot, Ghost: e.Ghost, Points: points})
	}
	for _, fr := range layout.Frames {
		p.Frames = append(p.Frames, Frame{Region: c.scopes[fr.Scope], Rect: corners(fr.Rect)})
	}
	return p, nil
}

// half rounds a coordinate to the half of a pixel.
func half(x float64) float64 { return math.Round(2*x) / 2 }

func corners(r draw.Rect) [4]float64 { return [4]float64{half(r.X), half(r.Y), half(r.W), half(r.H)} }

// contracted is a record in which each folded region is one node, and what its
// ids stand for in the whole record.
type contracted struct {
	rec     *record.Record
	tensors []int // by tensor: the tensor
	scopes  []int // by scope: the open region, or -1
	here    []int // by tensor of the whole record: its id here, or -1
}

// contract makes a record of the units. A leaf of which only one folded region
// makes use is left out, unless it is an input.
func (f *folder) contract(units []unit, open []bool) *contracted {
	c := &contracted{rec: &record.Record{Format: record.Format, Version: record.Version, Title: f.rec.Title,
		Scopes: []record.Scope{{Parent: -1}}, Storages: f.rec.Storages, Sites: f.rec.Sites}, scopes: []int{-1}}
	scope := make([]int, len(f.regions))
	for r := range f.regions {
		if !open[r] || f.hidden(r, open) {
			continue
		}
		parent := 0
		if p := f.regions[r].Parent; p >= 0 {
			parent = scope[p]
		}
		scope[r] = len(c.rec.Scopes)
		c.scopes = append(c.scopes, r)
		c.rec.Scopes = append(c.rec.Scopes, record.Scope{ID: scope[r], Parent: parent, Name: f.regions[r].Label + " −"})
	}
	at := make([]int, len(f.rec.Nodes)) // the unit of each node
	for i, u := range units {
		if u.node >= 0 {
			at[u.node] = i
			continue
		}
		for n := f.regions[u.region].From; n < f.regions[u.region].To; n++ {
			at[n] = i
		}
	}
	c.here = make([]int, len(f.rec.Tensors))
	for t := range f.rec.Tensors {
		c.here[t] = -1
		if f.shown(t, units, at) {
			c.here[t] = len(c.tensors)
			c.tensors = append(c.tensors, t)
		}
	}
	for t, old := range c.tensors {
		x := f.rec.Tensors[old]
		x.ID, x.Name, x.Scope = t, f.rec.TensorName(old), 0
		if x.Producer >= 0 {
			x.Producer = at[x.Producer]
		}
		c.rec.Tensors = append(c.rec.Tensors, x)
	}
	for i, u := range units {
		within := 0
		if u.within >= 0 {
			within = scope[u.within]
		}
		if u.node >= 0 {
			c.rec.Nodes = append(c.rec.Nodes, f.node(c, i, u.node, within))
		} else {
			c.rec.Nodes = append(c.rec.Nodes, f.box(c, i, u.region, within))
		}
	}
	sweep := &record.Sweep{Order: "tape", Workers: 1}
	if f.rec.Sweep != nil {
		for _, t := range f.rec.Sweep.Roots {
			if c.here[t] >= 0 {
				sweep.Roots = append(sweep.Roots, c.here[t])
			}
		}
	} else if f.loss >= 0 {
		sweep.Roots = []int{c.here[f.loss]}
	}
	for i := len(units) - 1; i >= 0; i-- {
		sweep.Sequence = append(sweep.Sequence, i)
	}
	c.rec.Sweep = sweep
	return c
}

// hidden reports whether a region lies in one that is folded.
func (f *folder) hidden(r int, open []bool) bool {
	for p := f.regions[r].Parent; p >= 0; p = f.regions[p].Parent {
		if !open[p] {
			return true
		}
	}
	return false
}

// shown reports whether a tensor is in the picture.
func (f *folder) shown(t int, units []unit, at []int) bool {
	x := &f.rec.Tensors[t]
	uses := f.uses.Of(t)
	if t == f.loss {
		return true
	}
	home := -1
	switch {
	case x.Producer >= 0:
		home = at[x.Producer]
	case x.Kind == record.Input || len(uses) == 0:
		return true
	default:
		home = at[uses[0].Node]
	}
	if units[home].region < 0 {
		return true
	}
	for _, u := range uses {
		if at[u.Node] != home {
			return true
		}
	}
	return false
}

func (f *folder) node(c *contracted, id, node, scope int) record.Node {
	x := f.rec.Nodes[node]
	// The box is as wide as the node's own number needs.
	x.Op += strings.Repeat(" ", len(strconv.Itoa(node))-len(strconv.Itoa(id)))
	x.ID, x.Scope = id, scope
	x.Inputs, x.Outputs, x.Saves = nil, nil, nil
	for _, t := range f.rec.Nodes[node].Inputs {
		x.Inputs = append(x.Inputs, c.here[t])
	}
	for _, t := range f.rec.Nodes[node].Outputs {
		x.Outputs = append(x.Outputs, c.here[t])
	}
	for _, s := range f.rec.Nodes[node].Saves {
		if c.here[s.Tensor] < 0 {
			continue
		}
		x.Saves = append(x.Saves, record.Save{Tensor: c.here[s.Tensor], Role: s.Role, Reason: s.Reason})
	}
	return x
}

// box is a folded region as a node.
func (f *folder) box(c *contracted, id, region, scope int) record.Node {
	r := &f.regions[region]
	x := record.Node{ID: id, Scope: scope, Site: -1, Inputs: []int{}, Outputs: []int{}}
	seen := map[int]bool{}
	for n := r.From; n < r.To; n++ {
		for _, t := range f.rec.Nodes[n].Inputs {
			p := f.rec.Tensors[t].Producer
			if here := c.here[t]; here >= 0 && !seen[t] && (p < r.From || p >= r.To) {
				seen[t] = true
				x.Inputs = append(x.Inputs, here)
			}
		}
		for _, t := range f.rec.Nodes[n].Outputs {
			if here := c.here[t]; here >= 0 {
				// Outputs are numbered anew, so that each has a place of its own.
				c.rec.Tensors[here].Output = len(x.Outputs)
				x.Outputs = append(x.Outputs, here)
			}
		}
	}
	x.Op = widened(r.Label, fmt.Sprintf("+ %d ops, %d params", r.To-r.From, r.To-r.From))
	if len(x.Outputs) > 0 {
		x.Saves = []record.Save{{Tensor: x.Outputs[0]}} // room for a second line
	}
	return x
}

// widened is a label with spaces behind it until it is as wide as the line that
// stands below.
func widened(label, below string) string {
	return label + strings.Repeat(" ", max(0, len(below)-len(label)))
}
