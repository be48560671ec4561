package draw

import (
	"cmp"
	"slices"

	"github.com/backsweep/backsweep/record"
)

// Point is a place in a picture, in pixels from the left and from the top.
type Point struct{ X, Y float64 }

// Rect is a rectangle: its left top corner and its size.
type Rect struct{ X, Y, W, H float64 }

// Center is the middle of the rectangle.
func (r Rect) Center() Point { return Point{r.X + r.W/2, r.Y + r.H/2} }

// Overlaps reports whether two rectangles share more than a border.
func (r Rect) Overlaps(o Rect) bool {
	return r.X < o.X+o.W && o.X < r.X+r.W && r.Y < o.Y+o.H && o.Y < r.Y+r.H
}

// Contains reports whether o lies within r.
func (r Rect) Contains(o Rect) bool {
	return r.X <= o.X && r.Y <= o.Y && o.X+o.W <= r.X+r.W && o.Y+o.H <= r.Y+r.H
}

// Box is the box of a node.
type Box struct {
	Node  int
	Rect  Rect
	Turn  int    // in the sweep, from 1; 0 when it does not visit the node
	Title string // "n9 matmul"
	Keeps string // "keeps h, w · 4 KiB", or ""
}

// Stub is the labelled end of an edge that has no op there: a leaf, the loss,
// or a tensor that nothing consumes. In the style [Bipartite] it is a circle,
// as every tensor is.
type Stub struct {
	Tensor int
	Rect   Rect // without the label, where that stands beside it
	Label  string
	Ghost  bool // a copy near a distant consumer
	Loss   bool
	End    bool // the lower end of an edge, not the upper
}

// Label is the text beside an edge where it leaves its producer: the tensor's
// name and shape.
type Label struct {
	Tensor int
	Text   string
	Rect   Rect
}

// Edge leads down from a producer (or a stub or circle) to a consumer (or a
// stub or circle). In the style [Ops] it is a whole tensor edge: From is -1 for
// a leaf and To is -1 for an end. In the style [Bipartite] it is the half that
// leads into the tensor's circle (To is -1) or out of it (From is -1).
type Edge struct {
	Tensor   int
	From, To int  // node ids, or -1
	Slot     int  // operand slot of To, or -1
	Ghost    bool // it starts at a ghost
	Points   []Point
}

// Frame is a scope, drawn around its nodes.
type Frame struct {
	Scope int
	Part  int // 1, 2, … when the scope is drawn in several parts, else 0
	Rect  Rect
	Label string
	Text  Rect // where the label stands
}

// Layout is a picture as data. Slices are sorted: boxes by node, the others by
// tensor, then from top to bottom; frames have outer ones first.
type Layout struct {
	Style         Style
	Width, Height float64
	Boxes         []Box
	Stubs         []Stub
	Labels        []Label
	Edges         []Edge
	Frames        []Frame
}

// NewLayout lays a record out in layers, after K. Sugiyama, S. Tagawa and
// M. Toda, "Methods for visual understanding of hierarchical system
// structures" (1981): every frame by itself, from the innermost outwards, so
// that scopes stand side by side like large nodes; within a frame
// nodes are put on layers, long edges are cut into pieces of one layer, the
// layers are ordered so that few edges cross, and the nodes are moved so that
// edges are straight. Time is close to linear.
func NewLayout(rec *record.Record, o Options) (*Layout, error) {
	if err := o.check(rec, "SVG", MaxSVG); err != nil {
		return nil, err
	}
	return layout(newLabels(rec, &o), o.Style), nil
}

func layout(l *labels, style Style) *Layout {
	s := newScene(l, style)
	for e := len(s.levels) - 1; e >= 0; e-- {
		s.levels[e].layers(s, e)
		c := newCells(s, s.levels[e])
		c.order()
		if s.levels[e].spread(s, c) {
			c = newCells(s, s.levels[e])
			c.order()
		}
		c.place()
		s.levels[e].route(s, e, c)
	}
	return s.collect()
}

// Crossings counts the places at which edges cross in the picture. Edges that
// share a piece or an end do not cross there. It compares each piece with those
// at the same height.
func (l *Layout) Crossings() int {
	type piece struct {
		tensor int
		a, b   Point
	}
	var pieces []piece
	for _, e := range l.Edges {
		for i := 1; i < len(e.Points); i++ {
			pieces = append(pieces, piece{e.Tensor, e.Points[i-1], e.Points[i]})
		}
	}
	byHeight := func(p, q piece) int {
		return cmp.Or(cmp.Compare(p.a.Y, q.a.Y), cmp.Compare(p.b.Y, q.b.Y), cmp.Compare(p.a.X, q.a.X),
			cmp.Compare(p.b.X, q.b.X), cmp.Compare(p.tensor, q.tensor))
	}
	slices.SortFunc(pieces, byHeight)
	pieces = slices.Compact(pieces)
	crossings := 0
	for i, p := range pieces {
		for _, q := range pieces[i+1:] {
			if q.a.Y >= p.b.Y {
				break
			}
			if cross(p.a, p.b, q.a, q.b) {
				crossings++
			}
		}
	}
	return crossings
}

// cross reports whether the insides of two segments meet in one point.
func cross(a, b, c, d Point) bool {
	side := func(p, q, r Point) int {
		const noise = 1e-6
		v := float64((q.X-p.X)*(r.Y-p.Y)) - float64((q.Y-p.Y)*(r.X-p.X))
		switch {
		case v > noise:
			return 1
		case v < -noise:
			return -1
		}
		return 0
	}
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}
