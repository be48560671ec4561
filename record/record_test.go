package record_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const towers = `
	param E 100x8
	input q 4x3
	input d 4x5
	param W 8x8
	scope query tower
	a:4x8 bag E q
	b:4x8 linear a W
	u tanh b
	scope document tower
	v:4x8 bag E d
	scope
	s:4x4 matmul u v
	loss: xent s
`

func text(t *testing.T, r *record.Record) string {
	t.Helper()
	var b bytes.Buffer
	n, err := r.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d of %d bytes, %v", n, b.Len(), err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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
		t.Errorf("%s differs (run with -update if that is wanted):\n%s", path, got)
	}
}

func TestRoundTripKeepsEveryByte(t *testing.T) {
	r := sketch.Swept(towers)
	r.Title = "two towers \x00 \"quoted\" <b>"
	r.Sites = []record.Site{{Func: "main.step", File: "main.go", Line: 3}}
	r.Nodes[0].Site = 0
	r.Tensors[0].Stats = &record.Stats{Min: record.Number(math.Inf(-1)), Mean: record.Number(math.NaN()), Max: 0.1, NaNs: 2}
	r.Sweep.Events = []record.Event{{Kind: record.Visited, Node: 5, Slot: -1, Tensor: -1, Storage: -1, Rank: -1, Bytes: -1}}
	first := text(t, r)
	golden(t, "towers.json", first)
	for _, name := range []string{"r.json", "r.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := r.Write(path); err != nil {
			t.Fatal(err)
		}
		back, err := record.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if again := text(t, back); again != first {
			t.Errorf("%s: written again, it differs:\n%s", name, again)
		}
		raw, _ := os.ReadFile(path)
		if err := r.Write(path); err != nil {
			t.Fatal(err)
		}
		if raw2, _ := os.ReadFile(path); !bytes.Equal(raw, raw2) {
			t.Errorf("%s: the same record gave other bytes", name)
		}
	}
	var plain record.Record
	if err := json.Unmarshal([]byte(first), &plain); err != nil {
		t.Fatalf("encoding/json does not read it: %v", err)
	}
	if !reflect.DeepEqual(plain.Sweep, r.Sweep) {
		t.Error("encoding/json reads another sweep")
	}
}

func TestNumberReadsBackToTheSameBits(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, 0.1, 1e21, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()} {
		b, err := json.Marshal(record.Number(f))
		if err != nil {
			t.Fatal(err)
		}
		var back record.Number
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if math.Float64bits(float64(back)) != math.Float64bits(f) {
			t.Errorf("%v is written as %s and reads back as %v", f, b, back)
		}
	}
	for _, s := range []string{`"NaN"`, `1e999`, `"1"`, `null`, `[]`, `""`} {
		var n record.Number
		if err := json.Unmarshal([]byte(s), &n); err == nil {
			t.Errorf("%s was read as %v", s, n)
		}
	}
}

func TestFaultsNameThePlace(t *testing.T) {
	var all strings.Builder
	for _, c := range []struct {
		name  string
		spoil func(r *record.Record)
	}{
		{"another format", func(r *record.Record) { r.Format = "onnx" }},
		{"a later version", func(r *record.Record) { r.Version = 9 }},
		{"version zero", func(r *record.Record) { r.Version = 0 }},
		{"no root scope", func(r *record.Record) { r.Scopes = nil }},
		{"a scope of itself", func(r *record.Record) { r.Scopes[1].Parent = 1 }},
		{"tensor id", func(r *record.Record) { r.Tensors[2].ID = 7 }},
		{"leaf with a producer", func(r *record.Record) { r.Tensors[0].Producer = 1 }},
		{"computed without a producer", func(r *record.Record) { r.Tensors[4].Producer = -1 }},
		{"kind", func(r *record.Record) { r.Tensors[0].Kind = "weight" }},
		{"element type", func(r *record.Record) { r.Tensors[0].DType = "float16" }},
		{"negative extent", func(r *record.Record) { r.Tensors[0].Shape[1] = -1 }},
		{"overflowing shape", func(r *record.Record) { r.Tensors[0].Shape = []int{0, 1 << 40, 1 << 40} }},
		{"overflowing bytes", func(r *record.Record) { r.Tensors[0].Shape = []int{1 << 62} }},
		{"bytes", func(r *record.Record) { r.Tensors[0].Bytes++ }},
		{"storage", func(r *record.Record) { r.Tensors[0].Storage = 99 }},
		{"storage bytes", func(r *record.Record) { r.Storages[0].Bytes = -4 }},
		{"state", func(r *record.Record) { r.Tensors[0].Grad = "zero" }},
		{"stats", func(r *record.Record) { r.Tensors[0].Stats = &record.Stats{Zeros: 801} }},
		{"an input from the future", func(r *record.Record) { r.Nodes[1].Inputs[1] = 9 }},
		{"an input of nobody", func(r *record.Record) { r.Nodes[1].Inputs[0] = -1 }},
		{"an output of another", func(r *record.Record) { r.Nodes[1].Outputs[0] = 4 }},
		{"an output that nobody lists", func(r *record.Record) { r.Nodes[5].Outputs = nil }},
		{"the number of an output", func(r *record.Record) { r.Tensors[5].Output = 3 }},
		{"a save from the future", func(r *record.Record) { r.Nodes[1].Saves[0].Tensor = 9 }},
		{"site", func(r *record.Record) { r.Nodes[1].Site = 0 }},
		{"cost", func(r *record.Record) { r.Nodes[1].ForwardCost = -1 }},
		{"no roots", func(r *record.Record) { r.Sweep.Roots = nil }},
		{"twice in the sequence", func(r *record.Record) { r.Sweep.Sequence[1] = 5 }},
		{"a step missing", func(r *record.Record) { r.Sweep.Steps = r.Sweep.Steps[1:] }},
		{"a step of another node", func(r *record.Record) { r.Sweep.Steps[0].Node = 2 }},
		{"an illegal order", func(r *record.Record) {
			s := r.Sweep
			s.Sequence[0], s.Sequence[1] = s.Sequence[1], s.Sequence[0]
			s.Steps[0], s.Steps[1] = s.Steps[1], s.Steps[0]
		}},
		{"a give to another tensor", func(r *record.Record) { r.Sweep.Steps[0].Gives[0].Tensor = 1 }},
		{"a give of no slot", func(r *record.Record) { r.Sweep.Steps[0].Gives[0].Slot = 4 }},
		{"a rank out of range", func(r *record.Record) { r.Sweep.Steps[0].Gives[0].Rank = 1 }},
		{"a count that is not", func(r *record.Record) { r.Sweep.Steps[0].Gives[0].Of = 2 }},
		{"a rank taken twice", func(r *record.Record) {
			for i := range r.Sweep.Steps {
				for k := range r.Sweep.Steps[i].Gives {
					if g := &r.Sweep.Steps[i].Gives[k]; g.Tensor == 0 {
						g.Rank = 0
					}
				}
			}
		}},
		{"a leaf let go", func(r *record.Record) { r.Sweep.Before = append(r.Sweep.Before, 0) }},
		{"let go twice", func(r *record.Record) { r.Sweep.Before = append(r.Sweep.Before, r.Sweep.Before[0]) }},
		{"a drop of nothing", func(r *record.Record) { r.Sweep.Steps[0].Drops = []int{99} }},
		{"an event of no kind", func(r *record.Record) { r.Sweep.Events = []record.Event{{Kind: "pop"}} }},
		{"an event out of range", func(r *record.Record) {
			r.Sweep.Events = []record.Event{{Kind: record.Visited, Node: 6}}
		}},
	} {
		r := sketch.Swept(towers)
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		c.spoil(r)
		err := r.Validate()
		var place *record.PlaceError
		var version *record.VersionError
		if !errors.As(err, &place) && !errors.As(err, &version) {
			t.Errorf("%s: Validate says %v", c.name, err)
			continue
		}
		fmt.Fprintf(&all, "%s\n\t%v\n", c.name, err)
		if _, err := record.ReadFrom(strings.NewReader(text(t, r))); err == nil {
			t.Errorf("%s: ReadFrom takes it", c.name)
		}
	}
	golden(t, "faults.txt", all.String())
}

func TestBadTextsAreRefused(t *testing.T) {
	good := text(t, sketch.Swept(towers))
	var all strings.Builder
	for _, c := range []struct{ name, text string }{
		{"empty", ""},
		{"no object", "[]"},
		{"cut", good[:len(good)/2]},
		{"two records", good + good},
		{"a field twice", strings.Replace(good, `"format"`, `"version":1,"format"`, 1)},
		{"a string for a number", strings.Replace(good, `"bytes":3200`, `"bytes":"3200"`, 1)},
		{"a version of words", strings.Replace(good, `"version":1`, `"version":"one"`, 1)},
		{"a million empty tensors", `{"tensors":[` + strings.Repeat("{},", 1000000) + `{}]}`},
		{"a million empty steps", `{"sweep":{"steps":[` + strings.Repeat("{},", 1000000) + `{}]}}`},
		{"deep nesting", `{"later":` + strings.Repeat("[", 100000)},
		{"a huge element", `{"title":"` + strings.Repeat("x", 17<<20) + `"}`},
		{"gzip without the name", "\x1f\x8b\x08"},
	} {
		_, err := record.ReadFrom(strings.NewReader(c.text))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		fmt.Fprintf(&all, "%s\n\t%v\n", c.name, err)
	}
	golden(t, "texts.txt", all.String())

	unknown := strings.Replace(good, `"format"`, `"later":[{"x":1}],"format"`, 1)
	if _, err := record.ReadFrom(strings.NewReader(unknown)); err != nil {
		t.Errorf("an unknown field is not passed over: %v", err)
	}
}

func TestTheLimitStopsAPackedBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	fmt.Fprint(z, `{"format":"backsweep-record","sites":[`)
	for range 1 << 16 {
		fmt.Fprint(z, `{"file":"`+strings.Repeat("a", 100)+`","line":1},`)
	}
	z.Close()
	f.Close()
	_, err = record.Read(path, record.Limit(1<<20))
	var limit *record.LimitError
	if !errors.As(err, &limit) || limit.Limit != 1<<20 {
		t.Fatalf("got %v", err)
	}
	r := sketch.Record(towers)
	size := int64(len(text(t, r)))
	if _, err := record.ReadFrom(strings.NewReader(text(t, r)), record.Limit(size)); err != nil {
		t.Errorf("a record of exactly the limit: %v", err)
	}
	if _, err := record.ReadFrom(strings.NewReader(text(t, r)), record.Limit(size-2)); err == nil {
		t.Error("a record above the limit was read")
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range []*record.Record{sketch.Record(towers), sketch.Swept(towers), sketch.Swept("param x\nloss mul x x")} {
		var b bytes.Buffer
		if _, err := r.WriteTo(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"format":"backsweep-record","version":2}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := record.ReadFrom(bytes.NewReader(in), record.Limit(1<<20))
		if err != nil {
			return
		}
		// What was read must survive every question.
		var b bytes.Buffer
		if _, err := r.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := record.ReadFrom(&b); err != nil {
			t.Fatalf("written again, it is refused: %v", err)
		}
		r.Memory()
		r.Consumers()
		r.Find("n0 x/y")
		if c := record.Compare(r, r); len(c.Differences) != 0 {
			t.Fatalf("it differs from itself:\n%s", c)
		}
		if _, _, err := r.Graph(); err != nil {
			t.Fatal(err)
		}
	})
}

func chain(n int) *record.Record {
	var b strings.Builder
	b.WriteString("param x\na tanh x\n")
	for range n {
		b.WriteString("a tanh a\n")
	}
	return sketch.Swept(b.String())
}

func TestTimeANodeStaysFlat(t *testing.T) {
	work := func(n int) time.Duration {
		r := chain(n)
		b := text(t, r)
		best := time.Duration(math.MaxInt64)
		for range 3 {
			start := time.Now()
			back, err := record.ReadFrom(strings.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			back.Memory()
			if c := record.Compare(r, back); c.Same != n+1 {
				t.Fatal(c)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	small, large := work(2000), work(20000)
	if ratio := float64(large) / float64(small); ratio > 25 {
		t.Errorf("ten times the nodes take %.1f times as long (%v, %v)", ratio, small, large)
	}
}
