package kernel_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/backsweep/backsweep/internal/kernel"
	"golang.org/x/sys/unix"
)

// guarded returns a slice of n elements that ends where memory may not be read
// any more or, turned about, begins there; a read beyond it faults.
func guarded[T any](t *testing.T, n int, atEnd bool) []T {
	t.Helper()
	size := n * int(unsafe.Sizeof(*new(T)))
	page := unix.Getpagesize()
	inner := (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+inner:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if atEnd {
		at = page + inner - size
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem[at:]))), n)
}

// arena hands out parts of guarded memory that end, or begin, at its edge.
type arena[T kernel.Float] struct {
	all   []T
	atEnd bool
}

func arenas[T kernel.Float](t *testing.T, count, n int, atEnd bool) []*arena[T] {
	a := make([]*arena[T], count)
	for i := range a {
		a[i] = &arena[T]{guarded[T](t, n, atEnd), atEnd}
	}
	return a
}

func (a *arena[T]) take(n int) []T {
	if a.atEnd {
		return a.all[len(a.all)-n:]
	}
	return a.all[:n]
}

func (a *arena[T]) filled(rng *rand.Rand, n int) []T {
	x := a.take(n)
	for i := range x {
		x[i] = T(4*rng.Float64() - 2)
	}
	return x
}

func guardElementwise[T kernel.Float](t *testing.T, atEnd bool, unary map[string]func(dst, x []T), binary map[string]func(dst, a, b []T)) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	m := arenas[T](t, 5, 600, atEnd)
	c := guarded[bool](t, 600, atEnd)
	for n := range 600 {
		if n > 300 && n%64 > 1 && n%64 < 63 {
			continue
		}
		x, y, z := m[0].filled(rng, n), m[1].filled(rng, n), m[2].take(n)
		for _, f := range unary {
			f(z, x)
		}
		for _, f := range binary {
			f(z, x, y)
		}
		mask := c[:n]
		if atEnd {
			mask = c[600-n:]
		}
		kernel.Where(z, mask, x, y)
		if n == 0 {
			continue
		}
		kernel.Dot(x, y, n, 1, 1)
		kernel.Sum(z, x, 1, n, 1)
		kernel.ReduceMax(z, x, 1, n, 1)
		kernel.ReduceMin(z, x, 1, n, 1)
		kernel.LogSumExp(z, x, 1, n, 1)
		kernel.Softmax(z, x, 1, n, 1)
		kernel.LogSoftmax(z, x, 1, n, 1)
		kernel.SoftmaxGrad(z, x, y, 1, n, 1)
		kernel.LogSoftmaxGrad(z, x, y, 1, n, 1)
		v := m[3].take(n)
		for i := range v {
			v[i] = 1
		}
		kernel.AdamStep(x, y, z, v, kernel.Adam{Rate: 1, Beta1: 0.9, Beta2: 0.9, Eps: 1, Decay: 0.1, Step: 1})
		kernel.AdamStep(x, y, z, v, kernel.Adam{Rate: 1, Beta1: 0.9, Beta2: 0.9, Eps: 1, Step: 1})
		kernel.SGDStep(x, y, nil, kernel.SGD{Rate: 1})
		kernel.SGDStep(x, y, nil, kernel.SGD{Rate: 1, Decay: 0.1})
		for rows := 1; rows*n <= 600; rows++ {
			kernel.Sum(z, m[4].filled(rng, rows*n), 1, rows, n)
		}
	}
}

// TestNoReadBeyondOperands puts operands against memory that faults.
func TestNoReadBeyondOperands(t *testing.T) {
	u32, u64 := map[string]func(dst, x []float32){}, map[string]func(dst, x []float64){}
	for _, u := range unaries {
		u32[u.name], u64[u.name] = u.f32, u.f64
	}
	b32, b64 := map[string]func(dst, a, b []float32){}, map[string]func(dst, a, b []float64){}
	for _, b := range binaries {
		b32[b.name], b64[b.name] = b.f32, b.f64
	}
	b32["GeluGrad"] = kernel.GeluGrad[float32]
	for _, atEnd := range []bool{true, false} {
		guardElementwise(t, atEnd, u32, b32)
		guardElementwise(t, atEnd, u64, b64)
	}
}

func guardGemm[T kernel.Float](t *testing.T, atEnd bool) {
	const seed, most = 7, 120_000
	rng := rand.New(rand.NewPCG(seed, 0))
	mem := arenas[T](t, 3, most, atEnd)
	extent := func() int {
		if rng.IntN(3) == 0 {
			return 1 + rng.IntN(4)
		}
		return 1 + rng.IntN(80)
	}
	for i := range 400 {
		m, n, k := extent(), extent(), extent()
		switch i % 40 {
		case 0: // beyond a chain
			k = 520 + rng.IntN(20)
		case 1: // packed on both sides
			m, n, k = 270+rng.IntN(10), 513+rng.IntN(40), 8+rng.IntN(20)
		}
		lay := func(rows, cols int) (rs, cs int) {
			if gap := rng.IntN(3); rng.IntN(2) == 0 {
				return cols + gap, 1
			} else {
				return 1, rows + gap
			}
		}
		ars, acs := lay(m, k)
		brs, bcs := lay(k, n)
		crs := n + rng.IntN(3)
		reach := func(rows, cols, rs, cs int) int { return (rows-1)*rs + (cols-1)*cs + 1 }
		if max(reach(m, k, ars, acs), reach(k, n, brs, bcs), m*crs) > most {
			continue
		}
		a, b := mem[0].filled(rng, reach(m, k, ars, acs)), mem[1].filled(rng, reach(k, n, brs, bcs))
		kernel.Gemm(m, n, k, a, ars, acs, b, brs, bcs, mem[2].take(reach(m, n, crs, 1)), crs)
	}
}

func TestGemmReadsNothingBeyondItsOperands(t *testing.T) {
	for _, atEnd := range []bool{true, false} {
		guardGemm[float32](t, atEnd)
		guardGemm[float64](t, atEnd)
	}
}
