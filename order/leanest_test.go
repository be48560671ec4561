package order_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/order"
)

// Two towers whose payload is let go only at the end of each: one that is large and
// read at once is worth going to first.
func TestLeanestLetsGoFirst(t *testing.T) {
	n := towers(t)
	s := n.sizes
	s.Storages = []order.Storage{{Bytes: 100}, {Bytes: 5}}
	s.Readers = []order.Reader{{Storage: 0, Node: n.tensors["q"]}, {Storage: 1, Node: n.tensors["d"]}}
	s.Grads[n.tensors["d"]].Bytes = 50 // what visiting v would hold next to the payload
	tape, _ := n.Peak(s, n.Tape())
	seq := n.Leanest(s)
	peak, curve := n.Peak(s, seq)
	if got := n.names(seq); got != "s u q v d" {
		t.Errorf("leanest: %s", got)
	}
	if want := []int64{108, 108, 108, 57, 57}; peak != 108 || tape != 157 || !slices.Equal(curve, want) {
		t.Errorf("peak %d of %v, against %d in reverse tape order", peak, curve, tape)
	}
	if _, exact, err := n.LeanestExact(s); err != nil || exact != peak {
		t.Errorf("exact: %d, %v", exact, err)
	}
}

// A contribution that arrives before its turn is held next to the gradient
// that it will join.
func TestPeakCountsWhatIsParked(t *testing.T) {
	n := tape(t, node("a", "x"), node("b", "x"), node("s", "a", "b"))
	s := n.sizes
	s.Grads[n.tensors["x"]].Bytes = 10
	want := []order.Moment{
		{Gradients: 1, Output: 2},
		{Gradients: 2, Output: 10},
		{Gradients: 1, Parked: 10, Output: 10}, // b is the larger consumer of x, a waits for it
	}
	if got := n.Moments(s, n.ids("s a b")); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	want[2] = order.Moment{Gradients: 11, Output: 10}
	if got := n.Moments(s, n.Tape()); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// The keys of the heap are kept up to date by looking only at the nodes that a
// visit affects; here each is computed anew at each step.
func TestLeanestIsGreedy(t *testing.T) {
	rng := random(t)
	greedy := 0
	for range 300 {
		n := 8 + rng.IntN(8)
		var pairs [][2]int32
		for to := int32(1); int(to) < n; to++ {
			for range rng.IntN(3) {
				pairs = append(pairs, [2]int32{rng.Int32N(to), to})
			}
		}
		edges, s := dress(rng, n, pairs)
		g := mustNew(t, n, edges)
		want := g.Tape()
		for _, seq := range [][]int32{g.Depth(), greedyOrder(edges, s, n)} {
			if peakOf(simulate(s, seq)) < peakOf(simulate(s, want)) {
				want = seq
			}
		}
		if got := g.Leanest(s); !slices.Equal(got, want) {
			t.Fatalf("%v\n%+v\nleanest is %v; it is %v", edges, s, got, want)
		}
		if !slices.Equal(want, g.Tape()) && !slices.Equal(want, g.Depth()) {
			greedy++
		}
	}
	if greedy < 50 {
		t.Errorf("greed is the best in %d graphs only", greedy)
	}
}

func greedyOrder(edges []order.Edge, s order.Sizes, n int) []int32 {
	var seq []int32
	for len(seq) < n {
		best, bestAfter, bestDuring := int32(-1), int64(0), int64(0)
		for v := int32(n) - 1; v >= 0; v-- {
			waits := slices.ContainsFunc(edges, func(e order.Edge) bool { return e.From == v && !slices.Contains(seq, e.To) })
			if waits || slices.Contains(seq, v) {
				continue
			}
			const nothing = 1 << 20 // a step that visits no node shows what the one before leaves
			moments := simulate(s, append(slices.Clone(seq), v, nothing))
			during, after := moments[len(seq)].Held(), moments[len(seq)+1].Held()
			if best < 0 || after < bestAfter || after == bestAfter && during < bestDuring {
				best, bestAfter, bestDuring = v, after, during
			}
		}
		seq = append(seq, best)
	}
	return seq
}

// Gates that open late must not make greed look at what waits again and again.
func TestLeanestOfManyConsumers(t *testing.T) {
	g, s := fan(t, 100_000)
	seq := g.Leanest(s)
	if err := g.Check(seq); err != nil {
		t.Fatal(err)
	}
	peak, _ := g.Peak(s, seq)
	tape, _ := g.Peak(s, g.Tape())
	if peak > tape {
		t.Errorf("peak %d, %d in reverse tape order", peak, tape)
	}
}

// How close greed comes to the least peak is reported, and may not get far
// worse unnoticed.
func TestLeanestIsCloseToExact(t *testing.T) {
	rng := random(t)
	const rounds = 300
	exactly, sum, tapes := 0, 0.0, 0.0
	for range rounds {
		n := 10 + rng.IntN(4)
		var pairs [][2]int32
		for to := int32(1); int(to) < n; to++ {
			for range 1 + rng.IntN(2) {
				pairs = append(pairs, [2]int32{rng.Int32N(to), to})
			}
		}
		edges, s := dress(rng, n, pairs)
		g := mustNew(t, n, edges)
		_, least, err := g.LeanestExact(s)
		if err != nil {
			t.Fatal(err)
		}
		peak, _ := g.Peak(s, g.Leanest(s))
		tape, _ := g.Peak(s, g.Tape())
		if peak < least || tape < peak {
			t.Fatalf("least %d, leanest %d, tape %d", least, peak, tape)
		}
		if peak == least {
			exactly++
		}
		sum += float64(peak) / float64(least)
		tapes += float64(tape) / float64(least)
	}
	t.Logf("the least peak in %d of %d graphs; %.3f of it on average, against %.3f in reverse tape order", exactly, rounds, sum/rounds, tapes/rounds)
	if sum/rounds > 1.10 {
		t.Error("greed is more than 10 % above the least peak on average")
	}
}

func TestSizesMustFit(t *testing.T) {
	n := towers(t)
	for _, c := range []struct {
		change func(s *order.Sizes)
		want   string
	}{
		{func(s *order.Sizes) { s.Grads[1].Bytes = -4 }, "order: sizes: Grads[1]: -4 bytes"},
		{func(s *order.Sizes) { s.Grads[1].Producer = 5 }, "order: sizes: Grads[1]: there is no node 5"},
		{func(s *order.Sizes) { s.Uses[2].Tensor = 99 }, "order: sizes: Uses[2]: there is no tensor 99"},
		{func(s *order.Sizes) { s.Uses[2].Consumer = -1 }, "order: sizes: Uses[2]: there is no node -1"},
		{func(s *order.Sizes) { s.Uses[1].Consumer = 3 }, "order: sizes: Uses[1]: the graph has no edge from node 0, which produced tensor 0, to node 3"},
		{func(s *order.Sizes) { s.Storages = []order.Storage{{Bytes: -1}} }, "order: sizes: Storages[0]: -1 bytes"},
		{func(s *order.Sizes) { s.Readers = []order.Reader{{Storage: 0, Node: 0}} }, "order: sizes: Readers[0]: there is no storage 0"},
		{func(s *order.Sizes) {
			s.Storages, s.Readers = []order.Storage{{}}, []order.Reader{{Storage: 0, Node: 7}}
		}, "order: sizes: Readers[0]: there is no node 7"},
	} {
		s := n.sizes
		s.Grads, s.Uses = slices.Clone(s.Grads), slices.Clone(s.Uses)
		c.change(&s)
		_, _, err := n.LeanestExact(s)
		var misfit *order.SizesError
		if !errors.As(err, &misfit) || err.Error() != c.want {
			t.Errorf("%v\nwant %s", err, c.want)
		}
		func() {
			defer func() {
				if p, ok := recover().(error); !ok || p.Error() != c.want {
					t.Errorf("Leanest: %v\nwant %s", p, c.want)
				}
			}()
			n.Leanest(s)
		}()
	}
}
