package kernel

import (
	"cmp"
	"slices"
)

// Sort puts x in order along the middle of [outer, n, inner], and where each
// element came from in place. Equal elements stay in order; NaN is the largest.
// It allocates a row of places.
func Sort[T Number](dst []T, place []int64, x []T, descending bool, outer, n, inner int) {
	row := make([]int64, n)
	for o := range outer {
		for k := range inner {
			from := o*n*inner + k
			ordered(row, x[min(len(x), from):], descending, inner)
			for i, p := range row {
				dst[from+i*inner] = x[from+int(p)*inner]
				place[from+i*inner] = p
			}
		}
	}
}

// TopK is the first count elements of Sort, descending: dst and place are
// [outer, count, inner].
func TopK[T Number](dst []T, place []int64, x []T, count, outer, n, inner int) {
	row := make([]int64, n)
	for o := range outer {
		for k := range inner {
			from, to := o*n*inner+k, o*count*inner+k
			ordered(row, x[min(len(x), from):], true, inner)
			for i, p := range row[:count] {
				dst[to+i*inner] = x[from+int(p)*inner]
				place[to+i*inner] = p
			}
		}
	}
}

// ordered fills row with the places of x's elements in order.
func ordered[T Number](row []int64, x []T, descending bool, stride int) {
	for i := range row {
		row[i] = int64(i)
	}
	slices.SortStableFunc(row, func(i, j int64) int {
		// cmp.Compare has NaN as the smallest.
		a, b := x[int(i)*stride], x[int(j)*stride]
		c := cmp.Compare(a, b)
		if (a != a) != (b != b) {
			c = -c
		}
		if descending {
			c = -c
		}
		return c
	})
}
