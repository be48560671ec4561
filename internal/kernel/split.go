package kernel

import (
	"runtime"
	"sync"
)

// splitTerms is how many multiply-adds a part of a product has at least: some
// hundred microseconds, beside the ten or so that it takes to wake a goroutine.
const splitTerms = 10_000_000

// parts is how many parts a product is cut into: one on one processor, and one
// where it is small.
func (p *product[T]) parts() int {
	if p.m*p.n < 2*splitTerms/max(p.k, 1) || max(p.m, p.n) < 2*p.v.tallest {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), p.m*p.n/(splitTerms/p.k+1))
}

// split runs a product in parts side by side: rows of c or, if there are more,
// columns. An element is computed as it is in the whole.
func split[T Float](whole product[T], parts int) {
	var wait sync.WaitGroup
	for i := range parts {
		p := whole
		if p.m >= p.n {
			step := roundUp((p.m+parts-1)/parts, p.v.tallest)
			lo, hi := min(i*step, p.m), min((i+1)*step, p.m)
			if lo == hi {
				continue
			}
			p.m, p.a, p.c = hi-lo, p.a[lo*p.ars:], p.c[lo*p.crs:]
		} else {
			step := roundUp((p.n+parts-1)/parts, 2*p.v.lanes)
			lo, hi := min(i*step, p.n), min((i+1)*step, p.n)
			if lo == hi {
				continue
			}
			p.n, p.b, p.c = hi-lo, p.b[lo*p.bcs:], p.c[lo:]
		}
		if i == parts-1 {
			p.run()
		} else {
			wait.Go(p.run)
		}
	}
	wait.Wait()
}

// roundUp is the least multiple of step from n on.
func roundUp(n, step int) int { return (n + step - 1) / step * step }
