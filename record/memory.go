package record

import (
	"cmp"
	"slices"
)

// Moment is what is held, in bytes and by cause, at one moment of a sweep.
type Moment struct {
	Step    int   `json:"step"` // index into Sweep.Sequence; -1 for the start
	Params  int64 `json:"params"`
	Inputs  int64 `json:"inputs"`  // leaves that are no parameters
	Values  int64 `json:"values"`  // held for a handle or a root: no rule reads them
	Payload int64 `json:"payload"` // held because a rule reads it back
	Grads   int64 `json:"grads"`   // gradients, complete or growing
	Parked  int64 `json:"parked"`  // contributions that wait for their turn
}

// Total is all that is held.
func (m Moment) Total() int64 {
	return m.Params + m.Inputs + m.Values + m.Payload + m.Grads + m.Parked
}

// Held is one thing that is in memory at a moment.
type Held struct {
	Cause   string `json:"cause"` // params, inputs, values, payload, grads, parked
	Tensor  int    `json:"tensor"`
	Storage int    `json:"storage"` // -1 for gradients and contributions
	Node    int    `json:"node"`    // payload: the node that reads it last; parked: the node that gave it; else -1
	Op      string `json:"op,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Bytes   int64  `json:"bytes"`
}

// Memory is what a sweep holds as it goes, by its plan. Moments[0] is the start,
// when the forward pass is done and nothing has been let go; Moments[i+1] is
// visit i at its fullest: what the visit gives has arrived, and what it lets
// go is still there. A contribution that parks counts as a buffer of its own,
// one that is added at once does not.
type Memory struct {
	Moments []Moment
	Peak    int    // index of the first moment with the largest total
	Held    []Held // what is there at the peak, largest first
}

// PayloadByOp is the payload of a moment by the op whose rule reads it last,
// largest first.
type PayloadByOp struct {
	Op    string
	Bytes int64
}

// Memory follows the record's sweep and says what is held at each visit. It
// returns nil when the record has no sweep. The time is linear.
func (r *Record) Memory() *Memory {
	if r.Sweep == nil {
		return nil
	}
	m := &Memory{Moments: r.follow(nil)}
	for i, x := range m.Moments {
		if x.Total() > m.Moments[m.Peak].Total() {
			m.Peak = i
		}
	}
	m.Held = r.HeldAt(m.Peak)
	return m
}

// HeldAt lists what is there at Moments[moment], largest first, then by cause
// and tensor.
func (r *Record) HeldAt(moment int) []Held {
	var held []Held
	r.follow(&asked{moment: moment, held: &held})
	slices.SortStableFunc(held, func(a, b Held) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Tensor, b.Tensor))
	})
	return held
}

// PayloadAt sums the payload of Moments[moment] by op.
func (r *Record) PayloadAt(moment int) []PayloadByOp {
	at := map[string]int{}
	var sums []PayloadByOp
	for _, h := range r.HeldAt(moment) {
		if h.Cause != "payload" {
			continue
		}
		i, ok := at[h.Op]
		if !ok {
			i = len(sums)
			at[h.Op] = i
			sums = append(sums, PayloadByOp{Op: h.Op})
		}
		sums[i].Bytes += h.Bytes
	}
	slices.SortFunc(sums, func(a, b PayloadByOp) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Op, b.Op))
	})
	return sums
}

// asked is a wish to see what is there at one moment.
type asked struct {
	moment int
	held   *[]Held
}

// follow plays the plan through.
func (r *Record) follow(want *asked) []Moment {
	s := r.Sweep
	g := newGradients(r, s)
	owner := make([]int, len(r.Storages)) // the tensor that a storage is known by
	for st := range owner {
		owner[st] = -1
	}
	for t := len(r.Tensors) - 1; t >= 0; t-- {
		st := r.Tensors[t].Storage
		if o := owner[st]; o < 0 || r.Tensors[o].Kind == Computed || r.Tensors[t].Kind != Computed {
			owner[st] = t
		}
	}
	readers := r.Readers(s.Sequence)
	cause := func(st int) string {
		switch {
		case owner[st] >= 0 && r.Tensors[owner[st]].Kind == Param:
			return "params"
		case r.Storages[st].Leaf || (owner[st] >= 0 && r.Tensors[owner[st]].Kind != Computed):
			return "inputs"
		case readers[st] >= 0:
			return "payload"
		default:
			return "values"
		}
	}
	var now Moment
	change := func(st int, sign int64) {
		bytes := sign * r.Storages[st].Bytes
		switch cause(st) {
		case "params":
			now.Params += bytes
		case "inputs":
			now.Inputs += bytes
		case "payload":
			now.Payload += bytes
		default:
			now.Values += bytes
		}
	}
	there := make([]bool, len(r.Storages))
	for st := range r.Storages {
		there[st] = true
		change(st, +1)
	}
	free := func(storages []int) {
		for _, st := range storages {
			there[st] = false
			change(st, -1)
		}
	}
	moments := make([]Moment, 0, len(s.Sequence)+1)
	note := func(step int) {
		now.Step, now.Grads, now.Parked = step, g.bytes, g.parkedBytes
		if want != nil && want.moment == len(moments) {
			for st, is := range there {
				if is {
					*want.held = append(*want.held, r.heldStorage(cause(st), st, owner[st], readers[st]))
				}
			}
			*want.held = append(*want.held, g.held()...)
		}
		moments = append(moments, now)
	}
	for _, t := range s.Roots {
		g.seed(t)
	}
	note(-1)
	free(s.Before)
	for i := range s.Steps {
		step := &s.Steps[i]
		for k := range step.Gives {
			g.give(step.Node, &step.Gives[k])
		}
		note(i)
		free(step.Frees)
		for _, t := range step.Drops {
			g.drop(t)
		}
	}
	return moments
}

func (r *Record) heldStorage(cause string, st, tensor, reader int) Held {
	h := Held{Cause: cause, Tensor: tensor, Storage: st, Node: -1, Bytes: r.Storages[st].Bytes}
	if cause != "payload" {
		return h
	}
	h.Node, h.Op = reader, r.Nodes[reader].Op
	for _, save := range r.Nodes[reader].Saves {
		if r.Tensors[save.Tensor].Storage == st {
			h.Tensor, h.Reason = save.Tensor, save.Reason
			break
		}
	}
	return h
}

// gradients follows which gradients and parked contributions there are.
type gradients struct {
	r           *Record
	start       []int  // the turns of tensor t are waiting[start[t]:start[t+1]]
	waiting     []int  // the node whose contribution is parked for a turn, or -1
	next        []int  // the turn that is due
	seeds       []int  // turns that seeds take
	has         []bool // the tensor has a gradient
	bytes       int64
	parkedBytes int64
}

func newGradients(r *Record, s *Sweep) *gradients {
	g := &gradients{r: r, start: make([]int, len(r.Tensors)+1), next: make([]int, len(r.Tensors)),
		seeds: make([]int, len(r.Tensors)), has: make([]bool, len(r.Tensors))}
	for i := range s.Steps {
		for _, give := range s.Steps[i].Gives {
			g.start[give.Tensor+1]++
		}
	}
	for t := range r.Tensors {
		g.start[t+1] += g.start[t]
	}
	g.waiting = make([]int, g.start[len(r.Tensors)])
	for i := range g.waiting {
		g.waiting[i] = -1
	}
	return g
}

func (g *gradients) hold(t int) {
	if !g.has[t] {
		g.has[t] = true
		g.bytes += g.r.Tensors[t].Bytes
	}
}

func (g *gradients) seed(t int) {
	g.seeds[t]++
	g.hold(t)
}

func (g *gradients) give(node int, give *Give) {
	t := give.Tensor
	turn := give.Rank - g.seeds[t]
	turns := g.waiting[g.start[t]:g.start[t+1]]
	if turn != g.next[t] {
		turns[turn] = node
		g.parkedBytes += g.r.Tensors[t].Bytes
		return
	}
	g.hold(t)
	g.next[t]++
	for g.next[t] < len(turns) && turns[g.next[t]] >= 0 {
		turns[g.next[t]] = -1
		g.parkedBytes -= g.r.Tensors[t].Bytes
		g.next[t]++
	}
}

func (g *gradients) drop(t int) {
	if g.has[t] {
		g.has[t] = false
		g.bytes -= g.r.Tensors[t].Bytes
	}
}

func (g *gradients) held() []Held {
	var held []Held
	for t, is := range g.has {
		bytes := g.r.Tensors[t].Bytes
		if is {
			held = append(held, Held{Cause: "grads", Tensor: t, Storage: -1, Node: -1, Bytes: bytes})
		}
		for _, node := range g.waiting[g.start[t]:g.start[t+1]] {
			if node >= 0 {
				held = append(held, Held{Cause: "parked", Tensor: t, Storage: -1, Node: node, Op: g.r.Nodes[node].Op, Bytes: bytes})
			}
		}
	}
	return held
}
