package backsweep

import (
	"sort"
	"sync"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/record"
)

// State is the state of a tensor's gradient after a sweep. The four are never
// confused, and only Computed has a number.
type State = record.State

// The states of a gradient.
const (
	Computed    = record.Known       // there is a number
	Unconnected = record.Unconnected // no differentiable path leads to the loss: zero by mathematics
	Released    = record.Released    // computed, consumed and let go
	NotAsked    = record.NotAsked    // nothing that leads to it was asked for
)

// Grads are the gradients that a sweep computed. They live until the tape's
// Reset. Those of a sweep that was not recorded count as computed off the
// tape.
type Grads struct {
	t      *Tape
	epoch  uint32
	ids    []int32   // ascending
	sums   []gift    // by ids
	dense  []*Tensor // by ids, made when asked for
	roots  []int32
	nNodes int32
	nVals  int32
	cost   int64

	recorded bool
	once     sync.Once
	marks    []mark // by value, for State
}

// collect makes the gradients that were asked for the caller's: dense or rows,
// and no two in one buffer.
func (s *sweep) collect(w *worker) *Grads {
	t, p := s.t, s.p
	g := &Grads{t: t, epoch: t.epoch, nNodes: p.top, nVals: p.nValues, cost: s.cost, recorded: p.options.recorded}
	for _, r := range p.roots {
		g.roots = append(g.roots, r.id)
	}
	g.ids, g.sums = make([]int32, 0, len(p.asked)), make([]gift, 0, len(p.asked))
	for _, v := range p.asked {
		k := s.slotOf[v]
		if k == 0 {
			continue
		}
		sl := &s.slots[k-1]
		if n := t.producer(v); t.hooks != nil && (n < 0 || !p.nodes[n]) {
			s.hook(w, v, sl) // no visit has used it
		}
		x := sl.sum
		sl.sum = gift{}
		if !w.recording {
			if !x.g.l.Plain || !x.g.buf.Sole() {
				c := w.own(x.g)
				w.pool.Release(x.g.buf)
				x.g = c
			}
			x.g = w.shapeOfBatch(x.g)
			t.grads = append(t.grads, x.g.buf)
			if x.rows.l != nil {
				t.grads = append(t.grads, x.rows.buf)
			}
		}
		g.ids = append(g.ids, v)
		g.sums = append(g.sums, x)
	}
	// Roots that nobody asked for, and that no node consumed.
	for _, r := range p.roots {
		if k := s.slotOf[r.id]; k > 0 && p.values[r.id]&asked == 0 {
			sl := &s.slots[k-1]
			if sl.sum.g.l != nil {
				sl.sum.release(w)
				sl.sum = gift{}
			}
		}
	}
	w.flush()
	g.dense = make([]*Tensor, len(g.ids))
	s.slots, s.free = s.slots[:0], s.free[:0]
	return g
}

// idOf finds the value that a tensor is on the tape, or -1.
func (g *Grads) idOf(x *Tensor) int32 {
	if x == nil {
		throw(fail(ErrValue, "Grads", "pass a tensor", "the tensor is nil"))
	}
	if g.epoch != g.t.epoch {
		throw(fail(ErrReset, "Grads", "use gradients before Tape.Reset, or Clone them", "the gradients belonged to the tape before it was reset"))
	}
	if x.tape == nil {
		if id, ok := g.t.joined[x.val]; ok && id < g.nVals {
			return id
		}
		if x.val.view != nil {
			throw(fail(ErrNotOnTape, "Grads", "ask for the gradient of the parameter, or hold the view of tape.Watch(param) before the sweep",
				"%s is a view of parameter %q that is on no tape", x.label(), x.val.view.root()))
		}
		return -1
	}
	if x.tape != g.t {
		throw(fail(ErrTwoTapes, "Grads", "ask the sweep of the tensor's own tape", "%s is on another tape", x.label()))
	}
	g.t.mustOwn(x)
	if x.id >= g.nVals {
		return -1
	}
	return x.id
}

func (g *Grads) find(v int32) int {
	k := sort.Search(len(g.ids), func(i int) bool { return g.ids[i] >= v })
	if k < len(g.ids) && g.ids[k] == v {
		return k
	}
	return -1
}

// State tells the state of a tensor's gradient.
func (g *Grads) State(x *Tensor) State {
	v := g.idOf(x)
	if v < 0 {
		return Unconnected
	}
	return g.stateOf(v)
}

func (g *Grads) stateOf(v int32) State {
	if g.find(v) >= 0 {
		return Computed
	}
	g.once.Do(g.trace)
	switch m := g.marks[v]; {
	case m&reached == 0:
		return Unconnected
	case m&needed != 0:
		return Released
	default:
		return NotAsked
	}
}

// trace marks which values a differentiable path leads from to a root, and
// which lie above something that was asked for.
func (g *Grads) trace() {
	t := g.t
	g.marks = make([]mark, g.nVals)
	for _, v := range g.ids {
		g.marks[v] |= needed
	}
	for _, v := range g.roots {
		g.marks[v] |= reached
	}
	for n := range g.nNodes {
		t.eachEdge(n, func(in, out int32) {
			if g.marks[in]&needed != 0 {
				g.marks[out] |= needed
			}
		})
	}
	for n := g.nNodes - 1; n >= 0; n-- {
		t.eachEdge(n, func(in, out int32) {
			if g.marks[out]&reached != 0 {
				g.marks[in] |= reached
			}
		})
	}
}

// eachEdge calls f for each differentiable pair of an operand and an output of
// a node.
func (t *Tape) eachEdge(n int32, f func(in, out int32)) {
	o := t.opOf(n)
	if o.is(constantOp) {
		return
	}
	k, nIn := t.insOf(n)
	v, nOut := t.outsOf(n)
	for i := range nIn {
		x := t.operand(k + i)
		if o.nograd.in(int(i)) || !t.layoutOf(x).DType.IsFloat() {
			continue
		}
		for j := range nOut {
			if t.layoutOf(v + j).DType.IsFloat() {
				f(x, v+j)
			}
		}
	}
}

// Of returns the gradient of a tensor, of the tensor's shape and element type.
// A row-sparse one is made dense. It panics with ErrNoGradient when the state
// is not Computed: nothing stands in for a gradient that was not computed.
func (g *Grads) Of(x *Tensor) *Tensor {
	d, state := g.Lookup(x)
	if d == nil {
		throw(g.stateError("Of", x, state))
	}
	return d
}

// Lookup returns the gradient of a tensor and its state. The gradient is nil
// unless the state is Computed.
func (g *Grads) Lookup(x *Tensor) (*Tensor, State) {
	v := g.idOf(x)
	if v < 0 {
		return nil, Unconnected
	}
	k := g.find(v)
	if k < 0 {
		return nil, g.stateOf(v)
	}
	if g.dense[k] == nil {
		g.dense[k] = g.tensor(k, v)
	}
	return g.dense[k], Computed
}

// OrZeros is Of, except that the gradient of an unconnected tensor is zeros on
// no tape.
func (g *Grads) OrZeros(x *Tensor) *Tensor {
	d, state := g.Lookup(x)
	switch state {
	case Computed:
		return d
	case Unconnected:
		return Zeros(x.DType(), x.Shape()...)
	}
	throw(g.stateError("OrZeros", x, state))
	return nil
}

// Rows returns a row-sparse gradient as it is: ascending row numbers (int64)
// and one row of values for each. ok is false when the gradient is dense or
// there is none.
func (g *Grads) Rows(x *Tensor) (rows, values *Tensor, ok bool) {
	v := g.idOf(x)
	if v < 0 {
		return nil, nil, false
	}
	k := g.find(v)
	if k < 0 || g.sums[k].rows.l == nil {
		return nil, nil, false
	}
	s := g.sums[k]
	if g.recorded {
		return g.handle(s.rows.id()), g.handle(s.g.id()), true
	}
	return g.plain(s.rows, v), g.plain(s.g, v), true
}

func (g *Grads) handle(id int32) *Tensor { return &Tensor{tape: g.t, id: id, epoch: g.epoch} }

func (g *Grads) tensor(k int, v int32) *Tensor {
	s := g.sums[k]
	if g.recorded {
		if s.rows.l != nil {
			shape := g.t.layoutOf(v).Shape
			return apply2(opRowsDense, &attrs{ints: [3][]int{shape}}, g.handle(s.rows.id()), g.handle(s.g.id()))
		}
		return g.handle(s.g.id())
	}
	if s.rows.l == nil {
		return g.plain(s.g, v)
	}
	l := array.Contiguous(s.g.l.DType, g.t.layoutOf(v).Shape)
	st := newStorage(l.Bytes())
	addRows(st.ref(l), s)
	return g.plain(st.ref(l), v)
}

// plain wraps a gradient of a sweep that was not recorded.
func (g *Grads) plain(r ref, v int32) *Tensor {
	x := &struct {
		Tensor
		value
		storage
	}{}
	x.storage.p = r.p
	x.value = value{layout: r.l, st: &x.storage, name: "d" + g.t.label(v), owner: g.t, epoch: g.epoch}
	if r.l.DType.IsFloat() {
		x.value.taint = gradientTaint
	}
	x.Tensor = Tensor{val: &x.value, id: -1}
	return &x.Tensor
}

var gradientTaint = &taint{op: "Backward"}

// Cost is the number of multiply-adds that the sweep's rules and additions
// took, counted by formula from the shapes.
func (g *Grads) Cost() int64 { return g.cost }

func (g *Grads) stateError(opName string, x *Tensor, state State) *Error {
	var what, do string
	switch state {
	case Unconnected:
		what, do = "is not connected to the loss, so its gradient is zero by mathematics, and none was computed", "ask for State first, or use OrZeros"
	case Released:
		what, do = "had a gradient, which was consumed and let go", "Watch the tensor, or sweep with KeepGrads"
	default:
		what, do = "was not asked for", "Watch the tensor, or sweep with KeepGrads"
	}
	e := fail(ErrNoGradient, opName, do, "%s %s", x.label(), what)
	e.Tensor = x.label()
	return e
}
