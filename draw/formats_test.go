package draw_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var formats = []struct {
	name string
	draw func(io.Writer, *record.Record, draw.Options) error
}{
	{"svg", draw.SVG}, {"dot", draw.DOT}, {"mmd", draw.Mermaid}, {"txt", draw.Text},
}

func drawn(t testing.TB, f func(io.Writer, *record.Record, draw.Options) error, r *record.Record, o draw.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPictures(t *testing.T) {
	unswept := expression()
	unswept.Sweep = nil
	for name, r := range map[string]*record.Record{
		"expression": expression(), "diamond": diamond(), "towers": towers(), "recurrence": recurrence(3), "unswept": unswept,
	} {
		for _, f := range formats {
			for _, style := range styles {
				path := filepath.Join("testdata", fmt.Sprintf("%s-%s.%s", name, style, f.name))
				got := drawn(t, f.draw, r, draw.Options{Style: style})
				if again := drawn(t, f.draw, r, draw.Options{Style: style}); again != got {
					t.Errorf("%s: drawn again, it differs", path)
				}
				if *update {
					if err := os.MkdirAll("testdata", 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; look at it, and run with -update if it is wanted", path)
				}
			}
		}
	}
}

func TestEverySweptNodeBearsItsTurn(t *testing.T) {
	r := towers()
	svg := drawn(t, draw.SVG, r, draw.Options{})
	dot := drawn(t, draw.DOT, r, draw.Options{})
	mermaid := drawn(t, draw.Mermaid, r, draw.Options{})
	text := drawn(t, draw.Text, r, draw.Options{})
	for i, n := range r.Sweep.Sequence {
		for _, c := range []struct{ in, want string }{
			{svg, fmt.Sprintf(`data-node="%d" data-turn="%d"`, n, i+1)},
			{dot, fmt.Sprintf(`label="%d · n%d `, i+1, n)},
			{mermaid, fmt.Sprintf(`n%d["%d · n%d `, n, i+1, n)},
			{text, fmt.Sprintf("\n%2d ", i+1)},
		} {
			if !strings.Contains(c.in, c.want) {
				t.Errorf("turn %d of n%d: no %q", i+1, n, c.want)
			}
		}
	}
	given := drawn(t, draw.SVG, r, draw.Options{Sequence: []int{12, 11}})
	if !strings.Contains(given, `data-node="11" data-turn="2"`) || !strings.Contains(given, `data-node="10" data-turn="0"`) {
		t.Error("a sequence of one's own is not shown")
	}
}

// operand is one consumption: what a whole edge says.
type operand struct{ producer, tensor, consumer, slot int }

func operands(r *record.Record) []operand {
	var all []operand
	for n := range r.Nodes {
		for slot, t := range r.Nodes[n].Inputs {
			all = append(all, operand{r.Tensors[t].Producer, t, n, slot})
		}
	}
	return sorted(all)
}

func sorted(all []operand) []operand {
	slices.SortFunc(all, func(a, b operand) int {
		return slices.Compare([]int{a.consumer, a.slot, a.tensor, a.producer}, []int{b.consumer, b.slot, b.tensor, b.producer})
	})
	return all
}

// half is an edge as a picture has it; -1 stands for an end that is no node.
type half struct{ from, tensor, to, slot int }

// whole joins halves at their tensors: in the style Bipartite an edge into a
// circle names the producer of those out of it. Edges to ends are left out.
func whole(halves []half, style draw.Style) []operand {
	producer := map[int]int{}
	for _, h := range halves {
		if style == draw.Bipartite && h.to < 0 {
			producer[h.tensor] = h.from
		}
	}
	var all []operand
	for _, h := range halves {
		if h.to < 0 {
			continue
		}
		from := h.from
		if style == draw.Bipartite {
			from = -1
			if p, ok := producer[h.tensor]; ok {
				from = p
			}
		}
		all = append(all, operand{from, h.tensor, h.to, h.slot})
	}
	return sorted(all)
}

func halvesOfSVG(t *testing.T, text string) []half {
	var halves []half
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return halves
		}
		if err != nil {
			t.Fatalf("the SVG is no XML: %v", err)
		}
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local != "g" {
			continue
		}
		values := map[string]int{}
		edge := false
		for _, a := range e.Attr {
			edge = edge || a.Name.Local == "class" && strings.HasPrefix(a.Value, "edge")
			if n, err := strconv.Atoi(a.Value); err == nil {
				values[a.Name.Local] = n
			}
		}
		if edge {
			halves = append(halves, half{values["data-from"], values["data-tensor"], values["data-to"], values["data-slot"]})
		}
	}
}

var (
	dotEdge     = regexp.MustCompile(`(?m)^\t([nt]\d+(?:_n\d+)?) -> ([nt]\d+) \[id="t(\d+)\.\d+".*?(?:headlabel="(\d+)")?\]$`)
	mermaidEdge = regexp.MustCompile(`(?m)^  ([nt]\d+(?:_n\d+)?) -->(?:\|"(.*)"\|)? ([nt]\d+)$`)
)

func number(id string) (kind byte, n int) {
	id, _, _ = strings.Cut(id, "_")
	n, _ = strconv.Atoi(id[1:])
	return id[0], n
}

func halvesOfDOT(text string) []half {
	var halves []half
	for _, m := range dotEdge.FindAllStringSubmatch(text, -1) {
		h := half{from: -1, to: -1, slot: -1}
		if k, n := number(m[1]); k == 'n' {
			h.from = n
		}
		if k, n := number(m[2]); k == 'n' {
			h.to = n
		}
		h.tensor, _ = strconv.Atoi(m[3])
		if m[4] != "" {
			h.slot, _ = strconv.Atoi(m[4])
		}
		halves = append(halves, h)
	}
	return halves
}

// halvesOfMermaid needs distinct names of tensors, for the labels are all that
// tells several edges between two nodes apart.
func halvesOfMermaid(r *record.Record, text string) []half {
	var halves []half
	for _, m := range mermaidEdge.FindAllStringSubmatch(text, -1) {
		h := half{from: -1, tensor: -1, to: -1, slot: -1}
		if k, n := number(m[1]); k == 'n' {
			h.from = n
		} else {
			h.tensor = n
		}
		if k, n := number(m[3]); k == 'n' {
			h.to = n
		} else {
			h.tensor = n
		}
		if h.tensor < 0 {
			name, _, _ := strings.Cut(m[2], " ")
			h.tensor = slices.IndexFunc(r.Tensors, func(x record.Tensor) bool { return x.Name == name })
		}
		halves = append(halves, h)
	}
	return halves
}

func TestBothStylesCarryTheSameEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	all := []*record.Record{expression(), diamond(), towers()}
	for range 40 {
		all = append(all, random(rng, 1+rng.IntN(30)))
	}
	for i, r := range all {
		want := operands(r)
		slotless := slices.Clone(want)
		for k := range slotless {
			slotless[k].slot = -1
		}
		sorted(slotless)
		for _, style := range styles {
			o := draw.Options{Style: style}
			if got := whole(halvesOfSVG(t, drawn(t, draw.SVG, r, o)), style); !slices.Equal(got, want) {
				t.Errorf("graph %d: SVG, %s:\n%v, want\n%v", i, style, got, want)
			}
			if got := whole(halvesOfDOT(drawn(t, draw.DOT, r, o)), style); !slices.Equal(got, want) {
				t.Errorf("graph %d: DOT, %s:\n%v, want\n%v", i, style, got, want)
			}
			if got := whole(halvesOfMermaid(r, drawn(t, draw.Mermaid, r, o)), style); !slices.Equal(got, slotless) {
				t.Errorf("graph %d: Mermaid, %s:\n%v, want\n%v", i, style, got, slotless)
			}
		}
	}
}

// hostile puts a name everywhere that a record has room for one.
func hostile(name string) *record.Record {
	r := sketch.Swept("param x 3\nscope s\ny tanh x\nscope\nz mul y x\nloss: sum z")
	r.Title = name
	r.Scopes[1].Name = name
	r.Tensors[0].Name, r.Tensors[1].Name, r.Tensors[3].Name = name, name, name
	r.Nodes[0].Op, r.Nodes[1].Attrs = name, name
	r.Nodes[1].Saves[0].Reason = name
	r.Sites = []record.Site{{File: name, Line: 1}}
	r.Nodes[0].Site = 0
	return r
}

var hostileNames = []string{
	`</text><script>alert(1)</script>`, `"]; evil -> evil; x["`, "a\nb", `\`, `\N\G\"`, "]]>", "&amp;&#0;", "end", "%%{init}%%", "<br/>",
	"\x00\x1b[2J\u202e", "\xff\xfe", "名前は長い", "e\u0301", strings.Repeat("long ", 100), "|x|", "`md`", "a\u2028b", "",
}

func TestHostileNamesStayNames(t *testing.T) {
	for _, name := range hostileNames {
		survives(t, name)
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) { survives(t, name) })
}

var (
	dotString     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	mermaidString = regexp.MustCompile(`"(?:[^"<]|<br/>)*"`)
)

// survives draws a hostile name in every format, and checks that the picture's
// structure is that of a harmless one.
func survives(t *testing.T, name string) {
	t.Helper()
	r, harmless := hostile(name), hostile("x")
	if r.Nodes[0].Op == "" {
		r.Nodes[0].Op = "x"
	}
	for _, style := range styles {
		o := draw.Options{Style: style}
		svg := drawn(t, draw.SVG, r, o)
		if got, want := elements(t, svg), elements(t, drawn(t, draw.SVG, harmless, o)); !slices.Equal(got, want) {
			t.Errorf("SVG with the name %q has the elements\n%v, want\n%v", name, got, want)
		}
		strip := func(re *regexp.Regexp, s string) string { return re.ReplaceAllString(s, `""`) }
		if got, want := strip(dotString, drawn(t, draw.DOT, r, o)), strip(dotString, drawn(t, draw.DOT, harmless, o)); got != want {
			t.Errorf("DOT with the name %q is\n%s\nwant\n%s", name, got, want)
		}
		if got, want := strip(mermaidString, drawn(t, draw.Mermaid, r, o)), strip(mermaidString, drawn(t, draw.Mermaid, harmless, o)); got != want {
			t.Errorf("Mermaid with the name %q is\n%s\nwant\n%s", name, got, want)
		}
		text := drawn(t, draw.Text, r, o)
		if got, want := strings.Count(text, "\n"), strings.Count(drawn(t, draw.Text, harmless, o), "\n"); r.Title != "" && got != want {
			t.Errorf("the text with the name %q has %d lines, want %d", name, got, want)
		}
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\n' || c == 0x7f || c == 0x202e }) || !utf8.ValidString(text) {
			t.Errorf("the text with the name %q has control characters", name)
		}
	}
}

func elements(t *testing.T, svg string) []string {
	t.Helper()
	var names []string
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		if e, ok := tok.(xml.StartElement); ok {
			names = append(names, e.Name.Local)
		}
	}
}
