package backsweep_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	bs "github.com/backsweep/backsweep"
)

func TestMatMulAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches, common := drawBroadcast(t, 2)
		dt := drawFloat(t)
		extent := rapid.IntRange(0, 6)
		m, k, n := extent.Draw(t, "m"), extent.Draw(t, "k"), extent.Draw(t, "n")
		sa, sb := append(batches[0], m, k), append(batches[1], k, n)
		row, column := false, false
		if len(batches[0]) == 0 && rapid.Bool().Draw(t, "vector on the left") {
			sa, row = []int{k}, true
		}
		if len(batches[1]) == 0 && rapid.Bool().Draw(t, "vector on the right") {
			sb, column = []int{k}, true
		}
		a, b := drawTensor(t, "a", dt, sa), drawTensor(t, "b", dt, sb)
		want := slices.Clone(common)
		if !row {
			want = append(want, m)
		}
		if !column {
			want = append(want, n)
		}
		mustBe(t, a.MatMul(b), want, func(index []int) float64 {
			at := index[:len(common)]
			rest := index[len(common):]
			ia, ib := stretched(at, sa[:max(0, len(sa)-2)]), stretched(at, sb[:max(0, len(sb)-2)])
			if !row {
				ia, rest = append(ia, rest[0]), rest[1:]
			}
			sum := 0.0
			for p := range k {
				jb := append(slices.Clone(ib), p)
				if !column {
					jb = append(jb, rest[0])
				}
				sum += a.At(append(slices.Clone(ia), p)...) * b.At(jb...)
			}
			return sum
		})
		wrong := slices.Clone(sb)
		wrong[max(0, len(wrong)-2)]++
		refuses(t, bs.ErrShape, func() { a.MatMul(bs.Zeros(dt, wrong...)) })
	})
}

// A product larger than every panel and tile of the kernel, backwards in each
// operand's axes.
func TestMatMulOfBackwardViews(t *testing.T) {
	rng := source(t)
	back := bs.Range{Start: -1, Stop: -bs.End, Step: -1}
	for _, dt := range []bs.DType{bs.Float32, bs.Float64} {
		a := bs.Rand(rng, -1, 1, 37, 301).Cast(dt)
		b := bs.Rand(rng, -1, 1, 301, 29).Cast(dt)
		want := a.MatMul(b)
		for _, view := range []func(x *bs.Tensor) *bs.Tensor{
			func(x *bs.Tensor) *bs.Tensor { return x.Slice(back) },
			func(x *bs.Tensor) *bs.Tensor { return x.Slice(bs.All, back) },
			func(x *bs.Tensor) *bs.Tensor { return x.Slice(back, back) },
			func(x *bs.Tensor) *bs.Tensor { return x.T().Slice(back, back).T() },
		} {
			mustBeClose(t, "left", view(view(a).Clone()).MatMul(b), want, 1e-5)
			mustBeClose(t, "right", a.MatMul(view(view(b).Clone())), want, 1e-5)
		}
	}
}

func TestDotAndLinearAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := drawFloat(t)
		shapes, common := drawBroadcast(t, 2)
		k := rapid.IntRange(0, 5).Draw(t, "k")
		a, b := drawTensor(t, "a", dt, append(shapes[0], k)), drawTensor(t, "b", dt, append(shapes[1], k))
		mustBe(t, a.Dot(b), common, func(i []int) float64 {
			sum := 0.0
			for p := range k {
				sum += a.At(append(stretched(i, shapes[0]), p)...) * b.At(append(stretched(i, shapes[1]), p)...)
			}
			return sum
		})
		out := rapid.IntRange(0, 4).Draw(t, "out")
		w, bias := drawTensor(t, "w", dt, []int{k, out}), drawTensor(t, "bias", dt, []int{out})
		mustBe(t, a.Linear(w, bias), append(slices.Clone(shapes[0]), out), func(i []int) float64 {
			last := len(i) - 1
			sum := bias.At(i[last])
			for p := range k {
				sum += a.At(append(slices.Clone(i[:last]), p)...) * w.At(p, i[last])
			}
			return sum
		})
	})
}

func TestReductionsAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dt := drawFloat(t)
		shape := drawShape(t, "shape", 4)
		x := drawTensor(t, "x", dt, shape)
		axes := rapid.Permutation(upTo(len(shape))).Draw(t, "axes")
		axes = axes[:rapid.IntRange(0, len(shape)).Draw(t, "number of axes")]
		named := slices.Clone(axes)
		for i, a := range named {
			if rapid.Bool().Draw(t, "negative") {
				named[i] = a - len(shape)
			}
		}
		if len(axes) == 0 {
			axes = upTo(len(shape)) // no axes means all
		}
		kept, dropped, n := slices.Clone(shape), []int{}, 1
		for a, d := range shape {
			if slices.Contains(axes, a) {
				kept[a] = 1
				n *= d
			} else {
				dropped = append(dropped, d)
			}
		}
		group := func(index []int) []float64 { // what goes into one output element
			var in []float64
			each(shape, func(i []int) {
				for a := range i {
					if !slices.Contains(axes, a) && i[a] != index[a] {
						return
					}
				}
				in = append(in, x.At(i...))
			})
			return in
		}
		check := func(plain, keep *bs.Tensor, f func(in []float64) float64) {
			t.Helper()
			want := func(i []int) float64 { return f(group(i)) }
			mustBe(t, keep, kept, want)
			flat, k := keep.Float64s(), 0
			mustBe(t, plain, dropped, func([]int) float64 { k++; return flat[k-1] })
		}
		sum := func(in []float64) (s float64) {
			for _, v := range in {
				s += v
			}
			return s
		}
		check(x.Sum(named...), x.SumKeep(named...), sum)
		check(x.Mean(named...), x.MeanKeep(named...), func(in []float64) float64 { return sum(in) / float64(len(in)) })
		check(x.LogSumExp(named...), x.LogSumExpKeep(named...), func(in []float64) (s float64) {
			for _, v := range in {
				s += math.Exp(v)
			}
			return math.Log(s)
		})
		if n == 0 {
			refuses(t, bs.ErrShape, func() { x.Max(named...) })
			refuses(t, bs.ErrShape, func() { x.MinKeep(named...) })
			return
		}
		check(x.Max(named...), x.MaxKeep(named...), slices.Max[[]float64])
		check(x.Min(named...), x.MinKeep(named...), slices.Min[[]float64])
	})
}

func TestSoftmaxAgainstLoops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 3).Draw(t, "shape")
		x := drawTensor(t, "x", bs.Float64, shape).MulScalar(200)
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		share := func(i []int) float64 { // Σ exp(x - x[i])
			j, s := slices.Clone(i), 0.0
			for j[axis] = range shape[axis] {
				s += math.Exp(x.At(j...) - x.At(i...))
			}
			return s
		}
		mustBe(t, x.Softmax(axis-len(shape)), shape, func(i []int) float64 { return 1 / share(i) })
		y := x.LogSoftmax(axis)
		each(shape, func(i []int) {
			// Far below the largest, share overflows and the logarithm must not.
			if want := -math.Log(share(i)); !math.IsInf(want, 0) && math.Abs(y.At(i...)-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("log_softmax at %v is %v, want %v", i, y.At(i...), want)
			} else if v := y.At(i...); math.IsInf(v, 0) || math.IsNaN(v) {
				t.Fatalf("log_softmax at %v is %v", i, v)
			}
		})
	})
}

func TestCrossEntropyAgainstLogSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lead := drawShape(t, "rows", 2)
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		x := drawTensor(t, "x", bs.Float64, append(slices.Clone(lead), classes))
		target := drawIndex(t, "target", classes, lead)
		y := x.LogSoftmax(-1)
		sum, n := 0.0, 0.0
		mustBe(t, x.CrossEntropyEach(target), lead, func(i []int) float64 {
			v := -y.At(append(slices.Clone(i), int(target.At(i...)))...)
			sum, n = sum+v, n+1
			return v
		})
		mustBe(t, x.CrossEntropySum(target), nil, func([]int) float64 { return sum })
		mustBe(t, x.CrossEntropy(target), nil, func([]int) float64 { return sum / n })
	})
}

// drawIndex makes an index tensor with random strides.
func drawIndex(t *rapid.T, label string, n int, shape []int) *bs.Tensor {
	x := drawTensor(t, label, bs.Int64, shape)
	k := count(shape)
	v := rapid.SliceOfN(rapid.Int64Range(0, int64(n-1)), k, k).Draw(t, label+" values")
	bs.SetData(x, v)
	return x
}
