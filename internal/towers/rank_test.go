package towers_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/backsweep/backsweep/internal/towers"
)

// By hand: 3 documents of 2, 3 and 1 terms, 2 on average. "a" is in 2 of 3, idf ln(1 + 1.5/2.5) = ln 1.6; "b" in 1, ln(1 + 2.5/1.5).
// Document 0 has a once at average length: 2.2/(1 + 1.2) = 1. Document 1 has a twice, length 3: norm 1.2·(0.25 + 0.75·1.5) = 1.65,
// 2·2.2/(2 + 1.65) for a and 2.2/(1 + 1.65) for b.
func TestBM25ByHand(t *testing.T) {
	x := towers.NewBM25([]string{"a c", "a b a", "d"})
	a, b := math.Log(1.6), math.Log(1+2.5/1.5)
	for query, want := range map[string][]float64{
		"a":       {a, a * 4.4 / 3.65, 0},
		"A.b a e": {2 * a, 2*a*4.4/3.65 + b*2.2/2.65, 0},
		"e":       {0, 0, 0},
		"":        {0, 0, 0},
	} {
		for i, got := range x.Scores(query) {
			if math.Abs(got-want[i]) > 1e-15 {
				t.Errorf("%q: document %d scores %v, want %v", query, i, got, want[i])
			}
		}
	}
	if got := towers.NewBM25(nil).Scores("a"); len(got) != 0 {
		t.Errorf("no documents score %v", got)
	}
}

func TestRank(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		scores []float64
		hits   []int32
		rank   int
	}{
		{[]float64{3, 1, 2}, []int32{0}, 1},
		{[]float64{3, 1, 2}, []int32{1}, 3},
		{[]float64{3, 1, 2}, []int32{1, 2}, 2},
		{[]float64{3, 1, 2}, []int32{0, 1, 2}, 1},
		{[]float64{5, 5, 5}, []int32{0}, 3},
		{[]float64{5, 5, 1}, []int32{0, 1}, 1},
		{[]float64{nan, 2, 1}, []int32{0}, 3},
		{[]float64{nan, 2, 1}, []int32{1}, 2},
		{[]float64{nan, 2, 1}, []int32{0, 1}, 1},
		{[]float64{nan, nan, nan}, []int32{1}, 3},
	} {
		if got := towers.Rank(tc.scores, tc.hits); got != tc.rank {
			t.Errorf("scores %v, hits %v: rank %d, want %d", tc.scores, tc.hits, got, tc.rank)
		}
	}
}

func TestTop(t *testing.T) {
	nan := float32(math.NaN())
	scores := []float32{1, nan, 3, 1, 3}
	if got, want := towers.Top(scores, 4), []int{2, 4, 0, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := towers.Top(scores, 10); len(got) != 5 || got[4] != 1 {
		t.Errorf("all of them: %v", got)
	}
}

func TestEvaluate(t *testing.T) {
	pairs := make([]towers.Pair, 40)
	for i := range pairs {
		pairs[i] = towers.Pair{Name: string(rune('A' + i)), Query: string(rune('A' + i))}
	}
	c := towers.NewCorpus(pairs)
	descending := make([]float32, len(pairs))
	for i := range descending {
		descending[i] = float32(-i)
	}
	got := towers.Evaluate(c, []int{0, 1, 9, 19}, func(int) []float32 { return descending })
	want := towers.Figures{Queries: 4, Recall1: 0.25, Recall10: 0.75, MRR: (1 + 0.5 + 0.1 + 0.05) / 4}
	if math.Abs(got.MRR-want.MRR) > 1e-15 {
		t.Errorf("MRR %v, want %v", got.MRR, want.MRR)
	}
	if got.MRR = want.MRR; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := got.String(), "recall@1 0.25, recall@10 0.75, MRR 0.41"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	constant := make([]float32, len(pairs))
	if f := towers.Evaluate(c, []int{0, 39}, func(int) []float32 { return constant }); f.Recall10 != 0 {
		t.Errorf("a scorer that knows nothing reaches %v", f)
	}
	if f := towers.Evaluate(c, nil, func(int) []float32 { return nil }); f != (towers.Figures{}) {
		t.Errorf("no queries: %v", f)
	}
}

// The band is wide because another release of Go has other documents.
func TestBM25OnTheStandardLibrary(t *testing.T) {
	c := corpus(t)
	x, queries := towers.NewBM25(c.Documents()), c.Queries()
	for seed := range uint64(3) {
		s := towers.NewSplit(len(c.Pairs), seed)
		f := towers.Evaluate(c, s.HeldOut, func(q int) []float64 { return x.Scores(queries[q]) })
		t.Logf("seed %d: %v over %d queries", seed, f, f.Queries)
		if f.Recall1 < 0.20 || f.Recall1 > 0.42 || f.Recall10 < 0.55 || f.Recall10 > 0.78 {
			t.Errorf("seed %d: %v", seed, f)
		}
	}
}
