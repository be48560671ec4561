package towers

import (
	"context"
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// LearningRate is Adam's.
const LearningRate = 3e-3

// Task is everything about the corpus that training and ranking need: the split, the vocabulary, and the texts as word
// ids.
type Task struct {
	Corpus    *Corpus
	Split     *Split
	Vocab     *Vocab
	Queries   Bags
	Documents Bags
	seed      uint64
}

// NewTask splits the corpus by the seed and makes the vocabulary of its training pairs. A corpus of less than two
// training pairs, which leave nothing to be told apart, is an error.
func NewTask(c *Corpus, seed uint64) (*Task, error) {
	s := NewSplit(len(c.Pairs), seed)
	if len(s.Train) < 2 {
		return nil, fmt.Errorf("the sources have only %d functions to train on", len(s.Train))
	}
	t := &Task{Corpus: c, Split: s, Vocab: TrainingVocab(c, s), seed: seed}
	t.Queries, t.Documents = t.Vocab.Bags(c.Queries()), t.Vocab.Bags(c.Documents())
	return t, nil
}

// BatchSize is the number of pairs of a step: BatchSize, or all where there are fewer.
func (t *Task) BatchSize() int { return min(BatchSize, len(t.Split.Train)) }

// EpochSteps is the number of steps in which every training pair, but for those that fill no batch, is seen once.
func (t *Task) EpochSteps() int { return t.Split.EpochBatches(t.BatchSize()) }

// NewModel makes untrained towers for the task.
func (t *Task) NewModel(shared bool) *Model { return NewModel(t.Vocab.Len(), shared, t.seed) }

// Train takes the steps and calls seen, unless it is nil, with the loss of each, from step 1 on. The same model and
// task give the same bits whatever the number of workers. A loss that is no number is an error, and so is ctx, once it
// is done.
func (t *Task) Train(ctx context.Context, m *Model, steps, workers int, seen func(step int, loss float64)) error {
	if steps < 1 {
		return nil
	}
	tape := backsweep.NewTape()
	adam := optim.NewAdam(LearningRate, m.Params()...)
	adam.Strict = true
	step := 0
	for pairs := range t.Split.Batches(t.BatchSize(), t.seed) {
		step++
		loss := m.Loss(tape, t.Queries.Select(pairs), t.Documents.Select(pairs))
		grads, err := tape.Backward(loss, backsweep.Workers(workers), backsweep.Context(ctx))
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		value := loss.Item()
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return fmt.Errorf("step %d: the loss is %v", step, value)
		}
		if err := adam.Step(grads); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		if seen != nil {
			seen(step, value)
		}
		tape.Reset()
		if step == steps {
			break
		}
	}
	return nil
}
