package towers

import "math"

// The usual values of BM25's two free parameters: how soon repeating a term stops paying, and how much long documents
// are held back.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// BM25 ranks documents by the words they share with a query: Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond" (2009), with the inverse document frequency ln(1 + (N - n + ½) / (n + ½)), which is never
// negative. Its terms are Tokens. It may be used from several goroutines at once.
type BM25 struct {
	postings  map[string][]posting
	documents int
}

// posting is what one occurring term is worth to one document.
type posting struct {
	document int32
	score    float64
}

// NewBM25 indexes the documents.
func NewBM25(documents []string) *BM25 {
	x := &BM25{postings: make(map[string][]posting), documents: len(documents)}
	lengths := make([]float64, len(documents))
	total := 0.0
	for i, text := range documents {
		tokens := Tokens(text)
		lengths[i] = float64(len(tokens))
		total += lengths[i]
		for _, term := range tokens {
			list := x.postings[term]
			if n := len(list); n > 0 && list[n-1].document == int32(i) {
				list[n-1].score++
			} else {
				x.postings[term] = append(list, posting{int32(i), 1})
			}
		}
	}
	mean := total / float64(max(1, len(documents)))
	for _, list := range x.postings { // each list by itself, so the map's order cannot show
		n := float64(len(list))
		idf := math.Log(1 + (float64(len(documents))-n+0.5)/(n+0.5))
		for k := range list {
			count := list[k].score
			norm := bm25K1 * (1 - bm25B + float64(bm25B*lengths[list[k].document]/mean))
			list[k].score = idf * count * (bm25K1 + 1) / (count + norm)
		}
	}
	return x
}

// Scores returns every document's score, by id. A term counts as often as the query has it; one that no document has
// is worth nothing.
func (x *BM25) Scores(query string) []float64 {
	scores := make([]float64, x.documents)
	for _, term := range Tokens(query) {
		for _, p := range x.postings[term] {
			scores[p.document] += p.score
		}
	}
	return scores
}
