package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

// command runs the command as a shell would.
func command(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return out.String(), err.String(), code
}

// must runs the command and wants exit code 0.
func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err, code := command(args...)
	if code != 0 {
		t.Fatalf("backsweep %s: exit %d\n%s", strings.Join(args, " "), code, err)
	}
	return out
}

var took = regexp.MustCompile(` *[0-9.]+(ns|µs|ms|s)\n|"microseconds":[0-9.e+]+`)

// long numbers are printed with fewer digits, since the last ones are those of
// one kernel path.
var long = regexp.MustCompile(`-?[0-9]+\.[0-9]{5,}(e[-+][0-9]+)?`)

func shorten(out string) string {
	return long.ReplaceAllStringFunc(took.ReplaceAllString(out, " TIME\n"), func(s string) string {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return s
		}
		return strconv.FormatFloat(v, 'g', 5, 64) + "…"
	})
}

// golden compares what commands print with testdata/name.golden. An argument
// of several words is printed in quotes.
func golden(t *testing.T, name string, commands ...[]string) {
	t.Helper()
	var b strings.Builder
	for _, args := range commands {
		out, err, code := command(args...)
		b.WriteString("$ backsweep")
		for _, a := range args {
			if strings.ContainsAny(a, " ;()*[]\n") || a == "" {
				a = "'" + a + "'"
			}
			b.WriteString(" " + a)
		}
		b.WriteString("\n" + shorten(out))
		for line := range strings.Lines(err) {
			b.WriteString("! " + line)
		}
		if code != 0 {
			fmt.Fprintf(&b, "exit %d\n", code)
		}
		b.WriteString("\n")
		for line := range strings.Lines(out + err) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns && !strings.Contains(strings.Join(args, " "), "json") && args[0] != "draw" {
				t.Errorf("%v: a line has %d columns: %s", args, n, line)
			}
		}
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs; look, and run with -update if it is right. Got:\n%s", path, got)
	}
}

// Programs that several tests use.
const (
	joined = "a := exp(x); b := tanh(x); a*b"                                                   // two branches that meet
	cut    = "h := tanh(x*w); g := relu(h - 100); y := detach(h); sum(g*y) + sum(x[0:1])"       // a dead relu, a detach, a view
	pass   = "h := x; for i := range 3 { h = tanh(h*w) }; sum(h)"                               // a loop
	wide   = "a := exp(x); b := tanh(x); c := x*x; d := sigmoid(x); sum(a*b + c*d + a*c + b*d)" // much freedom, parks
)

func TestWrongUse(t *testing.T) {
	golden(t, "usage",
		[]string{"frob"},
		[]string{"grad"},
		[]string{"grad", "--frob"},
		[]string{"grad", "nofile.json"},
		[]string{"grad", "testdata/usage.golden"},
		[]string{"grad", "-e", ""},
		[]string{"grad", "-e", "x", "y"},
		[]string{"grad", "-e", "x", "--dtype", "int8"},
		[]string{"grad", "-e", "sotfmax(x)"},
		[]string{"grad", "-e", "y := x\nz := tanh(\n  y ^ 2)\nz"},
		[]string{"grad", "-e", "y := tanh(z); z := exp(y); sum(z)"},
		[]string{"grad", "-e", "tanh(x)", "--in", "x:3"},
		[]string{"grad", "-e", "sum(matmul(x, y))", "--in", "x:2x3", "--in", "y:2x3"},
		[]string{"draw", "-e", "x*x", "--format", "png"},
		[]string{"draw", "-e", "x*x", "--style", "cubist"},
		[]string{"order", "-e", "x*x", "--order", "alphabetical"},
		[]string{"order", "-e", "x*x", "--check", "tape"},
		[]string{"why", "-e", "x*x"},
		[]string{"why", "-e", "x*x", "q"},
		[]string{"diff", "one"},
		[]string{"ops", "frob"},
		[]string{"record", "-e", "x*x", "-o", "no/such/folder/r.json"},
		[]string{"grad", "-e", "x*x", "--mode", "sideways"},
		[]string{"grad", "-e", "x*x", "--mode", "reverse", "--wrt", "x"},
		[]string{"grad", "-e", "x*x", "--workers", "0"},
	)
}

func TestHelp(t *testing.T) {
	commands := [][]string{{"--help"}}
	for _, c := range rootCommand().Commands() {
		if c.Name() != "demo" && c.Name() != "completion" && c.Name() != "help" {
			commands = append(commands, []string{c.Name(), "--help"})
		}
	}
	for _, args := range commands {
		out := must(t, args...)
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > columns {
				t.Errorf("%v: a line has %d columns: %s", args, n, line)
			}
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, err bytes.Buffer
	code := run(ctx, []string{"grad", "-e", "h := x; for i := range 100000 { h = tanh(h) }; h"}, &out, &err)
	if code != exitInterrupted || err.String() != "random: x (--seed 1)\nbacksweep: interrupted\n" || out.Len() > 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out.String(), err.String())
	}
}

func TestLongChains(t *testing.T) {
	chain := "h := x; for i := range 20000 { h = tanh(h) }; h"
	for _, args := range [][]string{
		{"draw"}, {"order"}, {"payload"}, {"grad", "--all"}, {"order", "--windows"}, {"why", "n0", "n19999"}, {"why", "t5"},
	} {
		out := must(t, append([]string{args[0], "-e", chain}, args[1:]...)...)
		if n := strings.Count(out, "\n"); n > 500 {
			t.Errorf("%v prints %d lines", args, n)
		}
	}
	for _, args := range [][]string{{"draw", "--format", "mermaid"}, {"order", "--count"}, {"order", "--width"}} {
		if _, err, code := command(append([]string{args[0], "-e", chain}, args[1:]...)...); code != exitNo || !strings.Contains(err, "20000 nodes") {
			t.Errorf("%v: exit %d, %s", args, code, err)
		}
	}
}
