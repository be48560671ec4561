package towers

import "github.com/backsweep/backsweep"

// encodeAtOnce is how many texts a tower reads at once when it does not learn.
const encodeAtOnce = 512

// codes encodes texts without a tape.
func (t *Tower) codes(texts Bags) *backsweep.Tensor {
	var parts []*backsweep.Tensor
	for from := 0; from < texts.Len(); from += encodeAtOnce {
		which := make([]int, 0, encodeAtOnce)
		for i := from; i < min(from+encodeAtOnce, texts.Len()); i++ {
			which = append(which, i)
		}
		part := texts.Select(which)
		parts = append(parts, t.Encode(backsweep.New(part.Indexes), backsweep.New(part.Offsets)))
	}
	if len(parts) == 0 {
		return backsweep.Zeros(backsweep.Float32, 0, Width)
	}
	return backsweep.Concat(0, parts...)
}

// Index holds documents' codes, ready to be ranked for any query. It may be used from several goroutines at once.
type Index struct {
	model *Model
	codes *backsweep.Tensor // [Width, documents]
}

// Index encodes the documents.
func (m *Model) Index(documents Bags) *Index {
	return &Index{model: m, codes: m.Document.codes(documents).T().Clone()}
}

// Scores returns a text's dot product with every document's code, by id.
func (x *Index) Scores(query []int64) []float32 {
	code := x.model.Query.codes(Bags{Indexes: query, Offsets: []int64{0}})
	return backsweep.Data[float32](code.MatMul(x.codes))
}

// Figures evaluates the model on the held-out pairs, against all documents.
func (t *Task) Figures(m *Model) Figures {
	x := m.Index(t.Documents)
	return Evaluate(t.Corpus, t.Split.HeldOut, func(q int) []float32 { return x.Scores(t.Queries.Of(q)) })
}

// BM25Figures evaluates BM25 on the same pairs.
func (t *Task) BM25Figures() Figures {
	queries, x := t.Corpus.Queries(), NewBM25(t.Corpus.Documents())
	return Evaluate(t.Corpus, t.Split.HeldOut, func(q int) []float64 { return x.Scores(queries[q]) })
}
