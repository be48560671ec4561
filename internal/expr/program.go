package expr

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"unicode/utf8"
)

// Limits of a program.
const (
	MaxSource  = 1 << 20 // bytes of the text
	MaxNesting = 1000    // of brackets, blocks and operators within each other
)

// Program is a program that was read and found to be one. It can be run any
// number of times.
type Program struct {
	src    string
	base   token.Pos // of the first byte of src
	body   []ast.Stmt
	inputs []string
	pos    map[string]token.Pos // of each input's first use
}

// The text that makes a file of a program. Its own lines are left out of every
// place that an error names.
const before, after = "package p\nfunc _() {\n", "\n}\n"

// Parse reads a program. The error is an *Error.
func Parse(src string) (*Program, error) {
	p := &Program{src: src, pos: map[string]token.Pos{}}
	if len(src) > MaxSource {
		return nil, p.errorAt(0, "build large graphs in Go, or with for", "the program has %d bytes, and the limit is %d", len(src), MaxSource)
	}
	if !utf8.ValidString(src) {
		return nil, p.errorAt(0, "", "the program is not UTF-8 text")
	}
	if err := p.checkBrackets(); err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	text := before + src + after
	f, err := parser.ParseFile(files, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, p.syntaxError(err)
	}
	p.base = f.FileStart + token.Pos(len(before))
	p.body = f.Decls[0].(*ast.FuncDecl).Body.List
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

// Inputs lists the names that no statement produces, in the order of their
// first use.
func (p *Program) Inputs() []string { return append([]string(nil), p.inputs...) }

// Source is the program's text.
func (p *Program) Source() string { return p.src }

func (p *Program) offset(pos token.Pos) int { return int(pos - p.base) }

// checkBrackets bounds how deeply brackets nest before the parser, which
// recurses, sees them.
func (p *Program) checkBrackets() error {
	depth := 0
	return p.eachToken(func(offset int, tok token.Token) error {
		switch tok {
		case token.LPAREN, token.LBRACK, token.LBRACE:
			depth++
		case token.RPAREN, token.RBRACK, token.RBRACE:
			depth--
		case token.PACKAGE, token.IMPORT:
			return p.errorAt(offset, "a program is statements: y := tanh(x); sum(y)", "there are no packages here")
		case token.FUNC:
			return p.errorAt(offset, "write its body out, or use for", "there are no functions here")
		}
		if depth < 0 {
			return p.errorAt(offset, "", "this %s closes nothing", tok)
		}
		if depth > MaxNesting {
			return p.errorAt(offset, "give parts a name: h := …", "brackets nest more than %d deep", MaxNesting)
		}
		return nil
	})
}

// eachToken calls f with each token of the text until it returns an error.
func (p *Program) eachToken(f func(offset int, tok token.Token) error) error {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(p.src))
	var s scanner.Scanner
	s.Init(file, []byte(p.src), func(token.Position, string) {}, 0)
	for {
		pos, tok, _ := s.Scan()
		if tok == token.EOF {
			return nil
		}
		if err := f(int(pos)-file.Base(), tok); err != nil {
			return err
		}
	}
}

// syntaxError says in a program's terms what go/parser found.
func (p *Program) syntaxError(err error) error {
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return p.errorAt(0, "", "Go cannot parse this: %v", err)
	}
	offset, what := list[0].Pos.Offset-len(before), list[0].Msg
	if offset >= len(p.src) {
		return p.errorAt(len(strings.TrimRight(p.src, " \t\n;")), "see that every bracket is closed", "the program ends too early: %s", what)
	}
	hint := "programs have Go's syntax: h := tanh(x*w); sum(h)"
	rest := p.src[max(offset, 0):]
	switch {
	case strings.HasPrefix(rest, "**"):
		return p.errorAt(offset, "write square(x), pow_scalar(x, 3) or pow(x, y)", "Go has no operator **")
	case strings.HasPrefix(rest, "@"):
		return p.errorAt(offset, "write matmul(x, w)", "Go has no operator @")
	case strings.HasPrefix(what, "expected type"):
		hint = "write x[1][2] for a position on two axes"
	case strings.HasPrefix(what, "illegal character"):
		hint = ""
	}
	return p.errorAt(offset, hint, "Go cannot parse this: %s", what)
}
