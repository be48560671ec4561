package towers

import (
	"math/rand/v2"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
)

const (
	// Width is the width of embeddings, hidden layers and codes.
	Width = 64
	// Temperature divides the dot products of unit codes: at 1 the softmax could hardly tell them apart.
	Temperature = 0.07
	// TableDeviation is the standard deviation of an embedding's first values.
	TableDeviation = 0.1
)

// The scopes of the two towers on a tape.
const (
	QueryTower    = "query tower"
	DocumentTower = "document tower"
)

// Tower maps texts to codes of length one: the mean of the words' embeddings, a linear layer, tanh, and another linear
// layer, to which a model that shares its table adds the mean itself.
type Tower struct {
	Words  nn.EmbeddingBag
	Hidden nn.Linear
	Out    nn.Linear
	name   string // what the names of its tensors begin with
	skip   bool
}

// Model is the two towers.
type Model struct {
	Query, Document Tower
	Shared          bool // one table serves both towers, and a skip leads around the linear layers
}

// NewModel makes untrained towers for a vocabulary of so many words. The seed alone decides their values.
func NewModel(words int, shared bool, seed uint64) *Model {
	rng := rand.New(rand.NewPCG(seed, modelStream))
	m := &Model{Shared: shared}
	tower := func(name string) Tower {
		t := Tower{name: name, skip: shared}
		switch {
		case !shared:
			t.Words = nn.NewEmbeddingBag(rng, name+".table", words, Width, TableDeviation)
		case m.Query.Words.Table == nil:
			t.Words = nn.NewEmbeddingBag(rng, "table", words, Width, TableDeviation)
		default:
			t.Words = m.Query.Words
		}
		t.Hidden = nn.NewLinear(rng, name+".1", Width, Width)
		t.Out = nn.NewLinear(rng, name+".2", Width, Width)
		if shared {
			// The tower begins as the skip alone (Goyal et al., "Accurate, large minibatch SGD", 2017, section 5.1): with
			// two towers that begin equal, recall is 3 points higher.
			t.Out.W.Fill(0)
		}
		return t
	}
	m.Query = tower("q")
	m.Document = tower("d")
	return m
}

// Params lists every parameter once.
func (m *Model) Params() []*backsweep.Tensor {
	params := m.Query.params()
	if m.Shared {
		return append(params, m.Document.params()[1:]...)
	}
	return append(params, m.Document.params()...)
}

func (t *Tower) params() []*backsweep.Tensor {
	return append(append(t.Words.Params(), t.Hidden.Params()...), t.Out.Params()...)
}

// Encode maps texts, given as word ids ([n]) and where each text starts among them ([texts]), to codes, [texts, Width].
func (t *Tower) Encode(words, starts *backsweep.Tensor) *backsweep.Tensor {
	bag := t.Words.Forward(words, starts).Named(t.name + ".bag")
	h := t.Hidden.Forward(bag).Tanh().Named(t.name + ".h")
	out := t.Out.Forward(h)
	if t.skip {
		out = bag.Add(out)
	}
	out.Named(t.name + ".out")
	// The constant keeps a code of zeros from dividing by its length.
	length := out.Square().SumKeep(-1).AddScalar(1e-12).Sqrt().Named(t.name + ".length")
	return out.Div(length).Named(t.name + ".code")
}

// Loss records one batch, in which query i asks for document i: the towers, each in its own scope, the dot products of
// all codes, and the cross-entropy of each document against all queries and of each query against all documents, in
// equal parts.
func (m *Model) Loss(tape *backsweep.Tape, queries, documents Bags) *backsweep.Tensor {
	end := tape.Scope(QueryTower)
	q := m.Query.onTape(tape, queries)
	end()
	end = tape.Scope(DocumentTower)
	d := m.Document.onTape(tape, documents).T()
	end()
	logits := q.MatMul(d).Named("dots").MulScalar(1 / Temperature).Named("logits")
	ofDocuments := logits.T().CrossEntropy(tape.Input("own query", backsweep.Arange(queries.Len()))).Named("of documents")
	ofQueries := logits.CrossEntropy(tape.Input("own document", backsweep.Arange(documents.Len()))).Named("of queries")
	return ofDocuments.Add(ofQueries).MulScalar(0.5).Named("loss")
}

// onTape encodes texts that enter the tape as inputs.
func (t *Tower) onTape(tape *backsweep.Tape, texts Bags) *backsweep.Tensor {
	return t.Encode(tape.Input(t.name+".words", backsweep.New(texts.Indexes)), tape.Input(t.name+".starts", backsweep.New(texts.Offsets)))
}
