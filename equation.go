package backsweep

import (
	"slices"
	"strings"
	"unicode"

	"github.com/backsweep/backsweep/internal/array"
)

// equation is an Einstein summation: the labels of each operand's axes and of
// the result's. A label that the result lacks is summed over.
type equation struct {
	in  [][]rune
	out []rune
}

// runes returns the equation as an attribute, in its explicit form without an
// ellipsis.
func (e *equation) runes() []int {
	var out []int
	add := func(labels []rune) {
		for _, c := range labels {
			out = append(out, int(c))
		}
	}
	for i, labels := range e.in {
		if i > 0 {
			out = append(out, ',')
		}
		add(labels)
	}
	out = append(out, '-', '>')
	add(e.out)
	return out
}

// equationOf reads what runes wrote.
func equationOf(text []int) *equation {
	e := &equation{in: [][]rune{nil}}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',':
			e.in = append(e.in, nil)
		case '-':
			for _, c := range text[i+2:] {
				e.out = append(e.out, rune(c))
			}
			return e
		default:
			k := len(e.in) - 1
			e.in[k] = append(e.in[k], rune(text[i]))
		}
	}
	return e
}

const ellipsis = '…'

// parseEquation reads an equation as NumPy and PyTorch have it: letters for
// axes, commas between operands, "..." for axes that are not named and
// broadcast, and, after "->", the result's. Without an arrow the result has the
// unnamed axes and then, in alphabetical order, the letters that come once.
// ranks are the operands' numbers of axes. It throws ErrValue, or ErrShape where
// an operand has not as many axes as letters.
func parseEquation(opName, text string, ranks []int) *equation {
	bad := func(format string, args ...any) {
		throw(fail(ErrValue, opName, `write an equation such as "ij,jk->ik"`, format, args...))
	}
	left, right, arrow := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	parts := strings.Split(left, ",")
	if len(parts) != len(ranks) {
		bad("%q is of %d operands, and %d are given", text, len(parts), len(ranks))
	}
	read := func(part string) []rune {
		labels := []rune(strings.ReplaceAll(part, "...", string(ellipsis)))
		for i, c := range labels {
			if !unicode.IsLetter(c) && (c != ellipsis || slices.Contains(labels[:i], ellipsis)) {
				bad("%q in %q is no list of axes", part, text)
			}
		}
		return labels
	}
	e := &equation{}
	var used []rune
	unnamed := 0 // axes that an ellipsis stands for
	some := false
	for i, part := range parts {
		labels := read(part)
		e.in = append(e.in, labels)
		used = append(used, labels...)
		n := ranks[i] - len(labels)
		if slices.Contains(labels, ellipsis) {
			some = true
			n++
			unnamed = max(unnamed, n)
		} else if n != 0 {
			n = -1
		}
		if n < 0 {
			throw(fail(ErrShape, opName, `name each axis, or write "..."`, "operand %d has %d axes, and %q in %q names others", i, ranks[i], part, text))
		}
	}
	fresh := freshLabels(used, unnamed)
	if arrow {
		e.out = read(right)
	} else {
		e.out = implied(used, some)
	}
	for i := range e.in {
		e.in[i] = expand(e.in[i], fresh[unnamed-(ranks[i]-len(e.in[i])+1)*count(e.in[i], ellipsis):])
	}
	e.out = expand(e.out, fresh)
	for i, c := range e.out {
		if slices.Contains(e.out[:i], c) {
			bad("axis %q comes twice in the result of %q", c, text)
		}
		if !slices.ContainsFunc(e.in, func(in []rune) bool { return slices.Contains(in, c) }) {
			bad("no operand of %q has the result's axis %q", text, c)
		}
	}
	return e
}

func count(labels []rune, c rune) int {
	n := 0
	for _, l := range labels {
		if l == c {
			n++
		}
	}
	return n
}

// implied is the result of an equation without an arrow.
func implied(used []rune, some bool) []rune {
	var out []rune
	if some {
		out = append(out, ellipsis)
	}
	letters := slices.Clone(used)
	slices.Sort(letters)
	for _, c := range letters {
		if c != ellipsis && count(used, c) == 1 {
			out = append(out, c)
		}
	}
	return out
}

// expand puts labels in the place of an ellipsis.
func expand(labels, fresh []rune) []rune {
	out := []rune{}
	for _, c := range labels {
		if c == ellipsis {
			out = append(out, fresh...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// freshLabels returns n letters that are not used.
func freshLabels(used []rune, n int) []rune {
	out := make([]rune, 0, n)
	for c := 'A'; len(out) < n; c++ {
		if unicode.IsLetter(c) && !slices.Contains(used, c) {
			out = append(out, c)
		}
	}
	return out
}

// extents returns how far each label goes. Extents of 1 broadcast. It throws
// ErrShape where two others differ, or one operand names axes of different
// extents alike.
func (m *machine) extents(e *equation) map[rune]int {
	ext := map[rune]int{}
	for i, labels := range e.in {
		shape := m.in[i].l.Shape
		if len(shape) != len(labels) {
			m.misfit("name each axis", "operand %d of %s has shape %s", i, string(runesOf(e.runes())), array.ShapeString(shape))
		}
		for a, c := range labels {
			if k := slices.Index(labels, c); shape[k] != shape[a] {
				m.misfit("a diagonal is of axes of one extent", "axes %q of shape %s differ", c, array.ShapeString(shape))
			}
			switch d, seen := ext[c]; {
			case !seen || d == 1:
				ext[c] = shape[a]
			case shape[a] != 1 && shape[a] != d:
				m.misfit("axes of one letter have one extent, or 1", "shapes %s do not fit %s", m.shapesText(), string(runesOf(e.runes())))
			}
		}
	}
	return ext
}

func runesOf(text []int) []rune {
	out := make([]rune, len(text))
	for i, c := range text {
		out[i] = rune(c)
	}
	return out
}

func intsOf(text string) []int {
	var out []int
	for _, c := range text {
		out = append(out, int(c))
	}
	return out
}

// own are the labels of an operand, each once, without those along which it is
// broadcast.
func (e *equation) own(i int, shape []int, ext map[rune]int) []rune {
	out := []rune{}
	for a, c := range e.in[i] {
		if !slices.Contains(out, c) && shape[a] == ext[c] {
			out = append(out, c)
		}
	}
	return out
}
