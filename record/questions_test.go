package record_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

func TestNames(t *testing.T) {
	r := sketch.Record(`
		param x 2x3
		scope outer/inner
		_ tanh x
		h exp x
	`)
	for got, want := range map[string]string{
		r.NodeName(0):                    "n0 tanh",
		r.NodeName(7):                    "n7",
		r.TensorName(0):                  "x",
		r.TensorName(1):                  "t1",
		r.ScopePath(2):                   "outer/inner",
		r.ScopePath(0):                   "",
		record.ShapeText([]int{128, 64}): "128×64",
		record.ShapeText(nil):            "scalar",
		record.BytesText(1023):           "1023 B",
		record.BytesText(1536):           "1.5 KiB",
		record.BytesText(1<<20 - 1):      "1 MiB",
		record.BytesText(200 << 20):      "200 MiB",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestConsumersAreListedByNodeAndSlot(t *testing.T) {
	r := sketch.Record("param x\ny mul x x\nz add y x")
	if got, want := r.Consumers().Of(0), []record.Use{{0, 0}, {0, 1}, {1, 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("x is consumed at %v, want %v", got, want)
	}
	if got := r.Consumers().Of(2); len(got) != 0 {
		t.Errorf("z is consumed at %v", got)
	}
}

func TestFind(t *testing.T) {
	r := sketch.Record(towers)
	r.Tensors[1].Name = "t3"
	for name, want := range map[string]string{
		"E": "t0", "t3": "t1", "t2": "t2", "n4": "n4", "n4 matmul": "n4", "loss": "t9",
		"query tower/u": "t6", "query tower/tanh": "n2", "document tower/bag": "n3", "xent": "n5",
	} {
		f, err := r.Find(name)
		got := fmt.Sprintf("t%d", f.Tensor)
		if f.Node >= 0 {
			got = fmt.Sprintf("n%d", f.Node)
		}
		if err != nil || got != want {
			t.Errorf("%q is %s (%v), want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"":            `record: nothing is called ""; nodes are n0, n1, …, tensors t0, t1, … or their names`,
		"los":         `record: nothing is called "los"; there is loss`,
		"n4 tanh":     `record: nothing is called "n4 tanh"; there is n0 to n5`,
		"t99":         `record: nothing is called "t99"; there is t0 to t9`,
		"matmull":     `record: nothing is called "matmull"; there is matmul`,
		"quite wrong": `record: nothing is called "quite wrong"; nodes are n0, n1, …, tensors t0, t1, … or their names`,
	} {
		if _, err := r.Find(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	r.Tensors[5].Name = "E"
	if _, err := r.Find("E"); err == nil || err.Error() != `record: "E" may be t0 or t5; say one of them by its id` {
		t.Errorf("a name of two tensors: %v", err)
	}
}

func TestPayloadIsHeldUntilItsLastReader(t *testing.T) {
	// x·x reads x, tanh its output, the second mul both y and z.
	r := sketch.Record(`
		param x 10
		y mul x x
		z tanh y
		w mul y z
		v add w w
		loss: sum v
	`)
	sequence := []int{4, 3, 2, 1, 0}
	planned := r.LetGo(sequence)
	//                                     x  y  z  w                   v                   loss
	if want := []int{5, 2, 3, record.BeforeSweep, record.BeforeSweep, 5}; !reflect.DeepEqual(planned, want) {
		t.Errorf("let go at %v, want %v", planned, want)
	}
	sketch.Sweep(r, sequence)
	if got := r.LetGo(sequence); !reflect.DeepEqual(got, planned) {
		t.Errorf("by the plan let go at %v, want %v", got, planned)
	}
	if got := r.PayloadBytes(2); got != 80 {
		t.Errorf("n2 keeps %d bytes, want y and z, 80", got)
	}
	if got := r.PayloadBytes(0); got != 0 {
		t.Errorf("n0 keeps %d bytes, but x is a leaf's", got)
	}
}

func TestMemoryAddsUp(t *testing.T) {
	r := sketch.Swept(`
		param x 10
		y mul x x
		z tanh y
		w mul y z
		loss: sum w
	`)
	m := r.Memory()
	want := []record.Moment{
		{Step: -1, Params: 40, Values: 44, Payload: 80, Grads: 4},
		{Step: 0, Params: 40, Values: 4, Payload: 80, Grads: 4 + 40},
		{Step: 1, Params: 40, Values: 4, Payload: 80, Grads: 40 + 80},
		{Step: 2, Params: 40, Values: 4, Payload: 40, Grads: 80},
		{Step: 3, Params: 40, Values: 4, Payload: 0, Grads: 80},
	}
	if !reflect.DeepEqual(m.Moments, want) {
		t.Errorf("moments:\n%+v\nwant\n%+v", m.Moments, want)
	}
	if m.Peak != 2 {
		t.Errorf("the peak is %d", m.Peak)
	}
	var sum int64
	for _, h := range m.Held {
		sum += h.Bytes
	}
	if sum != m.Moments[m.Peak].Total() {
		t.Errorf("what is held at the peak adds up to %d, not %d", sum, m.Moments[m.Peak].Total())
	}
	if got, want := fmt.Sprint(r.PayloadAt(0)), "[{mul 40} {tanh 40}]"; got != want {
		t.Errorf("payload by op: %s, want %s", got, want)
	}
}

func TestAContributionBeforeItsTurnCountsAsParked(t *testing.T) {
	text := `
		param x 10
		a tanh x
		b exp x
		c: add a b
		loss: sum c
	`
	r := sketch.Record(text)
	sketch.Sweep(r, []int{3, 2, 0, 1})
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	m := r.Memory()
	if got := []int64{m.Moments[3].Parked, m.Moments[4].Parked}; got[0] != 40 || got[1] != 0 {
		t.Errorf("parked: %v, want 40 after n0 went first and 0 in the end", got)
	}
}

func TestGraphHasTheNodesOfTheSweep(t *testing.T) {
	r := sketch.Swept(`
		input q 3
		param w 3
		a tanh q
		b mul a w
		loss: sum b
	`)
	g, nodes, err := r.Graph()
	if err != nil || fmt.Sprint(nodes) != "[1 2]" || g.Len() != 2 {
		t.Fatalf("nodes %v, %v", nodes, err)
	}
	if err := g.Check(r.Vertices([]int{2, 1})); err != nil {
		t.Error(err)
	}
	for _, sequence := range [][]int{{1, 2}, {2, 0}, {2, 99}, {2}} {
		if err := g.Check(r.Vertices(sequence)); err == nil {
			t.Errorf("%v is taken for an order", sequence)
		}
	}
}

func TestCompare(t *testing.T) {
	base := `
		param x 2x3
		param w 3x4
		scope tower
		h:2x4 matmul x w
		y tanh h
		z exp y
		scope
		loss: sum z
	`
	for _, c := range []struct{ name, other, want string }{
		{"nothing", base, "0 appeared, 0 went, 0 changed, 4 nodes alike\n"},
		{"another op in the middle", `
			param x 2x3
			param w 3x4
			scope tower
			h:2x4 matmul x w
			y relu h
			z exp y
			scope
			loss: sum z
		`, `1 appeared, 1 went, 1 changed, 2 nodes alike
- n1 tanh  in tower
+ n1 relu  in tower
~ n2 exp  in tower
    operands: y of n1 tanh → y of n1 relu
`},
		{"another shape and a scope", `
			param x 5x3
			param w 3x4
			scope tower
			h:5x4 matmul x w
			y tanh h
			scope attic
			z exp y
			scope
			loss: sum z
		`, `1 appeared, 1 went, 4 changed, 0 nodes alike
~ leaf t0 x
    shape: 2×3 → 5×3
~ n0 matmul  in tower
    shape: 2×4 → 5×4
~ n1 tanh  in tower
    shape: 2×4 → 5×4
    payload: output 0 (32 B) → output 0 (80 B)
- n2 exp  in tower
+ n2 exp  in attic
~ n3 sum
    operands: z of n2 exp → z of n2 exp
`},
		{"a node more and a leaf less", `
			param x 2x3
			scope tower
			h:2x4 matmul x x
			y tanh h
			y2 tanh y
			z exp y2
			scope
			loss: sum z @0
		`, "golden"},
	} {
		got := record.Compare(sketch.Swept(base), sketch.Swept(c.other)).String()
		if c.want == "golden" {
			golden(t, "compare.txt", got)
		} else if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestCompareFindsALongerLoop(t *testing.T) {
	c := record.Compare(chain(10), chain(13))
	var appeared, went int
	for _, d := range c.Differences {
		switch d.What {
		case record.Appeared:
			appeared++
		case record.Went:
			went++
		}
	}
	if appeared != 3 || went != 0 || c.Same < 10 {
		t.Errorf("three steps more give\n%s", c)
	}
}

func TestCompareNamesTheFewestThatMoved(t *testing.T) {
	text := "param x\na tanh x\nb exp x\nc neg x\nd add a b\nloss add d c"
	a, b := sketch.Record(text), sketch.Record(text)
	sketch.Sweep(a, []int{4, 3, 2, 1, 0})
	sketch.Sweep(b, []int{4, 2, 3, 1, 0})
	want := "0 appeared, 0 went, 1 changed, 4 nodes alike\n~ n3 add\n    turn in the sweep: 2 → 3\n"
	if got := record.Compare(a, b).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
