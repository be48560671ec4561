package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/backsweep/backsweep/record"
)

// Text draws the record with characters, in tape order: one op a line, and one
// column for each tensor that is alive there, from the op that produced it to
// the last that consumes it.
//
//	5 ●   n0 mul(╶x 2×3, ╶w 2×3) → p 2×3       keeps x, w · leaves
//	4 ●   n1 tanh(p) → h 2×3                   keeps h · 24 B
//	3 ├─● n2 exp(h) → e 2×3                    keeps e · 24 B
//	2 ●─╯ n3 add(h, e) → s 2×3
//	1 ◉   n4 sum(s) → loss scalar ◀ loss
//
// The number is the op's turn in the sweep, which goes from the bottom up; an
// op that it does not visit has none, and a hollow circle. "╶x" is the stub of
// a leaf, with its shape where it is first consumed. Where an edge passes
// behind a column, the column is drawn through. In the style [Bipartite], ops
// are ■ and every computed tensor has a line of its own, with ○.
//
// Columns that do not fit Options.Width are left out, which … says at the right
// of the others and the first lines in words. Any number of nodes can be drawn;
// Options.Lines leaves out the middle.
func Text(w io.Writer, rec *record.Record, o Options) error {
	if err := o.check(rec, "text", len(rec.Nodes)+len(rec.Tensors)); err != nil {
		return err
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	d := &textDrawing{w: bufio.NewWriter(w), labels: newLabels(rec, &o), o: o}
	d.last = make([]int, len(rec.Tensors))
	for t := range d.last {
		d.last[t] = -1
	}
	for i := range rec.Nodes {
		for _, t := range rec.Nodes[i].Inputs {
			d.last[t] = i
		}
	}
	d.draw()
	return d.w.Flush()
}

type textDrawing struct {
	w *bufio.Writer
	*labels
	o     Options
	last  []int  // by tensor: its last consumer, or -1
	shown []bool // by leaf: its shape was shown
	digit int    // width of the numbers
	most  int    // columns that fit
	more  string // stands between the columns and the words
}

// textMin is what the words of a line get, however many columns there are.
const textMin = 44

func (d *textDrawing) draw() {
	d.shown = make([]bool, len(d.rec.Tensors))
	sweep := d.swept()
	if sweep {
		most := 0
		for _, t := range d.turn {
			most = max(most, t)
		}
		d.digit = len(fmt.Sprint(most)) + 1
	}
	d.most = max((d.o.Width-textMin-d.digit)/2, 2)
	tracks := newTracks(d)
	for n := range d.rec.Nodes {
		tracks.step(n)
	}
	wide := len(tracks.tensor)
	d.heading(sweep, wide)
	d.most = min(d.most, wide)
	from, to := d.elided()
	tracks = newTracks(d)
	scope := 0
	for n := range d.rec.Nodes {
		if n == from {
			d.line(0, tracks.passing('⋮'), fmt.Sprintf("%d ops not drawn, n%d to n%d", to-from, from, to-1))
		}
		hidden := n >= from && n < to
		if s := d.rec.Nodes[n].Scope; s != scope && !hidden {
			scope = s
			path := plain(d.rec.ScopePath(s))
			if path == "" {
				path = "outside"
			}
			d.line(0, tracks.passing('│'), "┄ "+path+" ┄")
		}
		row := tracks.step(n)
		if hidden {
			continue
		}
		d.line(d.turn[n], row.cells, d.words(n, d.o.Width-d.digit-2*len(row.cells)-len(d.more)))
		if d.o.Style == Bipartite {
			for k, t := range d.rec.Nodes[n].Outputs {
				cells := tracks.passing('│')
				if c := row.outputs[k]; c < len(cells) {
					cells[c] = cell{'○', ' '}
				}
				d.line(0, cells, d.tensor(t)+" "+d.shape(t)+d.lossMark(t))
			}
		}
	}
}

// elided is the range of nodes that are left out.
func (d *textDrawing) elided() (from, to int) {
	n := len(d.rec.Nodes)
	if d.o.Lines <= 0 || n <= d.o.Lines {
		return n, n
	}
	from = d.o.Lines / 2
	return from, n - (d.o.Lines - from)
}

func (d *textDrawing) heading(sweep bool, wide int) {
	if d.rec.Title != "" {
		fmt.Fprintln(d.w, short(plain(d.rec.Title), d.o.Width))
	}
	words := "forward runs down ↓"
	if sweep {
		words += "   the sweep runs up ↑ in the order of the numbers"
	}
	fmt.Fprintln(d.w, short(words, d.o.Width))
	if wide > d.most {
		d.more = " "
		fmt.Fprintln(d.w, short(fmt.Sprintf("%d columns of %d are drawn; … stands for the others", d.most, wide), d.o.Width))
	}
}

func (d *textDrawing) line(turn int, cells []cell, words string) {
	var b strings.Builder
	if d.digit > 0 {
		number := ""
		if turn > 0 {
			number = fmt.Sprint(turn)
		}
		fmt.Fprintf(&b, "%*s ", d.digit-1, number)
	}
	for _, c := range cells {
		b.WriteRune(c.at)
		b.WriteRune(c.after)
	}
	b.WriteString(d.more + words)
	fmt.Fprintln(d.w, strings.TrimRight(short(b.String(), d.o.Width), " "))
}

// words is what stands to the right of an op.
func (d *textDrawing) words(n, room int) string {
	x := &d.rec.Nodes[n]
	var b strings.Builder
	b.WriteString(plain(d.rec.NodeName(n)))
	b.WriteByte('(')
	const most = 8 // operands and outputs that are named
	for k, t := range x.Inputs[:min(len(x.Inputs), most)] {
		if k > 0 {
			b.WriteString(", ")
		}
		if d.rec.Tensors[t].Producer >= 0 {
			b.WriteString(d.tensor(t))
			continue
		}
		b.WriteString("╶" + d.tensor(t))
		if !d.shown[t] {
			d.shown[t] = true
			b.WriteString(" " + d.shape(t))
		}
	}
	if more := len(x.Inputs) - most; more > 0 {
		fmt.Fprintf(&b, ", … %d more", more)
	}
	if x.Attrs != "" {
		if len(x.Inputs) > 0 {
			b.WriteString(", ")
		}
		b.WriteString(plain(x.Attrs))
	}
	b.WriteByte(')')
	result := ""
	if d.o.Style == Ops {
		for k, t := range x.Outputs[:min(len(x.Outputs), most)] {
			if k == 0 {
				result += " → "
			} else {
				result += ", "
			}
			result += d.tensor(t) + " " + d.shape(t) + d.lossMark(t)
		}
		if more := len(x.Outputs) - most; more > 0 {
			result += fmt.Sprintf(", … %d more", more)
		}
	}
	return d.fit(n, b.String(), result, room)
}

// fit shortens what an op reads before what it yields, and the names of what
// it keeps before either; the bytes that it keeps always stand.
func (d *textDrawing) fit(n int, call, result string, room int) string {
	keeps := d.keeps(n, 200)
	kept := ""
	if keeps != "" {
		kept = "  " + d.keeps(n, 0)
	}
	if w := columns(call) + columns(result) + columns(kept); w > room {
		call = short(call, max(columns(call)-(w-room), 12))
		result = short(result, max(room-columns(call)-columns(kept), 0))
		return call + result + kept
	}
	if keeps == "" {
		return call + result
	}
	return call + result + "  " + d.keeps(n, room-columns(call)-columns(result)-2)
}

func (d *textDrawing) lossMark(t int) string {
	if t == d.loss {
		return " ◀ loss"
	}
	return ""
}
