package kernel

// gemmPanel is how many columns of b are packed at a time, and gemmDepth how
// many rows.
const (
	gemmPanel = 4
	gemmDepth = 256
)

// Gemm writes the product of a, [m,k], and b, [k,n], to c, [m,n]. a and b lie
// at row and column strides; c's rows lie crs apart. Without a k it writes
// zeros. Each element adds its k terms one after the other in ascending k.
func Gemm[T Float](m, n, k int, a []T, ars, acs int, b []T, brs, bcs int, c []T, crs int) {
	if m == 0 || n == 0 {
		return
	}
	for i := range m {
		clear(c[i*crs : i*crs+n])
	}
	var packA [2 * gemmDepth]T
	var packB [gemmPanel * gemmDepth]T
	for p := 0; p < k; p += gemmDepth {
		depth := min(gemmDepth, k-p)
		for j := 0; j < n; j += gemmPanel {
			cols := min(gemmPanel, n-j)
			pb := packB[:gemmPanel*depth]
			for q := range depth {
				row := b[(p+q)*brs+j*bcs:]
				for x := range gemmPanel {
					if x < cols {
						pb[q*gemmPanel+x] = row[x*bcs]
					} else {
						pb[q*gemmPanel+x] = 0
					}
				}
			}
			for i := 0; i < m; i += 2 {
				r0 := a[i*ars+p*acs:]
				r1 := r0
				if i+1 < m {
					r1 = a[(i+1)*ars+p*acs:]
				}
				if acs != 1 {
					for q := range depth {
						packA[q], packA[gemmDepth+q] = r0[q*acs], r1[q*acs]
					}
					r0, r1 = packA[:], packA[gemmDepth:]
				}
				row0 := c[i*crs+j : i*crs+j+cols]
				if i+1 < m {
					tile(r0[:depth], r1[:depth], pb, row0, c[(i+1)*crs+j:(i+1)*crs+j+cols])
				} else {
					tile(r0[:depth], r1[:depth], pb, row0, nil)
				}
			}
		}
	}
}

// tile adds a 2 by 4 tile of the product to two rows of c; the second row may
// be missing.
func tile[T Float](a0, a1, b, c0, c1 []T) {
	var t00, t01, t02, t03, t10, t11, t12, t13 T
	load := func(c []T, t *[4]T) { copy(t[:], c) }
	var s0, s1 [4]T
	load(c0, &s0)
	load(c1, &s1)
	t00, t01, t02, t03 = s0[0], s0[1], s0[2], s0[3]
	t10, t11, t12, t13 = s1[0], s1[1], s1[2], s1[3]
	a1 = a1[:len(a0)]
	for q, x := range a0 {
		row := b[q*4 : q*4+4 : q*4+4]
		y := a1[q]
		t00 += T(x * row[0])
		t01 += T(x * row[1])
		t02 += T(x * row[2])
		t03 += T(x * row[3])
		t10 += T(y * row[0])
		t11 += T(y * row[1])
		t12 += T(y * row[2])
		t13 += T(y * row[3])
	}
	s0, s1 = [4]T{t00, t01, t02, t03}, [4]T{t10, t11, t12, t13}
	copy(c0, s0[:])
	copy(c1, s1[:])
}
