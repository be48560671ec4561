package kernel_test

import (
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// view draws a shape and strides over a storage: a permuted, stepped, reversed
// and, where repeats are allowed, broadcast array.
func view(t *rapid.T, repeats bool) (storage, offset int, extents, strides []int) {
	rank := rapid.IntRange(0, 8).Draw(t, "rank")
	extents, strides = make([]int, rank), make([]int, rank)
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = i
	}
	order := rapid.Permutation(perm).Draw(t, "order")
	step := 1
	for _, axis := range order {
		d := rapid.SampledFrom([]int{1, 2, 3, 2, 1, 3, 0, 20}).Draw(t, "extent")
		if rank > 3 && d > 3 {
			d = 3
		}
		extents[axis] = d
		if repeats && rapid.IntRange(0, 3).Draw(t, "broadcast") == 0 {
			continue
		}
		strides[axis] = step
		step *= max(d, 1) + rapid.IntRange(0, 1).Draw(t, "gap")
		if rapid.IntRange(0, 3).Draw(t, "reverse") == 0 {
			strides[axis] = -strides[axis]
		}
	}
	offset = rapid.IntRange(0, 3).Draw(t, "offset")
	storage = offset + 1
	for i, d := range extents {
		if far := (max(d, 1) - 1) * strides[i]; far < 0 {
			offset -= far
			storage -= far
		} else {
			storage += far
		}
	}
	return storage, offset, extents, strides
}

// places lists where the elements of a view lie, in row-major order.
func places(offset int, extents, strides []int) []int {
	at := []int{offset}
	for i, d := range extents {
		var next []int
		for _, p := range at {
			for k := range d {
				next = append(next, p+k*strides[i])
			}
		}
		at = next
	}
	return at
}

func TestCopyStrided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, offset, extents, strides := view(t, true)
		src := make([]int64, n)
		for i := range src {
			src[i] = int64(i)
		}
		at := places(offset, extents, strides)
		dst, check := fenced(len(at), int64(-1))
		kernel.CopyStrided(dst, src, offset, extents, strides)
		check(t)
		for i, p := range at {
			if dst[i] != int64(p) {
				t.Fatalf("element %d of shape %v, strides %v, offset %d comes from %d, not %d", i, extents, strides, offset, dst[i], p)
			}
		}
	})
}

func TestScatterStrided(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, offset, extents, strides := view(t, false)
		at := places(offset, extents, strides)
		src := make([]int64, len(at))
		want := make([]int64, n)
		for i, p := range at {
			src[i] = int64(i + 1)
			want[p] = int64(i + 1)
		}
		dst := make([]int64, n)
		kernel.ScatterStrided(dst, offset, extents, strides, src)
		for p, v := range want {
			if dst[p] != v {
				t.Fatalf("place %d for shape %v, strides %v, offset %d holds element %d, not %d", p, extents, strides, offset, dst[p], v)
			}
		}
	})
}

// checkTurned copies and scatters a transposed plane, large enough for several
// squares of any instruction set.
func checkTurned[T kernel.Float](t *rapid.T) {
	rows, cols := rapid.IntRange(1, 150).Draw(t, "rows"), rapid.IntRange(1, 70).Draw(t, "cols")
	step := rows + rapid.IntRange(0, 3).Draw(t, "gap")
	at := rapid.IntRange(0, 3).Draw(t, "offset")
	x := ordinary[T](t, at+(cols-1)*step+rows, "x")
	dst, check := fenced(rows*cols, T(7))
	kernel.CopyStrided(dst, x, at, []int{rows, cols}, []int{1, step})
	check(t)
	back, check := fenced(len(x), T(7))
	kernel.ScatterStrided(back, at, []int{rows, cols}, []int{1, step}, dst)
	check(t)
	for i := range rows {
		for j := range cols {
			from := at + j*step + i
			requireBits(t, "turned", []T{dst[i*cols+j], back[from]}, []T{x[from], x[from]})
			x[from] = 7
		}
	}
	for i, v := range back {
		if x[i] != 7 && v != 7 {
			t.Fatalf("wrote between the columns, at %d", i)
		}
	}
}

func TestTurnedPlanes(t *testing.T) { both(t, checkTurned[float32], checkTurned[float64]) }
