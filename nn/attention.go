package nn

import (
	"fmt"

	"github.com/backsweep/backsweep"
)

// MultiHeadAttention lets each position of one sequence gather from those of
// another, in several heads side by side (A. Vaswani et al., "Attention Is All
// You Need", 2017).
type MultiHeadAttention struct {
	Query, Key, Value, Out Linear
	Heads                  int
}

// NewMultiHeadAttention makes a float32 layer of the given width, which heads
// divide, with the layers name.query, name.key, name.value and name.out.
func NewMultiHeadAttention(rng backsweep.Normal, name string, width, heads int) MultiHeadAttention {
	if heads < 1 || width%heads != 0 {
		misuse(backsweep.ErrValue, "NewMultiHeadAttention", "choose a number of heads that divides the width", fmt.Sprintf("%d heads do not divide a width of %d", heads, width))
	}
	l := func(part string) Linear { return NewLinear(rng, name+"."+part, width, width) }
	return MultiHeadAttention{Query: l("query"), Key: l("key"), Value: l("value"), Out: l("out"), Heads: heads}
}

// Forward maps queries from, [n, queries, width], and what they gather from,
// [n, keys, width], to [n, queries, width]. A mask of s broadcasts to
// [n, heads, queries, keys]: one of [n, 1, 1, keys] says which keys of each item
// are no padding.
func (a MultiHeadAttention) Forward(from, to *backsweep.Tensor, s backsweep.AttentionSpec) *backsweep.Tensor {
	q, k, v := a.split(a.Query.Forward(from)), a.split(a.Key.Forward(to)), a.split(a.Value.Forward(to))
	y := backsweep.Attention(q, k, v, s).Transpose(0, 2, 1, 3)
	return a.Out.Forward(y.Reshape(from.Dim(0), from.Dim(1), -1))
}

// split makes [n, positions, width] heads, [n, heads, positions, width/heads].
func (a MultiHeadAttention) split(x *backsweep.Tensor) *backsweep.Tensor {
	return x.Reshape(x.Dim(0), x.Dim(1), a.Heads, x.Dim(2)/a.Heads).Transpose(0, 2, 1, 3)
}

// Params lists those of Query, Key, Value and Out.
func (a MultiHeadAttention) Params() []*backsweep.Tensor {
	return Sequential{a.Query, a.Key, a.Value, a.Out}.Params()
}

// TransformerEncoder is one block of an encoder: attention of a sequence to
// itself, then two linear layers with Gelu between, each with a way around it
// and a normalization.
type TransformerEncoder struct {
	Attention    MultiHeadAttention
	Norm1, Norm2 LayerNorm
	Up, Down     Linear
	Dropout      Dropout // of what is added to the way around, in training

	// PostNorm normalizes after each sum, as the paper does. Without it each part
	// reads a normalized copy (R. Xiong et al., "On Layer Normalization in the
	// Transformer Architecture", 2020), which trains without a warm-up.
	PostNorm bool
}

// NewTransformerEncoder makes a float32 block of the given width and number of
// heads, with so many hidden elements between its linear layers, the layers
// name.attention, name.norm1, name.up, name.down and name.norm2, and no dropout.
func NewTransformerEncoder(rng backsweep.Normal, name string, width, heads, hidden int) TransformerEncoder {
	return TransformerEncoder{
		Attention: NewMultiHeadAttention(rng, name+".attention", width, heads),
		Norm1:     NewLayerNorm(name+".norm1", width),
		Up:        NewLinear(rng, name+".up", width, hidden),
		Down:      NewLinear(rng, name+".down", hidden, width),
		Norm2:     NewLayerNorm(name+".norm2", width),
	}
}

// Forward maps [n, positions, width] to the same shape, as in inference.
func (b TransformerEncoder) Forward(x *backsweep.Tensor, s backsweep.AttentionSpec) *backsweep.Tensor {
	return b.run(x, s, b.Dropout.Forward)
}

// Train is Forward with dropout.
func (b TransformerEncoder) Train(x *backsweep.Tensor, s backsweep.AttentionSpec) *backsweep.Tensor {
	return b.run(x, s, b.Dropout.Train)
}

func (b TransformerEncoder) run(x *backsweep.Tensor, s backsweep.AttentionSpec, drop Func) *backsweep.Tensor {
	feed := func(x *backsweep.Tensor) *backsweep.Tensor {
		return drop(b.Down.Forward(b.Up.Forward(x).Gelu()))
	}
	if b.PostNorm {
		x = b.Norm1.Forward(x.Add(drop(b.Attention.Forward(x, x, s))))
		return b.Norm2.Forward(x.Add(feed(x)))
	}
	seen := b.Norm1.Forward(x)
	x = x.Add(drop(b.Attention.Forward(seen, seen, s)))
	return x.Add(feed(b.Norm2.Forward(x)))
}

// Params lists those of Attention, Norm1, Up, Down and Norm2.
func (b TransformerEncoder) Params() []*backsweep.Tensor {
	return append(b.Attention.Params(), Sequential{b.Norm1, b.Up, b.Down, b.Norm2}.Params()...)
}
