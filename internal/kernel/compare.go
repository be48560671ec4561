package kernel

// Comparisons, and what is done with their results. The slices have the same
// length; a result may replace an operand of its own type, but must not overlap
// it otherwise.

// Gt is a > b. Comparisons with NaN are false, except Ne.
func Gt[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v > b[i]
	}
}

// Ge is a ≥ b.
func Ge[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v >= b[i]
	}
}

// Lt is a < b.
func Lt[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v < b[i]
	}
}

// Le is a ≤ b.
func Le[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v <= b[i]
	}
}

// Eq is a = b.
func Eq[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v == b[i]
	}
}

// Ne is a ≠ b.
func Ne[T Number](dst []bool, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v != b[i]
	}
}

// Where is a where c holds and b elsewhere.
func Where[T any](dst []T, c []bool, a, b []T) {
	dst, a, b = dst[:len(c)], a[:len(c)], b[:len(c)]
	done := 0
	switch d := any(dst).(type) {
	case []float32:
		done = vectorOf[float32]().choose(d, c, any(a).([]float32), any(b).([]float32))
	case []float64:
		done = vectorOf[float64]().choose(d, c, any(a).([]float64), any(b).([]float64))
	}
	dst, c, a, b = dst[done:], c[done:], a[done:], b[done:]
	for i, yes := range c {
		if yes {
			dst[i] = a[i]
		} else {
			dst[i] = b[i]
		}
	}
}

// And is a and b.
func And(dst, a, b []bool) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v && b[i]
	}
}

// Or is a or b.
func Or(dst, a, b []bool) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v || b[i]
	}
}

// Not is not x.
func Not(dst, x []bool) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = !v
	}
}
