package draw_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

var seed = flag.Uint64("seed", 1, "seed of the random graphs")

var styles = []draw.Style{draw.Ops, draw.Bipartite}

func layoutOf(t *testing.T, r *record.Record, style draw.Style) *draw.Layout {
	t.Helper()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	l, err := draw.NewLayout(r, draw.Options{Style: style})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestTowersStandSideBySide(t *testing.T) {
	r := towers()
	for _, style := range styles {
		l := layoutOf(t, r, style)
		if n := l.Crossings(); n != 0 {
			t.Errorf("%s: %d edges cross", style, n)
		}
		if len(l.Frames) != 2 {
			t.Fatalf("%s: there are %d frames", style, len(l.Frames))
		}
		q, d := l.Frames[0].Rect, l.Frames[1].Rect
		if q.X+q.W > d.X || q.Y > d.Y+d.H || d.Y > q.Y+q.H {
			t.Errorf("%s: the towers are not side by side: %v, %v", style, q, d)
		}
		for _, b := range l.Boxes {
			switch in := r.ScopePath(r.Nodes[b.Node].Scope); in {
			case "query tower":
				if !q.Contains(b.Rect) {
					t.Errorf("%s: %s is outside its tower", style, b.Title)
				}
			case "document tower":
				if !d.Contains(b.Rect) {
					t.Errorf("%s: %s is outside its tower", style, b.Title)
				}
			default:
				if b.Rect.Y < q.Y+q.H || b.Rect.Y < d.Y+d.H {
					t.Errorf("%s: %s is not below both towers", style, b.Title)
				}
			}
		}
		lossIsLast(t, l)
	}
}

func lossIsLast(t *testing.T, l *draw.Layout) {
	t.Helper()
	at := slices.IndexFunc(l.Stubs, func(s draw.Stub) bool { return s.Loss && !s.Ghost })
	if at < 0 {
		t.Error("the loss is not marked")
		return
	}
	loss := l.Stubs[at].Rect
	for _, b := range l.Boxes {
		if b.Rect.Y+b.Rect.H > loss.Y {
			t.Errorf("%s reaches below the loss", b.Title)
		}
	}
	for i, s := range l.Stubs {
		if i != at && s.Rect.Y+s.Rect.H > loss.Y {
			t.Errorf("%s reaches below the loss", s.Label)
		}
	}
}

func TestSmallGraphsHaveFewCrossings(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *record.Record
		most int
	}{
		{"expression", expression(), 0},
		{"diamond", diamond(), 1}, // no drawing with operands from left to right has fewer
		{"recurrence", recurrence(300), 0},
		{"chain", chain(50), 0},
	} {
		for _, style := range styles {
			l := layoutOf(t, c.r, style)
			if n := l.Crossings(); n > c.most {
				t.Errorf("%s, %s: %d crossings", c.name, style, n)
			}
			wellDrawn(t, c.r, l)
			lossIsLast(t, l)
		}
	}
}

func TestARecurrenceRunsStraightDownWithGhosts(t *testing.T) {
	r := recurrence(300)
	for _, style := range styles {
		l := layoutOf(t, r, style)
		if l.Width > 700 {
			t.Errorf("%s: it is %v wide", style, l.Width)
		}
		own, ghosts := 0, 0
		for _, s := range l.Stubs {
			if r.TensorName(s.Tensor) == "W" {
				if s.Ghost {
					ghosts++
				} else {
					own++
				}
			}
		}
		if own != 1 || ghosts != 299 {
			t.Errorf("%s: W has %d stubs and %d ghosts, want 1 and 299", style, own, ghosts)
		}
	}
}

func TestALeafSharedAcrossALayerHasGhosts(t *testing.T) {
	text := "input mask 4x4\nparam x 4x4\n"
	for i := range 8 {
		text += fmt.Sprintf("param q%d 4x4\na%d matmul q%d x\nb%d mul a%d mask\nc%d tanh b%d\n", i, i, i, i, i, i, i)
	}
	r := sketch.Swept(text + "d concat c0 c1 c2 c3 c4 c5 c6 c7\nloss: sum d")
	for _, style := range styles {
		l := layoutOf(t, r, style)
		wellDrawn(t, r, l)
		own, ghosts := 0, 0
		for _, s := range l.Stubs {
			if s.Tensor != 1 {
				continue
			}
			if s.Ghost {
				ghosts++
			} else {
				own++
			}
		}
		if own != 1 || ghosts == 0 {
			t.Errorf("%s: x has %d stubs and %d ghosts", style, own, ghosts)
		}
		if n := l.Crossings(); n > 0 {
			t.Errorf("%s: %d crossings", style, n)
		}
	}
}

// wellDrawn checks that nothing overlaps, that no edge runs through a box or a
// stub that is not its own, that edges run down, and that frames hold what is
// theirs and nothing else.
func wellDrawn(t *testing.T, r *record.Record, l *draw.Layout) {
	t.Helper()
	type thing struct {
		name string
		rect draw.Rect
	}
	var things []thing
	for _, b := range l.Boxes {
		things = append(things, thing{b.Title, b.Rect})
	}
	for _, s := range l.Stubs {
		things = append(things, thing{"stub " + s.Label, s.Rect})
	}
	for _, x := range l.Labels {
		things = append(things, thing{"label " + x.Text, x.Rect})
	}
	solid := len(l.Boxes) + len(l.Stubs)
	byTop := slices.Clone(things)
	slices.SortStableFunc(byTop, func(a, b thing) int { return int(2 * (a.rect.Y - b.rect.Y)) })
	for i, a := range byTop {
		if a.rect.X < 0 || a.rect.Y < 0 || a.rect.X+a.rect.W > l.Width || a.rect.Y+a.rect.H > l.Height {
			t.Errorf("%s is outside the picture", a.name)
		}
		for _, b := range byTop[i+1:] {
			if b.rect.Y >= a.rect.Y+a.rect.H {
				break
			}
			if a.rect.Overlaps(b.rect) {
				t.Errorf("%s and %s overlap: %v, %v", a.name, b.name, a.rect, b.rect)
			}
		}
	}
	rects := slices.Clone(things[:solid])
	slices.SortStableFunc(rects, func(a, b thing) int { return int(2 * (a.rect.Y - b.rect.Y)) })
	tall := 0.0
	for _, x := range rects {
		tall = max(tall, x.rect.H)
	}
	for _, e := range l.Edges {
		for i := 1; i < len(e.Points); i++ {
			p, q := e.Points[i-1], e.Points[i]
			if q.Y < p.Y {
				t.Errorf("the edge of t%d to n%d runs up", e.Tensor, e.To)
			}
			from, _ := slices.BinarySearchFunc(rects, p.Y-tall, func(x thing, y float64) int { return int(2 * (x.rect.Y - y)) })
			for _, x := range rects[from:] {
				if x.rect.Y >= q.Y {
					break
				}
				if through(p, q, x.rect) {
					t.Errorf("the edge of t%d to n%d runs through %s", e.Tensor, e.To, x.name)
				}
			}
		}
	}
	for i, f := range l.Frames {
		for _, e := range l.Edges {
			for k := 1; k < len(e.Points); k++ {
				if p, q := e.Points[k-1], e.Points[k]; p.Y < f.Text.Y+f.Text.H && q.Y > f.Text.Y && through(p, q, f.Text) {
					t.Errorf("the edge of t%d runs through the label of frame %d, %s", e.Tensor, i, f.Label)
				}
			}
		}
	}
	within := func(scope, outer int) bool {
		for scope > outer {
			scope = r.Scopes[scope].Parent
		}
		return scope == outer
	}
	for _, f := range l.Frames {
		for _, b := range l.Boxes {
			switch in := within(r.Nodes[b.Node].Scope, f.Scope); {
			case !in && f.Rect.Overlaps(b.Rect):
				t.Errorf("%s is in the frame %s, where it does not belong", b.Title, f.Label)
			case in && f.Part == 0 && !f.Rect.Contains(b.Rect):
				t.Errorf("%s is outside its frame %s", b.Title, f.Label)
			}
		}
	}
}

// through reports whether a line meets the inside of a rectangle. A curve
// between two layers keeps within the band of its line.
func through(p, q draw.Point, r draw.Rect) bool {
	const skin = 0.01
	for k := range 33 {
		f := float64(k) / 32
		x, y := p.X+f*(q.X-p.X), p.Y+f*(q.Y-p.Y)
		if x > r.X+skin && x < r.X+r.W-skin && y > r.Y+skin && y < r.Y+r.H-skin {
			return true
		}
	}
	return false
}

// random makes a graph of n ops in scopes, some of which are left and entered
// again.
func random(rng *rand.Rand, n int) *record.Record {
	var b strings.Builder
	leaves := 1 + rng.IntN(4)
	names := []string{}
	for i := range leaves {
		fmt.Fprintf(&b, "%s p%d %dx3\n", []string{"param", "input", "const"}[rng.IntN(3)], i, rng.IntN(5))
		names = append(names, fmt.Sprintf("p%d", i))
	}
	for i := range n {
		if rng.IntN(4) == 0 {
			fmt.Fprintf(&b, "scope %s\n", []string{"", "a", "a/b", "c", "c/d/e", "f"}[rng.IntN(6)])
		}
		outputs := []string{fmt.Sprintf("v%d", i)}
		if rng.IntN(8) == 0 {
			outputs = append(outputs, fmt.Sprintf("w%d", i))
		}
		fmt.Fprintf(&b, "%s %s", strings.Join(outputs, ","), []string{"tanh", "mul", "matmul", "add", "concat"}[rng.IntN(5)])
		for range 1 + rng.IntN(3) {
			near := min(len(names), 1+rng.IntN(8))
			fmt.Fprintf(&b, " %s", names[len(names)-1-rng.IntN(near)])
		}
		b.WriteString("\n")
		names = append(names, outputs...)
	}
	fmt.Fprintf(&b, "loss: sum v%d", n-1)
	return sketch.Swept(b.String())
}

func TestRandomGraphsAreWellDrawn(t *testing.T) {
	t.Logf("seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 0))
	for i := range 150 {
		r := random(rng, 1+rng.IntN(40))
		for _, style := range styles {
			l := layoutOf(t, r, style)
			wellDrawn(t, r, l)
			lossIsLast(t, l)
		}
		if t.Failed() {
			t.Fatalf("graph %d of seed %d", i, *seed)
		}
	}
}

func TestAScopeThatIsEnteredAgainIsDrawnInParts(t *testing.T) {
	r := sketch.Swept(`
		param x 3
		scope cell
		a tanh x
		scope
		b exp a
		scope cell
		c tanh b
		scope
		loss: sum c
	`)
	l := layoutOf(t, r, draw.Ops)
	if len(l.Frames) != 2 || l.Frames[0].Label != "cell" || l.Frames[1].Label != "cell (again)" {
		t.Errorf("the frames are %+v", l.Frames)
	}
	wellDrawn(t, r, l)
}

func TestScopesTiedUpWithEachOtherHaveNoFrames(t *testing.T) {
	r := sketch.Swept(`
		param x 3
		scope a
		a1 tanh x
		scope b
		b1 exp a1
		b2 tanh x
		scope a
		a2 exp b2
		scope
		c add b1 a2
		loss: sum c
	`)
	l := layoutOf(t, r, draw.Ops)
	if len(l.Frames) != 0 {
		t.Errorf("the frames are %+v", l.Frames)
	}
	wellDrawn(t, r, l)
}

func TestALossWithoutAnOp(t *testing.T) {
	for _, text := range []string{"", "param x 3", "param x 3\ny tanh x\nz exp y"} {
		r := sketch.Record(text)
		for _, style := range styles {
			wellDrawn(t, r, layoutOf(t, r, style))
		}
		for _, f := range formats {
			var b bytes.Buffer
			if err := f.draw(&b, r, draw.Options{}); err != nil {
				t.Errorf("%s of %q: %v", f.name, text, err)
			}
		}
	}
}

func TestLargeGraphsAreDrawnQuickly(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 1))
	every := "param x 3\na0 tanh x\n"
	for i := range 3000 {
		every += fmt.Sprintf("a%d mul a%d a0\n", i+1, i)
	}
	for name, r := range map[string]*record.Record{
		"random": random(rng, 5000), "chain": chain(5000), "recurrence": recurrence(1000),
		"one tensor for all": sketch.Swept(every + "loss: sum a3000"),
	} {
		best := time.Duration(1 << 62)
		for range 3 {
			start := time.Now()
			if _, err := draw.NewLayout(r, draw.Options{}); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		t.Logf("%s: %d nodes in %v", name, len(r.Nodes), best)
		if best > 3*time.Second {
			t.Errorf("%s: %v", name, best)
		}
	}
}

func TestTooLargeIsRefusedPolitely(t *testing.T) {
	r := chain(draw.MaxSVG + 1)
	var large *draw.TooLargeError
	_, err := draw.NewLayout(r, draw.Options{})
	if !errors.As(err, &large) || large.Limit != draw.MaxSVG {
		t.Errorf("got %v", err)
	}
	want := "draw: the record has 20001 nodes, and SVG takes at most 20000; draw it as text, which takes any number of nodes"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := draw.Mermaid(&bytes.Buffer{}, r, draw.Options{}); !errors.As(err, &large) {
		t.Errorf("Mermaid: %v", err)
	}
	if err := draw.SVG(&bytes.Buffer{}, expression(), draw.Options{Style: "both"}); err == nil {
		t.Error("an unknown style is taken")
	}
}

func BenchmarkLayout(b *testing.B) {
	r := random(rand.New(rand.NewPCG(1, 1)), 5000)
	for b.Loop() {
		if _, err := draw.NewLayout(r, draw.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
