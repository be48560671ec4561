package optim

import (
	"fmt"
	"slices"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/fit"
)

// What an optimizer keeps between steps is a dictionary of tensors: "updates",
// the number of its steps; for each parameter NAME/steps, the number of those in
// which it had a gradient, and what the method keeps for it, such as NAME/mean.
// Settings (rates, decays, schedules) are the program's, and not in it. With the
// same settings, an optimizer to which the state of another was set goes on
// exactly as that one would have.

// snapshot copies the state. names are those of the slots that are kept.
func (o *steps) snapshot(names []string) map[string]*backsweep.Tensor {
	d := map[string]*backsweep.Tensor{"updates": backsweep.Scalar(int64(o.updates))}
	put := func(key string, x *backsweep.Tensor) {
		if d[key] != nil {
			panic(misuse(o.name+".State", "give parameters names of their own", fmt.Sprintf("two parameters make the name %q", key)))
		}
		d[key] = x
	}
	for _, e := range o.params {
		name, shape := e.param.Name(), e.param.Shape()
		put(name+"/steps", backsweep.Scalar(int64(e.steps)))
		for i, n := range names {
			if n == "" {
				continue
			}
			var x *backsweep.Tensor
			if e.param.DType() == backsweep.Float32 {
				x = copied(e.f32[i], e.param, shape)
			} else {
				x = copied(e.f64[i], e.param, shape)
			}
			put(name+"/"+n, x)
		}
	}
	return d
}

func copied[T float32 | float64](from []T, p *backsweep.Tensor, shape []int) *backsweep.Tensor {
	if from == nil {
		return backsweep.Zeros(p.DType(), shape...)
	}
	return backsweep.New(from, append([]int{}, shape...)...)
}

// restore sets the state. On an error it has set nothing.
func (o *steps) restore(names []string, d map[string]*backsweep.Tensor) (err error) {
	defer backsweep.Catch(&err)
	if err := fit.Check(o.snapshot(names), d); err != nil {
		return fmt.Errorf("%s.SetState: %w", o.name, err)
	}
	count := func(key string) int64 { return backsweep.Data[int64](d[key])[0] }
	keys := []string{"updates"}
	for _, e := range o.params {
		keys = append(keys, e.param.Name()+"/steps")
	}
	for _, key := range keys {
		if n := count(key); n < 0 {
			return fmt.Errorf("%s.SetState: %q is %d, and a number of steps is not negative", o.name, key, n)
		}
	}
	o.updates = int(count("updates"))
	for _, e := range o.params {
		name := e.param.Name()
		e.steps = int(count(name + "/steps"))
		e.f32, e.f64 = [slots][]float32{}, [slots][]float64{}
		for i, n := range names {
			switch {
			case n == "" || e.steps == 0:
			case e.param.DType() == backsweep.Float32:
				e.f32[i] = backsweep.Data[float32](d[name+"/"+n])
			default:
				e.f64[i] = backsweep.Data[float64](d[name+"/"+n])
			}
		}
	}
	return nil
}

// keeps reports whether something is kept in a slot for any parameter.
func (o *steps) keeps(slot int) bool {
	return slices.ContainsFunc(o.params, func(e *entry) bool { return e.f32[slot] != nil || e.f64[slot] != nil })
}
