package main

import (
	"math/rand/v2"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
)

// model says which character comes next, at every place of texts.
type model interface {
	// logits maps characters, [n, steps], to the logits of the ones after them,
	// [n, steps, characters].
	logits(text *backsweep.Tensor) *backsweep.Tensor
	params() []*backsweep.Tensor
}

// recurrent reads a text from left to right by an LSTM.
type recurrent struct {
	letters nn.Embedding
	memory  nn.LSTM
	out     nn.Linear
}

func newRecurrent(rng *rand.Rand, characters int) *recurrent {
	return &recurrent{
		letters: nn.NewEmbedding(rng, "letters", characters, 32, 0.3),
		memory:  nn.NewLSTM(rng, "memory", 32, 128),
		out:     nn.NewLinear(rng, "out", 128, characters),
	}
}

func (m *recurrent) logits(text *backsweep.Tensor) *backsweep.Tensor {
	seen, _, _ := m.memory.Forward(m.letters.Forward(text), nil, nil)
	return m.out.Forward(seen)
}

func (m *recurrent) params() []*backsweep.Tensor {
	return append(append(m.letters.Params(), m.memory.Params()...), m.out.Params()...)
}

// transformer looks at all places of a text up to each at once.
type transformer struct {
	letters nn.Embedding
	places  *backsweep.Tensor // [steps, width], added to the letters
	blocks  []nn.TransformerEncoder
	norm    nn.LayerNorm
	out     nn.Linear
}

func newTransformer(rng *rand.Rand, characters, steps int) *transformer {
	const width = 64
	return &transformer{
		letters: nn.NewEmbedding(rng, "letters", characters, width, 0.3),
		places:  backsweep.NewParam("places", backsweep.Randn(rng, steps, width).MulScalar(0.3)),
		blocks: []nn.TransformerEncoder{
			nn.NewTransformerEncoder(rng, "block0", width, 4, 2*width),
			nn.NewTransformerEncoder(rng, "block1", width, 4, 2*width),
		},
		norm: nn.NewLayerNorm("norm", width),
		out:  nn.NewLinear(rng, "out", width, characters),
	}
}

func (m *transformer) logits(text *backsweep.Tensor) *backsweep.Tensor {
	x := m.letters.Forward(text).Add(m.places.Slice(backsweep.Range{Stop: text.Dim(1)}))
	for _, b := range m.blocks {
		x = b.Forward(x, backsweep.AttentionSpec{Causal: true})
	}
	return m.out.Forward(m.norm.Forward(x))
}

func (m *transformer) params() []*backsweep.Tensor {
	ps := append(m.letters.Params(), m.places)
	for _, b := range m.blocks {
		ps = append(ps, b.Params()...)
	}
	return append(append(ps, m.norm.Params()...), m.out.Params()...)
}
