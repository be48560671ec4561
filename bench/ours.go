package main

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/kernel"
)

type tensor = backsweep.Tensor

// ours has the jobs as this library does them.
func ours() map[string]maker {
	jobs := map[string]maker{}
	for _, p := range products() {
		if p.double {
			jobs[p.String()] = func() *job { return gemm[float64](p) }
		} else {
			jobs[p.String()] = func() *job { return gemm[float32](p) }
		}
	}
	jobs["gemm 1024, 2 threads"] = jobs["gemm 1024"]
	tinyJobs(jobs)
	elementwiseJobs(jobs)
	modelJobs(jobs)
	deepJobs(jobs)
	inferenceJobs(jobs)
	return jobs
}

// fill returns n values between -scale and scale that look random. They are the
// same on every side.
func fill[T float32 | float64](n, seed int, scale float64) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = T(float64((i*7919+seed*611953)%2003-1001) / 1001 * scale)
	}
	return s
}

func filled(seed int, scale float64, shape ...int) *tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return backsweep.New(fill[float32](n, seed, scale), shape...)
}

func param(name string, seed int, scale float64, shape ...int) *tensor {
	return backsweep.NewParam(name, filled(seed, scale, shape...))
}

// numbers returns n row or class numbers below limit.
func numbers(n, seed, limit int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64((i*7919 + seed*611953) % limit)
	}
	return s
}

// forms returns the row and column strides of a product's operands.
func (p product) strides() (ars, acs, brs, bcs int) {
	ars, acs, brs, bcs = p.k, 1, p.n, 1
	switch p.form {
	case "TN":
		ars, acs = 1, p.m
	case "NT":
		brs, bcs = 1, p.k
	}
	return ars, acs, brs, bcs
}

func gemm[T float32 | float64](p product) *job {
	a, b, c := fill[T](p.m*p.k, 1, 1), fill[T](p.k*p.n, 2, 1), make([]T, p.m*p.n)
	ars, acs, brs, bcs := p.strides()
	run := func(n int) {
		for range n {
			kernel.Gemm(p.m, p.n, p.k, a, ars, acs, b, brs, bcs, c, p.n)
		}
	}
	run(1)
	return &job{run: run, values: sums(c)}
}

// sums describe a matrix: its sum, that of its squares, and its corners.
func sums[T float32 | float64](c []T) []float64 {
	var s, q float64
	for _, v := range c {
		s, q = s+float64(v), q+float64(v)*float64(v)
	}
	return []float64{q, float64(c[0]), float64(c[len(c)-1])}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func tinyJobs(jobs map[string]maker) {
	for _, k := range []string{"scalar", "4-element"} {
		shape := map[string][]int{"scalar": {}, "4-element": {4}}[k]
		c, d := backsweep.Full(backsweep.Float32, 0.999, shape...), backsweep.Full(backsweep.Float32, 0.001, shape...)
		for op, f := range map[string]func(x *tensor) *tensor{
			"add": func(x *tensor) *tensor { return x.Add(d) }, "mul": func(x *tensor) *tensor { return x.Mul(c) }, "tanh": (*tensor).Tanh,
		} {
			jobs[fmt.Sprintf("%s %s x%d, both ways", k, op, chain)] = func() *job {
				return chainJob(backsweep.Full(backsweep.Float32, 0.5, shape...), chain, false, f)
			}
		}
	}
}

// chainJob applies f to x0 n times and sweeps, on a tape that is reset or on a
// new one each time.
func chainJob(x0 *tensor, n int, fresh bool, f func(x *tensor) *tensor) *job {
	tape := backsweep.NewTape()
	pass := func() (y, dx *tensor) {
		if fresh {
			tape = backsweep.NewTape()
		} else {
			tape.Reset()
		}
		x := tape.Watch(x0)
		y = x
		for range n {
			y = f(y)
		}
		if y.Rank() > 0 {
			y = y.Sum()
		}
		return y, must(tape.Backward(y)).Of(x)
	}
	y, dx := pass()
	return &job{values: []float64{y.Item(), dx.Float64s()[0]}, run: func(n int) {
		for range n {
			pass()
		}
	}}
}

func deepJobs(jobs map[string]maker) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		x0 := backsweep.Scalar(float32(0.5))
		jobs[fmt.Sprintf("scalar chain %d, reused tape", n)] = func() *job { return chainJob(x0, n, false, (*tensor).Tanh) }
		jobs[fmt.Sprintf("scalar chain %d, fresh tape", n)] = func() *job { return chainJob(x0, n, true, (*tensor).Tanh) }
		// For the growth of a process: once, with nothing before it.
		jobs[fmt.Sprintf("scalar chain %d", n)] = func() *job {
			return &job{run: func(int) { chainJob(x0, n, true, (*tensor).Tanh) }}
		}
	}
	jobs["live bytes a node"] = func() *job {
		return &job{figure: func() float64 {
			const n = 1_000_000
			before := heap()
			tape := backsweep.NewTape()
			y := tape.Watch(backsweep.Scalar(float32(0.5)))
			for range n {
				y = y.Tanh()
			}
			live := heap() - before
			runtime.KeepAlive(y)
			return live / n
		}}
	}
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func elementwiseJobs(jobs map[string]maker) {
	for _, size := range sizes {
		for op, f := range map[string]func(x, y *tensor) *tensor{
			"exp":     func(x, _ *tensor) *tensor { return x.Exp() },
			"tanh":    func(x, _ *tensor) *tensor { return x.Tanh() },
			"sigmoid": func(x, _ *tensor) *tensor { return x.Sigmoid() },
			"add":     (*tensor).Add,
			"mul":     (*tensor).Mul,
			"sum":     func(x, _ *tensor) *tensor { return x.Sum() },
			"softmax": func(x, _ *tensor) *tensor { return x.Softmax(-1) },
		} {
			shape := []int{size.n}
			if op == "softmax" {
				shape = squareOf(size.n)
			}
			name := op + " " + size.name
			jobs[name] = func() *job { return elementwise(shape, f, false) }
			jobs[name+", both ways"] = func() *job { return elementwise(shape, f, true) }
		}
	}
}

// squareOf is the shape of n elements as a square.
func squareOf(n int) []int {
	d := 1
	for d*d < n {
		d *= 2
	}
	return []int{d, d}
}

func elementwise(shape []int, f func(x, y *tensor) *tensor, both bool) *job {
	// Between 0 and 1, so that no sum cancels.
	x0, y0, g := filled(1, 0.5, shape...).AddScalar(0.5), filled(2, 0.5, shape...).AddScalar(0.5), filled(3, 1, shape...)
	tape := backsweep.NewTape()
	pass := func() *tensor {
		tape.Reset()
		x, y := tape.Input("x", x0), y0
		if both {
			x, y = tape.Watch(x), tape.Watch(y0)
		}
		z := f(x, y)
		if both && z.Rank() > 0 {
			return must(tape.Backward(z, backsweep.Cotangent(g))).Of(x)
		} else if both {
			return must(tape.Backward(z)).Of(x)
		}
		return z
	}
	return &job{values: sums(backsweep.Data[float32](pass())), run: func(n int) {
		for range n {
			pass()
		}
	}}
}

func inferenceJobs(jobs map[string]maker) {
	small := func() (net mlp, x *tensor) {
		return newMLP((*tensor).Tanh, 64, 64, 64, 1), filled(9, 1, 1, 64)
	}
	infer := func(net mlp, x *tensor) *job {
		return &job{values: sums(backsweep.Data[float32](net.forward(x))), run: func(n int) {
			for range n {
				net.forward(x)
			}
		}}
	}
	jobs["infer MLP 64-64-64-1 b1"] = func() *job { return infer(small()) }
	jobs["infer MLP 784-256-256-10 b64"] = func() *job {
		return infer(newMLP((*tensor).Relu, 784, 256, 256, 10), filled(9, 1, 64, 784))
	}
	jobs["infer MLP 64-64-64-1 b1, 8 goroutines"] = func() *job {
		net, x := small()
		return &job{run: func(n int) {
			var group sync.WaitGroup
			for g := range 8 {
				group.Go(func() {
					for range (n + g) / 8 {
						net.forward(x)
					}
				})
			}
			group.Wait()
		}}
	}
	jobs["infer MLP 64-64-64-1 b1, garbage"] = func() *job {
		net, x := small()
		return garbage(func() { net.forward(x) })
	}
	jobs["infer MLP on a tape b1, garbage"] = func() *job {
		net, x := small()
		tape := backsweep.NewTape()
		return garbage(func() {
			tape.Reset()
			net.forward(tape.Input("x", x))
		})
	}
}

// garbage measures how many bytes of the Go heap a call takes in steady state.
func garbage(call func()) *job {
	return &job{figure: func() float64 {
		const n = 10_000
		var before, after runtime.MemStats
		call()
		runtime.ReadMemStats(&before)
		for range n {
			call()
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / n
	}}
}
