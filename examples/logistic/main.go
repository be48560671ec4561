// Logistic tells by the words of its comment alone whether a function can fail:
// logistic regression on the exported functions of Go's standard library, whose
// sources every toolchain brings along.
//
// Each word has one weight; what is said of a function is the mean weight of its
// words, times a common scale, plus a bias. The table of weights gets row-sparse
// gradients: a step touches the words of its batch and no others.
package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/data"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
)

const (
	epochs    = 12
	batchSize = 64
	held      = 5 // one function in so many is held out
)

// vocabulary numbers the words that several training functions have.
type vocabulary struct {
	words []string
	id    map[string]int64
	count map[string]int // of the functions that have it
}

func newVocabulary(train []function) *vocabulary {
	v := &vocabulary{id: map[string]int64{}, count: map[string]int{}}
	for _, f := range train {
		for _, w := range f.words {
			if v.count[w]++; v.count[w] == 3 {
				v.id[w] = int64(len(v.words))
				v.words = append(v.words, w)
			}
		}
	}
	return v
}

// batch lays the words of functions end to end, and says where each begins.
func (v *vocabulary) batch(fs []function) (index, offsets, fails *backsweep.Tensor) {
	var words, starts []int64
	labels := make([]float32, len(fs))
	for i, f := range fs {
		starts = append(starts, int64(len(words)))
		for _, w := range f.words {
			if id, ok := v.id[w]; ok {
				words = append(words, id)
			}
		}
		if f.fails {
			labels[i] = 1
		}
	}
	return backsweep.New(words), backsweep.New(starts), backsweep.New(labels)
}

// model is the weights of the words, and what all functions have in common.
type model struct {
	weights nn.EmbeddingBag // [words, 1]
	scale   *backsweep.Tensor
	bias    *backsweep.Tensor
}

func newModel(words int) *model {
	return &model{
		weights: nn.EmbeddingBag{Table: backsweep.NewParam("weights", backsweep.Zeros(backsweep.Float32, words, 1))},
		scale:   backsweep.NewParam("scale", backsweep.Scalar(float32(5))),
		bias:    backsweep.NewParam("bias", backsweep.Scalar(float32(0))),
	}
}

// logits are the logarithms of the odds that each function fails, [functions].
func (m *model) logits(index, offsets *backsweep.Tensor) *backsweep.Tensor {
	return m.weights.Forward(index, offsets).Squeeze(1).Mul(m.scale).Add(m.bias)
}

func (m *model) params() []*backsweep.Tensor { return append(m.weights.Params(), m.scale, m.bias) }

func train(v *vocabulary, fs []function, seed uint64) (*model, error) {
	m := newModel(len(v.words))
	adam := optim.NewAdam(0.02, m.params()...)
	adam.Strict = true
	tape := backsweep.NewTape()
	pick := func(index []int) (some []function) {
		for _, i := range index {
			some = append(some, fs[i])
		}
		return some
	}
	batches := data.Batches(len(fs), batchSize, pick, data.Shuffle(rand.New(rand.NewPCG(seed, 0))))
	for range epochs {
		for batch := range data.Prefetch(batches, 2) {
			index, offsets, fails := v.batch(batch)
			loss := m.logits(tape.Input("words", index), offsets).BCEWithLogits(fails)
			grads, err := tape.Backward(loss)
			if err != nil {
				return nil, err
			}
			if err := adam.Step(grads); err != nil {
				return nil, err
			}
			tape.Reset()
		}
	}
	return m, nil
}

// report is how good the model is, and what it goes by.
type report struct {
	functions, heldOut   int
	accuracy, majority   float64 // of the held-out functions: said rightly; by always saying what is more common
	failWords, safeWords []string
}

func study(seed uint64) (*report, error) {
	all, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	test, rest := all[:len(all)/held], all[len(all)/held:]
	v := newVocabulary(rest)
	m, err := train(v, rest, seed)
	if err != nil {
		return nil, err
	}
	index, offsets, fails := v.batch(test)
	says := m.logits(index, offsets).Gt(backsweep.Scalar(float32(0))) // no tape: plain evaluation
	right := says.Eq(fails.Gt(backsweep.Scalar(float32(0)))).Cast(backsweep.Float32).Mean().Item()
	share := fails.Mean().Item()
	r := &report{functions: len(all), heldOut: len(test), accuracy: right, majority: max(share, 1-share)}
	r.failWords, r.safeWords = v.telling(m, 8)
	return r, nil
}

// telling returns the n words that say most for a failure and against one: by
// their weights, and by how many functions have them.
func (v *vocabulary) telling(m *model, n int) (most, least []string) {
	said := map[string]float64{}
	for i, weight := range m.weights.Table.Float64s() {
		said[v.words[i]] = weight * math.Sqrt(float64(v.count[v.words[i]]))
	}
	order := slices.Clone(v.words)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(said[b], said[a]) })
	most, least = order[:n], slices.Clone(order[len(order)-n:])
	slices.Reverse(least)
	return most, least
}

func run(w io.Writer, seed uint64) error {
	r, err := study(seed)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d documented functions of the standard library, %d held out\n", r.functions, r.heldOut)
	fmt.Fprintf(w, "held out, said rightly whether they return an error: %.1f %% (always the more common: %.1f %%)\n", 100*r.accuracy, 100*r.majority)
	fmt.Fprintf(w, "words that say it can fail:  %s\n", strings.Join(r.failWords, ", "))
	fmt.Fprintf(w, "words that say it does not:  %s\n", strings.Join(r.safeWords, ", "))
	return nil
}

func main() {
	if err := run(os.Stdout, 1); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
