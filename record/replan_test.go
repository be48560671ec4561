package record_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// randomTape records a graph of scalars with wide fan-out, views, several
// outputs and a part that the sweep does not visit.
func randomTape(rng *rand.Rand) (*backsweep.Tape, *backsweep.Tensor) {
	tape := backsweep.NewTape()
	x := tape.Watch(tape.Input("x", backsweep.Rand(rng, -1, 1, 4)))
	c := tape.Input("c", backsweep.Rand(rng, -1, 1, 4))
	pool := []*backsweep.Tensor{x, c, c.Exp()}
	for range 4 + rng.IntN(12) {
		a, b := pool[rng.IntN(len(pool))], pool[rng.IntN(len(pool))]
		switch rng.IntN(7) {
		case 0:
			pool = append(pool, a.Tanh())
		case 1:
			pool = append(pool, a.Mul(b))
		case 2:
			pool = append(pool, a.Exp().Detach())
		case 3:
			s := a.Split(0, 1, 3)
			pool = append(pool, s[0].Add(s[1]).Sum().Add(b))
		case 4:
			pool = append(pool, a.Reshape(2, 2).Reshape(4))
		case 5:
			pool = append(pool, a.Sub(b).Keep())
		default:
			pool = append(pool, a.Add(b))
		}
	}
	loss := pool[len(pool)-1].Mul(x).Sum()
	for _, y := range pool[:3] {
		loss = loss.Add(y.Sum())
	}
	return tape, loss
}

func TestReplanAgreesWithTheTape(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for k := range uint64(60) {
		tape, loss := randomTape(rand.New(rand.NewPCG(seed, k)))
		opts := []backsweep.SweepOption{}
		if k%3 == 0 {
			opts = append(opts, backsweep.KeepGrads())
		}
		if k%5 == 0 {
			opts = append(opts, backsweep.Retain())
		}
		if _, err := tape.Plan(loss, opts...); err != nil {
			t.Fatal(err)
		}
		rec, err := tape.Record()
		if err != nil {
			t.Fatal(err)
		}
		for r := range uint64(20) {
			want, err := tape.Plan(loss, append(opts, backsweep.WithOrder(backsweep.RandomOrder(r)))...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rec.Replan(want.Sequence)
			if err != nil {
				t.Fatal(err)
			}
			want.Order, want.Seed = "given", 0
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("graph %d, order %d: the tape's plan and Replan's differ (-tape +replan):\n%s", k, r, diff)
			}
		}
		sizes, err := rec.Sizes()
		if err != nil {
			t.Fatal(err)
		}
		g, nodes, err := rec.Graph()
		if err != nil {
			t.Fatal(err)
		}
		lean, err := tape.Plan(loss, append(opts, backsweep.WithOrder(backsweep.Leanest))...)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range g.Leanest(sizes) {
			if nodes[v] != lean.Sequence[i] {
				t.Fatalf("graph %d: the leanest order of the record differs from the tape's at visit %d", k, i)
			}
		}
	}
}

func TestReplanRefuses(t *testing.T) {
	tape := backsweep.NewTape()
	x := tape.Watch(tape.Input("x", backsweep.Scalar(0.5)))
	x.Exp().Detach() // visited by no sweep: n0, n1
	h := x.Tanh().Named("h")
	if _, err := tape.Plan(h.Exp()); err != nil {
		t.Fatal(err)
	}
	rec, err := tape.Record()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sequence []int
		want     string
	}{
		{[]int{2, 3}, "record: n2 tanh cannot be visited before n3 exp, which consumes its output h"},
		{[]int{3}, "record: n2 tanh is missing"},
		{[]int{3, 3, 2}, "record: n3 exp comes twice"},
		{[]int{3, 2, 9}, "record: there is no node 9; nodes run from 0 to 3"},
		{[]int{3, 1, 2, 0}, ""},
	} {
		_, err := rec.Replan(c.sequence)
		var e *record.SequenceError
		switch {
		case c.want == "" && err == nil:
		case !errors.As(err, &e) || e.Error() != c.want:
			t.Errorf("%v: %v, want %q", c.sequence, err, c.want)
		}
	}
	rec.Sweep = nil
	if _, err := rec.Replan([]int{3, 2}); !errors.Is(err, record.ErrNoSweep) {
		t.Errorf("without a sweep: %v", err)
	}
}
