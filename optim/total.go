package optim

import (
	"fmt"

	"github.com/backsweep/backsweep"
)

// Total adds up the gradients of several sweeps, for one step of a batch that is
// too large for one tape. It copies, so the tapes may be reset between. A
// row-sparse gradient is made dense.
//
//	total := optim.NewTotal(adam.Params()...)
//	for part := range parts {
//		grads, err := tape.Backward(model.Loss(tape, part))
//		…
//		total.Add(grads)
//		tape.Reset()
//	}
//	err := adam.Step(total)
//	total.Clear()
type Total struct {
	at   map[*backsweep.Tensor]int
	sums []*backsweep.Tensor // nil for none so far
	list []*backsweep.Tensor
}

// NewTotal makes an empty total for parameters.
func NewTotal(params ...*backsweep.Tensor) *Total {
	t := &Total{at: make(map[*backsweep.Tensor]int), sums: make([]*backsweep.Tensor, len(params)), list: append([]*backsweep.Tensor{}, params...)}
	for i, p := range params {
		if _, twice := t.at[p]; twice {
			panic(misuse("NewTotal", "give each parameter once", fmt.Sprintf("parameter %q is there twice", p.Name())))
		}
		t.at[p] = i
	}
	return t
}

// Add adds the gradients of one sweep, in the order of the parameters. On an
// error it may have added some.
func (t *Total) Add(g Gradients) (err error) {
	defer backsweep.Catch(&err)
	for i, p := range t.list {
		x, state := g.Lookup(p)
		switch {
		case state != backsweep.Computed:
		case t.sums[i] == nil:
			t.sums[i] = x.Clone()
		case p.DType() == backsweep.Float32:
			add[float32](t.sums[i], x)
		default:
			add[float64](t.sums[i], x)
		}
	}
	return nil
}

func add[T float32 | float64](sum, x *backsweep.Tensor) {
	backsweep.UpdateAs("Total.Add", sum, func(s []T) {
		backsweep.Read(x, func(g []T) {
			for i, v := range g {
				s[i] += v
			}
		})
	})
}

// Clear empties the total.
func (t *Total) Clear() { clear(t.sums) }

// Lookup returns the sum of a parameter's gradients.
func (t *Total) Lookup(p *backsweep.Tensor) (*backsweep.Tensor, backsweep.State) {
	i, ok := t.at[p]
	switch {
	case !ok:
		return nil, backsweep.NotAsked
	case t.sums[i] == nil:
		return nil, backsweep.Unconnected
	}
	return t.sums[i], backsweep.Computed
}

// Rows reports that the sums are dense.
func (t *Total) Rows(*backsweep.Tensor) (rows, values *backsweep.Tensor, ok bool) {
	return nil, nil, false
}
