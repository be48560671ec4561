package backsweep_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

var (
	lawSeed   = flag.Uint64("laws.seed", 1, "first seed of the graphs drawn by chance")
	lawDAGs   = flag.Int("laws.dags", 50, "how many graphs are drawn by chance")
	lawOrders = flag.Int("laws.orders", 3, "random orders for each graph and worker count; 1000 is the full test")
)

// eachDAG runs f on graphs drawn by chance; the seed is in the subtest's name.
func eachDAG(t *testing.T, f func(t *testing.T, d *dag)) {
	for i := range *lawDAGs {
		seed := *lawSeed + uint64(i)
		t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) { f(t, newDAG(seed)) })
	}
}

// A law that holds by accident of one order is no law: every order by name, and
// random ones, by 1, 2, 4 and 8 workers, on a tape that retains and on one that
// lets go, with and without a trace, give what reverse tape order gives.
func TestEveryOrderAndWorkerCountGivesTheSameBits(t *testing.T) {
	eachDAG(t, func(t *testing.T, d *dag) {
		tape := bs.NewTape()
		g := d.record(tape, false)
		grads, err := tape.BackwardFrom(g.roots)
		if err != nil {
			t.Fatal(err)
		}
		want := answerOf(grads, g.asked)
		verified(t, tape)

		orders := []bs.Order{bs.TapeOrder, bs.DepthFirst, bs.BreadthFirst, bs.Leanest}
		for i := range *lawOrders {
			orders = append(orders, bs.RandomOrder(d.seed<<20+uint64(i)))
		}
		fresh := true // the tape's values are gone
		for i, o := range orders {
			for k, workers := range []int{1, 2, 4, 8} {
				if fresh {
					tape.Reset()
					g = d.record(tape, false)
				}
				fresh = (i+k)%7 == 6
				opts := []bs.SweepOption{bs.WithOrder(o), bs.Workers(workers)}
				if !fresh {
					opts = append(opts, bs.Retain())
				}
				if (i+k)%3 == 0 {
					opts = append(opts, bs.Trace())
				}
				grads, err := tape.BackwardFrom(g.roots, opts...)
				if err != nil {
					t.Fatalf("%s order, %d workers: %v", o, workers, err)
				}
				if d := want.differs(answerOf(grads, g.asked)); d != "" {
					t.Fatalf("%s order, %d workers: %s", o, workers, d)
				}
			}
			verified(t, tape)
		}
	})
}

// Asking for every tensor's gradient changes no bit of the others, and takes
// the states Released and NotAsked away.
func TestKeepGradsGivesTheSameBits(t *testing.T) {
	eachDAG(t, func(t *testing.T, d *dag) {
		tape := bs.NewTape()
		g := d.record(tape, false)
		grads, err := tape.BackwardFrom(g.roots, bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		want, some := answerOf(grads, g.asked), answerOf(grads, g.vals)
		kept, err := tape.BackwardFrom(g.roots, bs.KeepGrads(), bs.WithOrder(bs.RandomOrder(d.seed)), bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		if d := want.differs(answerOf(kept, g.asked)); d != "" {
			t.Error(d)
		}
		all := answerOf(kept, g.vals)
		for i := range g.vals {
			if connected := all.states[i] == bs.Computed; connected == (some.states[i] == bs.Unconnected) {
				t.Errorf("value %d is %s, but %s with KeepGrads", i, some.states[i], all.states[i])
			}
			if s := all.states[i]; s != bs.Computed && s != bs.Unconnected {
				t.Errorf("value %d is %s with KeepGrads", i, s)
			}
		}
		rec, err := tape.BackwardFrom(g.roots, bs.Recorded())
		if err != nil {
			t.Fatal(err)
		}
		if d := want.differs(answerOf(rec, g.asked)); d != "" {
			t.Errorf("recorded: %s", d)
		}
		verified(t, tape)
	})
}

// Law 2 says in which order contributions are added, and that the order in
// which they arrive would not do. The test gets each contribution by itself,
// from a copy of the graph in which every operand goes through a view of its
// own, and adds them up both ways.
func TestSumsAreOfCanonicalRankAndArrivalWouldDiffer(t *testing.T) {
	eachDAG(t, func(t *testing.T, d *dag) {
		apart := d.record(bs.NewTape(), true)
		single, err := apart.tape.BackwardFrom(apart.roots, bs.KeepGrads(), bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		tape := bs.NewTape()
		g := d.record(tape, false)
		kept, err := tape.BackwardFrom(g.roots, bs.KeepGrads(), bs.Retain())
		if err != nil {
			t.Fatal(err)
		}
		parts := make([][]part, len(g.vals))
		for i, u := range g.uses {
			if c, _ := single.Lookup(apart.uses[i].view); c != nil {
				parts[u.val] = append(parts[u.val], part{u, bs.Data[float32](c)})
			}
		}
		sums := map[int][]float32{}
		for v, x := range g.vals {
			sum, state := kept.Lookup(x)
			if state != bs.Computed || v == table || v == matrix {
				continue // the table gets rows, the matrix is also used through views
			}
			sums[v] = bs.Data[float32](sum)
			slices.SortFunc(parts[v], func(a, b part) int {
				if a.node != b.node {
					return b.node - a.node
				}
				return a.slot - b.slot
			})
			if k := firstBit(sums[v], g.addUp(v, parts[v])); k >= 0 {
				t.Fatalf("value %d, element %d: the sum in rank order is not the gradient", v, k)
			}
		}
		for try := range 30 {
			arrival := map[use]int{}
			_, err := tape.BackwardFrom(g.roots, bs.WithOrder(bs.RandomOrder(d.seed+uint64(try))), bs.Retain(), bs.Observe(func(e bs.Event) {
				u := use{val: e.Tensor, node: e.Node, slot: e.Slot}
				if _, ok := arrival[u]; !ok && (e.Kind == record.Added || e.Kind == record.Parked) {
					arrival[u] = len(arrival)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			for v, x := range g.vals {
				if sums[v] == nil {
					continue
				}
				at := func(p part) int { return arrival[use{val: x.ID(), node: p.node, slot: p.slot}] }
				slices.SortFunc(parts[v], func(a, b part) int { return at(a) - at(b) })
				if firstBit(sums[v], g.addUp(v, parts[v])) >= 0 {
					return
				}
			}
		}
		t.Error("added up as they arrived, no gradient differs in a bit: the graph tests nothing")
	})
}

// part is one contribution to the gradient of a value.
type part struct {
	use
	data []float32
}

// addUp sums the seeds of a value and its contributions, in the order given.
func (g *growth) addUp(v int, parts []part) []float32 {
	var sum []float32
	for _, r := range g.roots {
		if r.Tensor.ID() == g.vals[v].ID() {
			sum = plus(sum, seedOf(r))
		}
	}
	for _, p := range parts {
		sum = plus(sum, p.data)
	}
	return sum
}

func seedOf(r bs.Root) []float32 {
	if r.Cotangent == nil {
		return []float32{1}
	}
	return bs.Data[float32](r.Cotangent)
}

// plus adds as an accumulator does: the first moves in.
func plus(sum, x []float32) []float32 {
	if sum == nil {
		return slices.Clone(x)
	}
	for i, v := range x {
		sum[i] += v
	}
	return sum
}

// Law 4: an order that breaks an edge is refused, and the edge that the error
// names is one that the order breaks.
func TestIllegalOrdersAreRefusedWithATrueWitness(t *testing.T) {
	refused := 0
	eachDAG(t, func(t *testing.T, d *dag) {
		tape := bs.NewTape()
		g := d.record(tape, false)
		for _, x := range g.vals {
			x.Named("") // the witness then names tensors by id
		}
		loss := g.roots[0].Tensor
		plan, err := tape.Plan(loss)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := tape.Record()
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(d.seed, 3))
		for range 20 {
			seq := slices.Clone(plan.Sequence)
			for range 1 + rng.IntN(3) {
				i, j := rng.IntN(len(seq)), rng.IntN(len(seq))
				seq[i], seq[j] = seq[j], seq[i]
			}
			broken := brokenEdges(rec, plan, seq)
			_, err := tape.Backward(loss, bs.WithOrder(bs.GivenOrder(seq...)), bs.Retain())
			if len(broken) == 0 {
				if err != nil {
					t.Fatalf("a legal order was refused: %v", err)
				}
				continue
			}
			refused++
			var e *bs.Error
			if !errors.As(err, &e) || !errors.Is(err, bs.ErrOrder) {
				t.Fatalf("an illegal order gave %v", err)
			}
			if !slices.ContainsFunc(broken, func(b edge) bool {
				return b.node == e.Node && b.consumer == e.Consumer && rec.TensorName(b.tensor) == e.Tensor
			}) {
				t.Fatalf("the witness n%d before n%d through %s is not true; broken are %v", e.Node, e.Consumer, e.Tensor, broken)
			}
			verified(t, tape)
		}
	})
	if refused < 5**lawDAGs {
		t.Errorf("only %d illegal orders were tried", refused)
	}
}

type edge struct{ node, consumer, tensor int }

// brokenEdges lists, from the record alone, the edges along which a consumer
// stands after the producer of what it consumed.
func brokenEdges(rec *record.Record, plan *record.Sweep, seq []int) []edge {
	place := map[int]int{}
	for i, n := range seq {
		place[n] = i
	}
	var out []edge
	for _, s := range plan.Steps {
		for _, give := range s.Gives {
			if m := rec.Tensors[give.Tensor].Producer; m >= 0 {
				if at, ok := place[m]; ok && at < place[s.Node] {
					out = append(out, edge{m, s.Node, give.Tensor})
				}
			}
		}
	}
	return out
}
