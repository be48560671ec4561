package towers

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
)

const (
	// BatchSize is the pairs of a training step: each is told apart from the other 127.
	BatchSize = 128
	// heldOutOf: one pair in so many is held out.
	heldOutOf = 10
)

// Streams of random numbers that one seed feeds, kept apart so that none depends on how much another has drawn.
const (
	splitStream = 1 + iota
	batchStream
	modelStream
)

// Split is the corpus cut into the pairs to train on and the ones held out; both ascend and together are all pairs.
type Split struct {
	Train, HeldOut []int
}

// NewSplit holds out one of n pairs in ten, rounded down, by a shuffle that the seed alone decides.
func NewSplit(n int, seed uint64) *Split {
	shuffled := rand.New(rand.NewPCG(seed, splitStream)).Perm(n)
	s := &Split{HeldOut: shuffled[:n/heldOutOf], Train: shuffled[n/heldOutOf:]}
	slices.Sort(s.HeldOut)
	slices.Sort(s.Train)
	return s
}

// EpochBatches is the number of full batches in an epoch; the pairs that are left over wait for the next shuffle.
func (s *Split) EpochBatches(size int) int { return len(s.Train) / size }

// Batches yields full batches of training pairs without end: an epoch's shuffle, cut, then the next epoch's. The seed
// alone decides them. A batch is valid until the next one. It panics where size is not between 1 and the number of
// training pairs.
func (s *Split) Batches(size int, seed uint64) iter.Seq[[]int] {
	if size < 1 || size > len(s.Train) {
		panic(fmt.Sprintf("towers: batches of %d out of %d training pairs", size, len(s.Train)))
	}
	return func(yield func([]int) bool) {
		rng := rand.New(rand.NewPCG(seed, batchStream))
		pairs := slices.Clone(s.Train)
		for {
			rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			for b := range s.EpochBatches(size) {
				if !yield(pairs[b*size : (b+1)*size : (b+1)*size]) {
					return
				}
			}
		}
	}
}
