package nn_test

import (
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
)

// step runs training steps, without the optimizer, on one tape.
func step(b *testing.B, f func(tape *backsweep.Tape) *backsweep.Tensor) {
	tape := backsweep.NewTape()
	for b.Loop() {
		loss := f(tape)
		if _, err := tape.Backward(loss); err != nil {
			b.Fatal(err)
		}
		tape.Reset()
	}
}

func BenchmarkLeNet(b *testing.B) {
	rng := generator(1)
	tanh := nn.Func((*backsweep.Tensor).Tanh)
	net := nn.Sequential{
		nn.NewConv2d(rng, "c1", 1, 6, 5, backsweep.ConvSpec{Pad: []int{2}}), tanh, nn.MaxPool{Kernel: []int{2}},
		nn.NewConv2d(rng, "c2", 6, 16, 5, backsweep.ConvSpec{}), tanh, nn.MaxPool{Kernel: []int{2}}, nn.Flatten(),
		nn.NewLinear(rng, "f1", 400, 120), tanh, nn.NewLinear(rng, "f2", 120, 84), tanh, nn.NewLinear(rng, "f3", 84, 10),
	}
	x := backsweep.Randn(rng, 32, 1, 28, 28)
	y := backsweep.Zeros(backsweep.Int64, 32)
	step(b, func(tape *backsweep.Tape) *backsweep.Tensor { return net.Forward(tape.Input("x", x)).CrossEntropy(y) })
}

func BenchmarkLSTM(b *testing.B) {
	rng := generator(1)
	l := nn.NewLSTM(rng, "l", 128, 128)
	x := backsweep.Randn(rng, 16, 50, 128)
	step(b, func(tape *backsweep.Tape) *backsweep.Tensor {
		_, y, _ := l.Forward(tape.Input("x", x), nil, nil)
		return y.Square().Sum()
	})
}

func BenchmarkTransformer(b *testing.B) {
	rng := generator(1)
	e1, e2 := nn.NewTransformerEncoder(rng, "a", 128, 4, 512), nn.NewTransformerEncoder(rng, "b", 128, 4, 512)
	x := backsweep.Randn(rng, 8, 64, 128)
	step(b, func(tape *backsweep.Tape) *backsweep.Tensor {
		return e2.Forward(e1.Forward(tape.Input("x", x), backsweep.AttentionSpec{Causal: true}), backsweep.AttentionSpec{Causal: true}).Square().Mean()
	})
}
