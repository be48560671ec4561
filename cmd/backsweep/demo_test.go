package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/backsweep/backsweep/record"
)

// smallLibrary makes a toolchain whose standard library has 144 functions, and
// points GOROOT at it.
func smallLibrary(t *testing.T) {
	t.Helper()
	var b strings.Builder
	b.WriteString("package strings\n")
	says := []string{"removes", "cuts", "glues", "loads", "stores", "begins", "ends", "ranks", "seeks", "clones", "decodes", "shows"}
	for _, verb := range says {
		for _, noun := range []string{"Spaces", "Files", "Words", "Lines", "Bytes", "Runes", "Keys", "Trees", "Maps", "Names", "Paths", "Codes"} {
			name := strings.ToUpper(verb[:1]) + verb[1:] + noun
			fmt.Fprintf(&b, "\n// %s %s all of the %s that there are in the text. It does not panic.\nfunc %s(text string) error { return nil }\n", name, verb, noun, name)
		}
	}
	root := t.TempDir()
	dir := filepath.Join(root, "src", "strings")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "strings.go"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOROOT", root)
}

func runDemo(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	var out, complaints bytes.Buffer
	c := demoCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&complaints)
	err = c.ExecuteContext(ctx)
	return out.String(), complaints.String(), err
}

func mustDemo(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := runDemo(t.Context(), args...)
	if err != nil {
		t.Fatalf("demo %v: %v", args, err)
	}
	for _, line := range strings.Split(stdout, "\n") {
		if n := utf8.RuneCountInString(line); n > columns && !strings.Contains(line, os.TempDir()) {
			t.Errorf("demo %v: %d columns: %s", args, n, line)
		}
	}
	return stdout, stderr
}

func TestDemo(t *testing.T) {
	smallLibrary(t)
	for _, share := range []string{"--share=false", "--share"} {
		out := filepath.Join(t.TempDir(), "out")
		stdout, stderr := mustDemo(t, "--steps", "3", "--out", out, share)
		for _, want := range []string{
			"144 functions of the standard library: 130 to train on, 14 held out.", "The loss from step 1 to 3 ",
			"trained towers", "untrained towers", "BM25", "◀ loss", "┄ query tower ┄", "┄ document tower ┄", "interleaved",
			"swept in 9 ways", "All bits agree", "--ask",
		} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in\n%s", share, want, stdout)
			}
		}
		if want := "step 3 of 3, loss "; !strings.Contains(stderr, want) {
			t.Errorf("%s: no %q in\n%s", share, want, stderr)
		}
		rec, err := record.Read(filepath.Join(out, towersRecord))
		if err != nil {
			t.Fatal(err)
		}
		if rec.Sweep == nil || len(rec.Scopes) != 3 {
			t.Errorf("%s: the record has scopes %v, sweep %v", share, rec.Scopes, rec.Sweep)
		}
		if svg, err := os.ReadFile(filepath.Join(out, towersSVG)); err != nil || !bytes.Contains(svg, []byte("</svg>")) {
			t.Errorf("%s: the picture: %v", share, err)
		}
	}
}

func TestDemoAsk(t *testing.T) {
	smallLibrary(t)
	out := t.TempDir()
	first, stderr := mustDemo(t, "--steps", "60", "--out", out, "--ask", "removes all spaces")
	if !strings.Contains(stderr, "there are no towers in "+out) || !strings.Contains(stderr, "step 60 of 60") {
		t.Errorf("nothing was there, and yet: %s", stderr)
	}
	lines := strings.Split(strings.TrimSpace(first), "\n")
	if len(lines) != 10 || !strings.Contains(first, "strings.RemovesSpaces  removes all of the Spaces that") {
		t.Errorf("the answer:\n%s", first)
	}
	again, stderr := mustDemo(t, "--out", out, "--ask", "removes all spaces")
	if again != first || stderr != "" {
		t.Errorf("asked again:\n%s%s", again, stderr)
	}
	for flag, want := range map[string]string{"--share": "trained with false", "--steps=61": "trained with 60", "--seed=2": "trained with 1"} {
		_, _, err := runDemo(t.Context(), "--out", out, "--ask", "removes all spaces", flag)
		var wrong *usageError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flag, err)
		}
	}
	var no *noError
	if _, _, err := runDemo(t.Context(), "--out", out, "--ask", "xyzzy"); !errors.As(err, &no) {
		t.Errorf("unknown words: %v", err)
	}
}

func TestDemoTrainsTheSameBytesByAnyNumberOfWorkers(t *testing.T) {
	smallLibrary(t)
	var first []byte
	for _, workers := range []string{"1", "3"} {
		out := t.TempDir()
		mustDemo(t, "--steps", "2", "--out", out, "--workers", workers, "--ask", "removes all spaces")
		got, err := os.ReadFile(filepath.Join(out, "towers.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if !bytes.Equal(got, first) {
			t.Errorf("%s workers train other bytes", workers)
		}
	}
}

func TestDemoMisuse(t *testing.T) {
	for _, args := range [][]string{{"--steps", "0"}, {"--workers", "0"}, {"--out", ""}, {"--ask", " "}} {
		_, _, err := runDemo(t.Context(), args...)
		var wrong *usageError
		if !errors.As(err, &wrong) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestDemoWithoutSources(t *testing.T) {
	t.Setenv("GOROOT", t.TempDir())
	_, _, err := runDemo(t.Context(), "--out", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "a toolchain without sources") {
		t.Errorf("got %v", err)
	}
}

func TestDemoEndsWhenInterrupted(t *testing.T) {
	smallLibrary(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := t.TempDir()
	if _, _, err := runDemo(ctx, "--out", out); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 3966: "3,966", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
