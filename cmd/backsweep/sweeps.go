package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/expr"
)

// swept is a program that was run and swept.
type swept struct {
	run   *expr.Run
	loss  []float64
	grads *backsweep.Grads
}

// sweep runs the program on an empty tape and sweeps it.
func (s *source) sweep(tape *backsweep.Tape, opts ...backsweep.SweepOption) (*swept, error) {
	run, err := s.run(tape)
	if err != nil {
		return nil, err
	}
	loss := run.Loss.Float64s()
	grads, err := tape.Backward(run.Loss, append(opts, backsweep.Context(s.ctx))...)
	if err != nil {
		return nil, err
	}
	return &swept{run, loss, grads}, nil
}

// differing names the first tensor whose gradient has other bits in two sweeps
// of one program, or "".
func differing(a, b *swept) string {
	for id, x := range a.run.Tensors {
		if id >= len(b.run.Tensors) {
			return nameOf(x)
		}
		p, sa := a.grads.Lookup(x)
		q, sb := b.grads.Lookup(b.run.Tensors[id])
		if sa != sb || p != nil && !sameBits(p.Float64s(), q.Float64s()) {
			return nameOf(x)
		}
	}
	return ""
}

func nameOf(x *backsweep.Tensor) string {
	if n := x.Name(); n != "" {
		return n
	}
	return "t" + strconv.Itoa(x.ID())
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}
