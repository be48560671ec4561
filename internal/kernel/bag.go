package kernel

// Bag b holds the positions from offsets[b] up to the next offset, the last one
// up to the end. Offsets ascend from 0.

// bagEnd is one past the last of n positions that bag b holds.
func bagEnd(offsets []int64, b, n int) int64 {
	if b+1 < len(offsets) {
		return offsets[b+1]
	}
	return int64(n)
}

// BagRows writes, for each bag, the sum of the table's rows that the indices at
// its positions name, added in order; with mean, that times the reciprocal of
// their number. An empty bag gives zeros.
func BagRows[T Float](dst, table []T, idx, offsets []int64, width int, mean bool) {
	for b, start := range offsets {
		end := bagEnd(offsets, b, len(idx))
		d := dst[b*width : (b+1)*width]
		if start == end {
			clear(d)
			continue
		}
		first := int(idx[start])
		copy(d, table[first*width:(first+1)*width])
		for _, r := range idx[start+1 : end] {
			AccAdd(d, table[int(r)*width:(int(r)+1)*width])
		}
		if n := end - start; mean && n > 1 {
			MulC(d, d, 1/T(n))
		}
	}
}

// BagRowsGrad adds, for each position in ascending order, its bag's row of dy
// to row slot[position] of dst; with mean, that times the reciprocal of the
// number of positions in the bag. slot is UniqueRows' of the indices, so that
// dst becomes the values of a row-sparse gradient.
func BagRowsGrad[T Float](dst, dy []T, slot []int32, offsets []int64, width int, mean bool) {
	for b, start := range offsets {
		end := bagEnd(offsets, b, len(slot))
		g := dy[b*width : (b+1)*width]
		scale := T(1)
		if mean && end > start {
			scale = 1 / T(end-start)
		}
		for _, s := range slot[start:end] {
			row := dst[int(s)*width : (int(s)+1)*width]
			for j, v := range g {
				row[j] += T(v * scale)
			}
		}
	}
}
