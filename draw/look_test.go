package draw_test

import (
	"bytes"
	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	for n, r := range map[string]*record.Record{"expr": expression(), "diamond": diamond(), "towers": towers(), "rnn": recurrence(5), "rnn300": recurrence(300)} {
		if err := r.Validate(); err != nil {
			t.Error(n, err)
		}
		for _, st := range []draw.Style{draw.Ops, draw.Bipartite} {
			var b bytes.Buffer
			if err := draw.SVG(&b, r, draw.Options{Style: st}); err != nil {
				t.Fatal(err)
			}
			os.WriteFile("/tmp/bs/pics/"+n+"-"+string(st)+".svg", b.Bytes(), 0o644)
			l, _ := draw.NewLayout(r, draw.Options{Style: st})
			t.Log(n, st, l.Crossings(), l.Width, l.Height)
		}
	}
}
func TestLookText(t *testing.T) {
	for _, r := range []*record.Record{expression(), diamond(), towers(), recurrence(3)} {
		draw.Text(os.Stdout, r, draw.Options{})
		os.Stdout.WriteString("\n")
	}
	draw.Text(os.Stdout, diamond(), draw.Options{Style: draw.Bipartite})
	draw.Text(os.Stdout, chain(100000), draw.Options{Lines: 6})
	draw.DOT(os.Stdout, diamond(), draw.Options{})
	draw.Mermaid(os.Stdout, diamond(), draw.Options{})
}
