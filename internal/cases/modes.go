package cases

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/backsweep/backsweep"
)

// modes checks that the forward sweep agrees with gradients that have been
// compared already: with a random direction v, Σ seed·(Jv) = Σ (Jᵀseed)·v.
// Where a term is not finite there is nothing to compare.
func (c *Graph) modes(r *run, grads *backsweep.Grads) error {
	if grads == nil {
		return nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var seeds []backsweep.Seed
	back := sum{}
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		if !c.Inputs[name].Grad {
			continue
		}
		x := r.values[name]
		v := backsweep.Rand(rng, 0.5, 1.5, x.Shape()...).Cast(x.DType())
		seeds = append(seeds, backsweep.Seed{Tensor: x, Tangent: v})
		if d, state := grads.Lookup(x); state == backsweep.Computed {
			back.add(d, v)
		}
	}
	tangents, err := r.tape.Forward(seeds)
	if err != nil {
		return err
	}
	forth := sum{}
	tol := 1e-9
	for _, name := range slices.Sorted(maps.Keys(c.Seed)) {
		y, err := r.output(name)
		if err != nil {
			return err
		}
		if y.Tape() == nil {
			continue
		}
		if y.DType() == backsweep.Float32 {
			tol = 1e-4
		}
		if d, ok := tangents.Lookup(y); ok {
			forth.add(d, c.Seed[name].value())
		}
	}
	size := back.size + forth.size
	if math.IsNaN(size) || math.IsInf(size, 0) || math.Abs(back.of-forth.of) <= tol*(size+1e-300) {
		return nil
	}
	return fmt.Errorf("the modes disagree: %v by gradients, %v by tangents", back.of, forth.of)
}

// sum is a sum of products and of their sizes.
type sum struct{ of, size float64 }

func (s *sum) add(a, b *backsweep.Tensor) {
	other := b.Float64s()
	for i, v := range a.Float64s() {
		p := float64(v * other[i])
		s.of += p
		s.size += math.Abs(p)
	}
}
