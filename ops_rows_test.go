package backsweep_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

func TestTakeAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "shape")
		dt := rapid.SampledFrom([]bs.DType{bs.Float32, bs.Float64, bs.Int64, bs.Bool}).Draw(t, "dtype")
		x := drawTensor(t, "x", dt, shape)
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		at := drawShape(t, "index shape", 2)
		index := drawIndex(t, "index", shape[axis], at)
		want := slices.Concat(shape[:axis], at, shape[axis+1:])
		take := func(i []int) float64 {
			k := int(index.At(i[axis : axis+len(at)]...))
			return x.At(slices.Concat(i[:axis], []int{k}, i[axis+len(at):])...)
		}
		mustBe(t, x.Take(index, axis-len(shape)), want, take)
		if axis == 0 && dt.IsFloat() {
			mustBe(t, x.Embedding(index), want, take)
		}
		for _, beyond := range []int64{-1, int64(shape[axis])} {
			refuses(t, bs.ErrIndex, func() { x.Take(bs.New([]int64{0, beyond}), axis) })
		}
	})
}

func TestGatherAndScatterAddAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "shape")
		dt := drawFloat(t)
		x := drawTensor(t, "x", dt, shape)
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		covered := make([]int, len(shape))
		for a, d := range shape {
			if a == axis {
				d = 5
			}
			covered[a] = rapid.IntRange(0, d).Draw(t, "index extent")
		}
		index := drawIndex(t, "index", shape[axis], covered)
		named := func(i []int) []int {
			j := slices.Clone(i)
			j[axis] = int(index.At(i...))
			return j
		}
		mustBe(t, x.Gather(index, axis), covered, func(i []int) float64 { return x.At(named(i)...) })

		larger := slices.Clone(covered)
		for a := range larger {
			larger[a] += rapid.IntRange(0, 2).Draw(t, "src beyond the index")
		}
		src := drawTensor(t, "src", dt, larger)
		want := x.Clone()
		each(covered, func(i []int) { want.SetAt(want.At(named(i)...)+src.At(i...), named(i)...) })
		mustBe(t, x.ScatterAdd(index, src, axis), shape, func(i []int) float64 { return want.At(i...) })
	})
}

func TestEmbeddingBagAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := drawFloat(t)
		rows, width := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(0, 3).Draw(t, "width")
		x := drawTensor(t, "x", dt, []int{rows, width})
		sizes := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "bag sizes")
		offsets, n := make([]int64, len(sizes)), 0
		for b, s := range sizes {
			offsets[b] = int64(n)
			n += s
		}
		index := drawIndex(t, "index", rows, []int{n})
		sum := func(i []int) (s float64) {
			for k := range sizes[i[0]] {
				s += x.At(int(index.At(int(offsets[i[0]])+k)), i[1])
			}
			return s
		}
		want := []int{len(sizes), width}
		mustBe(t, x.EmbeddingBagSum(index, bs.New(offsets)), want, sum)
		mustBe(t, x.EmbeddingBag(index, bs.New(offsets)), want, func(i []int) float64 {
			return sum(i) / float64(max(1, sizes[i[0]]))
		})
	})
}

// A table that is used several times gets row-sparse gradients, merged: once
// made dense they are those of plain takes, and Rows has each row once.
func TestSparseGradientsAreTheDenseOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, width := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 3).Draw(t, "width")
		x := drawTensor(t, "x", bs.Float64, []int{rows, width}).Clone()
		uses := rapid.IntRange(1, 4).Draw(t, "uses")
		var index []*bs.Tensor
		for range uses {
			index = append(index, drawIndex(t, "index", rows, []int{rapid.IntRange(0, 4).Draw(t, "n")}))
		}
		gradient := func(look func(table *bs.Tensor, k int) *bs.Tensor) (*bs.Grads, *bs.Tensor) {
			tape := bs.NewTape()
			table := tape.Watch(x)
			loss := bs.Scalar(0.0)
			for k := range index {
				y := look(table, k)
				loss = loss.Add(y.Mul(y).MulScalar(float64(k + 1)).Sum())
			}
			grads, err := tape.Backward(loss)
			if err != nil {
				t.Fatal(err)
			}
			return grads, table
		}
		dense, table := gradient(func(w *bs.Tensor, k int) *bs.Tensor { return w.Take(index[k], 0) })
		want := dense.Of(table)
		sparse, table := gradient(func(w *bs.Tensor, k int) *bs.Tensor { return w.Embedding(index[k]) })
		mustBe(t, sparse.Of(table), []int{rows, width}, func(i []int) float64 { return want.At(i...) })
		at, values, ok := sparse.Rows(table)
		if !ok {
			t.Fatal("the gradient is not row-sparse")
		}
		seen := bs.Data[int64](at)
		if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
			t.Fatalf("rows %v", seen)
		}
		for i, r := range seen {
			for j := range width {
				if values.At(i, j) != want.At(int(r), j) {
					t.Fatalf("row %d is %v, want that of %v", r, values, want)
				}
			}
		}
		// One dense use beside the sparse ones makes the sum dense.
		mixed, table := gradient(func(w *bs.Tensor, k int) *bs.Tensor {
			if k%2 == 1 {
				return w.Take(index[k], 0)
			}
			return w.Embedding(index[k])
		})
		mustBe(t, mixed.Of(table), []int{rows, width}, func(i []int) float64 { return want.At(i...) })
	})
}

// Sweeps that record themselves through row-sparse gradients: rows that merge,
// bags, a table that an op produced, and a dense use beside them.
func TestSparseGradientsAreDifferentiatedAgain(t *testing.T) {
	rng := source(t)
	table := bs.Rand(rng, -1, 1, 5, 3).Cast(bs.Float64)
	scale := bs.Rand(rng, -1, 1, 3).Cast(bs.Float64)
	one, two := bs.New([]int64{4, 0, 4, 1}), bs.New([]int64{1, 1, 3})
	offsets := bs.New([]int64{0, 0, 2})
	cube := func(x *bs.Tensor) *bs.Tensor { return x.Mul(x).Mul(x) }
	for name, f := range map[string]func(in []*bs.Tensor) *bs.Tensor{
		"once": func(in []*bs.Tensor) *bs.Tensor { return cube(in[0].Embedding(one)) },
		"merged": func(in []*bs.Tensor) *bs.Tensor {
			return cube(in[0].Embedding(one)).Sum().Add(cube(in[0].Embedding(two)).Sum())
		},
		"three merged": func(in []*bs.Tensor) *bs.Tensor {
			return cube(in[0].Embedding(one)).Sum().Add(cube(in[0].Embedding(two)).Sum()).Add(cube(in[0].EmbeddingBag(one, offsets)).Sum())
		},
		"bags": func(in []*bs.Tensor) *bs.Tensor {
			return cube(in[0].EmbeddingBag(one, offsets)).Add(cube(in[0].EmbeddingBagSum(two, offsets)))
		},
		"of an op": func(in []*bs.Tensor) *bs.Tensor { return cube(in[0].Tanh().Mul(in[1]).Embedding(one)) },
		"of a view": func(in []*bs.Tensor) *bs.Tensor {
			return cube(in[0].Slice(bs.Range{Start: -1, Stop: -bs.End, Step: -1}).Embedding(one))
		},
		"with a dense": func(in []*bs.Tensor) *bs.Tensor { return cube(in[0].Embedding(one)).Sum().Add(cube(in[0]).Sum()) },
		"dense first":  func(in []*bs.Tensor) *bs.Tensor { return cube(in[0]).Sum().Add(cube(in[0].Embedding(one)).Sum()) },
		"of an op twice": func(in []*bs.Tensor) *bs.Tensor {
			w := in[0].Mul(in[1])
			return cube(w.Embedding(one)).Sum().Add(cube(w.EmbeddingBag(two, offsets)).Sum())
		},
		"same index twice": func(in []*bs.Tensor) *bs.Tensor { return in[0].Embedding(one).Mul(in[0].Embedding(one)) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := gradcheck.Check(f, []*bs.Tensor{table, scale}, gradcheck.Full(), gradcheck.Twice()); err != nil {
				t.Error(err)
			}
		})
	}
}
