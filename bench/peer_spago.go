package main

import (
	"fmt"

	"github.com/nlpodyssey/spago/ag"
	"github.com/nlpodyssey/spago/losses"
	"github.com/nlpodyssey/spago/mat"
)

// spago is a define-by-run library in plain Go.
func spago() map[string]maker {
	jobs := map[string]maker{}
	for name, k := range map[string]int{"scalar": 1, "4-element": 4} {
		c, d := spagoVector(k, 0.999, false), spagoVector(k, 0.001, false)
		for op, f := range map[string]func(x mat.Tensor) mat.Tensor{
			"add": func(x mat.Tensor) mat.Tensor { return ag.Add(x, d) }, "mul": func(x mat.Tensor) mat.Tensor { return ag.Prod(x, c) }, "tanh": ag.Tanh,
		} {
			jobs[fmt.Sprintf("%s %s x%d, both ways", name, op, chain)] = func() *job { return spagoChain(k, chain, f) }
		}
	}
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		jobs[fmt.Sprintf("scalar chain %d", n)] = func() *job { return spagoChain(1, n, ag.Tanh) }
	}
	for op, f := range map[string]func(x mat.Tensor) mat.Tensor{"exp": ag.Exp, "tanh": ag.Tanh} {
		jobs[op+" 1M"] = func() *job {
			x := mat.NewDense[float32](mat.WithShape(1<<20), mat.WithBacking(fill[float32](1<<20, 1, 1)))
			return repeated(func() { f(x).Value() })
		}
	}
	// The whole batch as the columns of one matrix where that is faster, and an
	// example at a time, which is its usual way, where that is.
	jobs["MLP 784-256-256-10 b64 step"] = spagoLargeMLP
	jobs["MLP 64-64-64-1 b16 step"] = spagoSmallMLP
	return jobs
}

// repeated is a job of repetitions without values to compare.
func repeated(f func()) *job {
	return &job{run: func(n int) {
		for range n {
			f()
		}
	}}
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

func spagoVector(n int, v float32, grad bool) *mat.Dense[float32] {
	s := make([]float32, n)
	for i := range s {
		s[i] = v
	}
	return mat.NewDense[float32](mat.WithShape(n), mat.WithBacking(s), mat.WithGrad(grad))
}

func spagoChain(k, n int, f func(x mat.Tensor) mat.Tensor) *job {
	x0 := spagoVector(k, 0.5, true)
	return repeated(func() {
		x0.ZeroGrad()
		var x mat.Tensor = x0
		for range n {
			x = f(x)
		}
		if k > 1 {
			x = ag.ReduceSum(x)
		}
		x.Value()
		ok(ag.Backward(x))
	})
}

type spagoLinear struct{ w, b *mat.Dense[float32] }

func newSpagoLinear(seed, in, out int) spagoLinear {
	w := mat.NewDense[float32](mat.WithShape(out, in), mat.WithBacking(fill[float32](in*out, seed, 0.05)), mat.WithGrad(true))
	return spagoLinear{w, spagoVector(out, 0, true)}
}

func spagoSGD(layers []spagoLinear) {
	for _, l := range layers {
		for _, m := range []*mat.Dense[float32]{l.w, l.b} {
			m.SubInPlace(m.Grad().(*mat.Dense[float32]).ProdScalar(0.01))
			m.ZeroGrad()
		}
	}
}

func spagoLargeMLP() *job {
	layers := []spagoLinear{newSpagoLinear(1, 784, 256), newSpagoLinear(2, 256, 256), newSpagoLinear(3, 256, 10)}
	x := mat.NewDense[float32](mat.WithShape(784, 64), mat.WithBacking(fill[float32](784*64, 9, 1)))
	one := make([]float32, 64)
	for i := range one {
		one[i] = 1
	}
	ones := mat.NewDense[float32](mat.WithShape(1, 64), mat.WithBacking(one))
	// Add does not broadcast: the bias is an outer product with a row of ones.
	affine := func(l spagoLinear, x mat.Tensor) mat.Tensor { return ag.Add(ag.Mul(l.w, x), ag.Mul(l.b, ones)) }
	return repeated(func() {
		h := ag.ReLU(affine(layers[0], x))
		h = ag.ReLU(affine(layers[1], h))
		each := make([]mat.Tensor, 64)
		for i, r := range ag.RowViews(ag.T(affine(layers[2], h))) {
			each[i] = losses.CrossEntropy(ag.T(r), i%10)
		}
		ok(ag.Backward(ag.Mean(each)))
		spagoSGD(layers)
	})
}

func spagoSmallMLP() *job {
	layers := []spagoLinear{newSpagoLinear(1, 64, 64), newSpagoLinear(2, 64, 64), newSpagoLinear(3, 64, 1)}
	x := mat.NewDense[float32](mat.WithShape(64), mat.WithBacking(fill[float32](64, 9, 1)))
	y := spagoVector(1, 0.3, false)
	return repeated(func() {
		each := make([]mat.Tensor, 16)
		for i := range each {
			h := ag.Tanh(ag.Affine(layers[0].b, layers[0].w, x))
			h = ag.Tanh(ag.Affine(layers[1].b, layers[1].w, h))
			each[i] = losses.MSE(ag.Affine(layers[2].b, layers[2].w, h), y, true)
		}
		ok(ag.Backward(ag.Mean(each)))
		spagoSGD(layers)
	})
}
