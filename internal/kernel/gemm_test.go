package kernel_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

// matrix is a drawn operand: rows by cols elements at strides.
type matrix[T kernel.Float] struct {
	rows, cols int
	x          []T
	rs, cs     int
}

func (m matrix[T]) at(i, j int) T { return m.x[i*m.rs+j*m.cs] }

// lay draws how a matrix lies: by rows, by columns, spread out, or broadcast.
// The slice ends at the last element that is reached.
func lay[T kernel.Float](t *rapid.T, rows, cols int, label string) matrix[T] {
	m := matrix[T]{rows: rows, cols: cols}
	gap := rapid.IntRange(0, 2).Draw(t, label+" gap")
	switch rapid.IntRange(0, 5).Draw(t, label+" layout") {
	case 0, 1:
		m.rs, m.cs = cols+gap, 1
	case 2, 3:
		m.rs, m.cs = 1, rows+gap
	case 4:
		m.rs, m.cs = 2*cols+gap, 2
	case 5:
		m.rs, m.cs = 0, 1
	}
	if rows == 0 || cols == 0 {
		return m
	}
	m.x = ordinary[T](t, (rows-1)*m.rs+(cols-1)*m.cs+1, label)
	return m
}

func extents(t *rapid.T) (m, n, k int) {
	side := rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 33, 65})
	m, n = side.Draw(t, "m"), side.Draw(t, "n")
	return m, n, rapid.SampledFrom([]int{0, 1, 2, 3, 9, 32, 33, 127, 128, 129, 300}).Draw(t, "k")
}

func checkGemm[T kernel.Float](t *rapid.T) {
	m, n, k := extents(t)
	a, b := lay[T](t, m, k, "a"), lay[T](t, k, n, "b")
	crs := n + rapid.IntRange(0, 2).Draw(t, "gap of c")
	size := 0
	if m > 0 {
		size = (m-1)*crs + n
	}
	c, check := fenced(size, T(7))
	kernel.Gemm(m, n, k, a.x, a.rs, a.cs, b.x, b.rs, b.cs, c, crs)
	check(t)
	for i := range m {
		for j := n; j < crs && i*crs+j < len(c); j++ {
			if c[i*crs+j] != 7 {
				t.Fatalf("wrote between rows, at %d,%d", i, j)
			}
		}
		for j := range n {
			// The bits are those of the element computed alone: they depend on k
			// and nothing else.
			row, col, alone := make([]T, k), make([]T, k), []T{7}
			for q := range k {
				row[q], col[q] = a.at(i, q), b.at(q, j)
			}
			kernel.Gemm(1, 1, k, row, k, 1, col, 1, 1, alone, 1)
			requireBits(t, "element", c[i*crs+j:i*crs+j+1], alone)
			exact, size := 0.0, 0.0
			for q := range k {
				v := float64(a.at(i, q)) * float64(b.at(q, j))
				exact += v
				size += math.Abs(v)
			}
			requireNear(t, "element", c[i*crs+j], exact, float64(k+8)*unitOf[T]()*size+float64(k)*math.SmallestNonzeroFloat32)
		}
	}
}

func TestGemm(t *testing.T) { both(t, checkGemm[float32], checkGemm[float64]) }

func TestGemmSpreadsNaNAndInf(t *testing.T) {
	for _, side := range []int{2, 5, 40} {
		a, b, c := make([]float64, side*side), make([]float64, side*side), make([]float64, side*side)
		for i := range a {
			a[i], b[i] = 1, 0
		}
		a[1*side+1] = math.Inf(1) // Inf·0 is NaN
		kernel.Gemm(side, side, side, a, side, 1, b, side, 1, c, side)
		for i, v := range c {
			if (i/side == 1) != math.IsNaN(v) || i/side != 1 && v != 0 {
				t.Fatalf("side %d: element %d,%d is %v", side, i/side, i%side, v)
			}
		}
	}
}

// TestLargeProductsAreTheSameOnOneProcessor holds products that are cut into
// parts to the bits of the whole.
func TestLargeProductsAreTheSameOnOneProcessor(t *testing.T) {
	for _, s := range []struct{ m, n, k int }{{700, 150, 300}, {97, 800, 400}, {2100, 1, 10_000}, {1, 2100, 10_000}} {
		a, b := make([]float32, s.m*s.k), make([]float32, s.k*s.n)
		fillRamp(a)
		fillRamp(b)
		one, many := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
		before := runtime.GOMAXPROCS(1)
		kernel.Gemm(s.m, s.n, s.k, a, s.k, 1, b, s.n, 1, one, s.n)
		runtime.GOMAXPROCS(4)
		kernel.Gemm(s.m, s.n, s.k, a, s.k, 1, b, s.n, 1, many, s.n)
		runtime.GOMAXPROCS(before)
		requireBits(t, "c", many, one)
	}
}
