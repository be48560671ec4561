package order_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/order"
)

// TestAgreesOnAllSmallGraphs takes every acyclic graph of up to 6 nodes whose
// numbering is a tape's: 1 + 1 + 2 + 8 + 64 + 1,024 + 32,768 of them.
func TestAgreesOnAllSmallGraphs(t *testing.T) {
	rng := random(t)
	for n := range 7 {
		var possible [][2]int32
		for to := range int32(n) {
			for from := range to {
				possible = append(possible, [2]int32{from, to})
			}
		}
		for set := range 1 << len(possible) {
			var pairs [][2]int32
			for i, p := range possible {
				if set>>i&1 != 0 {
					pairs = append(pairs, p)
				}
			}
			every := 1 // at six nodes, each graph sees other permutations
			if n == 6 {
				every = 24
			}
			agree(t, rng, n, pairs, every)
		}
	}
}

func TestAgreesOnRandomGraphs(t *testing.T) {
	rng := random(t)
	for range 120 {
		n := 7 + rng.IntN(maxOracle-6)
		density := rng.Float64()
		var pairs [][2]int32
		for to := range int32(n) {
			for from := range to {
				if rng.Float64() < density {
					pairs = append(pairs, [2]int32{from, to})
				}
			}
		}
		agree(t, rng, n, pairs, 1009)
	}
}

// agree holds everything that the package says of one graph against the
// oracle. It tries Check on one of every permutations.
func agree(t *testing.T, rng *rand.Rand, n int, pairs [][2]int32, every int) {
	t.Helper()
	edges, sizes := dress(rng, n, pairs)
	o := newOracle(n, edges)
	g := mustNew(t, n, edges)
	defer func() {
		if t.Failed() {
			t.Fatalf("graph of %d nodes: %v", n, edges)
		}
	}()
	agreeOnLegality(t, rng, o, g, every)
	agreeOnWalks(t, rng, o, g)
	agreeOnNumbers(t, rng, o, g)
	agreeOnWhy(t, o, g)
	agreeOnStructure(t, rng, o, g)
	agreeOnMemory(t, rng, o, g, sizes)
}

func agreeOnLegality(t *testing.T, rng *rand.Rand, o *oracle, g *order.Graph, every int) {
	perms := permutations[o.n]()
	for i := rng.IntN(every); i < len(perms); i += every {
		p := perms[i]
		err := g.Check(p)
		if o.isLegal(p) {
			if err != nil {
				t.Errorf("%v: %v", p, err)
			}
			continue
		}
		var illegal *order.IllegalError
		if !errors.As(err, &illegal) {
			t.Errorf("%v is illegal, but Check says: %v", p, err)
			continue
		}
		at := slices.Index(p, illegal.Node)
		if at != illegal.Pos || slices.Index(p, illegal.Consumer) < at ||
			!slices.Contains(o.edges, order.Edge{From: illegal.Node, To: illegal.Consumer, Tensor: illegal.Tensor}) {
			t.Errorf("%v: false witness: %v", p, err)
		}
		for _, e := range o.edges {
			if from := slices.Index(p, e.From); from < at && slices.Index(p, e.To) > from {
				t.Errorf("%v: %v, but node %d at position %d was too early before", p, err, e.From, from)
			}
		}
	}
	i := 0
	for seq := range g.All() {
		if i >= len(o.legal) || !slices.Equal(seq, o.legal[i]) {
			t.Errorf("legal order %d of %d is %v", i, len(o.legal), seq)
			return
		}
		i++
	}
	if i != len(o.legal) {
		t.Errorf("%d orders of %d", i, len(o.legal))
	}
}

func agreeOnWalks(t *testing.T, rng *rand.Rand, o *oracle, g *order.Graph) {
	seed := rng.Uint64()
	for name, seq := range map[string][]int32{"tape": g.Tape(), "depth": g.Depth(), "breadth": g.Breadth(), "random": g.Random(seed)} {
		if len(seq) != o.n || !o.isLegal(seq) {
			t.Errorf("%s (seed %d): %v is no legal order", name, seed, seq)
		}
	}
	if !slices.Equal(g.Random(seed), g.Random(seed)) {
		t.Errorf("seed %d gives two orders", seed)
	}
	depth := g.Depth()
	for i := range depth[:max(0, o.n-1)] {
		opened := int32(-1) // the largest that step i makes ready
		for _, v := range depth[i+1:] {
			if o.hasEdge(v, depth[i]) && !slices.ContainsFunc(depth[i+1:], func(c int32) bool { return o.hasEdge(v, c) }) {
				opened = max(opened, v)
			}
		}
		if opened >= 0 && depth[i+1] != opened {
			t.Errorf("depth %v: %d does not follow %d", depth, opened, depth[i])
		}
	}
	level := make([]int, o.n)
	for v := o.n - 1; v >= 0; v-- {
		for c := range o.n {
			if o.hops[v][c] > 0 {
				level[v] = max(level[v], level[c]+1)
			}
		}
	}
	byLevel := g.Tape()
	slices.SortStableFunc(byLevel, func(a, b int32) int { return level[a] - level[b] })
	if !slices.Equal(g.Breadth(), byLevel) {
		t.Errorf("breadth is %v, levels are %v", g.Breadth(), level)
	}
	for i, why := range g.Reasons(g.Random(seed)) {
		seq := g.Random(seed)
		last := -1
		for _, e := range o.edges {
			if e.From == seq[i] {
				last = max(last, slices.Index(seq, e.To))
			}
		}
		switch {
		case last < 0 && why != order.Edge{From: seq[i], To: -1, Tensor: -1}:
			t.Errorf("%v: the root %d has the reason %v", seq, seq[i], why)
		case last >= 0 && (why.From != seq[i] || why.To != seq[last] || !slices.Contains(o.edges, why)):
			t.Errorf("%v: node %d has the reason %v, not node %d", seq, seq[i], why, seq[last])
		}
	}
}

func agreeOnNumbers(t *testing.T, rng *rand.Rand, o *oracle, g *order.Graph) {
	if count, err := g.Count(0); err != nil || count.Cmp(big.NewInt(int64(len(o.legal)))) != 0 {
		t.Errorf("count %v, %v; there are %d", count, err, len(o.legal))
	}
	windows, err := g.Windows()
	if err != nil {
		t.Error(err)
	}
	want := make([]order.Window, o.n)
	for v := range want {
		want[v].Earliest = int32(o.n)
	}
	for _, p := range o.legal {
		for i, v := range p {
			want[v].Earliest = min(want[v].Earliest, int32(i))
			want[v].Latest = max(want[v].Latest, int32(i))
		}
	}
	if !slices.Equal(windows, want) {
		t.Errorf("windows %v; they are %v", windows, want)
	}
	antichain, err := g.Width()
	if err != nil || len(antichain) != o.width() || !o.isAntichain(antichain) || !slices.IsSorted(antichain) {
		t.Errorf("width by %v, %v; it is %d", antichain, err, o.width())
	}
	if o.n == 0 {
		return
	}
	cost := make([]int64, o.n)
	for v := range cost {
		cost[v] = rng.Int64N(9) - 2
	}
	ones := slices.Repeat([]int64{1}, o.n)
	if path := g.CriticalPath(cost); !o.isPath(path) || total(path, cost) != o.longest(cost) {
		t.Errorf("critical path %v for costs %v; the longest has %d", path, cost, o.longest(cost))
	}
	if path := g.CriticalPath(nil); !o.isPath(path) || int64(len(path)) != o.longest(ones) {
		t.Errorf("critical path %v; the longest has %d nodes", path, o.longest(ones))
	}
}

func agreeOnWhy(t *testing.T, o *oracle, g *order.Graph) {
	for a := range int32(o.n) {
		for b := range int32(o.n) {
			w := g.Why(a, b)
			if a == b {
				if w.Waits() || w.Path != nil || w.Back != nil || w.Other != nil || w.BFirst != nil {
					t.Errorf("why %d %d: %v", a, b, w)
				}
				continue
			}
			if w.Waits() == o.before[a][b] || w.Waits() == (w.Other != nil) || (w.Back != nil) == (w.BFirst != nil) {
				t.Errorf("why %d %d: %+v", a, b, w)
			}
			agreeOnChain(t, o, w.Path, a, b)
			agreeOnChain(t, o, w.Back, b, a)
			agreeOnProof(t, o, w.Other, a, b)
			agreeOnProof(t, o, w.BFirst, b, a)
		}
	}
}

// agreeOnChain checks that path is a shortest chain from b down to a, or nil
// when there is none.
func agreeOnChain(t *testing.T, o *oracle, path []order.Edge, a, b int32) {
	if len(path) != o.hops[a][b] {
		t.Errorf("chain %v from %d to %d; the shortest has %d edges", path, b, a, o.hops[a][b])
		return
	}
	at := b
	for _, e := range path {
		if e.To != at || !slices.Contains(o.edges, e) {
			t.Errorf("chain %v from %d to %d is broken", path, b, a)
		}
		at = e.From
	}
	if len(path) > 0 && at != a {
		t.Errorf("chain %v from %d to %d ends elsewhere", path, b, a)
	}
}

// agreeOnProof checks that seq, when there is one, is legal and has a before b.
func agreeOnProof(t *testing.T, o *oracle, seq []int32, a, b int32) {
	if seq == nil {
		return
	}
	if len(seq) != o.n || !o.isLegal(seq) || slices.Index(seq, a) > slices.Index(seq, b) {
		t.Errorf("%v is no legal order with %d before %d", seq, a, b)
	}
}

func agreeOnStructure(t *testing.T, rng *rand.Rand, o *oracle, g *order.Graph) {
	reduction, err := g.Reduction()
	if err != nil {
		t.Error(err)
	}
	var want [][2]int32
	for a := range o.n {
		for b := range o.n {
			longer := false
			for via := range o.n {
				longer = longer || o.hops[a][via] > 0 && o.hops[via][b] > 0
			}
			if o.hops[a][b] == 1 && !longer {
				want = append(want, [2]int32{int32(a), int32(b)})
			}
		}
	}
	var got [][2]int32
	for _, e := range reduction {
		got = append(got, [2]int32{e.From, e.To})
		first := slices.IndexFunc(o.edges, func(f order.Edge) bool { return f.From == e.From && f.To == e.To })
		if first < 0 || o.edges[first] != e {
			t.Errorf("the reduction has %v", e)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("reduction %v; it is %v", got, want)
	}

	roots := g.Roots()
	if rng.IntN(2) == 0 {
		roots = members(rng.IntN(1 << o.n))
	}
	tree := g.Dominators(roots)
	dom := dominators(o.n, o.edges, roots)
	for v := range int32(o.n) {
		immediate := order.NoDominator
		switch {
		case dom[v] == nil:
			immediate = order.Unreached
		case len(dom[v]) > 1 && !slices.Contains(roots, v):
			immediate = dom[v][1]
		}
		if tree.Of(v) != immediate || !slices.Equal(tree.Through(v), dom[v]) {
			t.Errorf("roots %v: node %d has the dominator %d and the chain %v; they are %v", roots, v, tree.Of(v), tree.Through(v), dom[v])
		}
		for u := range v {
			var both []int32
			for _, d := range dom[v] {
				if dom[u] == nil || slices.Contains(dom[u], d) {
					both = append(both, d)
				}
			}
			if dom[v] == nil {
				both = dom[u]
			}
			if through := tree.Through(u, v); !slices.Equal(through, both) {
				t.Errorf("roots %v: all paths to %d and %d pass through %v; it is %v", roots, u, v, through, both)
			}
		}
	}
}

func agreeOnMemory(t *testing.T, rng *rand.Rand, o *oracle, g *order.Graph, s order.Sizes) {
	if o.n == 0 {
		return
	}
	seq := o.legal[rng.IntN(len(o.legal))]
	moments := simulate(s, seq)
	if got := g.Moments(s, seq); !slices.Equal(got, moments) {
		t.Errorf("%+v\n%v holds %v; it is %v", s, seq, got, moments)
	}
	peak, curve := g.Peak(s, seq)
	for i, m := range moments {
		if curve[i] != m.Held() {
			t.Errorf("%+v\n%v: %d held at step %d; it is %d", s, seq, curve[i], i, m.Held())
		}
	}
	if peak != peakOf(moments) {
		t.Errorf("%+v\n%v has the peak %d; it is %d", s, seq, peak, peakOf(moments))
	}
	for i, m := range g.Moments(s, g.Tape()) {
		if m.Parked != 0 {
			t.Errorf("%+v\nreverse tape order parks %d bytes at step %d", s, m.Parked, i)
		}
	}
	leanest := g.Leanest(s)
	if !o.isLegal(leanest) || peakOf(simulate(s, leanest)) > peakOf(simulate(s, g.Tape())) {
		t.Errorf("%+v\nleanest is %v", s, leanest)
	}
	// Beyond 2,000 orders the oracle tries a sample, which can only show that the
	// exact one is too high.
	exact, least, err := g.LeanestExact(s)
	if err != nil || !o.isLegal(exact) || peakOf(simulate(s, exact)) != least {
		t.Errorf("%+v\nexact leanest is %v, %d, %v", s, exact, least, err)
	}
	stride := 1 + len(o.legal)/2000
	lowest := least
	for i := 0; i < len(o.legal); i += stride {
		lowest = min(lowest, peakOf(simulate(s, o.legal[i])))
	}
	if lowest < least {
		t.Errorf("%+v\nexact leanest is %v with %d; there is one with %d", s, exact, least, lowest)
	}
}
