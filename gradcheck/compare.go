package gradcheck

import "math"

// strict is how many times closer two modes must be to each other than to a
// difference, which is only an approximation.
const strict = 1e-3

// products compares two inner products, given the size of their terms.
func (c *checker) products(what string, got, want, size, tol float64) error {
	allowed := tol * (1 + size + math.Abs(want))
	if math.Abs(got-want) <= allowed {
		return nil
	}
	return &Error{What: what, Got: got, Want: want, Allowed: allowed}
}

// entries compares two lists of tensors entry by entry and reports the entry
// that is furthest off. Entries are named by of and shape.
func entries(what string, got, want [][]float64, of func(k int) (string, []int), tol float64) error {
	largest := 0.0
	for _, w := range want {
		for _, x := range w {
			if a := math.Abs(x); a > largest && !math.IsInf(a, 0) {
				largest = a
			}
		}
	}
	var worst *Error
	excess := 0.0
	for k := range want {
		for j, w := range want[k] {
			g := got[k][j]
			allowed := tol * (1 + largest + math.Abs(w))
			off := math.Abs(g-w) / allowed
			if g == w || off <= 1 {
				continue
			}
			if math.IsNaN(off) {
				off = math.Inf(1)
			}
			if worst == nil || off > excess {
				name, shape := of(k)
				worst = &Error{What: what, Of: name, Index: unflatten(j, shape), Got: g, Want: w, Allowed: allowed}
				excess = off
			}
		}
	}
	if worst == nil {
		return nil
	}
	return worst
}

// unflatten turns a row-major position into an index.
func unflatten(j int, shape []int) []int {
	index := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		index[a] = j % shape[a]
		j /= shape[a]
	}
	return index
}
