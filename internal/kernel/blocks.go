package kernel

// The sums of sum.go by vectors: assembly adds up blocks, and these add the
// blocks in the order of the definition.

// manyBlocks is how many blocks are added in one call.
const manyBlocks = 64

// sumVector is sumRun of at least lanes terms.
func sumVector[T Float](v *vector[T], x []T) T {
	if len(x) > manyBlocks*block {
		h := half(len(x))
		return sumVector(v, x[:h]) + sumRun(x[h:])
	}
	var parts [manyBlocks]T
	v.sumBlocks(head(parts[:]), head(x), len(x))
	if rest := len(x) % block; 0 < rest && rest < lanes {
		at := len(x) - rest
		s := x[at]
		for _, t := range x[at+1:] {
			s += t
		}
		parts[at/block] = s
	}
	return sumParts(parts[:], len(x))
}

// dotVector is dotRun of at least lanes terms.
func dotVector[T Float](v *vector[T], a, b []T) T {
	if len(a) > manyBlocks*block {
		h := half(len(a))
		return dotVector(v, a[:h], b[:h]) + dotRun(a[h:], b[h:])
	}
	var parts [manyBlocks]T
	v.dotBlocks(head(parts[:]), head(a), head(b), len(a))
	if rest := len(a) % block; 0 < rest && rest < lanes {
		at := len(a) - rest
		s := T(a[at] * b[at])
		for i := at + 1; i < len(a); i++ {
			s += T(a[i] * b[i])
		}
		parts[at/block] = s
	}
	return sumParts(parts[:], len(a))
}

// sumParts adds the sums of the blocks of n terms.
func sumParts[T Float](parts []T, n int) T {
	if n <= block {
		return parts[0]
	}
	h := half(n)
	return sumParts(parts[:h/block], h) + sumParts(parts[h/block:], n-h)
}
