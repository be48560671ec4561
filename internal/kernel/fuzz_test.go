package kernel_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

// poisoned is n NaNs.
func poisoned[T kernel.Float](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(math.NaN())
	}
	return x
}

func fuzzGemm[T kernel.Float](t *testing.T, m, n, k, gap int, layout uint8, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	lay := func(rows, cols int, turned, spread bool) (x []T, rs, cs int) {
		rs, cs = cols+gap, 1
		if turned {
			rs, cs = 1, rows+gap
		}
		if spread {
			rs, cs = 3*rs, 3*cs
		}
		x = make([]T, (rows-1)*rs+(cols-1)*cs+1)
		for i := range x {
			x[i] = T(rng.Float64() - 0.5)
		}
		return x, rs, cs
	}
	a, ars, acs := lay(m, k, layout&1 != 0, layout&2 != 0)
	b, brs, bcs := lay(k, n, layout&4 != 0, layout&8 != 0)
	crs := n + gap
	c := poisoned[T](m*crs + 8)
	kernel.Gemm(m, n, k, a, ars, acs, b, brs, bcs, c, crs)
	for i := range m {
		for j := range n {
			sum, size := 0.0, 0.0
			for q := range k {
				v := float64(a[i*ars+q*acs]) * float64(b[q*brs+j*bcs])
				sum += v
				size += math.Abs(v)
			}
			requireNear(t, "element", c[i*crs+j], sum, float64(k+8)*unitOf[T]()*size)
		}
		for j := n; j < crs; j++ {
			if c[i*crs+j] == c[i*crs+j] {
				t.Fatalf("%s: wrote beyond row %d", kernel.Path(), i)
			}
		}
	}
	for _, v := range c[m*crs:] {
		if v == v {
			t.Fatalf("%s: wrote beyond c", kernel.Path())
		}
	}
}

// onEachPath runs f on every path, and leaves the one in use as it was.
func onEachPath(f func()) {
	defer kernel.Use(kernel.Path())
	for _, p := range kernel.Paths() {
		kernel.Use(p)
		f()
	}
}

func FuzzGemm(f *testing.F) {
	f.Add(uint16(13), uint16(31), uint16(7), uint8(0), uint8(0), uint64(1))
	f.Add(uint16(1), uint16(40), uint16(20), uint8(1), uint8(4), uint64(2))
	f.Add(uint16(29), uint16(33), uint16(600), uint8(2), uint8(5), uint64(3))
	f.Add(uint16(300), uint16(520), uint16(3), uint8(1), uint8(10), uint64(4))
	f.Fuzz(func(t *testing.T, m, n, k uint16, gap, layout uint8, seed uint64) {
		sm, sn, sk := 1+int(m)%700, 1+int(n)%700, 1+int(k)%1100
		if sm*sn*sk > 4_000_000 {
			return
		}
		onEachPath(func() {
			fuzzGemm[float32](t, sm, sn, sk, int(gap%5), layout, seed)
			fuzzGemm[float64](t, sm, sn, sk, int(gap%5), layout, seed)
		})
	})
}

func fuzzLengths[T kernel.Float](t *testing.T, n, at int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := make([]T, at+n)[at:]
	for i := range x {
		x[i] = T(8*rng.Float64() - 4)
	}
	dst := poisoned[T](at + n + 8)
	kernel.Exp(dst[at:at+n], x)
	for i, v := range dst {
		if inside := i >= at && i < at+n; inside != (v == v) {
			t.Fatalf("%s: exp of %d elements at %d left element %d as %v", kernel.Path(), n, at, i, v)
		} else if inside {
			requireNear(t, "exp", v, math.Exp(float64(x[i-at])), 4*unitOf[T]()*math.Exp(float64(x[i-at])))
		}
	}
	if n == 0 {
		return
	}
	got := poisoned[T](2)
	kernel.Sum(got[:1], x, 1, n, 1)
	requireNear(t, "sum", got[0], exactSum(wide(x)), depth(n)*unitOf[T]()*sumAbs(wide(x)))
	kernel.ReduceMax(got[:1], x, 1, n, 1)
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	requireBits(t, "max", got[:1], []T{top})
	if got[1] == got[1] {
		t.Fatalf("%s: a reduction wrote beyond its output", kernel.Path())
	}
}

func FuzzLengths(f *testing.F) {
	for _, n := range []uint32{0, 1, 7, 8, 15, 16, 17, 127, 128, 129, 8192, 8193, 1<<16 + 3} {
		f.Add(n, uint8(n), uint64(n))
	}
	f.Fuzz(func(t *testing.T, n uint32, at uint8, seed uint64) {
		onEachPath(func() {
			fuzzLengths[float32](t, int(n%(1<<17+100)), int(at%17), seed)
			fuzzLengths[float64](t, int(n%(1<<17+100)), int(at%17), seed)
		})
	})
}
