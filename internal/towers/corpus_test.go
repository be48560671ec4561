package towers_test

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/backsweep/backsweep/internal/towers"
)

// tree makes a file tree out of a name and a content at a time.
func tree(files ...string) fs.FS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func read(t *testing.T, src fs.FS) *towers.Corpus {
	t.Helper()
	c, err := towers.ReadCorpus(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func titles(c *towers.Corpus) []string {
	out := []string{}
	for i := range c.Pairs {
		out = append(out, c.Pairs[i].Title())
	}
	return out
}

func TestPairIsCutAtItsFirstSentence(t *testing.T) {
	c := read(t, tree("text/cut/cut.go", `// Package cut cuts.
package cut

// Slice returns the part of s, e.g. a word,
// that [strings.Cut] would. It is Slice's
// second sentence.
//
// See also [Reader.Read].
//
//go:noinline
func Slice[S ~[]E, E any](s S, at ...int) (before S, err error) { return s, nil }

// Grow grows the buffer, as Buffer.Grow(n) and Grow's callers expect
func (b *Buffer[K, V]) Grow(n int) {}

type Buffer[K, V any] struct{}
`))
	want := []towers.Pair{
		{
			Package: "text/cut", Name: "Slice", Signature: "[S ~[]E, E any](s S, at ...int) (before S, err error)",
			Query: "returns the part of s, e.g. a word, that strings.Cut would.",
			Rest:  "It is Slice's second sentence. See also Reader.Read.",
		},
		{
			Package: "text/cut", Receiver: "Buffer", Name: "Grow", Signature: "(n int)",
			Query: "grows the buffer, as and callers expect",
		},
	}
	if !reflect.DeepEqual(c.Pairs, want) {
		t.Errorf("got  %+v\nwant %+v", c.Pairs, want)
	}
	if got, want := c.Pairs[1].Title(), "text/cut.Buffer.Grow"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}

func TestSentenceEnds(t *testing.T) {
	for _, tc := range []struct{ comment, query, rest string }{
		{"F says one two. Three.", "says one two.", "Three."},
		{"F says one two.\nThree.", "says one two.", "Three."},
		{"F says one two\n\nThree.", "says one two", "Three."},
		{"F says v1.2 of it. Three.", "says v1.2 of it.", "Three."},
		{"F is why George W. Bush said it. Three.", "is why George W. Bush said it.", "Three."},
		{"F is one (i.e. two). Three.", "is one (i.e. two).", "Three."},
		{"F asks what is it? Three.", "asks what is it?", "Three."},
		{"F is a[i] of []byte and [F] or [io.EOF]. Three.", "is a[i] of []byte and or io.EOF.", "Three."},
	} {
		c := read(t, tree("p/p.go", "package p\n\n/*\n"+tc.comment+"\n*/\nfunc F() {}\n"))
		if len(c.Pairs) != 1 {
			t.Errorf("%q made %d pairs", tc.comment, len(c.Pairs))
		} else if p := c.Pairs[0]; p.Query != tc.query || p.Rest != tc.rest {
			t.Errorf("%q was cut into %q and %q, want %q and %q", tc.comment, p.Query, p.Rest, tc.query, tc.rest)
		}
	}
}

func TestWhatIsNoPair(t *testing.T) {
	const doc = "// F does what it says.\n"
	c := read(t, tree(
		"p/a.go", "package p\n\n"+doc+"func f() {}\n\nfunc Undocumented() {}\n\n// Short is short.\nfunc Short() {}\n\n"+
			doc+"func (h hidden) f() {}\n\ntype hidden struct{}\n\ntype I interface {\n\t"+doc+"\tF()\n}\n",
		"p/a_test.go", "package p\n\n"+doc+"func InTest() {}\n",
		"p/a_windows.go", "package p\n\n"+doc+"func OnWindows() {}\n",
		"p/a_linux.go", "package p\n\n"+doc+"func OnLinux() {}\n",
		"p/a_arm64.go", "package p\n\n"+doc+"func OnARM() {}\n",
		"p/b.go", "//go:build !amd64\n\npackage p\n\n"+doc+"func OffAMD64() {}\n",
		"p/c.go", "//go:build cgo && gc && go1.20\n\npackage p\n\n"+doc+"func WithCgo() {}\n",
		"p/d.go", "//go:build goexperiment.p\n\npackage p\n\n"+doc+"func Experiment() {}\n",
		"p/gen.go", "package main\n\n"+doc+"func InMain() {}\n",
		"p/README.md", "no Go",
		"p/internal/q/q.go", "package q\n\n"+doc+"func Internal() {}\n",
		"p/testdata/q.go", "package q\n\n"+doc+"func Testdata() {}\n",
		"p/cmd/q.go", "package cmd\n\n"+doc+"func NotACommand() {}\n",
		"vendor/q/q.go", "package q\n\n"+doc+"func Vendored() {}\n",
		"cmd/q/q.go", "package q\n\n"+doc+"func Command() {}\n",
		"_q/q.go", "package q\n\n"+doc+"func Ignored() {}\n",
	))
	if got, want := titles(c), []string{"p.OnLinux", "p.WithCgo", "p/cmd.NotACommand"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestHitsAreAllPairsWithTheSameQuery(t *testing.T) {
	c := towers.NewCorpus([]towers.Pair{
		{Package: "q", Name: "A", Query: "does this and that"},
		{Package: "p", Receiver: "T", Name: "A", Query: "does something else entirely"},
		{Package: "p", Name: "Z", Query: "does this and that"},
	})
	if got, want := titles(c), []string{"p.Z", "p.T.A", "q.A"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("order %v, want %v", got, want)
	}
	for i, want := range [][]int32{{0, 2}, {1}, {0, 2}} {
		if got := c.Hits(i); !reflect.DeepEqual(got, want) {
			t.Errorf("hits of %d: %v, want %v", i, got, want)
		}
	}
}

func TestReadCorpusFailures(t *testing.T) {
	if _, err := towers.ReadCorpus(context.Background(), tree("p/p.go", "package p\nfunc {")); err == nil || !strings.Contains(err.Error(), "p/p.go:2:6") {
		t.Errorf("a file that does not parse: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := towers.ReadCorpus(ctx, tree("p/p.go", "package p\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSourcesMissing(t *testing.T) {
	var missing *towers.SourcesError
	t.Setenv("GOROOT", t.TempDir())
	if _, err := towers.Sources(context.Background()); !errors.As(err, &missing) || !strings.Contains(err.Error(), "a toolchain without sources; install Go from") {
		t.Errorf("GOROOT without sources: %v", err)
	}
	t.Setenv("GOROOT", "")
	t.Setenv("PATH", t.TempDir())
	if _, err := towers.Sources(context.Background()); !errors.As(err, &missing) || !strings.Contains(err.Error(), "no go command") {
		t.Errorf("no go command: %v", err)
	}
}

// standardLibrary is the corpus of the toolchain that runs the tests, read once.
var standardLibrary = sync.OnceValues(func() (*towers.Corpus, error) {
	src, err := towers.Sources(context.Background())
	if err != nil {
		return nil, err
	}
	return towers.ReadCorpus(context.Background(), src)
})

func corpus(t *testing.T) *towers.Corpus {
	t.Helper()
	c, err := standardLibrary()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(t *testing.T, c *towers.Corpus, title string) int {
	t.Helper()
	for i := range c.Pairs {
		if c.Pairs[i].Title() == title {
			return i
		}
	}
	t.Fatalf("no pair for %s", title)
	return -1
}

func TestStandardLibrary(t *testing.T) {
	c := corpus(t)
	if n := len(c.Pairs); n < 3600 || n > 4500 {
		t.Errorf("%d pairs, want about 3,900", n)
	}
	if s := towers.NewSplit(len(c.Pairs), 1); runtime.Version() == "go1.26.8" && 18*s.EpochBatches(towers.BatchSize) != 486 {
		t.Errorf("18 epochs over %d pairs are %d steps, not 486", len(c.Pairs), 18*s.EpochBatches(towers.BatchSize))
	}
	p := c.Pairs[find(t, c, "strings.TrimSpace")]
	if want := (towers.Pair{
		Package: "strings", Name: "TrimSpace", Signature: "(s string) string",
		Query: "returns a slice (substring) of the string s, with all leading and trailing white space removed, as defined by Unicode.",
	}); p != want {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	p = c.Pairs[find(t, c, "bytes.Buffer.Grow")]
	if p.Signature != "(n int)" || !strings.HasPrefix(p.Query, "grows the buffer's capacity,") || !strings.HasPrefix(p.Rest, "After Grow(n),") {
		t.Errorf("bytes.Buffer.Grow: %+v", p)
	}
	seen := make(map[string]bool)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		for _, part := range strings.Split(p.Package, "/") {
			if part == "internal" || part == "vendor" || part == "testdata" {
				t.Errorf("%s is not public", p.Title())
			}
		}
		if strings.HasPrefix(p.Package, "cmd/") || path.Base(p.Package) == "." {
			t.Errorf("%s is no library function", p.Title())
		}
		if seen[p.Title()] {
			t.Errorf("%s is there twice", p.Title())
		}
		seen[p.Title()] = true
		if strings.Contains(p.Document(), p.Query) {
			t.Errorf("%s: the document gives its query away: %q", p.Title(), p.Query)
		}
		for _, word := range strings.Fields(p.Query) {
			if word == p.Name {
				t.Errorf("%s: the query names the function: %q", p.Title(), p.Query)
			}
		}
	}
}
