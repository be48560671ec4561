package backsweep_test

import (
	"fmt"
	"slices"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// stepsAsEvents spells out what a plan says will happen, one event after the
// other, as an observer of a sweep by one worker must see it.
func stepsAsEvents(s *record.Sweep) []bs.Event {
	var out []bs.Event
	emit := func(kind record.EventKind, node, slot, tensor, storage, rank int) {
		out = append(out, bs.Event{Kind: kind, Node: node, Slot: slot, Tensor: tensor, Storage: storage, Rank: rank})
	}
	type early struct{ node, slot int }
	next := map[int]int{}        // by tensor, the rank whose turn it is
	parked := map[[2]int]early{} // by tensor and rank
	for _, st := range s.Before {
		emit(record.Freed, -1, -1, -1, st, -1)
	}
	for _, r := range s.Roots {
		emit(record.Seeded, -1, -1, r, -1, next[r])
		next[r]++
	}
	for _, step := range s.Steps {
		emit(record.Visited, step.Node, -1, -1, -1, -1)
		for _, give := range step.Gives {
			if give.Parked {
				emit(record.Parked, step.Node, give.Slot, give.Tensor, -1, give.Rank)
				parked[[2]int{give.Tensor, give.Rank}] = early{step.Node, give.Slot}
				continue
			}
			at, ok := early{step.Node, give.Slot}, true
			for ok {
				emit(record.Added, at.node, at.slot, give.Tensor, -1, next[give.Tensor])
				next[give.Tensor]++
				at, ok = parked[[2]int{give.Tensor, next[give.Tensor]}]
			}
		}
		for _, v := range step.Drops {
			emit(record.GradReleased, step.Node, -1, v, -1, -1)
		}
		for _, st := range step.Frees {
			emit(record.Freed, step.Node, -1, -1, st, -1)
		}
	}
	return out
}

// firstOther compares what was planned with what was seen, bytes and workers
// aside.
func firstOther(planned, seen []bs.Event) string {
	for i := range max(len(planned), len(seen)) {
		var p, s bs.Event
		if i < len(planned) {
			p = planned[i]
		}
		if i < len(seen) {
			s = seen[i]
		}
		s.Bytes, s.Worker = 0, 0
		if p != s {
			return fmt.Sprintf("event %d: planned %+v, seen %+v", i, p, s)
		}
	}
	return ""
}

// Law 3: what Plan shows, what Record exports and what an observer sees are the
// same plan, step by step.
func TestWhatIsShownIsWhatRuns(t *testing.T) {
	eachDAG(t, func(t *testing.T, d *dag) {
		tape := bs.NewTape()
		for i, o := range []bs.Order{bs.TapeOrder, bs.DepthFirst, bs.BreadthFirst, bs.Leanest, bs.RandomOrder(d.seed), bs.RandomOrder(d.seed + 99)} {
			tape.Reset()
			g := d.record(tape, false)
			loss := g.roots[0].Tensor
			opts := []bs.SweepOption{bs.WithOrder(o)}
			if i%3 == 2 {
				opts = append(opts, bs.Retain())
			}
			if i%3 == 1 {
				opts = append(opts, bs.KeepGrads())
			}
			plan, err := tape.Plan(loss, opts...)
			if err != nil {
				t.Fatal(err)
			}
			var seen []bs.Event
			if _, err := tape.Backward(loss, append(opts, bs.Trace(), bs.Observe(func(e bs.Event) { seen = append(seen, e) }))...); err != nil {
				t.Fatal(err)
			}
			if d := firstOther(stepsAsEvents(plan), seen); d != "" {
				t.Fatalf("%s order: %s", o, d)
			}
			rec, err := tape.Record()
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Validate(); err != nil {
				t.Fatalf("%s order: %v", o, err)
			}
			if !slices.Equal(rec.Sweep.Events, seen) {
				t.Fatalf("%s order: the record's events are not those that the observer saw", o)
			}
			if d := firstOther(stepsAsEvents(rec.Sweep), seen); d != "" {
				t.Fatalf("%s order, as recorded: %s", o, d)
			}
			if parked := slices.ContainsFunc(seen, func(e bs.Event) bool { return e.Kind == record.Parked }); parked && i == 0 {
				t.Fatal("something parked in tape order")
			}
			verified(t, tape)
		}
	})
}

// With workers the observer sees one event at a time, in a sequence of visits
// that is legal by the record, each contribution added at its rank.
func TestWorkersVisitInALegalOrder(t *testing.T) {
	eachDAG(t, func(t *testing.T, d *dag) {
		tape := bs.NewTape()
		for _, workers := range []int{2, 4, 8} {
			tape.Reset()
			g := d.record(tape, false)
			var seen []bs.Event
			inside := false
			_, err := tape.BackwardFrom(g.roots, bs.Workers(workers), bs.Trace(), bs.WithOrder(bs.RandomOrder(d.seed)), bs.Observe(func(e bs.Event) {
				if inside {
					t.Error("the observer was called while it ran")
				}
				inside = true
				seen = append(seen, e)
				inside = false
			}))
			if err != nil {
				t.Fatal(err)
			}
			rec, err := tape.Record()
			if err != nil {
				t.Fatal(err)
			}
			if err := rec.Validate(); err != nil {
				t.Fatal(err)
			}
			var visits []int
			next := map[int]int{}
			for _, e := range seen {
				switch e.Kind {
				case record.Visited:
					visits = append(visits, e.Node)
				case record.Seeded, record.Added:
					if e.Rank != next[e.Tensor] {
						t.Fatalf("tensor %d: rank %d was added when it was the turn of %d", e.Tensor, e.Rank, next[e.Tensor])
					}
					next[e.Tensor]++
				}
			}
			if broken := brokenEdges(rec, rec.Sweep, visits); len(broken) > 0 || len(visits) != len(rec.Sweep.Sequence) {
				t.Fatalf("%d workers: %d of %d nodes visited, broken edges %v", workers, len(visits), len(rec.Sweep.Sequence), broken)
			}
			for _, s := range rec.Sweep.Steps {
				for _, give := range s.Gives {
					if next[give.Tensor] != give.Of {
						t.Fatalf("tensor %d got %d of %d contributions", give.Tensor, next[give.Tensor], give.Of)
					}
				}
			}
			verified(t, tape)
		}
	})
}

// Law 5, in every situation that has a name.
func TestTheFourStatesAreToldApart(t *testing.T) {
	w, unused := bs.NewParam("w", bs.New([]float32{1, 2})), bs.NewParam("unused", bs.New([]float32{1}))
	aside := bs.NewParam("aside", bs.New([]float32{3, 4}))
	tape := bs.NewTape()
	x := tape.Input("x", bs.New([]float32{5, 6}))
	hx := x.Tanh()
	h := w.Mul(hx)              // consumed, then let go
	seen := tape.Watch(h.Exp()) // watched
	cut := seen.Detach()        // the connection ends here
	count := h.Gt(x).Cast(bs.Float32)
	side := tape.Watch(x).Mul(aside) // leads nowhere
	index := tape.Input("index", bs.New([]int64{1, 0}))
	loss := seen.Mul(cut).Add(count).Take(index, 0).Sum()
	after := loss.MulScalar(2)

	type want struct {
		name  string
		x     *bs.Tensor
		plain bs.State
		kept  bs.State
	}
	wants := []want{
		{"param", w, bs.Computed, bs.Computed},
		{"watched input", x, bs.Computed, bs.Computed},
		{"what a watched input leads to", hx, bs.Released, bs.Computed},
		{"consumed", h, bs.Released, bs.Computed},
		{"watched intermediate", seen, bs.Computed, bs.Computed},
		{"detached", cut, bs.NotAsked, bs.Computed},
		{"comparison", count, bs.NotAsked, bs.Computed},
		{"param that met the tape beside the loss", aside, bs.Unconnected, bs.Unconnected},
		{"what leads nowhere", side, bs.Unconnected, bs.Unconnected},
		{"param off the tape", unused, bs.Unconnected, bs.Unconnected},
		{"integers", index, bs.Unconnected, bs.Unconnected},
		{"loss", loss, bs.Released, bs.Computed},
		{"after the loss", after, bs.Unconnected, bs.Unconnected},
	}
	for _, keep := range []bool{false, true} {
		opts := []bs.SweepOption{bs.Retain(), bs.Trace()}
		if keep {
			opts = append(opts, bs.KeepGrads())
		}
		g, err := tape.Backward(loss, opts...)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := tape.Record()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range wants {
			state := c.plain
			if keep {
				state = c.kept
			}
			if got := g.State(c.x); got != state {
				t.Errorf("KeepGrads %v: %s is %s, not %s", keep, c.name, got, state)
			}
			if c.x.Tape() != nil && rec.Tensors[c.x.ID()].Grad != state {
				t.Errorf("KeepGrads %v: %s is %s in the record, not %s", keep, c.name, rec.Tensors[c.x.ID()].Grad, state)
			}
			d, got := g.Lookup(c.x)
			if (d != nil) != (state == bs.Computed) || got != state {
				t.Errorf("KeepGrads %v: Lookup of %s gives %v, %s", keep, c.name, d, got)
			}
			if err := caught(func() { g.Of(c.x) }); (err == nil) != (state == bs.Computed) {
				t.Errorf("KeepGrads %v: Of %s says %v", keep, c.name, err)
			}
			if err := caught(func() { g.OrZeros(c.x) }); (err == nil) != (state == bs.Computed || state == bs.Unconnected) {
				t.Errorf("KeepGrads %v: OrZeros of %s says %v", keep, c.name, err)
			}
		}
	}
	verified(t, tape)
}

// caught runs f and returns the misuse that it panicked with.
func caught(f func()) (err error) {
	defer bs.Catch(&err)
	f()
	return nil
}

// A root that nothing asked for leads to has no gradient to release.
func TestRootThatNothingLeadsTo(t *testing.T) {
	tape := bs.NewTape()
	x := tape.Input("x", bs.New([]float32{1, 2}))
	loss := x.Square().Sum()
	g, err := tape.Backward(loss, bs.Trace())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := tape.Record()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*bs.Tensor{x, loss} {
		if s, r := g.State(v), rec.Tensors[v.ID()].Grad; s != bs.NotAsked || r != bs.NotAsked {
			t.Errorf("tensor %d is %s, and %s in the record", v.ID(), s, r)
		}
	}
	if loss.Item() != 5 {
		t.Error("the loss is gone")
	}
}

// The gradient of a row-sparse merge is the dense one, and rows stay ascending.
func TestRowsOfTablesMerge(t *testing.T) {
	w := bs.NewParam("w", bs.New([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5, 2))
	tape := bs.NewTape()
	a := w.Embedding(bs.New([]int64{3, 1, 3}))
	x := tape.Watch(w)
	b := x.Embedding(bs.New([]int64{4, 1}))
	c := x.EmbeddingBagSum(bs.New([]int64{0, 0, 3}), bs.New([]int64{0, 2}))
	loss := b.Sum().Add(c.Sum())
	g, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	rows, values, ok := g.Rows(w)
	if !ok || !slices.Equal(bs.Data[int64](rows), []int64{0, 1, 3, 4}) || !slices.Equal(bs.Data[float32](values), []float32{2, 2, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("rows %v of %v", rows, values)
	}
	if d := bs.Data[float32](g.Of(w)); !slices.Equal(d, []float32{2, 2, 1, 1, 0, 0, 1, 1, 1, 1}) {
		t.Errorf("dense: %v", d)
	}
	if a.Tape() != nil {
		t.Error("a lookup off the tape was recorded")
	}
}
