package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// indices draws n row numbers below a drawn extent, which may be far above n.
func indices(t *rapid.T, n int) (idx []int64, rows int) {
	rows = rapid.IntRange(1, 40).Draw(t, "rows")
	return rapid.SliceOfN(rapid.Int64Range(0, int64(rows-1)), n, n).Draw(t, "idx"), rows
}

func TestGatherAndScatterAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx, rows := indices(t, shape(t, 60, "n"))
		width := rapid.IntRange(0, 9).Draw(t, "width")
		table := ordinary[float32](t, rows*width, "table")
		got, check := fenced(len(idx)*width, float32(7))
		kernel.GatherRows(got, table, idx, width)
		check(t)
		sums, check := fenced(rows*width, float32(7))
		copy(sums, table)
		kernel.ScatterAddRows(sums, got, idx, width)
		check(t)
		want := slices.Clone(table)
		for i, r := range idx {
			for j := range width {
				if got[i*width+j] != table[int(r)*width+j] {
					t.Fatalf("row %d of the gather is not row %d", i, r)
				}
				want[int(r)*width+j] += got[i*width+j]
			}
		}
		requireBits(t, "scatter", sums, want)
	})
}

func TestUniqueRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := shape(t, 60, "n")
		far := rapid.SampledFrom([]int64{3, 63, 64, 65, 1000, 70_000, 1 << 40, math.MaxInt64}).Draw(t, "far")
		idx := rapid.SliceOfN(rapid.Int64Range(0, far), n, n).Draw(t, "idx")
		rows, slot := kernel.UniqueRows(idx)
		want := slices.Compact(slices.Sorted(slices.Values(idx)))
		if !slices.Equal(rows, want) {
			t.Fatalf("rows of %v are %v", idx, rows)
		}
		if len(slot) != len(idx) {
			t.Fatalf("%d slots for %d entries", len(slot), len(idx))
		}
		for i, s := range slot {
			if rows[s] != idx[i] {
				t.Fatalf("entry %d, %d, has slot %d of %v", i, idx[i], s, rows)
			}
		}
	})
}

func TestSumRowsBySlot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx, _ := indices(t, shape(t, 60, "n"))
		width := rapid.IntRange(1, 9).Draw(t, "width")
		src := ordinary[float32](t, len(idx)*width, "src")
		rows, slot := kernel.UniqueRows(idx)
		got, check := fenced(len(rows)*width, float32(7))
		clear(got)
		kernel.SumRowsBySlot(got, src, slot, width)
		check(t)
		for k, r := range rows {
			want := make([]float32, width)
			for i, v := range idx {
				if v == r {
					kernel.AccAdd(want, src[i*width:(i+1)*width])
				}
			}
			requireBits(t, "row", got[k*width:(k+1)*width], want)
		}
	})
}

func TestMergeRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ascending := func(label string) []int64 {
			idx, _ := indices(t, rapid.IntRange(0, 30).Draw(t, label))
			slices.Sort(idx)
			return slices.Compact(idx)
		}
		ra, rb := ascending("na"), ascending("nb")
		width := rapid.IntRange(1, 4).Draw(t, "width")
		a, b := floats[float32](t, len(ra)*width, "a"), floats[float32](t, len(rb)*width, "b")
		rows := kernel.UnionRows(nil, ra, rb)
		if want := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(ra), rb...)))); !slices.Equal(rows, want) {
			t.Fatalf("the union of %v and %v is %v", ra, rb, rows)
		}
		got, check := fenced(len(rows)*width, float32(7))
		kernel.MergeRows(got, rows, ra, a, rb, b, width)
		check(t)
		for k, r := range rows {
			want := make([]float32, width)
			i, inA := slices.BinarySearch(ra, r)
			j, inB := slices.BinarySearch(rb, r)
			switch {
			case inA && inB:
				kernel.Add(want, a[i*width:(i+1)*width], b[j*width:(j+1)*width])
			case inA:
				copy(want, a[i*width:])
			default:
				copy(want, b[j*width:])
			}
			requireBits(t, "row", got[k*width:(k+1)*width], want)
		}
	})
}

func TestBags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx, rows := indices(t, shape(t, 60, "n"))
		bags := rapid.IntRange(1, 8).Draw(t, "bags")
		width, mean := rapid.IntRange(1, 9).Draw(t, "width"), rapid.Bool().Draw(t, "mean")
		offsets := rapid.SliceOfN(rapid.Int64Range(0, int64(len(idx))), bags, bags).Draw(t, "offsets")
		slices.Sort(offsets)
		offsets[0] = 0
		table := ordinary[float64](t, rows*width, "table")
		dy := ordinary[float64](t, bags*width, "dy")

		got, check := fenced(bags*width, 7.0)
		kernel.BagRows(got, table, idx, offsets, width, mean)
		check(t)
		unique, slot := kernel.UniqueRows(idx)
		grad, check := fenced(len(unique)*width, 7.0)
		clear(grad)
		kernel.BagRowsGrad(grad, dy, slot, offsets, width, mean)
		check(t)

		want, dense := make([]float64, bags*width), make([]float64, rows*width)
		for b := range bags {
			in := idx[offsets[b]:]
			if b+1 < bags {
				in = idx[offsets[b]:offsets[b+1]]
			}
			scale := 1.0
			if mean && len(in) > 0 {
				scale = 1 / float64(len(in))
			}
			for _, r := range in {
				for j := range width {
					want[b*width+j] += scale * table[int(r)*width+j]
					dense[int(r)*width+j] += float64(scale * dy[b*width+j])
				}
			}
		}
		for i := range got {
			requireNear(t, "bag", got[i], want[i], 1e-13)
		}
		for k, r := range unique {
			requireBits(t, "row of the gradient", grad[k*width:(k+1)*width], dense[int(r)*width:(int(r)+1)*width])
		}
	})
}
