package backsweep

import (
	"errors"

	"github.com/backsweep/backsweep/order"
)

// fill works out the order, and the rank of every contribution.
func (p *plan) fill(opName string) error {
	t := p.t
	f := &t.scratch.full
	f.ids = f.ids[:0]
	f.dense = resize(f.dense, int(p.top))
	for n := range p.top {
		if p.nodes[n] {
			f.dense[n] = int32(len(f.ids))
			f.ids = append(f.ids, n)
		}
	}
	f.totals = resize(f.totals, int(p.nValues))
	f.ranks = resize(f.ranks, int(t.nOperands))
	for _, r := range p.roots {
		f.totals[r.id]++
	}
	var edges []order.Edge
	for d := len(f.ids) - 1; d >= 0; d-- {
		n := f.ids[d]
		o := t.opOf(n)
		k, nIn := t.insOf(n)
		for i := range nIn {
			v := t.operand(k + i)
			if !p.wants(o, int(i), v) {
				continue
			}
			f.ranks[k+i] = f.totals[v]
			f.totals[v]++
			if m := t.producer(v); m >= 0 && p.nodes[m] {
				edges = append(edges, order.Edge{From: f.dense[m], To: int32(d), Tensor: v})
			}
		}
	}
	f.replays = p.planReplays()
	g, err := order.New(len(f.ids), edges)
	if err != nil {
		return err
	}
	f.graph = g
	p.full = f
	f.seq, err = p.sequence(opName, g)
	return err
}

func (p *plan) sequence(opName string, g *order.Graph) ([]int32, error) {
	switch o := p.options.order; o.kind {
	case "depth":
		return g.Depth(), nil
	case "breadth":
		return g.Breadth(), nil
	case "random":
		return g.Random(o.seed), nil
	case "leanest":
		return g.Leanest(p.sizes()), nil
	case "given":
		return p.given(opName, g, o.ids)
	default:
		return g.Tape(), nil
	}
}

// given checks an order of the caller's own.
func (p *plan) given(opName string, g *order.Graph, ids []int) ([]int32, error) {
	t, f := p.t, p.full
	seq := make([]int32, 0, len(f.ids))
	for _, id := range ids {
		if id < 0 || id >= int(t.nNodes) {
			return nil, fail(ErrOrder, opName, "list each node of the sweep once", "there is no node %d; the tape has nodes 0 to %d", id, t.nNodes-1)
		}
		if id < int(p.top) && p.nodes[id] {
			seq = append(seq, f.dense[id])
		}
	}
	err := g.Check(seq)
	if err == nil {
		return seq, nil
	}
	var bad *order.IllegalError
	if errors.As(err, &bad) {
		n, c := f.ids[bad.Node], f.ids[bad.Consumer]
		e := fail(ErrOrder, opName, "visit a node after all consumers of its output",
			"%s cannot be visited before %s, which consumes its output %s: part of its gradient has not been computed",
			t.nodeLabel(n), t.nodeLabel(c), t.label(bad.Tensor))
		e.Node, e.Consumer, e.Tensor, e.cause = int(n), int(c), t.label(bad.Tensor), err
		return nil, e
	}
	var part *order.NotPermutationError
	if errors.As(err, &part) {
		e := fail(ErrOrder, opName, "list each node of the sweep once", "the order is not one of the sweep's %d nodes: %s", len(f.ids), p.partText(part))
		e.cause = err
		return nil, e
	}
	return nil, err
}

// partText says, in node ids of the tape, how an order fails to have each node
// once.
func (p *plan) partText(e *order.NotPermutationError) string {
	n := p.t.nodeLabel(p.full.ids[e.Node])
	if e.Fault == order.Twice {
		return n + " comes twice"
	}
	return n + " is missing"
}

// sizes describes the sweep's memory to package order.
func (p *plan) sizes() order.Sizes {
	t, f := p.t, p.full
	s := order.Sizes{
		Grads:    make([]order.Grad, p.nValues),
		Storages: make([]order.Storage, t.nStores),
	}
	for v := range p.nValues {
		g := &s.Grads[v]
		g.Producer = -1
		if p.values[v]&reached == 0 {
			continue
		}
		g.Bytes = int64(t.layoutOf(v).Bytes())
		g.Kept = p.values[v]&asked != 0
		if m := t.producer(v); m >= 0 && p.nodes[m] {
			g.Producer = f.dense[m]
		}
	}
	for _, r := range p.roots {
		s.Grads[r.id].Seeded = true
	}
	for d, n := range f.ids {
		o := t.opOf(n)
		k, nIn := t.insOf(n)
		for i := range nIn {
			if v := t.operand(k + i); p.wants(o, int(i), v) {
				s.Uses = append(s.Uses, order.Use{Tensor: v, Consumer: int32(d)})
			}
		}
		t.eachHold(n, func(sto int32) {
			s.Readers = append(s.Readers, order.Reader{Storage: sto, Node: int32(d)})
		})
	}
	for sto := range t.nStores {
		s.Storages[sto] = order.Storage{Bytes: t.bytesOf(sto), Kept: p.options.retain || t.store(sto).has(inLeaf|kept)}
	}
	return s
}
