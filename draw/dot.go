package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/backsweep/backsweep/record"
)

// DOT writes the record in the language of Graphviz. More than [MaxDOT] nodes
// are refused with a *TooLargeError. Nodes are called n0, n1, …, tensors that
// are drawn t0, t1, …, ghosts t0_n5 after their consumer; every edge has the
// tensor, the consumer's operand slot and the shape in its label or tooltip.
func DOT(w io.Writer, rec *record.Record, o Options) error {
	if err := o.check(rec, "DOT", MaxDOT); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	g := newPlainGraph(newLabels(rec, &o), o.Style)
	direction := "forward runs down"
	if g.swept() {
		direction += "; the sweep runs up, in the order of the numbers"
	}
	if rec.Title != "" {
		direction = plain(rec.Title) + "\n" + direction
	}
	fmt.Fprintf(out, "digraph record {\n\trankdir=TB; label=%s; labelloc=t; style=%s\n\tnode [fontname=monospace, fontsize=11]\n\tedge [fontname=monospace, fontsize=10]\n",
		dotQuote(direction), dotQuote(string(o.Style)))
	for _, x := range g.walk() {
		tab := strings.Repeat("\t", x.depth+1)
		switch {
		case x.frame >= 0 && x.open:
			f := &g.frames[x.frame]
			fmt.Fprintf(out, "%ssubgraph cluster_%d {\n%s\tlabel=%s; style=rounded\n", tab, x.frame, tab, dotQuote(plain(rec.Scopes[f.scope].Name)))
		case x.frame >= 0:
			fmt.Fprintf(out, "%s}\n", tab)
		default:
			fmt.Fprintf(out, "%s%s [%s]\n", tab, x.point.id, g.dotPoint(&x.point))
		}
	}
	for i, e := range g.edges {
		label := ""
		if !e.leaf {
			label = g.tensor(e.tensor) + " " + g.shape(e.tensor)
		}
		slot := ""
		if e.slot >= 0 {
			slot = fmt.Sprintf(", headlabel=%s", dotQuote(fmt.Sprint(e.slot)))
		}
		if o.Style == Bipartite {
			label = ""
		}
		fmt.Fprintf(out, "\t%s -> %s [id=\"t%d.%d\", label=%s, tooltip=%s%s]\n", e.from, e.to, e.tensor, i, dotQuote(label), dotQuote(g.about(e.tensor)), slot)
	}
	fmt.Fprintf(out, "}\n")
	return out.Flush()
}

func (g *plainGraph) dotPoint(p *point) string {
	if p.node >= 0 {
		return fmt.Sprintf("shape=box, label=%s, tooltip=%s", dotQuote(p.label), dotQuote(g.why(p.node)))
	}
	shape := "plaintext"
	switch {
	case g.style == Bipartite:
		shape = "circle"
	case p.loss:
		shape = "doubleoctagon"
	}
	more := ""
	if p.ghost {
		more = ", fontcolor=gray40, color=gray40, style=dashed"
	}
	if p.loss {
		more += ", color=red, fontcolor=red"
	}
	return fmt.Sprintf("shape=%s, label=%s, tooltip=%s%s", shape, dotQuote(p.label), dotQuote(g.about(p.tensor)), more)
}

// dotQuote makes a DOT string. A backslash in it would begin an escape of
// Graphviz, so each is doubled.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}
