package expr

import (
	"fmt"
	"go/token"
	"strings"
	"unicode/utf8"
)

// Error is what is wrong with a program, where, and what to do about it.
type Error struct {
	Line, Col int    // from 1; columns count characters
	What      string // what is wrong
	Hint      string // what to do, or ""
	Text      string // the line of the program

	cause error
}

// Error is the place, what is wrong and the hint, on one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.What)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the error of the op that failed, if one did.
func (e *Error) Unwrap() error { return e.cause }

// Snippet is the line of the program with a caret below the place. Of a long
// line it shows the part around the place.
func (e *Error) Snippet(width int) string {
	text := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, e.Text))
	at := min(e.Col-1, len(text))
	if len(text) > width {
		from := max(0, min(at-width/2, len(text)-width))
		text, at = text[from:from+width], at-from
	}
	return string(text) + "\n" + strings.Repeat(" ", at) + "^"
}

// errorAt makes the error for a byte offset into the program.
func (p *Program) errorAt(offset int, hint, format string, args ...any) *Error {
	offset = max(0, min(offset, len(p.src)))
	start := strings.LastIndexByte(p.src[:offset], '\n') + 1
	end := len(p.src)
	if i := strings.IndexByte(p.src[start:], '\n'); i >= 0 {
		end = start + i
	}
	return &Error{
		Line: 1 + strings.Count(p.src[:start], "\n"),
		Col:  1 + utf8.RuneCountInString(p.src[start:offset]),
		What: fmt.Sprintf(format, args...),
		Hint: hint,
		Text: p.src[start:end],
	}
}

func (p *Program) fail(pos token.Pos, hint, format string, args ...any) *Error {
	return p.errorAt(p.offset(pos), hint, format, args...)
}
