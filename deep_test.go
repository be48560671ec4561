package backsweep_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/draw"
)

var deep = flag.Bool("deep", false, "make chains of 10,000,000 ops")

// A chain runs in a process of its own, whose goroutines may have stacks of
// 1 MiB at most: what recurses over the graph then dies.
const deepVar = "BACKSWEEP_DEEP_CHAIN"

// Law 7: recording, sweeping, inspecting and freeing a chain of millions of ops
// takes no stack, and no more time for each node than a shorter one.
func TestDeepChain(t *testing.T) {
	if length := os.Getenv(deepVar); length != "" {
		n, err := strconv.Atoi(length)
		if err != nil {
			t.Fatal(err)
		}
		debug.SetMaxStack(1 << 20)
		deepChain(t, n)
		return
	}
	lengths := []int{100_000, 1_000_000}
	if *deep {
		lengths = append(lengths, 10_000_000)
	}
	var nanos []float64 // a node, recorded and swept, by length
	for _, n := range lengths {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDeepChain$", "-test.v", "-test.timeout=20m", "-deep="+strconv.FormatBool(*deep))
		cmd.Env = append(os.Environ(), deepVar+"="+strconv.Itoa(n))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("chain of %d: %v\n%s", n, err, tail(string(out)))
		}
		for line := range strings.Lines(string(out)) {
			if at := strings.Index(line, "chain of "); at >= 0 {
				t.Log(strings.TrimSpace(line[at:]))
				var both float64
				if _, err := fmt.Sscanf(line[at:], "chain of %d: %f", new(int), &both); err == nil {
					nanos = append(nanos, both)
				}
			}
		}
	}
	if len(nanos) != len(lengths) {
		t.Fatalf("%d of %d chains reported", len(nanos), len(lengths))
	}
	if short, long := nanos[len(nanos)-2], nanos[len(nanos)-1]; long > 1.5*short+50 {
		t.Errorf("a node takes %.0f ns in the longest chain, and %.0f in one of a tenth", long, short)
	}
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// chain records y = x + x + … + x, n additions.
func chain(tape *bs.Tape, n int) (x, y *bs.Tensor) {
	x = tape.Watch(bs.Scalar(1.0))
	y = x
	for range n {
		y = y.Add(x)
	}
	return x, y
}

// deepChain is cases deep-chain-backward and deep-chain-inspect.
func deepChain(t *testing.T, n int) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tape := bs.NewTape()
	var best time.Duration
	for round := range 3 {
		tape.Reset()
		start := time.Now()
		x, y := chain(tape, n)
		took := time.Since(start)
		if round == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		start = time.Now()
		g, err := tape.Backward(y)
		took += time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		if d := g.Of(x).Item(); d != float64(n+1) {
			t.Fatalf("dx is %v, not %d", d, n+1)
		}
		if best == 0 || took < best {
			best = took
		}
	}
	t.Logf("chain of %d: %.0f ns a node, recorded and swept; %.0f bytes a node live after recording", n,
		float64(best.Nanoseconds())/float64(n), float64(after.HeapAlloc-before.HeapAlloc)/float64(n))

	verified(t, tape)
	tape.Reset()
	if n <= 100_000 || *deep {
		inspect(t, tape, n)
	}
	tape.Reset()
	verified(t, tape)
	tape = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+32<<20 {
		t.Errorf("%d bytes are live after the tape is gone, %d before it", after.HeapAlloc, before.HeapAlloc)
	}
}

// inspect asks everything that walks a graph about a long chain.
func inspect(t *testing.T, tape *bs.Tape, n int) {
	x, y := chain(tape, n)
	orders := []bs.Order{bs.TapeOrder, bs.DepthFirst, bs.BreadthFirst, bs.RandomOrder(1), bs.Leanest}
	for _, o := range orders {
		for _, workers := range []int{1, 2} {
			g, err := tape.Backward(y, bs.WithOrder(o), bs.Workers(workers), bs.Retain())
			if err != nil {
				t.Fatal(err)
			}
			if d := g.Of(x).Item(); d != float64(n+1) {
				t.Fatalf("%s order: dx is %v", o, d)
			}
		}
	}
	tangents, err := tape.Forward([]bs.Seed{{Tensor: x, Tangent: bs.Scalar(1.0)}})
	if err != nil {
		t.Fatal(err)
	}
	if d := tangents.Of(y).Item(); d != float64(n+1) {
		t.Fatalf("the tangent is %v", d)
	}
	g, err := tape.Backward(y, bs.Retain(), bs.KeepGrads())
	if err != nil {
		t.Fatal(err)
	}
	if s := g.State(bs.NewParam("elsewhere", bs.Scalar(1.0))); s != bs.Unconnected {
		t.Error(s)
	}
	_ = y.String()
	verified(t, tape)

	spellOut(t, tape, y)

	if _, err := tape.Backward(y, bs.Recorded()); err != nil {
		t.Fatal(err)
	}
	if _, err := tape.Backward(y); err != nil {
		t.Fatal(err)
	}
	if _, err := tape.Backward(y); !errors.Is(err, bs.ErrSwept) {
		t.Errorf("the second sweep says %v", err)
	}
}

// spellOut turns a chain into every printed form, or is refused politely.
func spellOut(t *testing.T, tape *bs.Tape, y *bs.Tensor) {
	_, planErr := tape.Plan(y)
	_, traceErr := tape.Backward(y, bs.Trace(), bs.Retain())
	rec, recErr := tape.Record(bs.Title("chain"))
	if tape.Len() > bs.RecordLimit {
		for _, err := range []error{planErr, traceErr, recErr} {
			if !errors.Is(err, bs.ErrUnsupported) {
				t.Errorf("a chain of %d as plain data: %v", tape.Len(), err)
			}
		}
		return
	}
	for _, err := range []error{planErr, traceErr, recErr, rec.Validate()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := rec.WriteTo(io.Discard); err != nil {
		t.Error(err)
	}
	if m := rec.Memory(); m == nil {
		t.Error("no account of the memory")
	}
	for name, f := range map[string]func() error{
		"text":    func() error { return draw.Text(io.Discard, rec, draw.Options{}) },
		"dot":     func() error { return draw.DOT(io.Discard, rec, draw.Options{}) },
		"mermaid": func() error { return draw.Mermaid(io.Discard, rec, draw.Options{}) },
		"svg":     func() error { return draw.SVG(io.Discard, rec, draw.Options{}) },
	} {
		var large *draw.TooLargeError
		if err := f(); err != nil && !errors.As(err, &large) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g, _, err := rec.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if p := g.Depth(); g.Check(p) != nil || g.Len() != tape.Len() {
		t.Error("the record's graph has no legal order")
	}
}
