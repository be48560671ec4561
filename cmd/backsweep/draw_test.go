package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	golden(t, "draw",
		[]string{"draw", "-e", joined},
		[]string{"draw", "-e", pass, "--in", "x:2x3", "--order", "depth"},
		[]string{"draw", "-e", pass, "--in", "x:2x3", "--style", "bipartite", "--format", "mermaid"},
		[]string{"draw", "-e", joined, "--order", "2,0,1"},
		[]string{"draw", "-e", joined, "--order", "0,1,2"},
	)
}

func TestDrawWritesTheFormatThatTheNameSays(t *testing.T) {
	for ending, begin := range map[string]string{"svg": "<svg", "dot": "digraph", "mmd": "flowchart", "txt": "a := exp"} {
		path := filepath.Join(t.TempDir(), "picture."+ending)
		if out := must(t, "draw", "-e", joined, "-o", path); out != "" {
			t.Errorf("%s: it also prints %q", ending, out)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text)[:200], begin) {
			t.Errorf("%s: begins with %.80q, want %q", ending, text, begin)
		}
	}
}
