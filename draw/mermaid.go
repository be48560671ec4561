package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/backsweep/backsweep/record"
)

// Mermaid writes the record as a Mermaid flowchart, which many viewers of
// Markdown draw. More than [MaxMermaid] nodes are refused with a
// *TooLargeError. Nodes and tensors are called as [DOT] calls them.
func Mermaid(w io.Writer, rec *record.Record, o Options) error {
	if err := o.check(rec, "Mermaid", MaxMermaid); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	g := newPlainGraph(newLabels(rec, &o), o.Style)
	direction := "forward runs down"
	if g.swept() {
		direction += ", the sweep runs up in the order of the numbers"
	}
	fmt.Fprintf(out, "flowchart TB\n%%%% %s\n", direction)
	for _, x := range g.walk() {
		tab := strings.Repeat("  ", x.depth+1)
		switch {
		case x.frame >= 0 && x.open:
			fmt.Fprintf(out, "%ssubgraph s%d[%s]\n", tab, x.frame, mermaidQuote(plain(rec.Scopes[g.frames[x.frame].scope].Name)))
		case x.frame >= 0:
			fmt.Fprintf(out, "%send\n", tab)
		default:
			p := &x.point
			left, right := "[", "]"
			if p.node < 0 {
				left, right = "([", "])"
				if o.Style == Bipartite {
					left, right = "((", "))"
				}
			}
			fmt.Fprintf(out, "%s%s%s%s%s%s\n", tab, p.id, left, mermaidQuote(p.label), right, p.class())
		}
	}
	for _, e := range g.edges {
		label := ""
		if !e.leaf && o.Style == Ops {
			label = "|" + mermaidQuote(g.tensor(e.tensor)+" "+g.shape(e.tensor)) + "|"
		}
		fmt.Fprintf(out, "  %s -->%s %s\n", e.from, label, e.to)
	}
	fmt.Fprintf(out, "  classDef leaf fill:#fdf4dc,stroke:#b7862b,color:#24292f\n  classDef ghost fill:none,stroke:#8c959f,stroke-dasharray:3 2\n  classDef loss fill:#cf222e,stroke:#cf222e,color:#fff\n")
	return out.Flush()
}

func (p *point) class() string {
	switch {
	case p.loss:
		return ":::loss"
	case p.ghost:
		return ":::ghost"
	case p.leaf:
		return ":::leaf"
	}
	return ""
}

// mermaidQuote makes a quoted label. Mermaid knows character codes and, in
// labels, Markdown and HTML, so all that is not a letter, a digit or plainly
// harmless is written as a code.
func mermaidQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("<br/>")
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ,.:·×()=+-/…", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
