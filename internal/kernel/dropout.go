package kernel

// ScaleWhere is x·c where the mask holds and 0 elsewhere, whatever x is there.
func ScaleWhere[T Float](dst, x []T, mask []bool, c T) {
	dst, mask = dst[:len(x)], mask[:len(x)]
	for i, v := range x {
		if mask[i] {
			dst[i] = v * c
		} else {
			dst[i] = 0
		}
	}
}
