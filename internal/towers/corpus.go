package towers

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Pair is one exported function or method of the standard library, cut into what the document tower reads and the one
// sentence that the query tower reads.
type Pair struct {
	Package   string // import path: "strings"
	Receiver  string // base type of a method's receiver, without pointer and type parameters; empty for a function
	Name      string
	Signature string // as in Go source, without func and name: "(s string, cutset string) string"
	Rest      string // the doc comment after its first sentence, on one line
	Query     string // the doc comment's first sentence without the function's own name, on one line
}

// Title names the function as a reader would: "strings.Builder.Grow".
func (p *Pair) Title() string {
	if p.Receiver == "" {
		return p.Package + "." + p.Name
	}
	return p.Package + "." + p.Receiver + "." + p.Name
}

// Document is the text that stands for the function. It never contains the query's sentence.
func (p *Pair) Document() string {
	return strings.Join([]string{p.Package, p.Receiver, p.Name, p.Signature, p.Rest}, " ")
}

// Corpus is the pairs in ascending order of package, receiver and name. A pair's index is its id: of its query and of
// its document alike.
type Corpus struct {
	Pairs []Pair
	group []int32   // of each pair: which distinct query text it has
	same  [][]int32 // of each distinct query text: the pairs that have it, ascending
}

// NewCorpus sorts the pairs, which it takes over, and groups those whose queries read the same.
func NewCorpus(pairs []Pair) *Corpus {
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Receiver, b.Receiver), cmp.Compare(a.Name, b.Name))
	})
	c := &Corpus{Pairs: pairs, group: make([]int32, len(pairs))}
	seen := make(map[string]int32, len(pairs))
	for i := range pairs {
		g, ok := seen[pairs[i].Query]
		if !ok {
			g = int32(len(c.same))
			seen[pairs[i].Query] = g
			c.same = append(c.same, nil)
		}
		c.group[i] = g
		c.same[g] = append(c.same[g], int32(i))
	}
	return c
}

// Hits returns, ascending, the documents that answer pair i's query: every one whose own query has the same text.
func (c *Corpus) Hits(i int) []int32 { return c.same[c.group[i]] }

// Queries returns every pair's query, by id.
func (c *Corpus) Queries() []string { return c.texts(func(p *Pair) string { return p.Query }) }

// Documents returns every pair's document, by id.
func (c *Corpus) Documents() []string { return c.texts((*Pair).Document) }

func (c *Corpus) texts(of func(*Pair) string) []string {
	out := make([]string, len(c.Pairs))
	for i := range c.Pairs {
		out[i] = of(&c.Pairs[i])
	}
	return out
}

// ReadCorpus reads the pairs out of a standard library's sources (see Sources): every exported function and every
// exported method, of an unexported type too, that has a doc comment whose first sentence says three words or more
// besides the function's own name. Commands and internal, vendored and testdata packages are left out. The files are those that
// build on linux/amd64 with cgo and without experiments, whatever the host, so that everyone reads the same corpus from
// the same release of Go.
func ReadCorpus(ctx context.Context, src fs.FS) (*Corpus, error) {
	dirs, err := packageDirs(ctx, src)
	if err != nil {
		return nil, err
	}
	found := make([][]Pair, len(dirs))
	failed := make([]error, len(dirs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(dirs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(dirs) {
					return
				}
				found[i], failed[i] = readPackage(src, dirs[i])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return NewCorpus(slices.Concat(found...)), nil
}

// packageDirs lists, ascending, the folders that may hold a public package.
func packageDirs(ctx context.Context, src fs.FS) ([]string, error) {
	var dirs []string
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading the standard library's sources: %w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.IsDir() || name == ".":
			return nil
		}
		switch base := d.Name(); {
		case base == "internal", base == "vendor", base == "testdata", name == "cmd", base[0] == '_', base[0] == '.':
			return fs.SkipDir
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs, err
}

// buildContext decides which files count. It takes nothing from the host or its environment but the release tags, which
// are the toolchain's own.
func buildContext(src fs.FS) *build.Context {
	return &build.Context{
		GOOS:        "linux",
		GOARCH:      "amd64",
		Compiler:    "gc",
		CgoEnabled:  true,
		ReleaseTags: build.Default.ReleaseTags,
		JoinPath:    path.Join,
		OpenFile:    func(name string) (io.ReadCloser, error) { return src.Open(name) },
	}
}

func readPackage(src fs.FS, dir string) ([]Pair, error) {
	entries, err := fs.ReadDir(src, dir)
	if err != nil {
		return nil, fmt.Errorf("reading the standard library's sources: %w", err)
	}
	files, bctx := token.NewFileSet(), buildContext(src)
	var pairs []Pair
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		builds, err := bctx.MatchFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("reading the standard library's sources: %w", err)
		}
		if !builds {
			continue
		}
		text, err := fs.ReadFile(src, path.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("reading the standard library's sources: %w", err)
		}
		file, err := parser.ParseFile(files, path.Join(dir, name), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing the standard library's sources: %w", err)
		}
		if file.Name.Name == "main" {
			continue
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if p, ok := pairOf(dir, fn); ok {
					pairs = append(pairs, p)
				}
			}
		}
	}
	return pairs, nil
}

// pairOf cuts one declaration into a pair, and reports whether it makes one.
func pairOf(pkg string, fn *ast.FuncDecl) (Pair, bool) {
	if fn.Doc == nil || !fn.Name.IsExported() {
		return Pair{}, false
	}
	receiver := ""
	if fn.Recv != nil {
		receiver = baseType(fn.Recv.List[0].Type)
	}
	first, rest := firstSentence(unlink(fn.Doc.Text()))
	query := withoutName(first, fn.Name.Name)
	if len(strings.Fields(query)) < minQueryWords {
		return Pair{}, false
	}
	return Pair{
		Package:   pkg,
		Receiver:  receiver,
		Name:      fn.Name.Name,
		Signature: signature(fn.Type),
		Rest:      rest,
		Query:     query,
	}, true
}

// signature prints a function's type without the word func; type parameters too, which go/types leaves out.
func signature(fn *ast.FuncType) string {
	text := strings.TrimPrefix(types.ExprString(fn), "func")
	if fn.TypeParams == nil {
		return text
	}
	var params []string
	for _, field := range fn.TypeParams.List {
		var names []string
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		params = append(params, strings.Join(names, ", ")+" "+types.ExprString(field.Type))
	}
	return "[" + strings.Join(params, ", ") + "]" + text
}

// baseType is the name of a receiver's type: T of T, *T, T[K] and *T[K, V].
func baseType(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.Ident:
			return t.Name
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		default:
			return ""
		}
	}
}
