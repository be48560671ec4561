package kernel

// Same is a = b of masks.
func Same(dst, a, b []bool) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v == b[i]
	}
}

// Differ is a ≠ b of masks.
func Differ(dst, a, b []bool) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		dst[i] = v != b[i]
	}
}
