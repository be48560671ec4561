package backsweep_test

import (
	"errors"
	"math"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

// Attention by its definition, one query at a time, with operands whose leading
// axes broadcast.
func TestAttentionIsItsDefinition(t *testing.T) {
	rng := source(t)
	const heads, queries, keys, d, e = 2, 3, 4, 5, 2
	draw := func(shape ...int) *bs.Tensor { return bs.Randn(rng, shape...).Cast(bs.Float64) }
	q, k, v := draw(heads, queries, d), draw(1, keys, d), draw(keys, e)
	mask := bs.New([]bool{true, false, true, true, true, true, false, true, false, false, false, false}, queries, keys)
	for name, s := range map[string]bs.AttentionSpec{"plain": {}, "causal": {Causal: true}, "mask": {Mask: mask}, "both": {Causal: true, Mask: mask}} {
		y := bs.Attention(q, k, v, s)
		for h := range heads {
			for i := range queries {
				w, sum := make([]float64, keys), 0.0
				for j := range keys {
					if s.Causal && j > i || s.Mask != nil && mask.At(i, j) == 0 {
						continue
					}
					for c := range d {
						w[j] += q.At(h, i, c) * k.At(0, j, c) / math.Sqrt(d)
					}
					w[j] = math.Exp(w[j])
					sum += w[j]
				}
				for c := range e {
					want := 0.0
					for j := range keys {
						want += w[j] / sum * v.At(j, c)
					}
					if got := y.At(h, i, c); math.Abs(got-want) > 1e-12 && !(math.IsNaN(got) && sum == 0) {
						t.Errorf("%s: head %d, query %d, element %d: %v, want %v", name, h, i, c, got, want)
					}
				}
			}
		}
	}
	f := func(in []*bs.Tensor) *bs.Tensor {
		return bs.Attention(in[0], in[1], in[2], bs.AttentionSpec{Causal: true}).Square().Sum()
	}
	if err := gradcheck.Check(f, []*bs.Tensor{q, k, v}, gradcheck.Twice()); err != nil {
		t.Error(err)
	}
}

func TestAttentionNeedsPositions(t *testing.T) {
	x := bs.Zeros(bs.Float32, 3)
	err := func() (err error) {
		defer bs.Catch(&err)
		bs.Attention(x, x, x, bs.AttentionSpec{})
		return nil
	}()
	if !errors.Is(err, bs.ErrShape) {
		t.Error(err)
	}
}
