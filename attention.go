package backsweep

import "math"

// AttentionSpec says which positions may see which.
type AttentionSpec struct {
	// Mask (bool) broadcasts to [..., queries, keys]: a query sees the keys where
	// it holds. A query that sees none gets NaN.
	Mask *Tensor
	// Causal lets query i see the keys 0 … i.
	Causal bool
}

// Attention is scaled dot-product attention, softmax(q·kᵀ/√d)·v over the last
// two axes (A. Vaswani et al., "Attention Is All You Need", 2017): q is
// [..., queries, d], k [..., keys, d] and v [..., keys, e]; the axes before
// broadcast. The result is [..., queries, e]. The sweep keeps the operands and
// the attention weights, not the scores.
func Attention(q, k, v *Tensor, s AttentionSpec) *Tensor {
	rank := k.Rank()
	if q.Rank() < 2 || rank < 2 || v.Rank() < 2 {
		throw(fail(ErrShape, "Attention", "pass [..., positions, width]", "shapes %s do not fit", shapesText(q.Shape(), k.Shape(), v.Shape())))
	}
	perm := make([]int, rank)
	for a := range perm {
		perm[a] = a
	}
	perm[rank-1], perm[rank-2] = rank-2, rank-1
	scores := q.MulScalar(1 / math.Sqrt(float64(q.Dim(-1)))).MatMul(k.Transpose(perm...))
	none := Full(q.DType(), math.Inf(-1), []int{}...)
	if s.Causal {
		scores = Where(causal(q.Dim(-2), k.Dim(-2)), scores, none)
	}
	if s.Mask != nil {
		scores = Where(s.Mask, scores, none)
	}
	return scores.Softmax(-1).MatMul(v)
}

// causal is the mask in which query i sees the keys 0 … i.
func causal(queries, keys int) *Tensor {
	sees := make([]bool, queries*keys)
	for i := range queries {
		for j := range min(i+1, keys) {
			sees[i*keys+j] = true
		}
	}
	return New(sees, queries, keys)
}
