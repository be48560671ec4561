package draw_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record/sketch"
)

func TestTextFitsItsWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 3))
	for range 50 {
		r := random(rng, 1+rng.IntN(60))
		for _, width := range []int{60, 80, 120} {
			for _, style := range styles {
				text := drawn(t, draw.Text, r, draw.Options{Width: width, Style: style})
				for _, line := range strings.Split(text, "\n") {
					if n := utf8.RuneCountInString(line); n > width {
						t.Fatalf("a line has %d of %d columns: %q", n, width, line)
					}
				}
			}
		}
	}
}

func TestTextHasOneLineForAnOp(t *testing.T) {
	r := diamond()
	text := drawn(t, draw.Text, r, draw.Options{})
	for n := range r.Nodes {
		if c := strings.Count(text, r.NodeName(n)+"("); c != 1 {
			t.Errorf("%s has %d lines", r.NodeName(n), c)
		}
	}
}

func TestColumnsThatDoNotFitAreOwnedUpTo(t *testing.T) {
	var b strings.Builder
	b.WriteString("param x 3\nh tanh x\n")
	for i := range 40 {
		fmt.Fprintf(&b, "v%d exp h\n", i)
	}
	b.WriteString("c concat")
	for i := range 40 {
		fmt.Fprintf(&b, " v%d", i)
	}
	b.WriteString("\nloss: sum c")
	text := drawn(t, draw.Text, sketch.Swept(b.String()), draw.Options{})
	if !strings.Contains(text, "16 columns of 40 are drawn; … stands for the others") {
		t.Errorf("nothing says that columns are left out:\n%s", text)
	}
}

func TestTextOfALongChainIsLinear(t *testing.T) {
	r := chain(100_000)
	start := time.Now()
	text := drawn(t, draw.Text, r, draw.Options{})
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if n := strings.Count(text, "\n"); n != 100_001 {
		t.Errorf("there are %d lines", n)
	}
	text = drawn(t, draw.Text, r, draw.Options{Lines: 6})
	if !strings.Contains(text, "⋮ 99994 ops not drawn, n3 to n99996\n") || strings.Count(text, "\n") != 8 {
		t.Errorf("the middle is not left out:\n%s", text)
	}
}
