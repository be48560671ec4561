package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode"
)

// function is an exported function or method of the standard library.
type function struct {
	words []string // of its comment, each once
	fails bool     // one of its results is an error
}

// standardLibrary reads the documented functions of the toolchain's own sources,
// in the order of their files.
func standardLibrary() ([]function, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go for its sources: %w", err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	if _, err := os.Stat(filepath.Join(src, "fmt")); err != nil {
		return nil, fmt.Errorf("the Go toolchain has come without its sources: %w", err)
	}
	var all []function
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "internal", "vendor", "cmd", "testdata", "syscall":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, functions(file)...)
		return nil
	})
	return all, err
}

func functions(file *ast.File) (out []function) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || f.Doc == nil {
			continue
		}
		words := wordsOf(f.Doc.Text())
		if len(words) > 3 {
			out = append(out, function{words: words, fails: returnsError(f)})
		}
	}
	return out
}

func returnsError(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	for _, r := range f.Type.Results.List {
		if name, ok := r.Type.(*ast.Ident); ok && name.Name == "error" {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a text in lower case, each once, in order.
func wordsOf(text string) (out []string) {
	seen := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
