package backsweep_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// dag is a graph of ops drawn by chance: the same seed records the same ops on
// the same values, as often as a test likes.
type dag struct {
	seed       uint64
	rows, cols int
	params     []*bs.Tensor // a matrix, a bias, a table of rows, a full one
	input      *bs.Tensor
}

// growth is a dag as it was recorded once.
type growth struct {
	*dag
	tape  *bs.Tape
	rng   *rand.Rand
	vals  []*bs.Tensor // float tensors, in the order in which they were made
	roots []bs.Root
	asked []*bs.Tensor // params and watched tensors

	// apart hands each operand to its consumer through a view of its own, whose
	// gradient is then exactly that consumer's contribution.
	apart bool
	uses  []use
}

// use is one operand slot of one node.
type use struct {
	val, node, slot int
	view            *bs.Tensor // what the operand went through, when apart
}

// The params of a dag.
const (
	matrix = iota
	bias
	table
	plane
	tableRows = 9
)

func newDAG(seed uint64) *dag {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := &dag{seed: seed, rows: 2 + rng.IntN(5), cols: 2 + rng.IntN(5)}
	if seed%5 == 0 {
		d.rows, d.cols = 137+rng.IntN(20), 17+rng.IntN(5) // sums over these split
	}
	for i, shape := range [][]int{{d.cols, d.cols}, {d.cols}, {tableRows, d.cols}, {d.rows, d.cols}} {
		d.params = append(d.params, bs.NewParam(fmt.Sprintf("w%d", i), bs.Randn(rng, shape...)))
	}
	d.input = bs.Randn(rng, d.rows, d.cols)
	return d
}

func (d *dag) full(x *bs.Tensor) bool {
	return x.Rank() == 2 && x.Dim(0) == d.rows && x.Dim(1) == d.cols
}

// record grows the dag on an empty tape.
func (d *dag) record(tape *bs.Tape, apart bool) *growth {
	g := &growth{dag: d, tape: tape, rng: rand.New(rand.NewPCG(d.seed, 2)), apart: apart}
	for _, p := range d.params {
		g.vals = append(g.vals, tape.Watch(p))
		g.asked = append(g.asked, p)
	}
	x := tape.Input("x", d.input)
	if g.chance(2) {
		x = tape.Watch(x)
		g.asked = append(g.asked, x)
	}
	g.vals = append(g.vals, x)
	hub := -1
	at := g.rng.IntN(12)
	for step := range 12 {
		if step == at {
			hub = g.hub()
		}
		g.step()
		if last := len(g.vals) - 1; g.chance(6) {
			g.asked = append(g.asked, tape.Watch(g.vals[last]))
		}
		if g.chance(6) {
			g.vals[len(g.vals)-1].Keep()
		}
	}
	g.root(hub)
	return g
}

func (g *growth) chance(n int) bool { return g.rng.IntN(n) == 0 }

// op applies one op to values and returns the number of its first output.
func (g *growth) op(f func(x []*bs.Tensor) []*bs.Tensor, in ...int) int {
	x := make([]*bs.Tensor, len(in))
	first := len(g.uses)
	// A tensor that a node consumes twice gets the lower slot's contribution
	// first, so that slot's view must be the younger one.
	for i := len(in) - 1; i >= 0; i-- {
		x[i] = g.vals[in[i]]
		u := use{val: in[i], slot: i}
		if g.apart {
			x[i] = x[i].Reshape(x[i].Shape()...)
			u.view = x[i]
		}
		g.uses = append(g.uses, u)
	}
	out := f(x)
	for i := first; i < len(g.uses); i++ {
		g.uses[i].node = out[0].Node()
	}
	g.vals = append(g.vals, out...)
	return len(g.vals) - len(out)
}

func one(x *bs.Tensor) []*bs.Tensor { return []*bs.Tensor{x} }

func (g *growth) op1(f func(x *bs.Tensor) *bs.Tensor, a int) int {
	return g.op(func(x []*bs.Tensor) []*bs.Tensor { return one(f(x[0])) }, a)
}

func (g *growth) op2(f func(x, y *bs.Tensor) *bs.Tensor, a, b int) int {
	return g.op(func(x []*bs.Tensor) []*bs.Tensor { return one(f(x[0], x[1])) }, a, b)
}

// pick returns a value that pred likes, the younger the likelier.
func (g *growth) pick(pred func(x *bs.Tensor) bool) int {
	var fit []int
	for i, x := range g.vals {
		if pred(x) {
			fit = append(fit, i)
		}
	}
	a, b := g.rng.IntN(len(fit)), g.rng.IntN(len(fit))
	return fit[max(a, b)]
}

func (g *growth) anyFull() int { return g.pick(g.full) }

// small is a value that broadcasts to the full shape.
func (g *growth) small() int {
	return g.pick(func(x *bs.Tensor) bool {
		s := x.Shape()
		return len(s) == 0 || len(s) == 1 && s[0] == g.cols || len(s) == 2 && (s[0] == 1 || s[0] == g.rows) && (s[1] == 1 || s[1] == g.cols)
	})
}

var dagUnary = []func(x *bs.Tensor) *bs.Tensor{
	(*bs.Tensor).Tanh, (*bs.Tensor).Sigmoid, (*bs.Tensor).Gelu, (*bs.Tensor).Relu, (*bs.Tensor).Abs, (*bs.Tensor).Neg,
	func(x *bs.Tensor) *bs.Tensor { return x.MulScalar(0.7) },
	func(x *bs.Tensor) *bs.Tensor { return x.AddScalar(0.3) },
	func(x *bs.Tensor) *bs.Tensor { return x.Softmax(1) },
	func(x *bs.Tensor) *bs.Tensor { return x.LogSoftmax(-1) },
	func(x *bs.Tensor) *bs.Tensor { return x.Slice(bs.Range{Start: -1, Stop: bs.End, Step: -1}) },
	func(x *bs.Tensor) *bs.Tensor { return x.Detach() },
}

var dagBinary = []func(x, y *bs.Tensor) *bs.Tensor{
	(*bs.Tensor).Add, (*bs.Tensor).Sub, (*bs.Tensor).Mul, (*bs.Tensor).Maximum, (*bs.Tensor).Minimum, (*bs.Tensor).Add, (*bs.Tensor).Mul,
}

var dagReduce = []func(x *bs.Tensor) *bs.Tensor{
	func(x *bs.Tensor) *bs.Tensor { return x.MeanKeep(1) },
	func(x *bs.Tensor) *bs.Tensor { return x.MaxKeep(0) },
	func(x *bs.Tensor) *bs.Tensor { return x.LogSumExpKeep(1) },
	func(x *bs.Tensor) *bs.Tensor { return x.Mean(0) },
	func(x *bs.Tensor) *bs.Tensor { return x.Mean() },
	func(x *bs.Tensor) *bs.Tensor { return x.Min() },
	func(x *bs.Tensor) *bs.Tensor { return x.SumKeep(0) },
}

func (g *growth) index(n, below int) *bs.Tensor {
	d := make([]int64, n)
	for i := range d {
		d[i] = int64(g.rng.IntN(below))
	}
	return bs.New(d)
}

// step records one or two ops; what could grow without bound goes through tanh.
func (g *growth) step() {
	rng := g.rng
	tanh := (*bs.Tensor).Tanh
	switch rng.IntN(12) {
	case 0:
		g.op1(dagUnary[rng.IntN(len(dagUnary))], g.anyFull())
	case 1:
		g.op1(tanh, g.op2(dagBinary[rng.IntN(len(dagBinary))], g.anyFull(), g.anyFull()))
	case 2:
		a := g.anyFull()
		g.op1(tanh, g.op2(dagBinary[rng.IntN(3)], a, a))
	case 3:
		a, b := g.anyFull(), g.small()
		if g.chance(2) {
			a, b = b, a
		}
		g.op1(tanh, g.op2(dagBinary[rng.IntN(len(dagBinary))], a, b))
	case 4:
		g.op1(tanh, g.op1(dagReduce[rng.IntN(len(dagReduce))], g.anyFull()))
	case 5:
		w := g.params[matrix].T() // a view of a parameter joins by itself
		g.op1(tanh, g.op1(func(x *bs.Tensor) *bs.Tensor { return x.MatMul(w) }, g.anyFull()))
	case 6:
		g.op1(tanh, g.op(func(x []*bs.Tensor) []*bs.Tensor { return one(x[0].Linear(x[1], x[2])) }, g.anyFull(), matrix, bias))
	case 7:
		k := 1 + rng.IntN(g.rows-1)
		p := g.op(func(x []*bs.Tensor) []*bs.Tensor { return x[0].Split(0, k, g.rows-k) }, g.anyFull())
		if g.chance(3) {
			g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Mean(0) }, p+rng.IntN(2)) // the other part stays unused
			return
		}
		g.op(func(x []*bs.Tensor) []*bs.Tensor { return one(bs.Concat(0, x...)) }, p+1, p)
	case 8:
		mask := make([]bool, g.rows*g.cols)
		for i := range mask {
			mask[i] = g.chance(2)
		}
		cond := bs.New(mask, g.rows, g.cols)
		g.op2(func(x, y *bs.Tensor) *bs.Tensor { return bs.Where(cond, x, y) }, g.anyFull(), g.anyFull())
	case 9:
		g.lookup()
	case 10:
		index := g.index(g.rows, g.rows)
		g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Take(index, 0) }, g.anyFull())
	default:
		index := g.index(g.rows*g.cols, g.rows).Reshape(g.rows, g.cols)
		if g.chance(2) {
			g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Gather(index, 0) }, g.anyFull())
			return
		}
		g.op1(tanh, g.op2(func(x, y *bs.Tensor) *bs.Tensor { return x.ScatterAdd(index, y, 0) }, g.anyFull(), g.anyFull()))
	}
}

// lookup reads the table of rows, whose gradient is then row-sparse, or mixed.
func (g *growth) lookup() {
	index := g.index(2*g.rows, tableRows)
	offsets := make([]int64, g.rows)
	for i := range offsets {
		offsets[i] = int64(2 * i)
	}
	off := bs.New(offsets)
	switch g.rng.IntN(4) {
	case 0:
		index = g.index(g.rows, tableRows)
		g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Embedding(index) }, table)
	case 1:
		g.op1(func(x *bs.Tensor) *bs.Tensor { return x.EmbeddingBag(index, off) }, table)
	case 2:
		g.op1(func(x *bs.Tensor) *bs.Tensor { return x.EmbeddingBagSum(index, off) }, table)
	default:
		g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Mean(0) }, table)
	}
}

// hub gives one value up to 64 consumers and returns their mean or sum.
func (g *growth) hub() int {
	h := g.op1((*bs.Tensor).Tanh, g.op2((*bs.Tensor).Add, g.anyFull(), plane)) // a gradient always flows
	n := 12 + g.rng.IntN(53)
	outs := make([]int, n)
	for i := range outs {
		scale := 0.2 + float64(0.1*g.rng.NormFloat64())
		switch g.rng.IntN(3) {
		case 0:
			outs[i] = g.op1(func(x *bs.Tensor) *bs.Tensor { return x.MulScalar(scale) }, h)
		case 1:
			outs[i] = g.op2((*bs.Tensor).Mul, h, plane)
		default:
			outs[i] = g.op1((*bs.Tensor).Sigmoid, h)
		}
	}
	if g.chance(2) {
		s := g.op(func(x []*bs.Tensor) []*bs.Tensor { return one(bs.Stack(0, x...)) }, outs...)
		return g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Mean(0) }, s)
	}
	sum := outs[0]
	for _, o := range outs[1:] {
		sum = g.op2((*bs.Tensor).Add, sum, o)
	}
	return g.op1((*bs.Tensor).Tanh, sum)
}

// root chooses one to three places to start from, the last one perhaps twice.
// The first is a loss to which the value sum and others lead.
func (g *growth) root(sum int) {
	for i := len(g.vals) - 1; i > len(g.params); i -= 1 + g.rng.IntN(4) {
		if g.full(g.vals[i]) {
			sum = g.op2((*bs.Tensor).Add, sum, i)
		}
	}
	w := bs.Randn(g.rng, g.rows, g.cols)
	loss := g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Mean() }, g.op1(func(x *bs.Tensor) *bs.Tensor { return x.Mul(w) }, sum))
	g.roots = []bs.Root{{Tensor: g.vals[loss]}}
	for range g.rng.IntN(3) {
		v := g.vals[g.anyFull()]
		g.roots = append(g.roots, bs.Root{Tensor: v, Cotangent: bs.Randn(g.rng, v.Shape()...)})
	}
	if n := len(g.roots); g.chance(3) && n > 1 {
		v := g.roots[n-1].Tensor
		g.roots = append(g.roots, bs.Root{Tensor: v, Cotangent: bs.Randn(g.rng, v.Shape()...)})
	}
}

// answer is what a sweep said of each tensor: its state and its bits.
type answer struct {
	states []bs.State
	data   [][]float32
}

func answerOf(g *bs.Grads, of []*bs.Tensor) answer {
	a := answer{make([]bs.State, len(of)), make([][]float32, len(of))}
	for i, x := range of {
		d, state := g.Lookup(x)
		a.states[i] = state
		if d != nil {
			a.data[i] = bs.Data[float32](d)
		}
	}
	return a
}

// differs names the first tensor on which two answers do not agree, bit by bit.
func (a answer) differs(b answer) string {
	for i := range a.states {
		if a.states[i] != b.states[i] {
			return fmt.Sprintf("state of tensor %d: %s, not %s", i, b.states[i], a.states[i])
		}
		if k := firstBit(a.data[i], b.data[i]); k >= 0 {
			return fmt.Sprintf("tensor %d, element %d: %v, not %v", i, k, b.data[i][k], a.data[i][k])
		}
	}
	return ""
}

// firstBit is the first element that differs in a bit, or -1.
func firstBit(a, b []float32) int {
	for k := range a {
		if math.Float32bits(a[k]) != math.Float32bits(b[k]) {
			return k
		}
	}
	return -1
}

// verified fails the test when the tape breaks one of its invariants.
func verified(t testing.TB, tape *bs.Tape) {
	t.Helper()
	if err := tape.Verify(); err != nil {
		t.Fatal(err)
	}
}
