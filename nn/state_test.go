package nn_test

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
)

type block struct {
	in   nn.Linear
	Norm nn.BatchNorm
	skip *nn.Linear
	next *block
}

type model struct {
	blocks []block
	Tied   nn.Embedding
	out    *backsweep.Tensor // the table of Tied
	by     map[string]nn.Layer
	Fixed  [2]*backsweep.Tensor
	drop   nn.Dropout
	act    nn.Func
	shape  []int
}

func newModel() *model {
	rng := generator(5)
	skip := nn.NewLinear(rng, "skip", 2, 2)
	m := &model{
		blocks: []block{{in: nn.NewLinear(rng, "in", 2, 2), Norm: nn.NewBatchNorm("norm", 2), skip: &skip}},
		Tied:   nn.NewEmbedding(rng, "table", 3, 2, 1),
		by:     map[string]nn.Layer{"last": nn.NewLinear(rng, "last", 2, 1)},
		Fixed:  [2]*backsweep.Tensor{nil, backsweep.Scalar(1.5)},
		drop:   nn.Dropout{P: 0.5, Rng: rng},
		act:    (*backsweep.Tensor).Tanh,
		shape:  []int{1, 2},
	}
	m.out = m.Tied.Table
	m.blocks[0].next = &block{skip: &skip}
	m.blocks[0].next.next = m.blocks[0].next // a cycle
	return m
}

func TestStateNamesEveryTensor(t *testing.T) {
	m := newModel()
	d := nn.State(m)
	want := []string{"Fixed.1", "blocks.0.Norm.Mean", "blocks.0.Norm.Variance", "in.b", "in.w", "last.b", "last.w", "norm.beta", "norm.gamma", "skip.b", "skip.w", "table"}
	if got := slices.Sorted(maps.Keys(d)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if d["table"] != m.out || d["blocks.0.Norm.Mean"] != m.blocks[0].Norm.Mean {
		t.Error("the state has copies")
	}
	if d := nn.State(nn.Sequential{nn.NewBatchNorm("b", 1)}); d["0.Mean"] == nil || len(d) != 4 {
		t.Errorf("%v", d)
	}
}

func TestStateRefusesOneNameTwice(t *testing.T) {
	defer func() {
		if e, ok := recover().(*backsweep.Error); !ok || e.What != `two tensors have the name "w"` {
			t.Errorf("%v", e)
		}
	}()
	w := func() *backsweep.Tensor { return backsweep.NewParam("w", backsweep.Scalar(1.0)) }
	nn.State([]*backsweep.Tensor{w(), w()})
}

func TestCloneSharesNoTensor(t *testing.T) {
	m := newModel()
	c := nn.Clone(m)
	before, after := nn.State(m), nn.State(c)
	if !slices.Equal(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))) {
		t.Fatalf("the copy has %v", after)
	}
	for name, x := range before {
		y := after[name]
		if x == y || x.IsParam() != y.IsParam() || x.Name() != y.Name() || !reflect.DeepEqual(x.Float64s(), y.Float64s()) {
			t.Errorf("%s: %v became %v", name, x, y)
		}
		x.Fill(7)
		if y.Float64s()[0] == 7 {
			t.Errorf("%s: a change of the model is one of the copy", name)
		}
	}
	if c.out != c.Tied.Table {
		t.Error("what was shared is not in the copy")
	}
	if next := c.blocks[0].next; next.next != next || next == m.blocks[0].next || next.skip != c.blocks[0].skip {
		t.Error("the cycle is lost")
	}
	if c.drop.Rng != m.drop.Rng || &c.shape[0] != &m.shape[0] || c.act == nil {
		t.Error("what has no tensors was copied")
	}
}

func TestCloneOfLayers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := nn.Sequential{nn.NewLinear(rng, "l", 2, 2), nn.Func((*backsweep.Tensor).Relu), nn.NewLinear(rng, "m", 2, 1)}
	var l nn.Layer = s
	x := backsweep.New([]float32{1, 2}, 1, 2)
	c := nn.Clone(l)
	want := s.Forward(x).Item()
	if got := c.Forward(x).Item(); got != want {
		t.Errorf("the copy says %v, not %v", got, want)
	}
	for _, p := range s.Params() {
		p.Fill(0)
	}
	if got := c.Forward(x).Item(); got != want {
		t.Errorf("the copy says %v after the model was changed", got)
	}
	linear := nn.Clone(nn.NewLinear(rng, "v", 1, 1))
	if !linear.W.IsParam() {
		t.Error("a copy by value has no parameter")
	}
}

func TestCloneRefusesARecordedTensor(t *testing.T) {
	defer func() {
		if e, ok := recover().(*backsweep.Error); !ok || e.What != `0 is on a tape` {
			t.Errorf("%v", e)
		}
	}()
	nn.Clone([]*backsweep.Tensor{backsweep.NewTape().Input("x", backsweep.Scalar(1.0))})
}
