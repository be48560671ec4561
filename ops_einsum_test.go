package backsweep_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

// summed is an Einstein summation by its definition: over every assignment of
// the letters, the product of the operands' elements is added to the result's.
func summed(in []string, out string, xs []*bs.Tensor, extent map[byte]int) *bs.Tensor {
	letters := []byte{}
	for c := range extent {
		letters = append(letters, c)
	}
	slices.Sort(letters)
	shape := []int{}
	for i := range len(out) {
		shape = append(shape, extent[out[i]])
	}
	y := bs.Zeros(bs.Float64, shape...).Float64s()
	at := func(labels string, shape []int, value map[byte]int) int {
		k := 0
		for i, d := range shape {
			v := value[labels[i]]
			if d == 1 {
				v = 0
			}
			k = k*d + v
		}
		return k
	}
	value := map[byte]int{}
	var visit func(i int)
	visit = func(i int) {
		if i < len(letters) {
			for v := range extent[letters[i]] {
				value[letters[i]] = v
				visit(i + 1)
			}
			return
		}
		p := 1.0
		for k, x := range xs {
			p *= x.Float64s()[at(in[k], x.Shape(), value)]
		}
		y[at(out, shape, value)] += p
	}
	visit(0)
	return bs.New(y, shape...)
}

// Random equations of one to three operands: letters that repeat in an operand,
// that stand alone, that are in all, extents of 0 and 1, results in any order.
func TestEinsumAgainstItsDefinition(t *testing.T) {
	rng := source(t)
	for range 400 {
		letters := "abcd"[:1+rng.IntN(4)]
		extent := map[byte]int{}
		for i := range len(letters) {
			extent[letters[i]] = rng.IntN(4)
			if extent[letters[i]] == 0 && rng.IntN(3) > 0 {
				extent[letters[i]] = 2
			}
		}
		in := make([]string, 1+rng.IntN(3))
		xs := make([]*bs.Tensor, len(in))
		used := ""
		for k := range in {
			shape := []int{}
			ones := map[byte]bool{}
			for range rng.IntN(4) {
				c := letters[rng.IntN(len(letters))]
				if !strings.Contains(in[k], string(c)) {
					ones[c] = len(in) > 1 && rng.IntN(8) == 0
				}
				in[k] += string(c)
				if ones[c] {
					shape = append(shape, 1)
				} else {
					shape = append(shape, extent[c])
				}
			}
			used += in[k]
			xs[k] = bs.Rand(rng, -1, 1, append([]int{}, shape...)...).Cast(bs.Float64)
		}
		out := ""
		for _, i := range rng.Perm(len(letters)) {
			if c := letters[i : i+1]; strings.Contains(used, c) && rng.IntN(2) == 0 {
				out += c
			}
		}
		// A letter goes as far as its longest axis.
		seen := map[byte]int{}
		for k, x := range xs {
			for a, d := range x.Shape() {
				if old, ok := seen[in[k][a]]; !ok || old == 1 {
					seen[in[k][a]] = d
				}
			}
		}
		eq := strings.Join(in, ",") + "->" + out
		mustBeClose(t, eq, bs.Einsum(eq, xs...), summed(in, out, xs, seen), 1e-13)
		if rng.IntN(8) == 0 {
			f := func(in []*bs.Tensor) *bs.Tensor { return bs.Einsum(eq, in...).Square().Sum() }
			if err := gradcheck.Check(f, xs, gradcheck.Twice()); err != nil {
				t.Errorf("%s: %v", eq, err)
			}
		}
	}
}

func TestEinsumReadsEquations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(shape ...int) *bs.Tensor { return bs.Rand(rng, -1, 1, shape...).Cast(bs.Float64) }
	a, b, c := draw(3, 4), draw(4, 2), draw(2, 3)
	mustBeClose(t, "without an arrow", bs.Einsum("kj, ji", a, b), a.MatMul(b).T(), 1e-14)
	mustBeClose(t, "three", bs.Einsum("ij,jk,ki->", a, b, c), a.MatMul(b).MatMul(c).Trace(), 1e-14)
	batch, other := draw(2, 1, 3, 4), draw(5, 4, 2)
	mustBeClose(t, "ellipsis", bs.Einsum("...ij,...jk", batch, other), batch.MatMul(other), 1e-14)
	mustBeClose(t, "ellipsis left out", bs.Einsum("...i->i", batch), batch.Sum(0, 1, 2), 1e-14)
	mustBeClose(t, "ellipsis of nothing", bs.Einsum("...ij->j...i", a), a.T(), 0)
	mustBeClose(t, "inner ellipsis", bs.Einsum("a...b,b->...a", batch, draw(4).MulScalar(0).AddScalar(1)), batch.Sum(-1).Transpose(1, 2, 0), 1e-14)
	for text, want := range map[string]error{
		"ij,jk->ik->": bs.ErrValue, "ij,jk->iz": bs.ErrValue, "ij,jk->ii": bs.ErrValue, "ij": bs.ErrValue, "i1,jk": bs.ErrValue, "......,jk": bs.ErrValue, "": bs.ErrValue,
		"i,jk": bs.ErrShape, "ijk...,jk": bs.ErrShape, "ij,ik->": bs.ErrShape, "ii,jk": bs.ErrShape,
	} {
		_, err := bs.Call("einsum", []*bs.Tensor{a, b}, bs.Attrs{"eq": text})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
