// Package data deals out examples in batches.
//
//	train := data.Table{images, labels} // rows are examples
//	for epoch := range 10 {
//		for batch := range train.Batches(64, data.Shuffle(rng)) {
//			x, y := batch[0], batch[1]
//			…
//		}
//	}
//
// Batches are iterators: a range over one is one pass over the data. What is
// random is drawn from a generator that the caller gives, so a seed decides it
// all. [Prefetch] makes batches ahead while the ones before are worked on.
package data

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/backsweep/backsweep"
)

// Option changes how [Batches] deals.
type Option func(*dealing)

type dealing struct {
	rng  *rand.Rand
	drop bool
}

// Shuffle deals in another order each time, drawn when the pass begins: passes
// over the same batches, with the same generator, are the same.
func Shuffle(rng *rand.Rand) Option { return func(d *dealing) { d.rng = rng } }

// DropLast leaves the last batch out where it would be smaller than the others.
func DropLast() Option { return func(d *dealing) { d.drop = true } }

// Batches deals the numbers 0 to n-1 in batches of the given size, the last one
// of what is left, and yields what load makes of each. load may keep the slice.
// It panics with a *backsweep.Error where n is negative or size is not positive.
func Batches[T any](n, size int, load func(index []int) T, opts ...Option) iter.Seq[T] {
	if n < 0 || size < 1 {
		panic(misuse("Batches", "deal 0 or more in batches of 1 or more", fmt.Sprintf("%d examples in batches of %d", n, size)))
	}
	var d dealing
	for _, o := range opts {
		o(&d)
	}
	return func(yield func(T) bool) {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		if d.rng != nil {
			d.rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for index := range slices.Chunk(order, size) {
			if d.drop && len(index) < size || !yield(load(index)) {
				return
			}
		}
	}
}

// Table is examples: tensors on no tape whose first axes have the same extent,
// one row of each for every example.
type Table []*backsweep.Tensor

// Len is the number of examples. It panics with a *backsweep.Error where the
// tensors have different numbers of rows.
func (t Table) Len() int {
	if len(t) == 0 {
		return 0
	}
	for i, x := range t {
		if x.Rank() == 0 || x.Dim(0) != t[0].Dim(0) {
			panic(misuse("Table.Len", "give each tensor one row for every example", fmt.Sprintf("tensor %d has shape %v, the first has %v", i, x.Shape(), t[0].Shape())))
		}
	}
	return t[0].Dim(0)
}

// Rows copies the examples of the given numbers. A number that does not exist
// panics with a *backsweep.Error.
func (t Table) Rows(index []int) Table {
	at := make([]int64, len(index))
	for i, v := range index {
		at[i] = int64(v)
	}
	rows := backsweep.New(at)
	out := make(Table, len(t))
	for i, x := range t {
		out[i] = x.Take(rows, 0)
	}
	return out
}

// Batches deals the examples; see [Batches].
func (t Table) Batches(size int, opts ...Option) iter.Seq[Table] {
	return Batches(t.Len(), size, t.Rows, opts...)
}

// Split draws two tables without common examples, the first with the given share
// of them, rounded down.
func (t Table) Split(rng *rand.Rand, share float64) (first, rest Table) {
	if !(share >= 0 && share <= 1) {
		panic(misuse("Table.Split", "give a share between 0 and 1", fmt.Sprintf("the share is %v", share)))
	}
	order := rng.Perm(t.Len())
	n := int(share * float64(len(order)))
	return t.Rows(order[:n]), t.Rows(order[n:])
}

func misuse(op, do, what string) *backsweep.Error {
	return &backsweep.Error{Kind: backsweep.ErrValue, Op: op, What: what, Do: do, Node: -1, Consumer: -1}
}
