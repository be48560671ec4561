package backsweep

import "github.com/backsweep/backsweep/internal/array"

// Hook asks for the gradient of a tensor and calls f with it in each sweep that
// computes it: once, when the last contribution has been added and before
// anything uses it. What f returns takes its place; nil leaves it as it is. The
// tensor that f gets is lent for the call. Hooks of one tensor run in the order
// in which they were set, those of several one at a time, and none outlives
// Reset. What f returns has the tensor's shape and element type; the sweep
// returns an error otherwise. On a recorded sweep f's ops are recorded too.
func (t *Tape) Hook(x *Tensor, f func(gradient *Tensor) *Tensor) {
	h := t.Watch(x)
	if t.hooks == nil {
		t.hooks = map[int32][]func(*Tensor) *Tensor{}
	}
	t.hooks[h.id] = append(t.hooks[h.id], f)
}

// hook runs the hooks of a value on its gradient, which is complete.
func (s *sweep) hook(w *worker, v int32, sl *slot) {
	l := s.t.layoutOf(v)
	for _, f := range s.t.hooks[v] {
		got := w.eachItem([]ref{w.dense(v, sl.sum)}, func(g []ref) []ref { return []ref{s.runHook(w, f, g[0], l)} })
		if got[0].l == nil {
			continue
		}
		if !w.recording {
			c := w.own(got[0])
			sl.sum.release(w)
			got[0] = c
		}
		sl.sum = gift{g: got[0]}
	}
}

// runHook returns what the hook put in the gradient's place, if anything.
func (s *sweep) runHook(w *worker, f func(*Tensor) *Tensor, g ref, l *array.Layout) ref {
	x := w.tensor(g, "hook")
	var y *Tensor
	if w.recording {
		s.t.lendTo(func() { y = f(x) })
	} else {
		y = f(x)
	}
	if y == nil {
		end([]*Tensor{x}, "hook")
		return ref{}
	}
	if yl := y.layout(); !array.SameShape(yl.Shape, l.Shape) || yl.DType != l.DType {
		throw(fail(ErrRule, "Hook", "return a gradient of the tensor's shape and element type, or nil", "the hook returned %s%s, not %s%s",
			yl.DType, array.ShapeString(yl.Shape), l.DType, array.ShapeString(l.Shape)))
	}
	if w.recording {
		return s.t.refOf(s.t.idOf(y, "Hook"))
	}
	if y.tape != nil {
		throw(fail(ErrRule, "Hook", "compute it from the gradient that the hook is given", "the hook returned a tensor of a tape"))
	}
	c := w.m.alloc(w.m.like(y.ref("Hook")))
	copyDense(c, y.ref("Hook"))
	end([]*Tensor{x}, "hook")
	return c
}
