package kernel

import (
	"cmp"
	"slices"
)

// GatherRows copies the rows of table that idx names, each width wide. The
// caller has checked the indices.
func GatherRows[T any](dst, table []T, idx []int64, width int) {
	for i, r := range idx {
		copy(dst[i*width:(i+1)*width], table[int(r)*width:(int(r)+1)*width])
	}
}

// ScatterAddRows adds row i of src to the row of dst that idx[i] names, in
// ascending i.
func ScatterAddRows[T Number](dst, src []T, idx []int64, width int) {
	for i, r := range idx {
		d := dst[int(r)*width : (int(r)+1)*width]
		Add(d, d, src[i*width:(i+1)*width])
	}
}

// UniqueRows returns the distinct values of idx, ascending, and for each entry
// of idx its place among them.
func UniqueRows(idx []int64) (rows []int64, slot []int32) {
	by := make([]int32, len(idx))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int {
		if c := cmp.Compare(idx[a], idx[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	slot = make([]int32, len(idx))
	for _, i := range by {
		if len(rows) == 0 || rows[len(rows)-1] != idx[i] {
			rows = append(rows, idx[i])
		}
		slot[i] = int32(len(rows) - 1)
	}
	return rows, slot
}

// SumRowsBySlot adds row i of src to row slot[i] of dst, in ascending i.
func SumRowsBySlot[T Number](dst, src []T, slot []int32, width int) {
	for i, r := range slot {
		d := dst[int(r)*width : (int(r)+1)*width]
		Add(d, d, src[i*width:(i+1)*width])
	}
}

// BagRows writes, for each bag, the sum or mean of the table's rows that its
// indices name: those from offsets[b] up to the next offset. An empty bag gives
// zeros.
func BagRows[T Float](dst, table []T, idx, offsets []int64, width int, mean bool) {
	for b, start := range offsets {
		end := int64(len(idx))
		if b+1 < len(offsets) {
			end = offsets[b+1]
		}
		d := dst[b*width : (b+1)*width]
		clear(d)
		for k, r := range idx[start:end] {
			row := table[int(r)*width : (int(r)+1)*width]
			if k == 0 {
				copy(d, row)
			} else {
				Add(d, d, row)
			}
		}
		if n := end - start; mean && n > 1 {
			MulC(d, d, 1/T(n))
		}
	}
}
