package order_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/backsweep/backsweep/order"
)

// oracle knows all about a small graph, by trying everything.
type oracle struct {
	n      int
	edges  []order.Edge
	legal  [][]int32 // all legal orders, lexicographically
	before [][]bool  // before[a][b]: a stands before b in some legal order
	hops   [][]int   // length of the shortest chain from a producer to a consumer, 0 for none
}

const maxOracle = 9

var permutations [maxOracle + 1]func() [][]int32

func init() {
	for n := range permutations {
		permutations[n] = sync.OnceValue(func() [][]int32 { return permute(n) })
	}
}

// permute lists the permutations of 0 … n-1, lexicographically.
func permute(n int) [][]int32 {
	p := make([]int32, n)
	for i := range p {
		p[i] = int32(i)
	}
	all := [][]int32{slices.Clone(p)}
	for {
		i := n - 2
		for i >= 0 && p[i] > p[i+1] {
			i--
		}
		if i < 0 {
			return all
		}
		j := n - 1
		for p[j] < p[i] {
			j--
		}
		p[i], p[j] = p[j], p[i]
		slices.Reverse(p[i+1:])
		all = append(all, slices.Clone(p))
	}
}

func newOracle(n int, edges []order.Edge) *oracle {
	o := &oracle{n: n, edges: edges, before: square[bool](n), hops: square[int](n)}
	for _, p := range permutations[n]() {
		if o.isLegal(p) {
			o.legal = append(o.legal, p)
			for i, a := range p {
				for _, b := range p[i+1:] {
					o.before[a][b] = true
				}
			}
		}
	}
	for _, e := range edges {
		o.hops[e.From][e.To] = 1
	}
	for via := range n {
		for a := range n {
			for b := range n {
				if x, y := o.hops[a][via], o.hops[via][b]; x > 0 && y > 0 && (o.hops[a][b] == 0 || x+y < o.hops[a][b]) {
					o.hops[a][b] = x + y
				}
			}
		}
	}
	return o
}

func square[T any](n int) [][]T {
	rows := make([][]T, n)
	for i := range rows {
		rows[i] = make([]T, n)
	}
	return rows
}

func (o *oracle) isLegal(p []int32) bool {
	var at [maxOracle]int
	for i, v := range p {
		at[v] = i
	}
	for _, e := range o.edges {
		if at[e.To] > at[e.From] {
			return false
		}
	}
	return true
}

// width tries every set of nodes.
func (o *oracle) width() int {
	widest := 0
	for set := range 1 << o.n {
		if nodes := members(set); len(nodes) > widest && o.isAntichain(nodes) {
			widest = len(nodes)
		}
	}
	return widest
}

func (o *oracle) isAntichain(nodes []int32) bool {
	for i, a := range nodes {
		for _, b := range nodes[:i] {
			if !o.before[a][b] || !o.before[b][a] {
				return false
			}
		}
	}
	return true
}

func (o *oracle) hasEdge(from, to int32) bool { return o.hops[from][to] == 1 }

// isPath reports whether each of nodes consumed an output of the next one.
func (o *oracle) isPath(nodes []int32) bool {
	for i := range nodes[:len(nodes)-1] {
		if !o.hasEdge(nodes[i+1], nodes[i]) {
			return false
		}
	}
	return true
}

// longest tries every set of nodes.
func (o *oracle) longest(cost []int64) int64 {
	most := int64(-1 << 62)
	for set := 1; set < 1<<o.n; set++ {
		nodes := members(set)
		slices.Reverse(nodes)
		if o.isPath(nodes) {
			most = max(most, total(nodes, cost))
		}
	}
	return most
}

func total(nodes []int32, cost []int64) int64 {
	sum := int64(0)
	for _, v := range nodes {
		sum += cost[v]
	}
	return sum
}

func members(set int) []int32 {
	var nodes []int32
	for v := int32(0); set>>v != 0; v++ {
		if set>>v&1 != 0 {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// reached returns which nodes gradients reach from roots when they cannot pass
// through without.
func reached(n int, edges []order.Edge, roots []int32, without int32) []bool {
	in := make([]bool, n)
	for _, v := range roots {
		in[v] = v != without
	}
	for range n {
		for _, e := range edges {
			if in[e.To] && e.From != without {
				in[e.From] = true
			}
		}
	}
	return in
}

// dominators returns for each node those that all gradient paths to it pass
// through, itself included, nearest first; nil when there is no path.
func dominators(n int, edges []order.Edge, roots []int32) [][]int32 {
	all := reached(n, edges, roots, -1)
	dominators := make([][]int32, n)
	for d := range int32(n) {
		for v, in := range reached(n, edges, roots, d) {
			if all[v] && !in {
				dominators[v] = append(dominators[v], d)
			}
		}
	}
	return dominators
}

// simulate sweeps one contribution at a time, and returns what is held at the
// height of each step.
func simulate(s order.Sizes, seq []int32) []order.Moment {
	uses := slices.Clone(s.Uses)
	slices.SortFunc(uses, func(a, b order.Use) int { return cmp.Compare(b.Consumer, a.Consumer) })
	turns := make([][]int, len(s.Grads)) // by tensor: indices of uses that have not been added
	for i, u := range uses {
		turns[u.Tensor] = append(turns[u.Tensor], i)
	}
	gradient := make([]bool, len(s.Grads))
	parked := make([]bool, len(uses))
	for t, grad := range s.Grads {
		gradient[t] = grad.Seeded
	}
	var moments []order.Moment
	for at, v := range seq {
		var m order.Moment
		for t, grad := range s.Grads {
			if gradient[t] {
				m.Gradients += grad.Bytes
			}
		}
		for i, waits := range parked {
			if waits {
				m.Parked += s.Grads[uses[i].Tensor].Bytes
			}
		}
		for b, storage := range s.Storages {
			read, unread := false, false
			for _, r := range s.Readers {
				if r.Storage == int32(b) {
					read = true
					unread = unread || !slices.Contains(seq[:at], r.Node)
				}
			}
			if unread || read && storage.Kept {
				m.Payload += storage.Bytes
			}
		}
		for i, u := range uses {
			if u.Consumer == v {
				m.Output += s.Grads[u.Tensor].Bytes
				parked[i] = true
			}
		}
		moments = append(moments, m)
		for t, turn := range turns {
			for len(turn) > 0 && parked[turn[0]] {
				gradient[t] = true
				parked[turn[0]] = false
				turn = turn[1:]
			}
			turns[t] = turn
		}
		for t, grad := range s.Grads {
			if grad.Producer == v && !grad.Kept {
				gradient[t] = false
			}
		}
	}
	return moments
}

func peakOf(moments []order.Moment) int64 {
	peak := int64(0)
	for _, m := range moments {
		peak = max(peak, m.Held())
	}
	return peak
}

// dress makes a tape of the pairs of nodes that are to be joined: each node has
// two outputs, numbered 2v and 2v+1, of which each pair takes one or both, some
// of them twice; leaves and payload are thrown in.
func dress(rng *rand.Rand, n int, pairs [][2]int32) ([]order.Edge, order.Sizes) {
	var edges []order.Edge
	var s order.Sizes
	if n == 0 {
		return edges, s
	}
	for v := range int32(n) {
		for range 2 {
			s.Grads = append(s.Grads, order.Grad{Bytes: rng.Int64N(20), Producer: v, Kept: rng.IntN(6) == 0, Seeded: rng.IntN(6) == 0})
		}
	}
	for _, p := range pairs {
		tensor := 2*p[0] + rng.Int32N(2)
		for {
			edges = append(edges, order.Edge{From: p[0], To: p[1], Tensor: tensor})
			if rng.IntN(8) > 0 {
				s.Uses = append(s.Uses, order.Use{Tensor: tensor, Consumer: p[1]})
			}
			if rng.IntN(3) > 0 {
				break
			}
			tensor = 2*p[0] + rng.Int32N(2)
		}
	}
	for range rng.IntN(4) {
		leaf := int32(len(s.Grads))
		s.Grads = append(s.Grads, order.Grad{Bytes: rng.Int64N(20), Producer: -1})
		for range rng.IntN(4) {
			s.Uses = append(s.Uses, order.Use{Tensor: leaf, Consumer: rng.Int32N(int32(n))})
		}
	}
	for range rng.IntN(n + 2) {
		storage := int32(len(s.Storages))
		s.Storages = append(s.Storages, order.Storage{Bytes: rng.Int64N(20), Kept: rng.IntN(6) == 0})
		for range rng.IntN(4) {
			s.Readers = append(s.Readers, order.Reader{Storage: storage, Node: rng.Int32N(int32(n))})
		}
	}
	rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	rng.Shuffle(len(s.Uses), func(i, j int) { s.Uses[i], s.Uses[j] = s.Uses[j], s.Uses[i] })
	return edges, s
}
