package backsweep

import (
	"slices"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/order"
)

// Root is a tensor that a sweep starts from, with its cotangent. A scalar's
// cotangent may be left nil: it is then 1.
type Root struct {
	Tensor    *Tensor
	Cotangent *Tensor
}

// plan is one sweep before it runs: which nodes it visits, in which order, and
// where each contribution is added. What runs is exactly the plan. In reverse
// tape order contributions arrive in rank order, so nothing but the marks is
// worked out in advance.
type plan struct {
	t       *Tape
	roots   []root
	options sweepOptions
	nValues int32
	top     int32  // one past the last node that is visited
	values  []mark // by value
	nodes   []bool // by node: it is visited
	asked   []int32
	full    *fullPlan // nil on a sweep in reverse tape order by one worker
}

type root struct {
	id  int32
	cot ref // l is nil for a scalar's default of 1
}

type mark uint8

const (
	needed  mark = 1 << iota // something asked for leads to the value
	reached                  // the value leads to a root, through nodes that are visited
	asked                    // its gradient is kept
	counted                  // already entered in plan.asked
)

// fullPlan is what orders other than reverse tape order, and workers, need.
type fullPlan struct {
	ids     []int32 // node ids that are visited, ascending
	dense   []int32 // by node id, its index in ids
	graph   *order.Graph
	seq     []int32         // indices into ids, in planned order
	ranks   []int32         // by position in the operand column: the turn of the contribution
	totals  []int32         // by value: how many contributions its gradient has
	replays []plannedReplay // by segment
}

// sweepMemory is reused from sweep to sweep.
type sweepMemory struct {
	values []mark
	nodes  []bool
	slotOf []int32
	asked  []int32
	slots  []slot
	free   []int32
	full   fullPlan
	rules  []*worker
	gauge  machine // counts the cost of a node without running it
}

// newPlan checks what was asked for and marks what the sweep visits.
func (t *Tape) newPlan(opName string, roots []Root, o sweepOptions) (*plan, error) {
	p := &plan{t: t, options: o, nValues: t.nValues}
	if o.trace {
		if err := t.tooLong(opName); err != nil {
			return nil, err
		}
	}
	if len(roots) == 0 {
		return nil, fail(ErrValue, opName, "name the loss", "there is nothing to start from")
	}
	for _, r := range roots {
		c, err := t.checkRoot(opName, r, o.batch)
		if err != nil {
			return nil, err
		}
		p.roots = append(p.roots, c)
	}
	if t.swept != "" {
		return nil, t.sweptError(opName, p)
	}
	p.markNeeded()
	p.markReached()
	if err := p.checkVersions(opName); err != nil {
		return nil, err
	}
	if err := p.checkSegments(opName); err != nil {
		return nil, err
	}
	if o.order.kind != "" || o.workers > 1 || o.trace {
		if err := p.fill(opName); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (t *Tape) checkRoot(opName string, r Root, batch int) (root, error) {
	x := r.Tensor
	switch {
	case x == nil:
		return root{}, fail(ErrValue, opName, "pass the loss", "the loss is nil")
	case x.tape == nil:
		return root{}, fail(ErrNotOnTape, opName, "compute it from a tensor that is on the tape (Input, Watch) or from a parameter and one",
			"the loss is not on a tape, so nothing was recorded")
	case x.tape != t:
		return root{}, fail(ErrTwoTapes, opName, "call it on the loss's own tape", "the loss is on another tape")
	case x.epoch != t.epoch:
		return root{}, fail(ErrReset, opName, "compute the loss again", "the loss belonged to the tape before it was reset")
	}
	l := t.layoutOf(x.id)
	if !l.DType.IsFloat() {
		return root{}, fail(ErrDType, opName, "start from a float32 or float64 tensor", "%s is %s, which carries no gradient", t.label(x.id), l.DType)
	}
	if r.Cotangent == nil {
		if len(l.Shape) != 0 {
			e := fail(ErrCotangent, opName, "reduce the loss to a scalar (Sum, Mean), or pass a cotangent of its shape",
				"the loss %s has shape %s, not []", t.label(x.id), array.ShapeString(l.Shape))
			e.Shapes = [][]int{l.Shape}
			return root{}, e
		}
		return root{id: x.id}, nil
	}
	c := r.Cotangent
	if c.tape != nil && c.tape != t {
		return root{}, fail(ErrTwoTapes, opName, "Detach or Clone it", "the cotangent of %s is on another tape", t.label(x.id))
	}
	cl := c.layout()
	if !batchedShape(cl, l, batch) {
		e := fail(ErrCotangent, opName, "a cotangent has the shape of its root; it is never broadcast",
			"the cotangent of %s has shape %s, not %s", t.label(x.id), array.ShapeString(cl.Shape), array.ShapeString(l.Shape))
		e.Shapes = [][]int{l.Shape, cl.Shape}
		return root{}, e
	}
	if cl.DType != l.DType {
		return root{}, fail(ErrDType, opName, "Cast the cotangent", "the cotangent of %s is %s, not %s", t.label(x.id), cl.DType, l.DType)
	}
	return root{id: x.id, cot: c.ref(opName)}, nil
}

// sweptError says which value is gone and which call let it go.
func (t *Tape) sweptError(opName string, p *plan) error {
	what := ""
	for n := t.nNodes - 1; n >= 0 && what == ""; n-- {
		k, nIn := t.insOf(n)
		v, nOut := t.outsOf(n)
		for i := range nIn {
			if x := t.operand(k + i); t.gone(x) {
				what = "the value of " + t.label(x) + ", which " + t.nodeLabel(n) + " consumed, is gone, and "
			}
		}
		for j := range nOut {
			if t.gone(v + j) {
				what = "the value of " + t.label(v+j) + ", which " + t.nodeLabel(n) + " produced, is gone, and "
			}
		}
	}
	e := fail(ErrSwept, opName, "sweep with Retain the first time, or Reset and run the forward pass again",
		"the tape was swept already: %s%s let its values go", what, t.sweptText())
	if p != nil && len(p.roots) > 0 {
		e.Tensor = t.label(p.roots[0].id)
	}
	return e
}

// markNeeded marks, in tape order, every value that something asked for leads
// to.
func (p *plan) markNeeded() {
	t := p.t
	mem := &t.scratch
	mem.values = resize(mem.values, int(t.nValues))
	p.values = mem.values
	all := p.options.keepGrads
	for i := range t.leaves {
		v := t.leaves[i].id
		p.askIfWanted(v, all)
	}
	for n := int32(0); n < t.nNodes; n++ {
		o := t.opOf(n)
		lead := false
		if !o.is(constantOp) {
			k, nIn := t.insOf(n)
			for i := range nIn {
				if p.values[t.operand(k+i)]&needed != 0 && !o.nograd.in(int(i)) {
					lead = true
					break
				}
			}
		}
		v, nOut := t.outsOf(n)
		for j := range nOut {
			p.askIfWanted(v+j, all)
			if lead && p.values[v+j]&needed == 0 && t.layoutOf(v+j).DType.IsFloat() {
				p.values[v+j] |= needed
			}
		}
	}
}

func (p *plan) askIfWanted(v int32, all bool) {
	if p.t.value(v).has(watched) || all && p.t.layoutOf(v).DType.IsFloat() {
		p.values[v] |= asked | needed
	}
}

// markReached marks, against tape order, what leads from a root down to
// something asked for.
func (p *plan) markReached() {
	t := p.t
	mem := &t.scratch
	mem.nodes = resize(mem.nodes, int(t.nNodes))
	mem.asked = mem.asked[:0]
	p.nodes = mem.nodes
	for _, r := range p.roots {
		p.reach(r.id)
		p.top = max(p.top, t.producer(r.id)+1)
	}
	for n := p.top - 1; n >= 0; n-- {
		v, nOut := t.outsOf(n)
		hit := false
		for j := range nOut {
			if p.values[v+j]&reached != 0 {
				hit = true
				break
			}
		}
		if !hit {
			continue
		}
		o := t.opOf(n)
		if o.is(constantOp) {
			continue
		}
		k, nIn := t.insOf(n)
		for i := range nIn {
			if x := t.operand(k + i); p.values[x]&needed != 0 && !o.nograd.in(int(i)) {
				p.reach(x)
				p.nodes[n] = true
			}
		}
	}
	slices.Sort(mem.asked)
	p.asked = mem.asked
}

func (p *plan) reach(v int32) {
	p.values[v] |= reached
	if p.values[v]&(asked|counted) == asked {
		p.values[v] |= counted
		p.t.scratch.asked = append(p.t.scratch.asked, v)
	}
}

// wants reports whether operand i of node n, value v, gets a contribution.
func (p *plan) wants(o *op, i int, v int32) bool {
	return p.values[v]&needed != 0 && !o.nograd.in(i)
}

// checkVersions refuses a sweep that would read back a leaf that was changed
// after it was saved.
func (p *plan) checkVersions(opName string) error {
	t := p.t
	for i := range t.leaves {
		l := &t.leaves[i]
		if l.version == l.val.st.version || t.store(l.sto).holds == 0 {
			continue
		}
		for n := int32(0); n < p.top; n++ {
			if !p.nodes[n] {
				continue
			}
			hit := false
			t.eachHold(n, func(sto int32) { hit = hit || sto == l.sto })
			if hit {
				e := fail(ErrChanged, opName, "change leaves after the sweep, or give the op a Clone",
					"%s was changed (%s) after %s had saved it for its gradient rule", t.label(l.id), l.val.st.changedText(), t.nodeLabel(n))
				e.Node, e.Tensor = int(n), t.label(l.id)
				return e
			}
		}
	}
	return nil
}
