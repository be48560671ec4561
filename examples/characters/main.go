// Characters learns to write like the Go specification, one character after the
// other, by an LSTM and by a small transformer, and measures both in bits a
// character on a part of the text that they have not seen, beside what counting
// characters and pairs of characters gives.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/data"
	"github.com/backsweep/backsweep/optim"
)

const (
	window = 48 // characters that a model sees at once
	batch  = 24 // windows in a step
)

// windows cuts windows out of a text: what is read, and what comes next,
// [windows, window] each.
func windows(text []int64, starts []int) data.Table {
	read, next := make([]int64, 0, len(starts)*window), make([]int64, 0, len(starts)*window)
	for _, s := range starts {
		read, next = append(read, text[s:s+window]...), append(next, text[s+1:s+1+window]...)
	}
	return data.Table{backsweep.New(read, len(starts), window), backsweep.New(next, len(starts), window)}
}

// loss is the mean of -log p of the next characters.
func loss(m model, read, next *backsweep.Tensor) *backsweep.Tensor {
	y := m.logits(read)
	return y.Reshape(-1, y.Dim(2)).CrossEntropy(next.Reshape(-1))
}

func train(m model, text []int64, steps int, rate float64, rng *rand.Rand, seen func(step int, bits float64)) error {
	adam := optim.NewAdamW(0, m.params()...)
	adam.Schedule = optim.WarmUp(20, optim.Cosine(rate, rate/20, steps-20))
	tape := backsweep.NewTape()
	for step := range steps {
		starts := make([]int, batch)
		for i := range starts {
			starts[i] = rng.IntN(len(text) - window)
		}
		w := windows(text, starts)
		l := loss(m, tape.Input("text", w[0]), w[1])
		grads, err := tape.Backward(l)
		if err != nil {
			return err
		}
		clipped, _, err := optim.ClipNorm(grads, 1, 2, adam.Params()...)
		if err != nil {
			return err
		}
		if err := adam.Step(clipped); err != nil {
			return err
		}
		if (step+1)%50 == 0 {
			seen(step+1, l.Item()/math.Ln2)
		}
		tape.Reset()
	}
	return nil
}

// bits are those that a character of a text takes, told by a model that sees the
// characters before it in its window.
func bits(m model, text []int64) float64 {
	var starts []int
	for s := 0; s+window < len(text); s += window {
		starts = append(starts, s)
	}
	sum := 0.0
	all := windows(text, starts)
	for w := range all.Batches(64) {
		sum += loss(m, w[0], w[1]).Item() * float64(w.Len())
	}
	return sum / float64(len(starts)) / math.Ln2
}

// write goes on from a beginning for n characters, each drawn from what the model
// says, sharpened by a temperature below 1.
func write(m model, a *alphabet, beginning string, n int, temperature float64, rng *rand.Rand) string {
	text := a.encode(beginning)
	for range n {
		read := text[max(0, len(text)-window):]
		y := m.logits(backsweep.New(read, 1, len(read)))
		p := y.Index(0).Index(len(read) - 1).MulScalar(1 / temperature).Softmax(0).Float64s()
		draw, next := rng.Float64(), 0
		for next < len(p)-1 && draw >= p[next] {
			draw -= p[next]
			next++
		}
		text = append(text, int64(next))
	}
	return a.decode(text)
}

// result is bits a character of the held-out text.
type result struct{ single, pairs, recurrent, transformer float64 }

func run(w io.Writer, seed uint64, steps int) (r result, err error) {
	spec, err := specification()
	if err != nil {
		return r, err
	}
	a := newAlphabet(spec)
	text := a.encode(spec)
	n := len(text) * 9 / 10
	known, held := text[:n], text[n:]
	r.single, r.pairs = byFrequency(known, held, len(a.runes), false), byFrequency(known, held, len(a.runes), true)
	fmt.Fprintf(w, "the Go specification: %d characters of %d kinds, the last tenth held out\n", len(text), len(a.runes))
	fmt.Fprintf(w, "bits a character by counting: %.2f, by counting pairs: %.2f\n", r.single, r.pairs)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, m := range []struct {
		name string
		model
		rate float64
		bits *float64
	}{
		{"LSTM", newRecurrent(rng, len(a.runes)), 8e-3, &r.recurrent},
		{"transformer", newTransformer(rng, len(a.runes), window), 5e-3, &r.transformer},
	} {
		err := train(m.model, known, steps, m.rate, rng, func(step int, bits float64) {
			fmt.Fprintf(w, "%s, step %d: %.2f bits in its batch\n", m.name, step, bits)
		})
		if err != nil {
			return r, err
		}
		*m.bits = bits(m.model, held)
		fmt.Fprintf(w, "%s: %.2f bits a character of the text held out. It writes:\n%s\n\n", m.name, *m.bits, write(m.model, a, "The type ", 200, 0.7, rng))
	}
	return r, nil
}

func main() {
	if _, err := run(os.Stdout, 1, 600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
