package draw

import (
	"cmp"
	"math"
	"slices"
)

// route gives the vertices of a level their y and its wires their points.
func (lv *level) route(s *scene, frame int, c *cells) {
	inset, head := framePad, 2*framePad
	if frame == 0 {
		inset, head = 0, 0
	}
	lv.width = even(lv.width + 2*inset)
	for v := range c.x {
		c.x[v] += inset
	}
	heights := make([]float64, len(c.rows))
	slant := make([]float64, len(c.rows))
	for i := range lv.vertices {
		v := &lv.vertices[i]
		v.x = c.x[i]
		heights[v.layer] = max(heights[v.layer], v.height)
	}
	if frame > 0 {
		label := textWidth(s.frameLabel(frame), smallSize)
		lv.width = even(max(lv.width, lv.labelX(label)+label+10))
	}
	for _, k := range c.segs {
		dx := math.Abs(c.x[k.from] + k.fromDX - c.x[k.to] - k.toDX)
		slant[c.layer[k.from]] = max(slant[c.layer[k.from]], dx)
	}
	tops := make([]float64, len(c.rows))
	y := head
	if frame > 0 && len(lv.entry) > 0 {
		y = 0
	}
	for i, h := range heights {
		tops[i] = y
		y += h
		gap := 18 + min(slant[i]*0.16, 60)
		if i == len(heights)-1 {
			gap = 0
		}
		y += round(gap)
	}
	lv.height = y
	if frame > 0 && len(lv.exit) == 0 {
		lv.height += framePad
	}
	for i := range lv.vertices {
		v := &lv.vertices[i]
		v.y = tops[v.layer] + heights[v.layer] - v.height
	}
	bottom := func(layer int) float64 { return tops[layer] + heights[layer] }
	for i := range lv.wires {
		w := &lv.wires[i]
		from, to := &lv.vertices[w.from], &lv.vertices[w.to]
		x := c.x[w.from] + w.fromDX
		start := from.y + from.height
		switch {
		case from.part == boxPart && s.style == Ops:
			start -= labelStrip
		case from.part == inPort:
			start = from.y
		}
		w.points = append(w.points, Point{x, start}, Point{x, bottom(from.layer)})
		for _, v := range c.chain[i] {
			w.points = append(w.points, Point{c.x[v], tops[c.layer[v]]}, Point{c.x[v], bottom(c.layer[v])})
		}
		x = c.x[w.to] + w.toDX
		w.points = append(w.points, Point{x, tops[to.layer]}, Point{x, to.y})
	}
	if frame == 0 {
		return
	}
	v := &s.levels[s.frames[frame].parent].vertices[s.inside[frame]]
	v.left, v.right, v.height = lv.width/2, lv.width/2, lv.height
}

func (s *scene) frameLabel(frame int) string {
	f := &s.frames[frame]
	label := short(plain(s.rec.Scopes[f.scope].Name), 40)
	if f.part > 1 {
		label += " (again)"
	}
	return label
}

// collect moves everything to its place in the picture.
func (s *scene) collect() *Layout {
	l := &Layout{Style: s.style}
	s.levels[0].x, s.levels[0].y = margin+gutter, margin+header
	l.Width = s.levels[0].width + 2*margin + gutter
	l.Height = s.levels[0].height + 2*margin + header
	for e := range s.frames {
		lv := s.levels[e]
		if e > 0 {
			up := s.levels[s.frames[e].parent]
			v := &up.vertices[s.inside[e]]
			lv.x, lv.y = round(up.x+v.x-v.left), up.y+v.y
			r := Rect{lv.x, lv.y, lv.width, lv.height}
			label := textWidth(s.frameLabel(e), smallSize)
			l.Frames = append(l.Frames, Frame{Scope: s.frames[e].scope, Part: s.frames[e].part, Rect: r, Label: s.frameLabel(e), Text: Rect{r.X + lv.labelX(label), r.Y + 5, label, 14}})
		}
		for i := range lv.vertices {
			s.collectVertex(l, lv, &lv.vertices[i])
		}
	}
	for i := range s.strands {
		x := &s.strands[i]
		e := Edge{Tensor: x.tensor, From: x.from, To: x.to, Slot: x.slot, Ghost: x.ghost}
		for _, k := range x.path {
			lv := s.levels[k.level]
			if from := &lv.vertices[lv.wires[k.wire].from]; from.ghost {
				e.Ghost, e.Points = true, e.Points[:0]
			}
			for _, p := range lv.wires[k.wire].points {
				e.Points = append(e.Points, Point{lv.x + p.X, lv.y + p.Y})
			}
		}
		e.Points = tidy(e.Points)
		l.Edges = append(l.Edges, e)
	}
	slices.SortFunc(l.Boxes, func(a, b Box) int { return cmp.Compare(a.Node, b.Node) })
	slices.SortFunc(l.Stubs, func(a, b Stub) int {
		return cmp.Or(cmp.Compare(a.Tensor, b.Tensor), cmp.Compare(a.Rect.Y, b.Rect.Y), cmp.Compare(a.Rect.X, b.Rect.X))
	})
	slices.SortFunc(l.Labels, func(a, b Label) int { return cmp.Compare(a.Tensor, b.Tensor) })
	return l
}

func (s *scene) collectVertex(l *Layout, lv *level, v *vertex) {
	r := Rect{lv.x + v.x - v.boxWidth/2, lv.y + v.y, v.boxWidth, v.height}
	switch v.part {
	case boxPart:
		if s.style == Ops {
			r.H -= labelStrip
			for _, t := range s.rec.Nodes[v.node].Outputs {
				text := s.edgeLabel(t)
				l.Labels = append(l.Labels, Label{Tensor: t, Text: text,
					Rect: Rect{lv.x + v.x + s.outputDX(v, t) + 6, r.Y + r.H + 2, textWidth(text, smallSize), labelStrip - 3}})
			}
		}
		l.Boxes = append(l.Boxes, Box{Node: v.node, Rect: r, Turn: s.turn[v.node], Title: s.title(v.node), Keeps: s.keeps(v.node, 34)})
	case stubPart:
		x := Stub{Tensor: v.tensor, Rect: r, Label: s.stubLabel(v.tensor, v.ghost), Ghost: v.ghost, Loss: v.tensor == s.loss}
		if s.style == Bipartite {
			x.Label = s.markLabel(v.tensor)
		}
		l.Stubs = append(l.Stubs, x)
	case endPart:
		l.Stubs = append(l.Stubs, Stub{Tensor: v.tensor, Rect: r, Label: s.endLabel(v.tensor), Loss: v.tensor == s.loss, End: true})
	case markPart:
		l.Stubs = append(l.Stubs, Stub{Tensor: v.tensor, Rect: r, Label: s.markLabel(v.tensor), Loss: v.tensor == s.loss})
	}
}

// labelX is where the label of a frame stands, from the left: where no edge that
// enters the frame runs through it.
func (lv *level) labelX(width float64) float64 {
	var ports []float64
	for _, v := range lv.entry {
		ports = append(ports, lv.vertices[v].x)
	}
	slices.Sort(ports)
	x := 10.0
	for _, p := range ports {
		if x+width+4 < p {
			break
		}
		x = max(x, p+8)
	}
	return x
}

// tidy drops points that repeat or lie on the line between their neighbours.
func tidy(points []Point) []Point {
	out := points[:0]
	for _, p := range points {
		if n := len(out); n > 0 && out[n-1] == p {
			continue
		}
		if n := len(out); n > 1 && out[n-1].X == p.X && out[n-2].X == p.X {
			out[n-1] = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// Room around the graph: for the head of the picture and the arrow of the
// sweep.
const (
	header = 40.0
	gutter = 26.0
)
