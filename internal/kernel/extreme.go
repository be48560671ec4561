package kernel

// ReduceMax is the largest over the middle, which is not empty: NaN where there
// is one, and +0 of the two zeros.
func ReduceMax[T Number](dst, x []T, outer, n, inner int) {
	if inner == 1 {
		for o := range outer {
			dst[o] = largest(x[o*n : (o+1)*n])
		}
		return
	}
	reduceRows(dst, x, outer, n, inner, Max[T])
}

// ReduceMin is the smallest over the middle, which is not empty: NaN where
// there is one, and -0 of the two zeros.
func ReduceMin[T Number](dst, x []T, outer, n, inner int) {
	if inner == 1 {
		for o := range outer {
			dst[o] = smallest(x[o*n : (o+1)*n])
		}
		return
	}
	reduceRows(dst, x, outer, n, inner, Min[T])
}

// reduceRows combines whole rows, in order.
func reduceRows[T Number](dst, x []T, outer, n, inner int, f func(dst, a, b []T)) {
	for o := range outer {
		to, from := dst[o*inner:(o+1)*inner], x[o*n*inner:(o+1)*n*inner]
		copy(to, from[:inner])
		for i := 1; i < n; i++ {
			f(to, to, from[i*inner:(i+1)*inner])
		}
	}
}

func largest[T Number](x []T) T {
	if f := vectorOf[T]().largest; f != nil {
		return extremeVector(f, x)
	}
	m0 := x[0]
	m1, m2, m3 := m0, m0, m0
	for len(x) >= 4 {
		v := (*[4]T)(x)
		m0, m1, m2, m3 = max(m0, v[0]), max(m1, v[1]), max(m2, v[2]), max(m3, v[3])
		x = x[4:]
	}
	for _, v := range x {
		m0 = max(m0, v)
	}
	return max(m0, m1, m2, m3)
}

func smallest[T Number](x []T) T {
	if f := vectorOf[T]().smallest; f != nil {
		return extremeVector(f, x)
	}
	m0 := x[0]
	m1, m2, m3 := m0, m0, m0
	for len(x) >= 4 {
		v := (*[4]T)(x)
		m0, m1, m2, m3 = min(m0, v[0]), min(m1, v[1]), min(m2, v[2]), min(m3, v[3])
		x = x[4:]
	}
	for _, v := range x {
		m0 = min(m0, v)
	}
	return min(m0, m1, m2, m3)
}

// extremeVector is f, largest or smallest, of each chunk of x and then of those.
func extremeVector[T Number](f func(x *T, n int) T, x []T) T {
	if len(x) <= chunk {
		return f(head(x), len(x))
	}
	two := [2]T{f(head(x), chunk), extremeVector(f, x[chunk:])}
	return f(head(two[:]), 2)
}

// ArgMax is the place of the largest over the middle, which is not empty: the
// first of equal ones, and the first NaN where there is one, as in PyTorch.
func ArgMax[T Number](dst []int64, x []T, outer, n, inner int) {
	for o := range outer {
		for k := range inner {
			v := x[o*n*inner+k:]
			at, top := 0, v[0]
			for i := 1; i < n && top == top; i++ {
				if e := v[i*inner]; e > top || e != e {
					at, top = i, e
				}
			}
			dst[o*inner+k] = int64(at)
		}
	}
}
