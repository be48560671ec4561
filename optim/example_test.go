package optim_test

import (
	"errors"
	"fmt"
	"math"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

func ExampleClipNorm() {
	w := backsweep.NewParam("w", backsweep.New([]float64{3, 4}))
	sgd := optim.NewSGD(1, w)
	tape := backsweep.NewTape()
	for _, scale := range []float64{0.5, math.Inf(1)} {
		tape.Reset()
		grads, err := tape.Backward(tape.Watch(w).Square().Sum().MulScalar(scale))
		if err != nil {
			fmt.Println(err)
			return
		}
		clipped, norm, err := optim.ClipNorm(grads, 1, 2, sgd.Params()...)
		if errors.Is(err, optim.ErrNotFinite) {
			fmt.Println("left out:", err)
			continue
		}
		if err := sgd.Step(clipped); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(norm, w)
	}
	// Output:
	// 5 float64[2] [2.4 3.2]
	// left out: optim: ClipNorm: the norm is +Inf, because of the gradient of w: gradients are not finite
}

func ExampleGroup() {
	weights := backsweep.NewParam("weights", backsweep.New([]float64{1, 1}))
	bias := backsweep.NewParam("bias", backsweep.Scalar(1.0))
	adam := optim.NewAdamW(1e-3, weights)
	adam.Schedule = optim.WarmUp(4, optim.Cosine(1e-3, 0, 100))
	group := adam.AddGroup(bias) // the same, but
	group.WeightDecay = 0
	fmt.Println(adam.Rate(), adam.WeightDecay, group.Rate(), group.WeightDecay)
	// Output: 0.0002 0.01 0.0002 0
}
