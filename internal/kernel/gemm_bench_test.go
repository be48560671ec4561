package kernel_test

import (
	"fmt"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

// BenchmarkGemm times products by shape, for a and b as they lie and for each
// transposed.
func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		name    string
		m, n, k int
	}{
		{"2x2x2", 2, 2, 2}, {"8x8x8", 8, 8, 8}, {"32x32x32", 32, 32, 32}, {"64x128x64", 64, 128, 64},
		{"128x64x64", 128, 64, 64}, {"256x256x256", 256, 256, 256}, {"1x256x256", 1, 256, 256}, {"256x1x256", 256, 1, 256},
	} {
		for _, t := range []string{"NN", "TN", "NT"} {
			b.Run(fmt.Sprintf("%s/%s", s.name, t), func(b *testing.B) {
				x, y, z := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
				fillRamp(x)
				fillRamp(y)
				ars, acs, brs, bcs := s.k, 1, s.n, 1
				if t == "TN" {
					ars, acs = 1, s.m
				}
				if t == "NT" {
					brs, bcs = 1, s.k
				}
				b.ReportAllocs()
				for b.Loop() {
					kernel.Gemm(s.m, s.n, s.k, x, ars, acs, y, brs, bcs, z, s.n)
				}
				b.ReportMetric(2*float64(s.m)*float64(s.n)*float64(s.k)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func fillRamp[T kernel.Float](x []T) {
	for i := range x {
		x[i] = T(i%17)/17 - 0.4
	}
}
