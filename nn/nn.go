// Package nn has layers: plain structs of parameters with a Forward method.
//
// A layer's constructor takes the generator that its first values are drawn
// from, and a name that its parameters' names begin with; there is no global
// generator, registry or training mode. A layer may as well be put together by
// hand, from parameters of any float element type:
//
//	nn.Linear{W: backsweep.NewParam("w", w), B: backsweep.NewParam("b", b)}
//
// Forward records on the tape that its operands are on, and without one it just
// computes, so inference is the same code.
package nn

import (
	"math"

	"github.com/backsweep/backsweep"
)

// Linear is x·W + B.
type Linear struct {
	W *backsweep.Tensor // [in, out]
	B *backsweep.Tensor // [out]
}

// NewLinear makes a float32 layer with parameters name.w and name.b. W is drawn
// from the normal distribution with mean 0 and variance 1/in, row by row, so
// that an output varies as much as the inputs do (Y. LeCun et al., "Efficient
// BackProp", 1998); B is 0.
func NewLinear(rng backsweep.Normal, name string, in, out int) Linear {
	scale := 1 / math.Sqrt(float64(max(in, 1)))
	return Linear{
		W: backsweep.NewParam(name+".w", backsweep.Randn(rng, in, out).MulScalar(scale)),
		B: backsweep.NewParam(name+".b", backsweep.Zeros(backsweep.Float32, out)),
	}
}

// Forward maps x, [..., in], to [..., out].
func (l Linear) Forward(x *backsweep.Tensor) *backsweep.Tensor { return x.Linear(l.W, l.B) }

// Params lists W and B.
func (l Linear) Params() []*backsweep.Tensor { return []*backsweep.Tensor{l.W, l.B} }

// Embedding looks rows of a table up. The table's gradient is row-sparse.
type Embedding struct {
	Table *backsweep.Tensor // [rows, width]
}

// NewEmbedding makes a float32 table, a parameter of that name, drawn from the
// normal distribution with mean 0 and standard deviation std, row by row.
func NewEmbedding(rng backsweep.Normal, name string, rows, width int, std float64) Embedding {
	return Embedding{Table: backsweep.NewParam(name, backsweep.Randn(rng, rows, width).MulScalar(std))}
}

// Forward maps row numbers (int64) of any shape, [...], to [..., width].
func (e Embedding) Forward(index *backsweep.Tensor) *backsweep.Tensor {
	return e.Table.Embedding(index)
}

// Params lists the table.
func (e Embedding) Params() []*backsweep.Tensor { return []*backsweep.Tensor{e.Table} }

// EmbeddingBag averages the rows of a table in each of several bags. The
// table's gradient is row-sparse.
type EmbeddingBag struct {
	Table *backsweep.Tensor // [rows, width]
}

// NewEmbeddingBag makes a table as [NewEmbedding] does.
func NewEmbeddingBag(rng backsweep.Normal, name string, rows, width int, std float64) EmbeddingBag {
	return EmbeddingBag(NewEmbedding(rng, name, rows, width, std))
}

// Forward maps row numbers (int64, [n]) to [bags, width]: bag b is the mean of
// the rows from offsets[b] (int64, [bags]) up to the next offset, or to the
// end. An empty bag is zeros.
func (e EmbeddingBag) Forward(index, offsets *backsweep.Tensor) *backsweep.Tensor {
	return e.Table.EmbeddingBag(index, offsets)
}

// Params lists the table.
func (e EmbeddingBag) Params() []*backsweep.Tensor { return []*backsweep.Tensor{e.Table} }
