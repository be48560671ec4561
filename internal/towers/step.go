package towers

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// FirstBatch is the pairs of the first step of training.
func (t *Task) FirstBatch() []int {
	for pairs := range t.Split.Batches(t.BatchSize(), t.seed) {
		return slices.Clone(pairs)
	}
	return nil
}

// Record returns the record of one step on the first batch, swept in tape order.
func (t *Task) Record(ctx context.Context, m *Model) (*record.Record, error) {
	tape, pairs := backsweep.NewTape(), t.FirstBatch()
	loss := m.Loss(tape, t.Queries.Select(pairs), t.Documents.Select(pairs))
	if _, err := tape.Backward(loss, backsweep.Trace(), backsweep.Context(ctx)); err != nil {
		return nil, err
	}
	title := "two towers"
	if m.Shared {
		title += " that share a table"
	}
	return tape.Record(backsweep.Title(fmt.Sprintf("%s, one step on %d pairs", title, len(pairs))))
}

// Way is one way to sweep a step, and what came of it.
type Way struct {
	Order   string
	Workers int
	Print   uint32   // of all bits of all gradients
	Differs []string // the parameters of which a bit is not as the first way had it
}

// Ways is one step swept in several ways.
type Ways struct {
	Ways      []Way // by order, then by workers
	Gradients int
	Numbers   int // in all gradients together
}

// Agree reports whether no way differs from the first.
func (w *Ways) Agree() bool {
	return !slices.ContainsFunc(w.Ways, func(w Way) bool { return len(w.Differs) > 0 })
}

// SweepManyWays records one step on the first batch and sweeps it in each order (query tower first, document tower
// first, the two interleaved) by each number of workers, and compares the bits of all gradients.
func (t *Task) SweepManyWays(ctx context.Context, m *Model, workers ...int) (*Ways, error) {
	tape, pairs := backsweep.NewTape(), t.FirstBatch()
	loss := m.Loss(tape, t.Queries.Select(pairs), t.Documents.Select(pairs))
	if _, err := tape.Plan(loss); err != nil {
		return nil, err
	}
	rec, err := tape.Record()
	if err != nil {
		return nil, err
	}
	out := &Ways{}
	var first []bits
	for _, o := range towerOrders(rec) {
		for _, n := range workers {
			grads, err := tape.Backward(loss, backsweep.WithOrder(backsweep.GivenOrder(o.nodes...)), backsweep.Workers(n),
				backsweep.Retain(), backsweep.Context(ctx))
			if err != nil {
				return nil, fmt.Errorf("%s, %d workers: %w", o.name, n, err)
			}
			got := bitsOf(m.Params(), grads)
			way := Way{Order: o.name, Workers: n, Print: fingerprint(got)}
			if first == nil {
				first = got
				out.Gradients = len(got)
				for _, b := range got {
					out.Numbers += len(b.values)
				}
			}
			for i, b := range got {
				if !slices.Equal(b.rows, first[i].rows) || !slices.Equal(b.values, first[i].values) {
					way.Differs = append(way.Differs, b.name)
				}
			}
			out.Ways = append(out.Ways, way)
		}
	}
	return out, nil
}

// namedOrder is an order of the sweep as node ids.
type namedOrder struct {
	name  string
	nodes []int
}

// towerOrders are the orders in which the sweep, once it has come down from the loss to both towers, may go on.
func towerOrders(rec *record.Record) []namedOrder {
	var head, query, document, turns []int
	for _, n := range rec.Sweep.Sequence {
		switch rec.ScopePath(rec.Nodes[n].Scope) {
		case QueryTower:
			query = append(query, n)
		case DocumentTower:
			document = append(document, n)
		default:
			head = append(head, n)
		}
	}
	for i := range max(len(query), len(document)) {
		if i < len(query) {
			turns = append(turns, query[i])
		}
		if i < len(document) {
			turns = append(turns, document[i])
		}
	}
	return []namedOrder{
		{QueryTower + " first", slices.Concat(head, query, document)},
		{DocumentTower + " first", slices.Concat(head, document, query)},
		{"interleaved", slices.Concat(head, turns)},
	}
}

// bits are one gradient's: of a row-sparse one the rows as well.
type bits struct {
	name   string
	rows   []int64
	values []uint32
}

func bitsOf(params []*backsweep.Tensor, grads *backsweep.Grads) []bits {
	var out []bits
	for _, p := range params {
		b := bits{name: p.Name()}
		rows, values, sparse := grads.Rows(p)
		if sparse {
			b.rows = backsweep.Data[int64](rows)
		} else {
			values = grads.Of(p)
		}
		for _, v := range backsweep.Data[float32](values) {
			b.values = append(b.values, math.Float32bits(v))
		}
		out = append(out, b)
	}
	return out
}

// fingerprint is a short number that differs where bits do, but for rare chance; what is compared are the bits themselves.
func fingerprint(all []bits) uint32 {
	h := fnv.New32a()
	word := func(v uint64) {
		h.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), byte(v >> 32), byte(v >> 40), byte(v >> 48), byte(v >> 56)})
	}
	for _, b := range all {
		for _, r := range b.rows {
			word(uint64(r))
		}
		for _, v := range b.values {
			word(uint64(v))
		}
	}
	return h.Sum32()
}
