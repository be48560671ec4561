package kernel

// Gemm writes the product of a, [m,k], and b, [k,n], to c, [m,n], which shares
// no memory with them. a and b lie at row and column strides from their first
// element, which may be 0 but not negative; c's rows lie crs apart. Without a
// k it writes zeros. It never adds to what c held.
//
// Each element adds its terms in ascending k, depthBlock at a time from 0, and
// then the blocks in order: the bits depend on k alone, on neither m, n nor the
// strides.
func Gemm[T Float](m, n, k int, a []T, ars, acs int, b []T, brs, bcs int, c []T, crs int) {
	switch v := vectorOf[T](); {
	case m == 0 || n == 0:
	case k == 0:
		for i := range m {
			clear(c[i*crs : i*crs+n])
		}
	case v.lanes != 0:
		p := product[T]{v, m, n, k, a, ars, acs, b, brs, bcs, c, crs}
		if parts := p.parts(); parts > 1 {
			split(p, parts)
		} else {
			p.run()
		}
	case n == 1:
		gemv(m, k, a, ars, acs, b, brs, c, crs)
	case m == 1:
		gemv(n, k, b, bcs, brs, a, acs, c, 1)
	case m*n*k <= tinyProduct:
		gemmTiny(m, n, k, a, ars, acs, b, brs, bcs, c, crs)
	case k <= smallDepth && m*n*k <= smallProduct:
		// A frame is cleared at every call; a small product has a small one.
		var packA [smallPanel]T
		var packB [tileCols * smallDepth]T
		gemmPacked(m, n, k, a, ars, acs, b, brs, bcs, c, crs, packA[:], packB[:])
	default:
		gemmLarge(m, n, k, a, ars, acs, b, brs, bcs, c, crs)
	}
}

const (
	tileRows   = 2   // rows and
	tileCols   = 4   // columns of c that one pass over k fills: with their operands as many scalars as amd64 has registers
	depthBlock = 128 // terms that are added before they join the sum
	rowBlock   = 64  // rows of a that are packed at a time

	tinyProduct  = 64 // terms in all below which nothing is packed
	smallDepth   = 32
	smallPanel   = 512
	smallProduct = 4096
)

func gemmTiny[T Float](m, n, k int, a []T, ars, acs int, b []T, brs, bcs int, c []T, crs int) {
	for i := range m {
		for j := range n {
			var s T
			for q := range k {
				s += T(a[i*ars+q*acs] * b[q*brs+j*bcs])
			}
			c[i*crs+j] = s
		}
	}
}

// gemmLarge is a function of its own so that the large frame is not cleared for
// products that do without it.
//
//go:noinline
func gemmLarge[T Float](m, n, k int, a []T, ars, acs int, b []T, brs, bcs int, c []T, crs int) {
	var packA [rowBlock * depthBlock]T
	var packB [tileCols * depthBlock]T
	gemmPacked(m, n, k, a, ars, acs, b, brs, bcs, c, crs, packA[:], packB[:])
}

// gemmPacked copies a block of a and panels of b to where the tile reads them
// in order (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008).
func gemmPacked[T Float](m, n, k int, a []T, ars, acs int, b []T, brs, bcs int, c []T, crs int, packA, packB []T) {
	for p := 0; p < k; p += depthBlock {
		depth := min(depthBlock, k-p)
		rows := len(packA) / depth / tileRows * tileRows
		for i0 := 0; i0 < m; i0 += rows {
			height := min(rows, m-i0)
			packRows(packA, a[i0*ars+p*acs:], height, depth, ars, acs)
			for j := 0; j < n; j += tileCols {
				width := min(tileCols, n-j)
				packCols(packB, b[p*brs+j*bcs:], width, depth, brs, bcs)
				for i := 0; i < height; i += tileRows {
					t := tile(packA[i*depth:(i+tileRows)*depth], packB[:tileCols*depth])
					to := (i0+i)*crs + j
					join(c[to:to+width], t[:tileCols], p > 0)
					if i+1 < height {
						join(c[to+crs:to+crs+width], t[tileCols:], p > 0)
					}
				}
			}
		}
	}
}

// join stores the first sums of a tile's row, or adds further ones.
func join[T Float](c, t []T, add bool) {
	t = t[:len(c)]
	switch {
	case add:
		for j, v := range t {
			c[j] += v
		}
	case len(c) == tileCols:
		*(*[tileCols]T)(c) = *(*[tileCols]T)(t)
	default:
		copy(c, t)
	}
}

// packRows lays rows of a out as pairs: for each pair, term by term, one
// element of each. A missing last row is 0.
func packRows[T Float](pack, a []T, height, depth, rs, cs int) {
	for i := 0; i < height; i += tileRows {
		to := pack[i*depth : (i+tileRows)*depth]
		r0 := a[i*rs:]
		if i+1 == height {
			at := 0
			for q := 0; q+1 < len(to); q += tileRows {
				to[q], to[q+1] = r0[at], 0
				at += cs
			}
			continue
		}
		r1 := a[(i+1)*rs:]
		at := 0
		for q := 0; q+1 < len(to); q += tileRows {
			to[q], to[q+1] = r0[at], r1[at]
			at += cs
		}
	}
}

// packCols lays four columns of b out term by term. Missing ones are 0.
func packCols[T Float](pack, b []T, width, depth, rs, cs int) {
	to := pack[:tileCols*depth]
	switch {
	case width < tileCols:
		for q := range depth {
			row := (*[tileCols]T)(to[q*tileCols:])
			*row = [tileCols]T{}
			for j := range width {
				row[j] = b[q*rs+j*cs]
			}
		}
	case cs == 1:
		at := 0
		for len(to) >= tileCols {
			*(*[tileCols]T)(to) = *(*[tileCols]T)(b[at:])
			to = to[tileCols:]
			at += rs
		}
	default:
		b1, b2, b3 := b[cs:], b[2*cs:], b[3*cs:]
		at := 0
		for len(to) >= tileCols {
			*(*[tileCols]T)(to) = [tileCols]T{b[at], b1[at], b2[at], b3[at]}
			to = to[tileCols:]
			at += rs
		}
	}
}

// tile multiplies a packed pair of rows by a packed panel of four columns: the
// first row's sums, then the second's.
func tile[T Float](a, b []T) [tileRows * tileCols]T {
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	for len(a) >= tileRows && len(b) >= tileCols {
		x, y := (*[tileRows]T)(a), (*[tileCols]T)(b)
		x0, x1 := x[0], x[1]
		s00 += T(x0 * y[0])
		s01 += T(x0 * y[1])
		s02 += T(x0 * y[2])
		s03 += T(x0 * y[3])
		s10 += T(x1 * y[0])
		s11 += T(x1 * y[1])
		s12 += T(x1 * y[2])
		s13 += T(x1 * y[3])
		a, b = a[tileRows:], b[tileCols:]
	}
	return [tileRows * tileCols]T{s00, s01, s02, s03, s10, s11, s12, s13}
}
