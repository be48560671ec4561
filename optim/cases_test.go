package optim_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// caseTensor is a float64 tensor of the case files.
type caseTensor struct {
	DType string    `json:"dtype"`
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// optimizerCase is one sequence of steps of one parameter.
type optimizerCase struct {
	ID        string         `json:"id"`
	Optimizer string         `json:"optimizer"`
	Hyper     map[string]any `json:"hyper"`
	Param     caseTensor     `json:"param"`
	Grads     []*caseTensor  `json:"grads"`
	Expect    []caseTensor   `json:"expect"`
	Tol       struct {
		RTol float64 `json:"rtol"`
		ATol float64 `json:"atol"`
	} `json:"tol"`
}

// notOffered are the cases that ask for what the package does not have.
var notOffered = map[string]string{"sgd-momentum-dampening-first-step": "dampening"}

func TestCases(t *testing.T) {
	text, err := os.ReadFile("../testdata/cases/optimizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []optimizerCase `json:"cases"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) < 8 {
		t.Fatalf("only %d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		if what := notOffered[c.ID]; what != "" {
			t.Logf("%s: there is no %s", c.ID, what)
			continue
		}
		t.Run(c.ID, c.run)
	}
}

func (c *optimizerCase) run(t *testing.T) {
	w := backsweep.NewParam("w", backsweep.New(c.Param.Data, c.Param.Shape...))
	o := c.optimizer(t, w)
	for i, g := range c.Grads {
		var grad *backsweep.Tensor
		if g != nil {
			grad = backsweep.New(g.Data, g.Shape...)
		}
		step(t, o, sweep(t, []*backsweep.Tensor{w}, []*backsweep.Tensor{grad}))
		for k, got := range w.Float64s() {
			want := c.Expect[i].Data[k]
			if !(math.Abs(got-want) <= c.Tol.ATol+c.Tol.RTol*math.Abs(want)) {
				t.Errorf("step %d: element %d is %v, want %v", i+1, k, got, want)
			}
		}
	}
}

func (c *optimizerCase) optimizer(t *testing.T, w *backsweep.Tensor) optimizer {
	sgd, adam := optim.NewSGD(0, w), optim.NewAdam(0, w)
	fields := map[string]any{
		"sgd lr": &sgd.LR, "sgd momentum": &sgd.Momentum, "sgd nesterov": &sgd.Nesterov, "sgd weight_decay": &sgd.WeightDecay,
		"adam lr": &adam.LR, "adam beta1": &adam.Beta1, "adam beta2": &adam.Beta2, "adam eps": &adam.Eps, "adam weight_decay": &adam.WeightDecay,
	}
	for name, v := range c.Hyper {
		switch field := fields[c.Optimizer+" "+name].(type) {
		case *float64:
			*field = v.(float64)
		case *bool:
			*field = v.(bool)
		default:
			t.Fatalf("there is no %s of %s", name, c.Optimizer)
		}
	}
	if c.Optimizer == "sgd" {
		return sgd
	}
	return adam
}
