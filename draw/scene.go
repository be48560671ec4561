package draw

import (
	"fmt"

	"github.com/backsweep/backsweep/record"
)

// Sizes in pixels. Texts are monospaced, so that their widths are known without
// a font.
const (
	titleSize  = 12.0
	smallSize  = 10.5
	advance    = 0.602 // of a monospaced character, in its size
	boxPad     = 12.0
	boxHeight  = 26.0
	keepHeight = 15.0
	labelStrip = 17.0 // below a box, for the labels of its outputs
	stubHeight = 20.0
	circle     = 14.0
	framePad   = 14.0
	frameHead  = 22.0 // what an edge runs straight down through, beside the label
	margin     = 24.0
)

func textWidth(s string, size float64) float64 { return float64(columns(s)) * size * advance }

// part is what a vertex of a level is.
type part uint8

const (
	boxPart  part = iota // a node
	markPart             // a computed tensor, in the style Bipartite
	stubPart             // a leaf or one of its ghosts
	endPart              // the loss, or a tensor that nothing consumes
	framePart
	inPort  // where a tensor enters the frame
	outPort // where it leaves
)

// vertex is a thing that has a place in a level. It reaches left and right of
// its anchor x, and down from y.
type vertex struct {
	part         part
	node, tensor int // or -1
	frame        int // of a framePart, or -1
	ghost        bool
	left, right  float64
	height       float64
	boxWidth     float64
	step         float64 // of a box: between its outputs
	layer        int
	depth        int // nodes on the longest path that leads here
	spine        int // of a box: the operand slot that the deepest history leads to, or -1
	x, y         float64
}

// wire joins two vertices of one level.
type wire struct {
	tensor       int
	from, to     int
	slot         int // operand slot of to, or -1
	fromDX, toDX float64
	points       []Point
}

// level is the inside of a frame.
type level struct {
	vertices      []vertex
	wires         []wire
	uses          []use       // of leaves, which have no vertex before there are layers
	entry, exit   map[int]int // tensor → its port
	width, height float64
	x, y          float64 // in the picture
}

// use is one consumption of a leaf.
type use struct {
	strand, tensor, to, slot int
}

// strand is an edge of the picture, and the wires it is made of.
type strand struct {
	tensor, from, to, slot int
	ghost                  bool
	path                   []link
}

type link struct{ level, wire int }

type scene struct {
	*labels
	style    Style
	frames   []enclosure
	of       []int // the innermost frame of each node
	levels   []*level
	inside   []int // the vertex of each frame in its parent's level
	box      []int // the vertex of each node in its frame's level
	strands  []strand
	wired    map[wireKey]int
	firstUse []int // by leaf: the strand that gets the stub itself
}

type wireKey struct{ level, from, to, tensor, slot int }

func newScene(l *labels, style Style) *scene {
	s := &scene{labels: l, style: style, wired: map[wireKey]int{}}
	s.frames, s.of = enclosures(l.rec)
	s.levels = make([]*level, len(s.frames))
	s.inside = make([]int, len(s.frames))
	for e := range s.frames {
		s.levels[e] = &level{entry: map[int]int{}, exit: map[int]int{}}
		if e > 0 {
			s.inside[e] = s.add(s.frames[e].parent, vertex{part: framePart, node: -1, tensor: -1, frame: e})
		}
	}
	s.box = make([]int, len(l.rec.Nodes))
	for n := range l.rec.Nodes {
		s.box[n] = s.add(s.of[n], s.boxVertex(n))
	}
	s.firstUse = make([]int, len(l.rec.Tensors))
	for t := range s.firstUse {
		s.firstUse[t] = -1
	}
	consumers := l.rec.Consumers()
	for t := range l.rec.Tensors {
		s.tensorStrands(t, consumers.Of(t))
	}
	return s
}

func (s *scene) add(level int, v vertex) int {
	s.levels[level].vertices = append(s.levels[level].vertices, v)
	return len(s.levels[level].vertices) - 1
}

// tensorStrands makes the edges of one tensor.
func (s *scene) tensorStrands(t int, uses []record.Use) {
	x := &s.rec.Tensors[t]
	if x.Producer < 0 {
		for _, u := range uses {
			if s.firstUse[t] < 0 {
				s.firstUse[t] = len(s.strands)
			}
			lv := s.levels[s.of[u.Node]]
			lv.uses = append(lv.uses, use{strand: len(s.strands), tensor: t, to: s.box[u.Node], slot: u.Slot})
			s.strands = append(s.strands, strand{tensor: t, from: -1, to: u.Node, slot: u.Slot})
		}
		if len(uses) == 0 {
			s.add(0, s.stubVertex(t, false))
		}
		return
	}
	from, at := s.of[x.Producer], s.box[x.Producer]
	producer := x.Producer
	if s.style == Bipartite {
		// The loss is drawn outside all frames, so that it can be last.
		home := from
		if t == s.loss {
			home = 0
		}
		mark := s.add(home, s.markVertex(markPart, t))
		s.strands = append(s.strands, strand{tensor: t, from: producer, to: -1, slot: -1, path: s.connect(from, at, home, mark, t, -1)})
		from, at, producer = home, mark, -1
	} else if t == s.loss || len(uses) == 0 {
		home := from
		if t == s.loss {
			home = 0
		}
		end := s.add(home, s.endVertex(t))
		s.strands = append(s.strands, strand{tensor: t, from: producer, to: -1, slot: -1, path: s.connect(from, at, home, end, t, -1)})
	}
	for _, u := range uses {
		s.strands = append(s.strands, strand{tensor: t, from: producer, to: u.Node, slot: u.Slot,
			path: s.connect(from, at, s.of[u.Node], s.box[u.Node], t, u.Slot)})
	}
}

// connect joins two vertices, through the ports of the frames between them.
func (s *scene) connect(fromFrame, from, toFrame, to, tensor, slot int) []link {
	var down []link
	for !s.within(fromFrame, toFrame) {
		port := s.port(s.levels[toFrame].entry, toFrame, tensor, inPort)
		down = append(down, s.wire(toFrame, port, to, tensor, slot))
		to, slot, toFrame = s.inside[toFrame], -1, s.frames[toFrame].parent
	}
	var path []link
	for fromFrame != toFrame {
		port := s.port(s.levels[fromFrame].exit, fromFrame, tensor, outPort)
		path = append(path, s.wire(fromFrame, from, port, tensor, -1))
		from, fromFrame = s.inside[fromFrame], s.frames[fromFrame].parent
	}
	path = append(path, s.wire(toFrame, from, to, tensor, slot))
	for i := len(down) - 1; i >= 0; i-- {
		path = append(path, down[i])
	}
	return path
}

// within reports whether frame a is frame b or inside it.
func (s *scene) within(a, b int) bool {
	for s.frames[a].depth > s.frames[b].depth {
		a = s.frames[a].parent
	}
	return a == b
}

func (s *scene) port(ports map[int]int, level, tensor int, p part) int {
	v, ok := ports[tensor]
	if !ok {
		x := vertex{part: p, node: -1, tensor: tensor, frame: -1, left: 5, right: 5}
		if p == inPort {
			x.height = frameHead
		}
		v = s.add(level, x)
		ports[tensor] = v
	}
	return v
}

func (s *scene) wire(level, from, to, tensor, slot int) link {
	key := wireKey{level, from, to, tensor, slot}
	i, ok := s.wired[key]
	if !ok {
		lv := s.levels[level]
		i = len(lv.wires)
		lv.wires = append(lv.wires, wire{tensor: tensor, from: from, to: to, slot: slot})
		s.wired[key] = i
	}
	return link{level, i}
}

func (s *scene) title(n int) string { return short(s.labels.node(n), 36) }

// edgeLabel is the text beside an edge: name and shape.
func (s *scene) edgeLabel(t int) string { return short(s.tensor(t), 22) + " " + short(s.shape(t), 22) }

func (s *scene) boxVertex(n int) vertex {
	v := vertex{part: boxPart, node: n, tensor: -1, frame: -1, height: boxHeight}
	w := textWidth(s.title(n), titleSize)
	if s.turn[n] > 0 {
		w += badgeWidth(s.turn[n]) + 8
	}
	if k := s.keeps(n, 34); k != "" {
		w = max(w, textWidth(k, smallSize))
		v.height += keepHeight
	}
	v.boxWidth = max(w+2*boxPad, 64)
	last := float64(len(s.rec.Nodes[n].Outputs) - 1)
	if s.style == Ops {
		v.height += labelStrip
		for _, t := range s.rec.Nodes[n].Outputs {
			v.step = max(v.step, even(s.outputWidth(t)))
		}
	} else {
		v.step = 2 * circle
	}
	v.boxWidth = max(v.boxWidth, last*v.step+2*boxPad, float64(min(len(s.rec.Nodes[n].Inputs), 40))*10+20)
	v.boxWidth = even(v.boxWidth)
	v.left, v.right = v.boxWidth/2, v.boxWidth/2
	if s.style == Ops {
		v.right = max(v.right, last/2*v.step+v.step)
	}
	return v
}

// outputWidth is how far an output's label reaches to the right of its edge.
func (s *scene) outputWidth(t int) float64 { return 10 + textWidth(s.edgeLabel(t), smallSize) }

func badgeWidth(turn int) float64 {
	return max(18, textWidth(fmt.Sprint(turn), smallSize)+10)
}

// stubLabel is the text of a leaf's stub.
func (s *scene) stubLabel(t int, ghost bool) string {
	text := short(s.tensor(t), 22)
	if !ghost {
		text += " " + short(s.shape(t), 22)
	}
	return text
}

func (s *scene) stubVertex(t int, ghost bool) vertex {
	if s.style == Bipartite {
		v := s.markVertex(stubPart, t)
		v.ghost = ghost
		return v
	}
	w := even(textWidth(s.stubLabel(t, ghost), smallSize) + 18)
	return vertex{part: stubPart, node: -1, tensor: t, frame: -1, ghost: ghost, left: w / 2, right: w / 2, height: stubHeight, boxWidth: w}
}

func (s *scene) endLabel(t int) string {
	switch {
	case t != s.loss:
		return "not consumed"
	case s.tensor(t) == "loss":
		return "loss"
	default:
		return "loss " + short(s.tensor(t), 22)
	}
}

func (s *scene) endVertex(t int) vertex {
	w := even(textWidth(s.endLabel(t), smallSize) + 22)
	return vertex{part: endPart, node: -1, tensor: t, frame: -1, left: w / 2, right: w / 2, height: stubHeight, boxWidth: w}
}

// markVertex is a circle with its label to the right.
func (s *scene) markVertex(p part, t int) vertex {
	return vertex{part: p, node: -1, tensor: t, frame: -1, left: circle / 2, right: circle/2 + 6 + textWidth(s.markLabel(t), smallSize),
		height: circle, boxWidth: circle}
}

func (s *scene) markLabel(t int) string {
	if t == s.loss && s.tensor(t) != "loss" {
		return "loss " + s.edgeLabel(t)
	}
	return s.edgeLabel(t)
}

// inputDX is where an operand enters a box, from its middle. The operand with
// the deepest history has the middle, so that long chains stay straight.
func (s *scene) inputDX(v *vertex, slot int) float64 {
	last := float64(len(s.rec.Nodes[v.node].Inputs) - 1)
	middle := last / 2
	if v.spine >= 0 {
		middle = float64(v.spine)
	}
	far := max(middle, last-middle, 0.5)
	return (float64(slot) - middle) * min(30, (v.boxWidth/2-10)/far)
}

// outputDX is where an output leaves a box, from its middle.
func (s *scene) outputDX(v *vertex, tensor int) float64 {
	last := float64(len(s.rec.Nodes[v.node].Outputs) - 1)
	return (float64(s.rec.Tensors[tensor].Output) - last/2) * v.step
}
