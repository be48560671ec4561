package draw

import (
	"fmt"
	"strings"
)

// plainGraph is a picture for programs that make their own layout.
type plainGraph struct {
	*labels
	style  Style
	frames []enclosure
	of     []int
	points []point // nodes first
	edges  []plainEdge
}

// point is a node, a circle, or the stub at an end of an edge.
type point struct {
	id           string
	label        string
	frame        int
	node, tensor int // or -1
	leaf         bool
	ghost, loss  bool
}

type plainEdge struct {
	from, to     string
	tensor, slot int
	leaf         bool
}

func newPlainGraph(l *labels, style Style) *plainGraph {
	g := &plainGraph{labels: l, style: style}
	g.frames, g.of = enclosures(l.rec)
	for n := range l.rec.Nodes {
		label := l.node(n)
		if l.turn[n] > 0 {
			label = fmt.Sprintf("%d · %s", l.turn[n], label)
		}
		if k := l.keeps(n, 60); k != "" {
			label += "\n" + k
		}
		g.points = append(g.points, point{id: nodeID(n), label: label, frame: g.of[n], node: n, tensor: -1})
	}
	consumers := l.rec.Consumers()
	for t := range l.rec.Tensors {
		x := &l.rec.Tensors[t]
		uses := consumers.Of(t)
		id := fmt.Sprintf("t%d", t)
		from := id
		p := point{id: id, label: g.pointLabel(t), node: -1, tensor: t, leaf: x.Producer < 0, loss: t == l.loss}
		switch {
		case x.Producer < 0:
			if len(uses) > 0 {
				p.frame = g.of[uses[0].Node]
			}
			g.points = append(g.points, p)
		case style == Bipartite:
			if !p.loss {
				p.frame = g.of[x.Producer]
			}
			g.points = append(g.points, p)
			g.edges = append(g.edges, plainEdge{from: nodeID(x.Producer), to: id, tensor: t, slot: -1})
		default:
			from = nodeID(x.Producer)
			if p.loss || len(uses) == 0 {
				p.label = "not consumed"
				if p.loss {
					p.label = g.lossLabel(t)
				} else {
					p.frame = g.of[x.Producer]
				}
				g.points = append(g.points, p)
				g.edges = append(g.edges, plainEdge{from: from, to: id, tensor: t, slot: -1})
			}
		}
		last := -1 // the consumer at which the leaf was drawn last
		at := from
		for _, u := range uses {
			if x.Producer < 0 && last >= 0 && (u.Node > last+apart || g.of[u.Node] != g.of[last]) {
				at = fmt.Sprintf("t%d_n%d", t, u.Node)
				p.id, p.label, p.ghost, p.loss, p.frame = at, g.tensor(t), true, false, g.of[u.Node]
				g.points = append(g.points, p)
				last = u.Node
			} else if last < 0 {
				last = u.Node
			}
			g.edges = append(g.edges, plainEdge{from: at, to: nodeID(u.Node), tensor: t, slot: u.Slot, leaf: x.Producer < 0})
		}
	}
	return g
}

// apart is how far apart on the tape the consumers of one stub may be; beyond
// that the leaf gets a ghost.
const apart = 4

func nodeID(n int) string { return fmt.Sprintf("n%d", n) }

func (g *plainGraph) lossLabel(t int) string {
	if g.tensor(t) == "loss" {
		return "loss"
	}
	return "loss " + g.tensor(t)
}

func (g *plainGraph) pointLabel(t int) string {
	sep := " "
	if g.style == Bipartite {
		sep = "\n"
	}
	name := g.tensor(t)
	if t == g.loss {
		name = g.lossLabel(t)
	}
	return strings.TrimSpace(name + sep + g.shape(t))
}

// visit is a step of the walk over frames and points: a frame that opens or
// closes, or a point.
type visit struct {
	frame int // or -1
	open  bool
	depth int
	point point
}

// walk lists the points frame by frame, as nested blocks.
func (g *plainGraph) walk() []visit {
	pair := func(i int) (int32, int32) { return int32(g.points[i].frame), int32(i) }
	start, inside := rows(len(g.frames), len(g.points), pair)
	childStart, children := rows(len(g.frames), len(g.frames)-1, func(i int) (int32, int32) { return int32(g.frames[i+1].parent), int32(i + 1) })
	var visits []visit
	type state struct{ frame, next int32 }
	stack := []state{{0, childStart[0]}}
	enter := func(f int32) {
		depth := g.frames[f].depth
		if f > 0 {
			visits = append(visits, visit{frame: int(f), open: true, depth: depth - 1})
		}
		for _, i := range inside[start[f]:start[f+1]] {
			visits = append(visits, visit{frame: -1, depth: depth, point: g.points[i]})
		}
	}
	enter(0)
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < childStart[top.frame+1] {
			c := children[top.next]
			top.next++
			enter(c)
			stack = append(stack, state{c, childStart[c]})
			continue
		}
		if top.frame > 0 {
			visits = append(visits, visit{frame: int(top.frame), depth: g.frames[top.frame].depth - 1})
		}
		stack = stack[:len(stack)-1]
	}
	return visits
}
