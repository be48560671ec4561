package backsweep_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// shaped draws a tensor of up to three axes with extents of 0 to 4, of whole
// numbers so that some are equal, sometimes as a strided view.
func shaped(rng *rand.Rand, least int) *bs.Tensor {
	shape := make([]int, least+rng.IntN(4-least))
	for a := range shape {
		shape[a] = rng.IntN(5)
	}
	x := bs.Rand(rng, -3, 3, shape...).Round().Cast(bs.Float64)
	if rng.IntN(2) == 0 {
		x = x.Transpose().Flip()
	}
	return x
}

// places calls f with every position of a shape, in row-major order.
func places(shape []int, f func(at []int)) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	at := make([]int, len(shape))
	for range n {
		f(at)
		for a := len(shape) - 1; a >= 0; a-- {
			if at[a]++; at[a] < shape[a] {
				break
			}
			at[a] = 0
		}
	}
}

// built is the tensor of a shape whose elements f gives.
func built(shape []int, f func(at []int) float64) *bs.Tensor {
	d := []float64{}
	places(shape, func(at []int) { d = append(d, f(at)) })
	return bs.New(d, append([]int{}, shape...)...)
}

func TestArrangementsAgainstLoops(t *testing.T) {
	rng := source(t)
	for range 300 {
		x := shaped(rng, 1)
		shape := x.Shape()
		axis := rng.IntN(len(shape))
		n := shape[axis]
		moved := func(at []int, to int) float64 {
			at = slices.Clone(at)
			at[axis] = to
			return x.At(at...)
		}
		mustEqual(t, "flip", x.Flip(axis), built(shape, func(at []int) float64 { return moved(at, n-1-at[axis]) }))
		shift := rng.IntN(13) - 6
		mustEqual(t, "roll", x.Roll(shift, axis-len(shape)), built(shape, func(at []int) float64 { return moved(at, ((at[axis]-shift)%n+n)%n) }))
		reps := make([]int, 1+rng.IntN(3))
		for i := range reps {
			reps[i] = rng.IntN(3)
		}
		mustEqual(t, "tile", x.Tile(reps...), tiled(x, reps))
		running, product, logs := x.CumSum(axis), x.CumProd(axis), x.LogCumSumExp(axis)
		mustEqual(t, "cumsum", running, built(shape, func(at []int) (s float64) {
			for i := range at[axis] + 1 {
				s += moved(at, i)
			}
			return s
		}))
		mustEqual(t, "cumprod", product, built(shape, func(at []int) float64 {
			p := 1.0
			for i := range at[axis] + 1 {
				p *= moved(at, i)
			}
			return p
		}))
		mustBeClose(t, "logcumsumexp", logs, built(shape, func(at []int) (s float64) {
			for i := range at[axis] + 1 {
				s += math.Exp(moved(at, i))
			}
			return math.Log(s)
		}), 1e-14)
		if len(shape) >= 2 {
			k := rng.IntN(7) - 3
			below := func(at []int) bool { return at[len(at)-1]-at[len(at)-2] <= k }
			keep := func(hold bool) *bs.Tensor {
				return built(shape, func(at []int) float64 {
					if below(at) == hold {
						return x.At(at...)
					}
					return 0
				})
			}
			mustEqual(t, "tril", x.Tril(k), keep(true))
			mustEqual(t, "triu", x.Triu(k+1), keep(false))
			side := min(shape[len(shape)-1], shape[len(shape)-2])
			lines := append(slices.Clone(shape[:len(shape)-2]), side)
			diagonal := built(lines, func(at []int) float64 { return x.At(append(slices.Clone(at), at[len(at)-1])...) })
			mustEqual(t, "diagonal", x.Diagonal(), diagonal)
			mustEqual(t, "trace", x.Trace(), diagonal.Sum(-1))
		}
		padded(t, rng, x)
	}
}

func tiled(x *bs.Tensor, reps []int) *bs.Tensor {
	shape := x.Shape()
	for len(shape) < len(reps) {
		shape = append([]int{1}, shape...)
	}
	for len(reps) < len(shape) {
		reps = append([]int{1}, reps...)
	}
	x = x.Reshape(shape...)
	to := make([]int, len(shape))
	for a := range to {
		to[a] = shape[a] * reps[a]
	}
	return built(to, func(at []int) float64 {
		at = slices.Clone(at)
		for a := range at {
			at[a] %= shape[a]
		}
		return x.At(at...)
	})
}

// padded checks the three ways to pad, as far as each is allowed.
func padded(t *testing.T, rng *rand.Rand, x *bs.Tensor) {
	shape := x.Shape()
	pads := make([][2]int, len(shape))
	to := make([]int, len(shape))
	left := make([]int, len(shape))
	reflect, replicate := true, true
	for a, d := range shape {
		before := rng.IntN(5) - 2
		after := rng.IntN(5) - 2
		if d+min(before, 0)+min(after, 0) < 0 {
			before, after = 0, 0
		}
		pads[a] = [2]int{before, after}
		to[a] = d + before + after
		left[a] = d + min(before, 0) + min(after, 0)
		if most := max(before, after); most > 0 {
			reflect = reflect && most < left[a]
			replicate = replicate && left[a] > 0
		}
	}
	// What is cropped is gone before anything is repeated.
	source := func(at []int, beyond func(p, first, last int) (int, bool)) float64 {
		at = slices.Clone(at)
		for a := range at {
			first := max(0, -pads[a][0])
			p := at[a] - pads[a][0]
			q, ok := beyond(p, first, first+left[a]-1)
			if !ok {
				return 9
			}
			at[a] = q
		}
		return x.At(at...)
	}
	mustEqual(t, "pad", x.Pad(9, pads...), built(to, func(at []int) float64 {
		return source(at, func(p, first, last int) (int, bool) { return p, first <= p && p <= last })
	}))
	if replicate {
		mustEqual(t, "replicate", x.PadReplicate(pads...), built(to, func(at []int) float64 {
			return source(at, func(p, first, last int) (int, bool) { return min(max(p, first), last), true })
		}))
	}
	if reflect {
		mustEqual(t, "reflect", x.PadReflect(pads...), built(to, func(at []int) float64 {
			return source(at, func(p, first, last int) (int, bool) {
				for p < first || p > last {
					if p < first {
						p = 2*first - p
					} else {
						p = 2*last - p
					}
				}
				return p, true
			})
		}))
	}
}

func TestOrderAgainstSort(t *testing.T) {
	rng := source(t)
	for range 200 {
		x := shaped(rng, 1)
		if rng.IntN(2) == 0 {
			x = bs.Where(x.Eq(bs.Scalar(2.0)), bs.Scalar(math.NaN()), x)
		}
		shape := x.Shape()
		axis := rng.IntN(len(shape))
		n := shape[axis]
		values, from := x.Sort(axis)
		down, _ := x.SortDescending(axis - len(shape))
		k := rng.IntN(n + 1)
		top, at := x.Topk(k, axis)
		mustEqual(t, "sorted is gathered", values, x.Gather(from, axis))
		mustEqual(t, "topk is gathered", top, x.Gather(at, axis))
		cut := make([]bs.Range, axis+1)
		for a := range cut {
			cut[a] = bs.All
		}
		cut[axis] = bs.Range{Stop: k}
		mustEqual(t, "topk starts the descent", top, down.Slice(cut...))
		rows := func(x *bs.Tensor) [][]float64 {
			var out [][]float64
			rest := slices.Clone(shape)
			rest[axis] = 1
			places(rest, func(at []int) {
				row := make([]float64, n)
				for i := range row {
					p := slices.Clone(at)
					p[axis] = i
					row[i] = x.At(p...)
				}
				out = append(out, row)
			})
			return out
		}
		got, places := rows(values), rows(from.Cast(bs.Float64))
		for i, row := range rows(x) {
			want := make([]int, n)
			for k := range want {
				want[k] = k
			}
			sort.SliceStable(want, func(a, b int) bool {
				u, v := row[want[a]], row[want[b]]
				return u < v || u == u && v != v
			})
			for k, p := range want {
				if int(places[i][k]) != p {
					t.Fatalf("%v sorts to %v from %v, want %v", row, got[i], places[i], want)
				}
			}
		}
		if n > 0 {
			// The first of the largest, and of the smallest; NaN before both.
			most := x.Argmax(axis).Unsqueeze(axis)
			mustEqual(t, "argmax", x.Gather(most, axis), x.MaxKeep(axis))
			mustEqual(t, "argmin", x.Gather(x.Argmin(axis).Unsqueeze(axis), axis), x.MinKeep(axis))
			if k > 0 {
				first := at.Slice(append(cut[:axis:axis], bs.Range{Stop: 1})...)
				mustEqual(t, "argmax is the first of topk", most, first)
			}
		}
	}
}

func TestMasksAndScatterAgainstLoops(t *testing.T) {
	rng := source(t)
	for range 200 {
		x := shaped(rng, 1)
		shape := x.Shape()
		mask := bs.Rand(rng, 0, 1, shape...).Gt(bs.Scalar(float32(0.5)))
		hit := func(at []int) bool { return mask.Cast(bs.Int64).At(at...) == 1 }
		mustEqual(t, "fill", x.MaskedFill(mask, -7), built(shape, func(at []int) float64 {
			if hit(at) {
				return -7
			}
			return x.At(at...)
		}))
		chosen := []float64{}
		places(shape, func(at []int) {
			if hit(at) {
				chosen = append(chosen, x.At(at...))
			}
		})
		mustEqual(t, "select", x.MaskedSelect(mask), bs.New(chosen))
		if got := mask.Sum().Item(); got != float64(len(chosen)) {
			t.Fatalf("%v hold, want %d", got, len(chosen))
		}
		axis := rng.IntN(len(shape))
		if shape[axis] == 0 {
			continue
		}
		small := slices.Clone(shape)
		for a := range small {
			small[a] = rng.IntN(small[a] + 1)
		}
		small[axis] = rng.IntN(6)
		src := bs.Rand(rng, -1, 1, small...).Cast(bs.Float64)
		index := bs.Rand(rng, 0, float64(shape[axis]), small...).Floor().Cast(bs.Int64).Minimum(bs.New([]int64{int64(shape[axis] - 1)}))
		want := map[int]float64{}
		flat := func(at []int) (k int) {
			for a, p := range at {
				k = k*shape[a] + p
			}
			return k
		}
		places(small, func(at []int) {
			to := slices.Clone(at)
			to[axis] = int(index.At(at...))
			want[flat(to)] = src.At(at...)
		})
		mustEqual(t, "scatter", x.Scatter(index, src, axis), built(shape, func(at []int) float64 {
			if v, ok := want[flat(at)]; ok {
				return v
			}
			return x.At(at...)
		}))
	}
}
