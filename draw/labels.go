package draw

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/backsweep/backsweep/record"
)

// labels knows what the parts of a record are called in a picture.
type labels struct {
	rec  *record.Record
	turn []int // by node: its place in the sweep from 1, or 0
	loss int   // tensor, or -1
}

func newLabels(rec *record.Record, o *Options) *labels {
	l := &labels{rec: rec, turn: make([]int, len(rec.Nodes)), loss: rec.Loss()}
	sequence := o.Sequence
	if sequence == nil && rec.Sweep != nil {
		sequence = rec.Sweep.Sequence
	}
	for i, n := range sequence {
		l.turn[n] = i + 1
	}
	return l
}

func (l *labels) swept() bool {
	for _, t := range l.turn {
		if t > 0 {
			return true
		}
	}
	return false
}

// plain makes a text from a record fit for one line: control characters,
// direction marks and bytes that are no text are replaced.
func plain(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func unprintable(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// short cuts a text to n columns, with an ellipsis.
func short(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	w := 0
	for i, r := range s {
		w += runeColumns(r)
		if w > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// columns is the width of a text in terminal columns.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is 2 for the wide characters of East Asian scripts and emoji, 0
// for combining marks, and 1 for the rest.
func runeColumns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd):
		return 2
	}
	return 1
}

func (l *labels) tensor(t int) string { return plain(l.rec.TensorName(t)) }

// node is "n9 matmul", with the attributes in parentheses.
func (l *labels) node(n int) string {
	s := plain(l.rec.NodeName(n))
	if a := l.rec.Nodes[n].Attrs; a != "" {
		s += "(" + plain(a) + ")"
	}
	return s
}

func (l *labels) shape(t int) string { return record.ShapeText(l.rec.Tensors[t].Shape) }

// keeps is "keeps h, w · 4 KiB", or "" for a node that keeps nothing. Leaves
// stay anyway, so their bytes do not count.
func (l *labels) keeps(n int, width int) string {
	saves := l.rec.Nodes[n].Saves
	if len(saves) == 0 {
		return ""
	}
	bytes := "leaves"
	if b := l.rec.PayloadBytes(n); b > 0 {
		bytes = record.BytesText(b)
	} else {
		for _, s := range saves {
			if !l.rec.Storages[l.rec.Tensors[s.Tensor].Storage].Leaf {
				bytes = "0 B"
			}
		}
	}
	var names []string
	for i, s := range saves {
		name := l.tensor(s.Tensor)
		seen := false
		for _, earlier := range saves[:i] {
			seen = seen || earlier.Tensor == s.Tensor
		}
		if !seen {
			names = append(names, name)
		}
	}
	const head = "keeps "
	room := max(width-columns(head)-columns(" · ")-columns(bytes), 4)
	return head + short(strings.Join(names, ", "), room) + " · " + bytes
}

// about is all there is to say of a tensor, in one line.
func (l *labels) about(t int) string {
	x := &l.rec.Tensors[t]
	s := fmt.Sprintf("%s: %s %s %s, %s", l.tensor(t), x.Kind, plain(x.DType), l.shape(t), record.BytesText(x.Bytes))
	if x.Grad != record.NoSweep {
		s += ", gradient " + x.Grad.Words()
	}
	return s
}

// why is all there is to say of a node, a line for each thing it keeps.
func (l *labels) why(n int) string {
	x := &l.rec.Nodes[n]
	var b strings.Builder
	b.WriteString(l.node(n))
	if p := l.rec.ScopePath(x.Scope); p != "" {
		b.WriteString(" in " + plain(p))
	}
	if l.turn[n] > 0 {
		fmt.Fprintf(&b, "\nthe sweep's turn %d", l.turn[n])
	}
	for _, s := range x.Saves {
		fmt.Fprintf(&b, "\nkeeps %s (%s, %s): %s", l.tensor(s.Tensor), plain(s.Role), record.BytesText(l.rec.Tensors[s.Tensor].Bytes), plain(s.Reason))
	}
	if x.Site >= 0 {
		fmt.Fprintf(&b, "\nat %s:%d", plain(l.rec.Sites[x.Site].File), l.rec.Sites[x.Site].Line)
	}
	return b.String()
}
