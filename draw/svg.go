package draw

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep/record"
)

// SVG writes a self-contained picture: no script, no font, nothing fetched. It
// follows the reader's choice of light or dark. Every part has a class
// ("op", "stub", "edge", …) and says in data- attributes what it stands for;
// resting on a part shows what there is to say of it. More than [MaxSVG] nodes
// are refused with a *TooLargeError.
func SVG(w io.Writer, rec *record.Record, o Options) error {
	if err := o.check(rec, "SVG", MaxSVG); err != nil {
		return err
	}
	l := newLabels(rec, &o)
	out := &svg{w: bufio.NewWriter(w), labels: l, layout: layout(l, o.Style)}
	out.picture()
	return out.w.Flush()
}

type svg struct {
	w *bufio.Writer
	*labels
	layout *Layout
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;", "\n", "&#10;")

func esc(s string) string { return markup.Replace(s) }

// num prints a coordinate to the half of a pixel.
func num(x float64) string { return strconv.FormatFloat(round(2*x)/2, 'f', -1, 64) }

func attrs(r Rect) string {
	return fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, num(r.X), num(r.Y), num(r.W), num(r.H))
}

const styleSheet = `
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:10.5px;fill:#57606a}
.paper{fill:#fff}.title{font-size:13px;font-weight:bold;fill:#1f2328}
.op rect{fill:#f6f8fa;stroke:#6e7781}.op .name{font-size:12px;fill:#1f2328}.op .keeps{fill:#0f766e}
.op .turn rect{fill:#8250df;stroke:none}.turn text{fill:#fff;font-weight:bold}
.edge path{fill:none;stroke:#8c959f;stroke-width:1.25}.edge.leaf path{stroke:#b8a06a}.edge:hover path{stroke:#8250df;stroke-width:2.5}.edge .head{fill:#6e7781;stroke:none}
.label{fill:#424a53}
.stub rect,.stub circle{fill:#eef4fb;stroke:#4a7ebb}.stub text{fill:#24292f}
.stub.param rect,.stub.param circle{fill:#fdf4dc;stroke:#b7862b}.stub.constant rect,.stub.constant circle{fill:#f0f0f0;stroke:#8c959f}
.stub.computed rect,.stub.computed circle{fill:#fff;stroke:#6e7781}
.stub.ghost rect,.stub.ghost circle{fill:none;stroke-dasharray:3 2}.stub.ghost text{font-style:italic;fill:#6e7781}
.stub.loss rect,.stub.loss circle{fill:#cf222e;stroke:#cf222e}.stub.loss .in{fill:#fff;font-weight:bold}
.frame rect{fill-opacity:.07;stroke-opacity:.55}.frame text{font-weight:bold}
.s0 rect{fill:#0969da;stroke:#0969da}.s1 rect{fill:#1a7f37;stroke:#1a7f37}.s2 rect{fill:#bc4c00;stroke:#bc4c00}.s3 rect{fill:#8250df;stroke:#8250df}.s4 rect{fill:#bf3989;stroke:#bf3989}
.sweep path{fill:none;stroke:#8250df;stroke-width:1.5}.sweep .tip{fill:#8250df;stroke:none}.sweep text{fill:#8250df}
@media (prefers-color-scheme:dark){
text{fill:#9198a1}.paper{fill:#0d1117}.title,.op .name{fill:#f0f6fc}.op rect{fill:#161b22;stroke:#7d8590}.op .keeps{fill:#4fd1c5}
.edge path{stroke:#6e7681}.edge.leaf path{stroke:#8a7340}.edge .head{fill:#8b949e}.label{fill:#b1bac4}
.stub rect,.stub circle{fill:#12233a}.stub text{fill:#e6edf3}.stub.param rect,.stub.param circle{fill:#33270c}.stub.constant rect,.stub.constant circle{fill:#21262d}
.stub.computed rect,.stub.computed circle{fill:#0d1117}.stub.ghost text{fill:#9198a1}.stub.loss rect,.stub.loss circle{fill:#da3633;stroke:#da3633}.op .turn rect{fill:#8957e5;stroke:none}.frame rect{fill-opacity:.13}
}
`

func (s *svg) picture() {
	l := s.layout
	width := max(l.Width, 10+textWidth(s.heading(), 13), 10+textWidth(s.legend(), smallSize)) + 10
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%s" height="%s" viewBox="0 0 %s %s" data-style="%s">`+"\n",
		num(width), num(l.Height), num(width), num(l.Height), l.Style)
	s.printf("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", esc(s.heading()), esc(s.describe()), styleSheet)
	s.printf(`<rect class="paper" width="100%%" height="100%%"/>` + "\n")
	s.printf(`<text class="title" x="14" y="22">%s</text><text x="14" y="38">%s</text>`+"\n", esc(s.heading()), esc(s.legend()))
	for _, f := range l.Frames {
		s.printf(`<g class="frame s%d" data-scope="%d"><rect %s rx="8"/><text x="%s" y="%s">%s</text></g>`+"\n",
			f.Scope%5, f.Scope, attrs(f.Rect), num(f.Text.X), num(f.Text.Y+11), esc(f.Label))
	}
	for i := range l.Edges {
		s.edge(&l.Edges[i])
	}
	for i := range l.Labels {
		s.printf(`<text class="label" x="%s" y="%s">%s</text>`+"\n", num(l.Labels[i].Rect.X), num(l.Labels[i].Rect.Y+10.5), esc(l.Labels[i].Text))
	}
	for i := range l.Stubs {
		s.stub(&l.Stubs[i])
	}
	for i := range l.Boxes {
		s.box(&l.Boxes[i])
	}
	if s.swept() {
		s.arrow()
	}
	s.printf("</svg>\n")
}

func (s *svg) heading() string {
	if s.rec.Title != "" {
		return short(plain(s.rec.Title), 90)
	}
	return fmt.Sprintf("%d ops, %d tensors", len(s.rec.Nodes), len(s.rec.Tensors))
}

func (s *svg) legend() string {
	text := "forward runs down"
	if s.swept() {
		text += "; the sweep runs up, in the order of the numbers"
	}
	for i := range s.layout.Stubs {
		if s.layout.Stubs[i].Ghost {
			return text + "; dashed: a ghost of a tensor drawn elsewhere"
		}
	}
	return text
}

func (s *svg) describe() string {
	text := fmt.Sprintf("A graph of %d ops, drawn from the leaves at the top to the loss at the bottom.", len(s.rec.Nodes))
	if s.loss >= 0 {
		text += " The loss is " + s.tensor(s.loss) + "."
	}
	return text
}

// edge draws an edge with curves between layers and straight lines through
// them.
func (s *svg) edge(e *Edge) {
	class := "edge"
	if e.From < 0 && s.rec.Tensors[e.Tensor].Producer < 0 {
		class += " leaf"
	}
	s.printf(`<g class="%s" data-tensor="%d" data-from="%d" data-to="%d" data-slot="%d"><title>%s</title><path d="`,
		class, e.Tensor, e.From, e.To, e.Slot, esc(s.about(e.Tensor)))
	for i, p := range e.Points {
		switch {
		case i == 0:
			s.printf("M%s %s", num(p.X), num(p.Y))
		case p.X == e.Points[i-1].X:
			s.printf("V%s", num(p.Y))
		default:
			q := e.Points[i-1]
			middle := (p.Y + q.Y) / 2
			s.printf("C%s %s %s %s %s %s", num(q.X), num(middle), num(p.X), num(middle), num(p.X), num(p.Y))
		}
	}
	s.printf(`"/>`)
	if tip := e.Points[len(e.Points)-1]; e.To >= 0 || s.layout.Style == Bipartite {
		s.printf(`<path class="head" d="M%s %sl-3 -5.5h6z"/>`, num(tip.X), num(tip.Y))
	}
	s.printf("</g>\n")
}

func (s *svg) stub(x *Stub) {
	class := "stub " + string(s.rec.Tensors[x.Tensor].Kind)
	about := s.about(x.Tensor)
	if x.Ghost {
		class += " ghost"
		about += " (a ghost: the same tensor is drawn elsewhere too)"
	}
	if x.Loss {
		class += " loss"
		about += " (the loss)"
	}
	s.printf(`<g class="%s" data-tensor="%d" data-ghost="%t"><title>%s</title>`, class, x.Tensor, x.Ghost, esc(about))
	c := x.Rect.Center()
	if s.layout.Style == Bipartite {
		s.printf(`<circle cx="%s" cy="%s" r="%s"/>`, num(c.X), num(c.Y), num(circle/2-0.5))
		s.printf(`<text x="%s" y="%s">%s</text>`, num(c.X+circle/2+5), num(c.Y+3.5), esc(x.Label))
	} else {
		s.printf(`<rect %s rx="%s"/>`, attrs(x.Rect), num(stubHeight/2))
		s.printf(`<text class="in" x="%s" y="%s" text-anchor="middle">%s</text>`, num(c.X), num(c.Y+3.5), esc(x.Label))
	}
	s.printf("</g>\n")
}

func (s *svg) box(b *Box) {
	s.printf(`<g class="op" data-node="%d" data-turn="%d"><title>%s</title><rect %s rx="4"/>`, b.Node, b.Turn, esc(s.why(b.Node)), attrs(b.Rect))
	left := b.Rect.X + boxPad
	if b.Turn > 0 {
		w := badgeWidth(b.Turn)
		s.printf(`<g class="turn"><rect %s rx="7.5"/><text x="%s" y="%s" text-anchor="middle">%d</text></g>`,
			attrs(Rect{left - 4, b.Rect.Y + 5, w, 15}), num(left-4+w/2), num(b.Rect.Y+16.5), b.Turn)
		left += w + 4
	}
	s.printf(`<text class="name" x="%s" y="%s">%s</text>`, num(left), num(b.Rect.Y+17), esc(b.Title))
	if b.Keeps != "" {
		s.printf(`<text class="keeps" x="%s" y="%s">%s</text>`, num(b.Rect.X+boxPad), num(b.Rect.Y+33), esc(b.Keeps))
	}
	s.printf("</g>\n")
}

// arrow shows the direction of the sweep, along the left side.
func (s *svg) arrow() {
	top, bottom := margin+header, s.layout.Height-margin
	x := margin / 2
	middle := (top + bottom) / 2
	s.printf(`<g class="sweep"><path d="M%s %sV%s"/><path class="tip" d="M%s %sl-4 8h8z"/>`, num(x), num(bottom), num(top+6), num(x), num(top))
	s.printf(`<text transform="translate(%s %s) rotate(-90)" text-anchor="middle">the sweep</text></g>`+"\n", num(x+13), num(middle))
}
