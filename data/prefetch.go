package data

import (
	"iter"
	"sync"
)

// Prefetch yields what seq yields, in the same order, while up to ahead values
// are made in advance by one goroutine. The goroutine lives within the range
// over the result: when that ends, by itself, by a break or by a panic, it has
// ended too. A panic of seq surfaces at the range.
//
// seq runs beside the loop's body, so the two must not use one generator of
// random numbers, tape or buffer. Two ranges over the result run seq twice.
func Prefetch[T any](seq iter.Seq[T], ahead int) iter.Seq[T] {
	if ahead < 1 {
		return seq
	}
	return func(yield func(T) bool) {
		values, stop := make(chan T, ahead-1), make(chan struct{}) // one more waits in the sender's hand
		var failure any
		failed := false
		var done sync.WaitGroup
		done.Go(func() {
			defer close(values)
			failed = true
			defer func() {
				if failed {
					failure = recover()
				}
			}()
			for v := range seq {
				select {
				case values <- v:
				case <-stop:
					failed = false
					return
				}
			}
			failed = false
		})
		defer done.Wait()
		defer close(stop)
		for v := range values {
			if !yield(v) {
				return
			}
		}
		if failed {
			panic(failure)
		}
	}
}
