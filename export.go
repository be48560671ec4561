package backsweep

import (
	"math"
	"strconv"

	"github.com/backsweep/backsweep/record"
)

// sweepRecord is what a traced sweep leaves behind for Record.
type sweepRecord struct {
	sweep  *record.Sweep
	grads  map[int]State // by tensor id, of reached tensors
	nVals  int32
	nNodes int32
}

// remember keeps the plan and the events of a traced sweep.
func (s *sweep) remember() *sweepRecord {
	return s.p.export(s.events)
}

// export turns a plan into plain data: the sequence, and for each visit what
// it hands out and lets go.
func (p *plan) export(events []Event) *sweepRecord {
	t, f := p.t, p.full
	o := p.options.order
	out := &record.Sweep{Order: o.kind, Seed: o.seed, Workers: p.options.workers, Retain: p.options.retain, Events: events}
	if o.kind == "" {
		out.Order = "tape"
	}
	r := &sweepRecord{sweep: out, grads: map[int]State{}, nVals: p.nValues, nNodes: p.top}
	next := make([]int32, p.nValues) // the turn of each gradient's next contribution
	early := map[int32][]int32{}     // ranks that are parked, by value
	for _, x := range p.roots {
		out.Roots = append(out.Roots, int(x.id))
		next[x.id]++
	}
	for v := range p.nValues {
		switch m := p.values[v]; {
		case m&reached == 0, m&needed == 0: // a root that nothing asked for leads to
		case m&asked != 0:
			r.grads[int(v)] = record.Known
		default:
			r.grads[int(v)] = record.Released
		}
	}
	left := p.readers()
	done := make([]bool, len(f.replays))
	inner := map[int32]bool{}
	for _, r := range f.replays {
		for _, sto := range r.inner {
			inner[sto] = true
		}
	}
	for sto := range t.nStores {
		if !p.options.retain && left[sto] == 0 && !t.store(sto).has(inLeaf|kept) && !p.isRoot(sto) && !inner[sto] {
			out.Before = append(out.Before, int(sto))
		}
	}
	for _, d := range f.seq {
		n := f.ids[d]
		step := record.Step{Node: int(n)}
		if k := t.segmentOf(n); k >= 0 && k < len(done) && !done[k] {
			done[k] = true
			p.exportReplay(&step, &f.replays[k], left)
		}
		out.Sequence = append(out.Sequence, int(n))
		k, nIn := t.insOf(n)
		op := t.opOf(n)
		for i := range nIn {
			v := t.operand(k + i)
			if !p.wants(op, int(i), v) {
				continue
			}
			rank := f.ranks[k+i]
			give := record.Give{Slot: int(i), Tensor: int(v), Rank: int(rank), Of: int(f.totals[v])}
			if rank != next[v] {
				give.Parked = true
				early[v] = append(early[v], rank)
			} else {
				next[v]++
				early[v] = admitEarly(early[v], &next[v])
			}
			step.Gives = append(step.Gives, give)
		}
		v, nOut := t.outsOf(n)
		for j := range nOut {
			if m := p.values[v+j]; m&reached != 0 && m&asked == 0 {
				step.Drops = append(step.Drops, int(v+j))
			}
		}
		if !p.options.retain {
			t.eachHold(n, func(sto int32) {
				left[sto]--
				if left[sto] == 0 && !t.store(sto).has(inLeaf|kept) && !p.isRoot(sto) {
					step.Frees = append(step.Frees, int(sto))
				}
			})
		}
		out.Steps = append(out.Steps, step)
	}
	return r
}

// exportReplay says what a visit replays first, and what that lets go.
func (p *plan) exportReplay(step *record.Step, r *plannedReplay, left []int32) {
	step.Replays = r.nodes
	if p.options.retain {
		return
	}
	for _, sto := range r.inner {
		if left[sto] == 0 && !p.t.store(sto).has(kept|returned) {
			step.Frees = append(step.Frees, int(sto))
		}
	}
	for _, sto := range r.fed {
		left[sto]--
		if left[sto] == 0 && !p.t.store(sto).has(inLeaf|kept) && !p.isRoot(sto) {
			step.Frees = append(step.Frees, int(sto))
		}
	}
}

// admitEarly takes the parked ranks whose turn has come out of the list.
func admitEarly(ranks []int32, next *int32) []int32 {
	for k := 0; k < len(ranks); {
		if ranks[k] == *next {
			*next++
			ranks[k] = ranks[len(ranks)-1]
			ranks = ranks[:len(ranks)-1]
			k = 0
			continue
		}
		k++
	}
	return ranks
}

// readers counts, for each storage, how many times the plan's rules will read
// it back.
func (p *plan) readers() []int32 {
	t := p.t
	left := make([]int32, t.nStores)
	for _, n := range p.full.ids {
		t.eachHold(n, func(sto int32) { left[sto]++ })
	}
	for k := range p.full.replays {
		g := &t.segments[k]
		visited := false
		for n := g.from; n < min(g.to, p.top); n++ {
			visited = visited || p.nodes[n]
		}
		if visited {
			for _, sto := range p.full.replays[k].fed {
				left[sto]++
			}
		}
	}
	return left
}

func (p *plan) isRoot(sto int32) bool {
	for _, r := range p.roots {
		if p.t.storeOf(r.id) == sto {
			return true
		}
	}
	return false
}

// RecordLimit is how many nodes a tape may have for Record, Plan and Trace: as
// plain data a node takes about a kilobyte. Recording and sweeping have no such
// limit.
const RecordLimit = 1 << 20

// tooLong refuses to turn a tape into plain data beyond the limit.
func (t *Tape) tooLong(opName string) error {
	if t.nNodes <= RecordLimit {
		return nil
	}
	return fail(ErrUnsupported, opName, "record a smaller piece on a tape of its own", "the tape has %d nodes, and at most %d are turned into plain data", t.nNodes, RecordLimit)
}

// RecordOption is an option of Tape.Record.
type RecordOption func(*recordOptions)

type recordOptions struct {
	title string
	stats bool
}

// Title names the record.
func Title(s string) RecordOption { return func(o *recordOptions) { o.title = s } }

// Stats summarises the value of each tensor that is still there.
func Stats() RecordOption { return func(o *recordOptions) { o.stats = true } }

// Record returns the tape as plain data, with the last sweep that was traced
// (see [Trace]), or that [Tape.Plan] planned.
func (t *Tape) Record(opts ...RecordOption) (rec *record.Record, err error) {
	defer Catch(&err)
	defer locate(&err)
	t.enter("Record")
	defer t.leave()
	if err := t.tooLong("Record"); err != nil {
		return nil, err
	}
	var o recordOptions
	for _, f := range opts {
		f(&o)
	}
	rec = &record.Record{Format: record.Format, Version: record.Version, Title: o.title}
	for i, s := range t.scopes {
		rec.Scopes = append(rec.Scopes, record.Scope{ID: i, Parent: int(s.parent), Name: s.name})
	}
	for _, s := range t.siteTable {
		if t.sites {
			rec.Sites = append(rec.Sites, record.Site{Func: s.function, File: shortPath(s.file), Line: s.line})
		}
	}
	for sto := range t.nStores {
		rec.Storages = append(rec.Storages, record.Storage{ID: int(sto), Bytes: t.bytesOf(sto), Leaf: t.store(sto).has(inLeaf)})
	}
	for v := range t.nValues {
		rec.Tensors = append(rec.Tensors, t.exportTensor(v, o.stats))
	}
	for n := range t.nNodes {
		rec.Nodes = append(rec.Nodes, t.exportNode(n, rec))
	}
	for i := range rec.Tensors {
		rec.Tensors[i].Scope = max(rec.Tensors[i].Scope, 0)
	}
	if t.last != nil {
		rec.Sweep = t.last.sweep
		t.exportStates(rec)
	}
	return rec, nil
}

func (t *Tape) exportTensor(v int32, stats bool) record.Tensor {
	l := t.layoutOf(v)
	r := t.value(v)
	x := record.Tensor{
		ID: int(v), Name: t.names[v], Kind: record.Computed, Producer: -1,
		DType: l.DType.String(), Shape: append([]int{}, l.Shape...), Bytes: int64(l.Bytes()), Storage: int(r.sto),
		Watched: r.has(watched), Kept: t.store(r.sto).has(kept),
	}
	if n := r.prod; n >= 0 {
		first, _ := t.outsOf(n)
		x.Producer, x.Output, x.Scope = int(n), int(v-first), int(t.scopeOf(n))
	} else {
		x.Kind = [...]record.Kind{constantLeaf: record.Constant, inputLeaf: record.Input, paramLeaf: record.Param}[t.leafOf(v).kind]
		x.Scope = -1 // until a node that consumes it is met
	}
	if stats && !t.gone(v) {
		x.Stats = summarise(t.refOf(v))
	}
	return x
}

func (t *Tape) exportNode(n int32, rec *record.Record) record.Node {
	o := t.opOf(n)
	x := record.Node{ID: int(n), Op: o.name, Attrs: o.text(t.attrsOf(n)), Scope: int(t.scopeOf(n)), Site: -1, Inputs: []int{}, Outputs: []int{}}
	if t.sites && int(n) < len(t.siteIDs) {
		x.Site = int(t.siteIDs[n])
	}
	k, nIn := t.insOf(n)
	for i := range nIn {
		v := int(t.operand(k + i))
		x.Inputs = append(x.Inputs, v)
		if rec.Tensors[v].Scope < 0 {
			rec.Tensors[v].Scope = x.Scope
		}
		if o.reads.in(int(i)) {
			x.Saves = append(x.Saves, record.Save{Tensor: v, Role: "input " + strconv.Itoa(int(i)), Reason: o.reason()})
		}
	}
	v, nOut := t.outsOf(n)
	for j := range nOut {
		x.Outputs = append(x.Outputs, int(v+j))
		if o.reads.out(int(j)) {
			x.Saves = append(x.Saves, record.Save{Tensor: int(v + j), Role: "output " + strconv.Itoa(int(j)), Reason: o.reason()})
		}
	}
	x.ForwardCost = t.costOf(n)
	return x
}

// reason says why a node keeps a tensor.
func (o *op) reason() string { return "the rule of " + o.name + " reads it back: " + o.formula }

// costOf is the number of multiply-adds of a node, by formula from shapes.
func (t *Tape) costOf(n int32) int64 {
	o := t.opOf(n)
	m := &t.scratch.gauge
	m.op, m.at, m.in, m.out = o, t.attrsOf(n), m.in[:0], m.out[:0]
	k, nIn := t.insOf(n)
	for i := range nIn {
		m.in = append(m.in, ref{l: t.layoutOf(t.operand(k + i))})
	}
	v, nOut := t.outsOf(n)
	for j := range nOut {
		m.out = append(m.out, ref{l: t.layoutOf(v + j)})
	}
	return o.count(m)
}

// count is the number of multiply-adds of the op on m's operands.
func (o *op) count(m *machine) int64 {
	switch {
	case o.cost != nil:
		return o.cost(m)
	case o.is(viewing):
		return 0
	default:
		return int64(m.out[0].l.N)
	}
}

// exportStates writes each tensor's gradient state. A tensor that the sweep did
// not reach is unconnected when no differentiable path leads from it to a root.
func (t *Tape) exportStates(rec *record.Record) {
	g := &Grads{t: t, epoch: t.epoch, nVals: t.last.nVals, nNodes: t.last.nNodes}
	for _, v := range rec.Sweep.Roots {
		g.roots = append(g.roots, int32(v))
	}
	g.trace()
	for i := range rec.Tensors {
		x := &rec.Tensors[i]
		if i >= int(t.last.nVals) {
			continue
		}
		switch state, ok := t.last.grads[i]; {
		case ok:
			x.Grad = state
		case g.marks[i]&reached == 0:
			x.Grad = record.Unconnected
		default:
			x.Grad = record.NotAsked
		}
	}
}

func summarise(r ref) *record.Stats {
	s := &record.Stats{}
	lo, hi, sum, n := math.Inf(1), math.Inf(-1), 0.0, 0
	x := plainTensor(r.l, &storage{p: r.p})
	for _, v := range x.Float64s() {
		switch {
		case math.IsNaN(v):
			s.NaNs++
			continue
		case math.IsInf(v, 0):
			s.Infs++
			continue
		case v == 0:
			s.Zeros++
		}
		lo, hi, sum, n = min(lo, v), max(hi, v), sum+v, n+1
	}
	if n == 0 {
		lo, hi, sum = math.NaN(), math.NaN(), math.NaN()
	}
	s.Min, s.Max, s.Mean = record.Number(lo), record.Number(hi), record.Number(sum/float64(max(n, 1)))
	return s
}
