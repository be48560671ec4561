package state_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
	"github.com/backsweep/backsweep/state"
)

func Example() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	rng := rand.New(rand.NewPCG(1, 2))
	model := nn.NewLinear(rng, "out", 2, 1)
	adam := optim.NewAdam(1e-3, model.Params()...)

	d := state.Dict{}
	d.Add("model/", nn.State(model))
	d.Add("adam/", adam.State())
	if err := state.Save(path, d); err != nil {
		fmt.Println(err)
		return
	}

	d, err = state.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Names())
	model.B.Fill(5)
	if err := state.Restore(nn.State(model), d.Under("model/")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(model.B, adam.SetState(d.Under("adam/")))

	wider := nn.NewLinear(rng, "out", 3, 1)
	fmt.Println(state.Restore(nn.State(wider), d.Under("model/")))
	fmt.Println(state.Restore(state.Dict{"in": backsweep.Scalar(1.0)}, d.Under("model/")))
	// Output:
	// [adam/out.b/mean adam/out.b/square adam/out.b/steps adam/out.w/mean adam/out.w/square adam/out.w/steps adam/updates model/out.b model/out.w]
	// float32[1] [0] <nil>
	// state: Restore: the tensors do not fit: "out.w" is [2 1], not [3 1]
	// state: Restore: the tensors do not fit: missing: "in"; unexpected: "out.b", "out.w"
}
