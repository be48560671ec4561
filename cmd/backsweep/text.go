package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const columns = 80

// wrap breaks text at spaces so that no line is longer than width characters,
// where a word allows; lines after the first begin with indent.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		at, first := 0, true
		for len(line) > 0 {
			word := strings.TrimLeft(line, " ")
			gap := len(line) - len(word)
			if end := strings.IndexByte(word, ' '); end >= 0 {
				word = word[:end]
			}
			line = line[gap+len(word):]
			n := utf8.RuneCountInString(word)
			if !first && at+gap+n > width {
				b.WriteString("\n" + indent)
				at, gap = len(indent), 0
			}
			b.WriteString(strings.Repeat(" ", gap) + word)
			at, first = at+gap+n, false
		}
	}
	return b.String()
}

// listing joins at most limit words with commas, and says how many more there
// are.
func listing(words []string, limit int) string {
	if len(words) <= limit+1 {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:limit], ", "), len(words)-limit)
}

// counted is a number and its noun: "1 visit", "3 visits".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// elision is a writer that passes only the first and the last lines on, and
// says how many it left out. Close writes the end.
type elision struct {
	w     io.Writer
	most  int // lines in all; 0 means every one
	seen  int
	part  []byte
	tail  [][]byte // the last lines, in a ring
	first int      // of the ring
}

func newElision(w io.Writer, most int) *elision { return &elision{w: w, most: most} }

func (e *elision) Write(p []byte) (int, error) {
	if e.most <= 0 {
		return e.w.Write(p)
	}
	e.part = append(e.part, p...)
	for {
		i := bytes.IndexByte(e.part, '\n')
		if i < 0 {
			return len(p), nil
		}
		if err := e.line(e.part[:i+1]); err != nil {
			return 0, err
		}
		e.part = e.part[i+1:]
	}
}

func (e *elision) line(line []byte) error {
	head := e.most / 2
	e.seen++
	if e.seen <= head {
		_, err := e.w.Write(line)
		return err
	}
	line = bytes.Clone(line)
	if room := e.most - head; len(e.tail) < room {
		e.tail = append(e.tail, line)
	} else {
		e.tail[e.first] = line
		e.first = (e.first + 1) % room
	}
	return nil
}

// Close writes the lines at the end.
func (e *elision) Close() error {
	if left := e.seen - e.most; e.most > 0 && left > 0 {
		if _, err := fmt.Fprintf(e.w, "⋮ %d lines are left out; --lines 0 prints them all\n", left); err != nil {
			return err
		}
	}
	for i := range e.tail {
		if _, err := e.w.Write(e.tail[(e.first+i)%len(e.tail)]); err != nil {
			return err
		}
	}
	_, err := e.w.Write(e.part)
	return err
}
