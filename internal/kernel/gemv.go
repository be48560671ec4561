package kernel

// gemv writes the product of a matrix, rows of k terms at strides rs and cs,
// and a vector at stride vs, to dst at stride ds. It adds as Gemm does.
func gemv[T Float](rows, k int, mat []T, rs, cs int, vec []T, vs int, dst []T, ds int) {
	var pack [depthBlock]T
	for p := 0; p < k; p += depthBlock {
		v := pack[:min(depthBlock, k-p)]
		if vs == 1 {
			v = vec[p : p+len(v)]
		} else {
			for q := range v {
				v[q] = vec[(p+q)*vs]
			}
		}
		i := 0
		switch {
		case cs == 1:
			for ; i+4 <= rows; i += 4 {
				at := i*rs + p
				joinStrided(dst[i*ds:], fourRows(v, mat[at:], mat[at+rs:], mat[at+2*rs:], mat[at+3*rs:]), ds, p > 0)
			}
		case rs == 1:
			for ; i+4 <= rows; i += 4 {
				joinStrided(dst[i*ds:], fourColumns(v, mat[i+p*cs:], cs), ds, p > 0)
			}
		}
		for ; i < rows; i++ {
			var s T
			at := i*rs + p*cs
			for _, x := range v {
				s += T(mat[at] * x)
				at += cs
			}
			if p > 0 {
				dst[i*ds] += s
			} else {
				dst[i*ds] = s
			}
		}
	}
}

func joinStrided[T Float](dst []T, s [4]T, stride int, add bool) {
	for i, v := range s {
		if add {
			dst[i*stride] += v
		} else {
			dst[i*stride] = v
		}
	}
}

// fourRows multiplies four contiguous rows by v.
func fourRows[T Float](v, r0, r1, r2, r3 []T) [4]T {
	var s0, s1, s2, s3 T
	r0, r1, r2, r3 = r0[:len(v)], r1[:len(v)], r2[:len(v)], r3[:len(v)]
	for q, x := range v {
		s0 += T(r0[q] * x)
		s1 += T(r1[q] * x)
		s2 += T(r2[q] * x)
		s3 += T(r3[q] * x)
	}
	return [4]T{s0, s1, s2, s3}
}

// fourColumns multiplies four neighbouring rows, whose terms lie cs apart, by
// v.
func fourColumns[T Float](v, mat []T, cs int) [4]T {
	var s0, s1, s2, s3 T
	at := 0
	for _, x := range v {
		m := (*[4]T)(mat[at:])
		s0 += T(m[0] * x)
		s1 += T(m[1] * x)
		s2 += T(m[2] * x)
		s3 += T(m[3] * x)
		at += cs
	}
	return [4]T{s0, s1, s2, s3}
}
