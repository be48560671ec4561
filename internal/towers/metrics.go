package towers

import (
	"cmp"
	"fmt"
	"slices"
)

// Figures says how well queries found their documents among all of them.
type Figures struct {
	Queries  int     `json:"queries"`
	Recall1  float64 `json:"recall_at_1"`  // share of the queries whose first answer is a hit
	Recall10 float64 `json:"recall_at_10"` // share with a hit among the first ten
	MRR      float64 `json:"mrr"`          // mean of 1/rank of the best hit
}

func (f Figures) String() string {
	return fmt.Sprintf("recall@1 %.2f, recall@10 %.2f, MRR %.2f", f.Recall1, f.Recall10, f.MRR)
}

// Evaluate ranks all documents for each of the queries, which are pairs' ids. The scores of a query are one a document,
// by id, higher meaning better; Evaluate is done with them before it asks for the next query's. No queries, all zero.
func Evaluate[F float32 | float64](c *Corpus, queries []int, scores func(query int) []F) Figures {
	f := Figures{Queries: len(queries)}
	if len(queries) == 0 {
		return f
	}
	for _, q := range queries {
		rank := Rank(scores(q), c.Hits(q))
		if rank == 1 {
			f.Recall1++
		}
		if rank <= 10 {
			f.Recall10++
		}
		f.MRR += 1 / float64(rank)
	}
	n := float64(len(queries))
	f.Recall1, f.Recall10, f.MRR = f.Recall1/n, f.Recall10/n, f.MRR/n
	return f
}

// Rank is the best hit's place among all documents, from 1. Doubt counts against it: documents that score the same as
// the hit, or NaN, stand before it, so a scorer that cannot tell documents apart, or has diverged, finds nothing.
// Other hits do not stand in its way. The hits ascend; there is at least one.
func Rank[F float32 | float64](scores []F, hits []int32) int {
	best := scores[hits[0]]
	for _, h := range hits[1:] {
		if s := scores[h]; s > best || best != best {
			best = s
		}
	}
	rank := 1
	for i, s := range scores {
		if len(hits) > 0 && int(hits[0]) == i {
			hits = hits[1:]
			continue
		}
		if !(s < best) {
			rank++
		}
	}
	return rank
}

// Top returns the k best documents' ids, best first; equal scores by ascending id, NaN last.
func Top[F float32 | float64](scores []F, k int) []int {
	ids := make([]int, len(scores))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return ids[:min(k, len(ids))]
}
