package kernel_test

import (
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

// work is a call of each kind on operands that fit a cache, with the number of
// elements that it reads.
type work struct {
	name     string
	elements int
	call     func()
}

func works() []work {
	const n, side = 4096, 64
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	w := make([]float64, n)
	fillRamp(x)
	fillRamp(y)
	kernel.Cast(w, x)
	mask, ints := make([]bool, n), make([]int64, n)
	idx, slot := make([]int64, side), make([]int32, side)
	for i := range idx {
		idx[i] = int64(i * 7 % side)
		slot[i] = int32(idx[i])
	}
	rows := make([]int64, side)
	for i := range rows {
		rows[i] = int64(i)
	}
	offsets := []int64{0, 10, 10, 40}
	m, v := make([]float32, n), make([]float32, n)
	adam := kernel.Adam{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 1}
	union := make([]int64, 0, 2*side)
	return []work{
		{"add", n, func() { kernel.Add(z, x, y) }},
		{"accadd", n, func() { kernel.AccAdd(z, x) }},
		{"relu", n, func() { kernel.Relu(z, x) }},
		{"exp", n, func() { kernel.Exp(z, x) }},
		{"tanh", n, func() { kernel.Tanh(z, x) }},
		{"sigmoid", n, func() { kernel.Sigmoid(z, x) }},
		{"gelu", n, func() { kernel.Gelu(z, x) }},
		{"gelugrad", n, func() { kernel.GeluGrad(z, y, x) }},
		{"exp/float64", n, func() { kernel.Exp(w, w) }},
		{"tanhgrad", n, func() { kernel.TanhGrad(z, x, y) }},
		{"gt", n, func() { kernel.Gt(mask, x, y) }},
		{"where", n, func() { kernel.Where(z, mask, x, y) }},
		{"castint", n, func() { kernel.CastInt(ints, x) }},
		{"sum", n, func() { kernel.Sum(z, x, 1, n, 1) }},
		{"sum/columns", n, func() { kernel.Sum(z, x, 1, side, side) }},
		{"sum/rows", n, func() { kernel.Sum(z, x, side, side, 1) }},
		{"max", n, func() { kernel.ReduceMax(z, x, 1, n, 1) }},
		{"argmax", n, func() { kernel.ArgMax(ints, x, 1, n, 1) }},
		{"extremegrad", n, func() { kernel.ExtremeGrad(z, x, x, y, side, side, 1) }},
		{"logsumexp", n, func() { kernel.LogSumExp(z, x, side, side, 1) }},
		{"softmax", n, func() { kernel.Softmax(z, x, side, side, 1) }},
		{"softmax/columns", n, func() { kernel.Softmax(z, x, 1, side, side) }},
		{"logsoftmax", n, func() { kernel.LogSoftmax(z, x, side, side, 1) }},
		{"softmaxgrad", n, func() { kernel.SoftmaxGrad(z, x, y, side, side, 1) }},
		{"logsoftmaxgrad", n, func() { kernel.LogSoftmaxGrad(z, x, y, side, side, 1) }},
		{"dot", n, func() { z[0] = kernel.Dot(x, y, n, 1, 1) }},
		{"gather", n, func() { kernel.GatherRows(z, x, idx, side) }},
		{"scatteradd", n, func() { kernel.ScatterAddRows(z, x, idx, side) }},
		{"sumrows", n, func() { kernel.SumRowsBySlot(z, x, slot, side) }},
		{"mergerows", n, func() {
			kernel.MergeRows(z, kernel.UnionRows(union, rows, rows), rows, x, rows, y, side)
		}},
		{"bag", n, func() { kernel.BagRows(z, x, idx, offsets, side, true) }},
		{"baggrad", n, func() { kernel.BagRowsGrad(z, x, slot, offsets, side, true) }},
		{"copy/transposed", n, func() { kernel.CopyStrided(z, x, 0, []int{side, side}, []int{1, side}) }},
		{"copy/broadcast", n, func() { kernel.CopyStrided(z, x, 0, []int{side, side}, []int{0, 1}) }},
		{"scatter/transposed", n, func() { kernel.ScatterStrided(z, 0, []int{side, side}, []int{1, side}, x) }},
		{"adam", n, func() { kernel.AdamStep(y, x, m, v, adam) }},
		{"adamrows", n, func() { kernel.AdamRows(y, x, m, v, rows, side, adam) }},
		{"sgd", n, func() { kernel.SGDStep(y, x, m, kernel.SGD{Rate: 1e-3, Momentum: 0.9}) }},
		{"gemm", n, func() { kernel.Gemm(side, side, side, x, side, 1, y, 1, side, z, side) }},
	}
}

func TestNothingAllocates(t *testing.T) {
	for _, w := range works() {
		if n := testing.AllocsPerRun(20, w.call); n > 0 {
			t.Errorf("%s allocates %v times", w.name, n)
		}
	}
}

// BenchmarkKernels reports nanoseconds an element, on 4,096 float32 in cache.
func BenchmarkKernels(b *testing.B) {
	for _, w := range works() {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.elements), "ns/element")
		})
	}
}

func BenchmarkUniqueRows(b *testing.B) {
	idx := make([]int64, 1280)
	for i := range idx {
		idx[i] = int64(i * i % 3001)
	}
	b.ReportAllocs()
	for b.Loop() {
		kernel.UniqueRows(idx)
	}
}
