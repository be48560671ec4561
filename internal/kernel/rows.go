package kernel

import (
	"math/bits"
	"slices"
)

// Tables are rows of width elements, one after the other. The caller has
// checked the row numbers.

// GatherRows copies the rows of table that idx names.
func GatherRows[T any](dst, table []T, idx []int64, width int) {
	if width == 1 {
		dst = dst[:len(idx)]
		for i, r := range idx {
			dst[i] = table[r]
		}
		return
	}
	for i, r := range idx {
		copy(dst[i*width:(i+1)*width], table[int(r)*width:(int(r)+1)*width])
	}
}

// ScatterAddRows adds row i of src to the row of dst that idx[i] names, in
// ascending i.
func ScatterAddRows[T Number](dst, src []T, idx []int64, width int) {
	addRows(dst, src, idx, width)
}

// SumRowsBySlot adds row i of src to row slot[i] of dst, in ascending i.
func SumRowsBySlot[T Number](dst, src []T, slot []int32, width int) {
	addRows(dst, src, slot, width)
}

func addRows[T Number, I int32 | int64](dst, src []T, at []I, width int) {
	if width == 1 {
		src = src[:len(at)]
		for i, r := range at {
			dst[r] += src[i]
		}
		return
	}
	for i, r := range at {
		AccAdd(dst[int(r)*width:(int(r)+1)*width], src[i*width:(i+1)*width])
	}
}

// UniqueRows returns the distinct values of idx, ascending, and for each entry
// of idx its place among them. It allocates both, and a bit set of as many bits
// as the largest value when that is not far above the number of entries;
// otherwise it sorts.
func UniqueRows(idx []int64) (rows []int64, slot []int32) {
	if len(idx) == 0 {
		return nil, []int32{}
	}
	slot = make([]int32, len(idx))
	lo, hi := idx[0], idx[0]
	for _, r := range idx {
		lo, hi = min(lo, r), max(hi, r)
	}
	if lo >= 0 && hi/64 <= int64(4*len(idx)+1024) {
		return uniqueDense(idx, hi, slot), slot
	}
	rows = slices.Clone(idx)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for i, r := range idx {
		at, _ := slices.BinarySearch(rows, r)
		slot[i] = int32(at)
	}
	return rows, slot
}

// uniqueDense marks the values, which are between 0 and hi, in a bit set and
// numbers them by counting bits.
func uniqueDense(idx []int64, hi int64, slot []int32) []int64 {
	set, before := make([]uint64, hi/64+1), make([]int32, hi/64+1)
	for _, r := range idx {
		set[r/64] |= 1 << (r % 64)
	}
	n := 0
	for w, word := range set {
		before[w] = int32(n)
		n += bits.OnesCount64(word)
	}
	rows := make([]int64, 0, n)
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, int64(w*64+bits.TrailingZeros64(word)))
		}
	}
	for i, r := range idx {
		lower := set[r/64] & (1<<(r%64) - 1)
		slot[i] = before[r/64] + int32(bits.OnesCount64(lower))
	}
	return rows
}

// UnionRows appends the ascending union of a and b, each ascending without
// repeats, to dst.
func UnionRows(dst, a, b []int64) []int64 {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		dst = append(dst, min(x, y))
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// MergeRows adds two row-sparse tables: aRows and bRows are ascending without
// repeats, rows is their union, and dst gets a value for each row of it: a + b
// where both have the row, a copy where one has.
func MergeRows[T Number](dst []T, rows, aRows []int64, a []T, bRows []int64, b []T, width int) {
	i, j := 0, 0
	for k, row := range rows {
		d := dst[k*width : (k+1)*width]
		inA, inB := i < len(aRows) && aRows[i] == row, j < len(bRows) && bRows[j] == row
		switch {
		case inA && inB:
			Add(d, a[i*width:(i+1)*width], b[j*width:(j+1)*width])
		case inA:
			copy(d, a[i*width:(i+1)*width])
		default:
			copy(d, b[j*width:(j+1)*width])
		}
		if inA {
			i++
		}
		if inB {
			j++
		}
	}
}
