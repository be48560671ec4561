package cases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/optim"
)

// Steps is a case of type optim: an optimizer's steps on one parameter.
type Steps struct {
	Head
	Optimizer string         `json:"optimizer"` // sgd, adam or adamw
	Hyper     map[string]any `json:"hyper"`
	Param     Tensor         `json:"param"`
	Grads     []*Tensor      `json:"grads"` // by step; nil for no gradient
	Expect    []Tensor       `json:"expect"`
	ExpectAny [][]Tensor     `json:"expect_any"`
}

// stepper is an optimizer.
type stepper interface {
	Step(g optim.Gradients) error
}

// fields are the optimizers' fields by the files' names of them.
var fields = map[string]string{
	"lr": "LR", "momentum": "Momentum", "dampening": "Dampening", "nesterov": "Nesterov", "weight_decay": "WeightDecay",
	"beta1": "Beta1", "beta2": "Beta2", "eps": "Eps", "amsgrad": "AMSGrad",
}

// Run takes the steps and compares the parameter after each.
func (c *Steps) Run() error {
	w := backsweep.NewParam("w", c.Param.value())
	o, err := c.optimizer(w)
	if err != nil {
		return err
	}
	var got []*backsweep.Tensor
	for k, g := range c.Grads {
		grads, err := gradientOf(w, g)
		if err != nil {
			return err
		}
		if err := o.Step(grads); err != nil {
			return fmt.Errorf("step %d: %w", k+1, err)
		}
		got = append(got, w.Clone())
	}
	alternatives := c.ExpectAny
	if c.Expect != nil {
		alternatives = append([][]Tensor{c.Expect}, alternatives...)
	}
	for _, want := range alternatives {
		if err = c.compare(got, want); err == nil {
			return nil
		}
	}
	return err
}

func (c *Steps) compare(got []*backsweep.Tensor, want []Tensor) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d steps, want %d", len(got), len(want))
	}
	for k := range want {
		if err := c.Tol.matchAll(fmt.Sprintf("the parameter after step %d", k+1), got[k], want[k]); err != nil {
			return err
		}
	}
	return nil
}

// optimizer makes the case's optimizer for w and sets its fields.
func (c *Steps) optimizer(w *backsweep.Tensor) (stepper, error) {
	var o stepper
	switch c.Optimizer {
	case "sgd":
		o = optim.NewSGD(0, w)
	case "adam":
		o = optim.NewAdam(0, w)
	case "adamw":
		adamw := optim.NewAdamW(0, w)
		adamw.WeightDecay = 0
		o = adamw
	default:
		return nil, fmt.Errorf("%w: %s", ErrSkipped, c.Optimizer)
	}
	all := reflect.ValueOf(o).Elem()
	for _, name := range slices.Sorted(maps.Keys(c.Hyper)) {
		v := c.Hyper[name]
		field := all.FieldByName(fields[name])
		switch x := reflect.ValueOf(v); {
		case v == nil || field.IsValid() && !x.CanConvert(field.Type()):
			return nil, fmt.Errorf("%s of %s is %v", name, c.Optimizer, v)
		case field.IsValid():
			field.Set(x.Convert(field.Type()))
		case !x.IsZero():
			return nil, fmt.Errorf("%w: %s of %s", ErrSkipped, name, c.Optimizer)
		}
	}
	return o, nil
}

// gradientOf returns the gradients of a sweep in which w's is g, or w has none.
func gradientOf(w *backsweep.Tensor, g *Tensor) (*backsweep.Grads, error) {
	tape := backsweep.NewTape()
	if g == nil {
		return tape.Backward(tape.Watch(backsweep.Scalar(1.0)).Exp())
	}
	return tape.Backward(tape.Watch(w).Mul(g.value()).Sum())
}

// parameters are those of a case, by ascending name.
type parameters struct {
	names  []string
	params []*backsweep.Tensor
}

// gradients returns parameters and a sweep in which each has the case's
// gradient, or none.
func (c *Clip) gradients() (set parameters, grads *backsweep.Grads, err error) {
	tape := backsweep.NewTape()
	loss := tape.Watch(backsweep.Scalar(1.0)).Exp()
	for _, name := range slices.Sorted(maps.Keys(c.Grads)) {
		w := backsweep.NewParam(name, backsweep.Zeros(backsweep.Float64))
		if g := c.Grads[name]; g != nil {
			x := g.value()
			w = backsweep.NewParam(name, backsweep.Zeros(x.DType(), x.Shape()...))
			loss = loss.Add(tape.Watch(w).Mul(x).Sum().Cast(backsweep.Float64))
		}
		set.names, set.params = append(set.names, name), append(set.params, w)
	}
	grads, err = tape.Backward(loss)
	return set, grads, err
}
