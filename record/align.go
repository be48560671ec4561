package record

// alignment says which node and tensor of one record stands for which of
// another; -1 for none.
type alignment struct {
	a, b         *Record
	nodes, back  []int // a → b, b → a
	tensors, tba []int // a → b, b → a
}

// align pairs the nodes of two records. Leaves are paired first: by name, and
// those without one by kind, scope path and turn. Then nodes, in three rounds, each of
// which only pairs nodes of one scope path and op:
//
//  1. nodes whose whole history is alike: same op, attributes and operands,
//     down to the leaves;
//  2. in tape order, nodes that consume the partners of the most operands, in
//     the same slots;
//  3. what is left, by turn.
//
// Tensors follow their producers. The time is linear but for round 2, where a
// node looks at no more than 16 consumers of each operand's partner.
func align(a, b *Record) *alignment {
	al := &alignment{a: a, b: b,
		nodes: absent(len(a.Nodes)), back: absent(len(b.Nodes)),
		tensors: absent(len(a.Tensors)), tba: absent(len(b.Tensors))}
	in := interner{}
	scopesA, scopesB := in.scopes(a), in.scopes(b)
	al.leaves(scopesA, scopesB)
	al.alike(&in, scopesA, scopesB)
	al.byOperands(scopesA, scopesB)
	al.byTurn(scopesA, scopesB)
	return al
}

func absent(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// interner gives equal keys equal numbers, so that deep structures are compared
// exactly and in constant time.
type interner map[internKey]int

type internKey struct {
	kind string
	a, b int
	text string
}

func (in interner) of(k internKey) int {
	id, ok := in[k]
	if !ok {
		id = len(in)
		in[k] = id
	}
	return id
}

// scopes numbers the scope paths of a record.
func (in interner) scopes(r *Record) []int {
	ids := make([]int, len(r.Scopes))
	for i, s := range r.Scopes {
		parent := -1
		if s.Parent >= 0 {
			parent = ids[s.Parent]
		}
		ids[i] = in.of(internKey{kind: "scope", a: parent, text: s.Name})
	}
	return ids
}

func (al *alignment) pairTensors(a, b int) {
	al.tensors[a], al.tba[b] = b, a
}

func (al *alignment) pairNodes(a, b int) {
	al.nodes[a], al.back[b] = b, a
	outA, outB := al.a.Nodes[a].Outputs, al.b.Nodes[b].Outputs
	for k := range min(len(outA), len(outB)) {
		al.pairTensors(outA[k], outB[k])
	}
}

// queues hands out what waits under a key, first come first served.
type queues[K comparable] map[K][]int

func (q queues[K]) put(k K, id int) { q[k] = append(q[k], id) }

func (q queues[K]) take(k K) (int, bool) {
	ids := q[k]
	if len(ids) == 0 {
		return -1, false
	}
	q[k] = ids[1:]
	return ids[0], true
}

type leafKey struct {
	name  string
	kind  Kind
	scope int
}

func (al *alignment) leaves(scopesA, scopesB []int) {
	key := func(t *Tensor, scopes []int) leafKey {
		if t.Name != "" {
			return leafKey{name: t.Name}
		}
		return leafKey{kind: t.Kind, scope: scopes[t.Scope]}
	}
	q := queues[leafKey]{}
	for i := range al.b.Tensors {
		if t := &al.b.Tensors[i]; t.Kind != Computed {
			q.put(key(t, scopesB), i)
		}
	}
	for i := range al.a.Tensors {
		if t := &al.a.Tensors[i]; t.Kind != Computed {
			if j, ok := q.take(key(t, scopesA)); ok {
				al.pairTensors(i, j)
			}
		}
	}
}

func (al *alignment) alike(in *interner, scopesA, scopesB []int) {
	// A leaf of b has its partner's history; one without a partner its own.
	leafA := func(t int) int { return in.of(internKey{kind: "leaf", a: 0, b: t}) }
	leafB := func(t int) int {
		if p := al.tba[t]; p >= 0 {
			return leafA(p)
		}
		return in.of(internKey{kind: "leaf", a: 1, b: t})
	}
	q := queues[int]{}
	for n, h := range in.histories(al.b, scopesB, leafB) {
		q.put(h, n)
	}
	for n, h := range in.histories(al.a, scopesA, leafA) {
		if m, ok := q.take(h); ok {
			al.pairNodes(n, m)
		}
	}
}

// histories numbers the whole history of each node.
func (in interner) histories(r *Record, scopes []int, leaf func(tensor int) int) []int {
	of := make([]int, len(r.Nodes))
	for i := range r.Nodes {
		n := &r.Nodes[i]
		h := in.of(internKey{kind: "op", a: scopes[n.Scope], text: n.Op})
		h = in.of(internKey{kind: "attrs", a: h, text: n.Attrs})
		for _, t := range n.Inputs {
			var operand int
			if p := r.Tensors[t].Producer; p >= 0 {
				operand = in.of(internKey{kind: "output", a: of[p], b: r.Tensors[t].Output})
			} else {
				operand = leaf(t)
			}
			h = in.of(internKey{kind: "operand", a: h, b: operand})
		}
		of[i] = h
	}
	return of
}

func (al *alignment) byOperands(scopesA, scopesB []int) {
	const most = 16
	consumers := al.b.Consumers()
	// from[t] is where the unpaired consumers of tensor t may begin.
	from := make([]int, len(al.b.Tensors))
	for i := range al.a.Nodes {
		if al.nodes[i] >= 0 {
			continue
		}
		n := &al.a.Nodes[i]
		best, bestScore := -1, 0
		for slot, t := range n.Inputs {
			p := al.tensors[t]
			if p < 0 {
				continue
			}
			uses := consumers.Of(p)
			for from[p] < len(uses) && al.back[uses[from[p]].Node] >= 0 {
				from[p]++
			}
			uses = uses[from[p]:]
			for _, use := range uses[:min(len(uses), most)] {
				m := &al.b.Nodes[use.Node]
				if use.Slot != slot || al.back[use.Node] >= 0 || m.Op != n.Op || scopesB[m.Scope] != scopesA[n.Scope] {
					continue
				}
				score := 1
				for k := range min(len(n.Inputs), len(m.Inputs), most) {
					if q := al.tensors[n.Inputs[k]]; q >= 0 && q == m.Inputs[k] {
						score += 2
					}
				}
				if m.Attrs == n.Attrs {
					score++
				}
				if score > bestScore {
					best, bestScore = use.Node, score
				}
			}
		}
		if best >= 0 {
			al.pairNodes(i, best)
		}
	}
}

type turnKey struct {
	scope int
	op    string
}

func (al *alignment) byTurn(scopesA, scopesB []int) {
	q := queues[turnKey]{}
	for i := range al.b.Nodes {
		if n := &al.b.Nodes[i]; al.back[i] < 0 {
			q.put(turnKey{scopesB[n.Scope], n.Op}, i)
		}
	}
	for i := range al.a.Nodes {
		if n := &al.a.Nodes[i]; al.nodes[i] < 0 {
			if m, ok := q.take(turnKey{scopesA[n.Scope], n.Op}); ok {
				al.pairNodes(i, m)
			}
		}
	}
}
