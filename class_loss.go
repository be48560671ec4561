package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// A cross-entropy compares softmax(x) with the distribution
//
//	q = (1-s)·w_t·onehot(t) + (s/classes)·w
//
// of each row: t is its target, w the weight of each class, 1 unless given, and
// s the label smoothing. The mean divides by the sum of w_t. Rows whose target is
// ignored take no part in either.

// classLoss is one such loss: logits [..., classes] and targets [...].
type classLoss struct {
	rows, classes int
	target        []int64 // -1 where it is ignored
	smoothing     float64
	weight        ref // l is nil without one
}

// classLoss checks the logits x, the targets, operand i, and the weights,
// operand i+1 where there is one.
func (m *machine) classLoss(x ref, i int) *classLoss {
	m.floats(x)
	n := len(x.l.Shape)
	if n == 0 || !array.SameShape(x.l.Shape[:n-1], m.in[i].l.Shape) {
		m.misfit("logits are [..., classes] and targets [...]", "shapes %s do not fit", shapesText(x.l.Shape, m.in[i].l.Shape))
	}
	c := &classLoss{classes: x.l.Shape[n-1], smoothing: m.at.f[0]}
	c.read(m, i)
	return c
}

// read reads the targets and weights, when the number of classes is known.
func (c *classLoss) read(m *machine, i int) {
	if !(c.smoothing >= 0 && c.smoothing <= 1) {
		throw(fail(ErrValue, m.op.name, "label smoothing is from 0 to 1", "label smoothing %v", c.smoothing))
	}
	m.needs(i, Int64)
	idx := dense[int64](m.packed(m.in[i]))
	c.rows, c.target = len(idx), idx
	for k, t := range idx {
		switch {
		case slices.Contains(m.at.ints[0], int(t)):
			if &c.target[0] == &idx[0] {
				c.target = slices.Clone(idx)
			}
			c.target[k] = -1
		case t < 0 || t >= int64(c.classes):
			throw(fail(ErrIndex, m.op.name, "targets count from 0; ones to leave out have to be named", "target %d (row %d) of %d classes", t, k, c.classes))
		}
	}
	if len(m.in) > i+1 {
		c.weight = m.packed(m.in[i+1])
		if len(c.weight.l.Shape) != 1 || c.weight.l.N != c.classes {
			m.misfit("there is a weight for each class", "weights of shape %s for %d classes", array.ShapeString(c.weight.l.Shape), c.classes)
		}
	}
}

// masses are the numbers of a classLoss in one element type.
type masses[T float32 | float64] struct {
	*classLoss
	w       []T // nil where all are 1
	own     T   // 1 - s
	rest    T   // s/classes
	all     T   // Σ w
	divisor T   // Σ w_t for the mean, else 1
}

func massesOf[T float32 | float64](c *classLoss, reduction int) masses[T] {
	q := masses[T]{classLoss: c, own: T(1 - c.smoothing), rest: T(c.smoothing / float64(c.classes)), all: T(c.classes), divisor: 1}
	if c.weight.l != nil {
		q.w = dense[T](c.weight)
		var sum [1]T
		kernel.Sum(sum[:], q.w, 1, len(q.w), 1)
		q.all = sum[0]
	}
	if reduction == meanReduction {
		kept := make([]T, 0, c.rows)
		for _, t := range c.target {
			if t >= 0 {
				kept = append(kept, q.weightOf(int(t)))
			}
		}
		var sum [1]T
		kernel.Sum(sum[:], kept, 1, len(kept), 1)
		q.divisor = sum[0]
	}
	return q
}

func (q *masses[T]) weightOf(class int) T {
	if q.w == nil {
		return 1
	}
	return q.w[class]
}

// mass is Σ q of a row with target t.
func (q *masses[T]) mass(t int) T {
	m := T(q.own * q.weightOf(t))
	if q.rest != 0 {
		m += T(q.rest * q.all)
	}
	return m
}

// each writes -Σ q·log softmax(x) of each row. A class of mass 0 takes no part,
// even if its logit is -Inf.
func (q *masses[T]) each(dst, x []T) {
	kernel.LogSumExp(dst, x, q.rows, q.classes, 1)
	for i, t := range q.target {
		if t < 0 {
			dst[i] = 0
			continue
		}
		row := x[i*q.classes : (i+1)*q.classes]
		loss := T(T(q.own*q.weightOf(int(t))) * (dst[i] - row[t]))
		if q.rest != 0 {
			for c, v := range row {
				if w := T(q.rest * q.weightOf(c)); w != 0 {
					loss += T(w * (dst[i] - v))
				}
			}
		}
		dst[i] = loss
	}
}

// slope writes dy·(softmax(x)·Σq - q).
func (q *masses[T]) slope(dst, dy, x []T) {
	kernel.Softmax(dst, x, q.rows, q.classes, 1)
	for i, t := range q.target {
		row := dst[i*q.classes : (i+1)*q.classes]
		if t < 0 {
			clear(row)
			continue
		}
		if m := q.mass(int(t)); m != 1 {
			kernel.MulC(row, row, m)
		}
		row[t] -= T(q.own * q.weightOf(int(t)))
		if q.rest != 0 {
			for c := range row {
				row[c] -= T(q.rest * q.weightOf(c))
			}
		}
		g := dy[0]
		if len(dy) > 1 {
			g = dy[i]
		}
		kernel.MulC(row, row, g/q.divisor)
	}
}
