package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
)

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// moments are the mean and the standard deviation of the elements.
func moments(x *backsweep.Tensor) (mean, std float64) {
	d := x.Float64s()
	for _, v := range d {
		mean += v / float64(len(d))
	}
	for _, v := range d {
		std += (v - mean) * (v - mean) / float64(len(d))
	}
	return mean, math.Sqrt(std)
}

func TestFirstValues(t *testing.T) {
	l := nn.NewLinear(generator(1), "hidden", 64, 400)
	if mean, std := moments(l.W); math.Abs(mean) > 0.005 || math.Abs(std-0.125) > 0.005 {
		t.Errorf("W has mean %v and deviation %v, want 0 and 1/8", mean, std)
	}
	if mean, std := moments(l.B); mean != 0 || std != 0 {
		t.Errorf("B is %v", l.B)
	}
	e := nn.NewEmbeddingBag(generator(1), "table", 500, 64, 0.1)
	if mean, std := moments(e.Table); math.Abs(mean) > 0.005 || math.Abs(std-0.1) > 0.005 {
		t.Errorf("the table has mean %v and deviation %v, want 0 and 0.1", mean, std)
	}
	for _, p := range append(l.Params(), e.Params()...) {
		if !p.IsParam() {
			t.Errorf("%s is no parameter", p.Name())
		}
	}
	if names := []string{l.W.Name(), l.B.Name(), e.Table.Name()}; !reflect.DeepEqual(names, []string{"hidden.w", "hidden.b", "table"}) {
		t.Errorf("names %v", names)
	}
}

func TestTheGeneratorDecidesTheValues(t *testing.T) {
	draw := func(seed uint64) []float32 {
		return backsweep.Data[float32](nn.NewLinear(generator(seed), "l", 3, 4).W)
	}
	if !reflect.DeepEqual(draw(1), draw(1)) || reflect.DeepEqual(draw(1), draw(2)) {
		t.Error("the values do not follow the generator")
	}
}

func TestForwardIsTheSameOnATape(t *testing.T) {
	rng := generator(2)
	l, e := nn.NewLinear(rng, "l", 3, 2), nn.NewEmbedding(rng, "e", 5, 3, 1)
	b := nn.EmbeddingBag(e)
	index, offsets := backsweep.New([]int64{4, 0, 0}), backsweep.New([]int64{0, 1, 1})
	tape := backsweep.NewTape()
	onTape := tape.Input("index", index)
	for name, pair := range map[string][2]*backsweep.Tensor{
		"embedding": {l.Forward(e.Forward(index)), l.Forward(e.Forward(onTape))},
		"bag":       {l.Forward(b.Forward(index, offsets)), l.Forward(b.Forward(onTape, offsets))},
	} {
		if pair[0].Tape() != nil || pair[1].Tape() != tape {
			t.Errorf("%s: on the wrong tape", name)
		}
		if !reflect.DeepEqual(backsweep.Data[float32](pair[0]), backsweep.Data[float32](pair[1])) {
			t.Errorf("%s: %v, on a tape %v", name, pair[0], pair[1])
		}
	}
}

func ExampleLinear() {
	l := nn.Linear{
		W: backsweep.NewParam("w", backsweep.New([]float64{1, 2, 3, 4}, 2, 2)),
		B: backsweep.NewParam("b", backsweep.New([]float64{10, 20})),
	}
	fmt.Println(l.Forward(backsweep.New([]float64{1, 1})))
	// Output: float64[2] [14 26]
}

func ExampleEmbeddingBag() {
	e := nn.EmbeddingBag{Table: backsweep.NewParam("table", backsweep.New([]float64{0, 1, 2, 3, 4, 5}, 3, 2))}
	words, starts := backsweep.New([]int64{0, 2, 2}), backsweep.New([]int64{0, 2, 3}) // the last bag is empty
	fmt.Println(e.Forward(words, starts))
	// Output: float64[3,2] [[2 3] [4 5] [0 0]]
}
