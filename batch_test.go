package backsweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every row's rules, lifted over a batch of cotangents or tangents, have the
// bits of one sweep for each.
func TestBatchedSweepsHaveTheBitsOfSingleOnes(t *testing.T) {
	const k = 3
	for code := range table {
		o := &table[code]
		if o.is(constantOp) {
			continue
		}
		for i, s := range o.samples {
			t.Run(fmt.Sprintf("%s/%d", o.name, i), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(code), uint64(i)))
				tape := NewTape()
				var xs []*Tensor
				for j, d := range s.in {
					x := d.draw(rng, Float64)
					if x.DType().IsFloat() && !o.nograd.in(j) {
						x = tape.Watch(x)
					} else {
						x = tape.Input("", x)
					}
					xs = append(xs, x)
				}
				at := s.at
				ys := applyAll(opcode(code), &at, xs)
				for _, y := range ys {
					if y.DType().IsFloat() {
						batchedRows(t, rng, tape, xs, y, k)
					}
				}
				for _, x := range xs {
					if x.DType().IsFloat() && tape.value(x.id).has(watched) {
						batchedColumns(t, rng, tape, x, ys, k)
					}
				}
			})
		}
	}
}

func draws(rng *rand.Rand, k int, shape []int) *Tensor {
	return Randn(rng, append([]int{k}, shape...)...).Cast(Float64)
}

func batchedRows(t *testing.T, rng *rand.Rand, tape *Tape, xs []*Tensor, y *Tensor, k int) {
	t.Helper()
	c := draws(rng, k, y.Shape())
	all, err := tape.BackwardFrom([]Root{{y, c}}, Retain(), batched(k))
	if err != nil {
		t.Fatal(err)
	}
	for i := range k {
		one, err := tape.BackwardFrom([]Root{{y, c.Index(i).Clone()}}, Retain())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range xs {
			want, state := one.Lookup(x)
			got, also := all.Lookup(x)
			if state != also {
				t.Fatalf("the gradient is %s in a batch and %s alone", also, state)
			}
			if state == Computed {
				sameBits(t, got.Index(i), want)
			}
		}
	}
}

func batchedColumns(t *testing.T, rng *rand.Rand, tape *Tape, x *Tensor, ys []*Tensor, k int) {
	t.Helper()
	c := draws(rng, k, x.Shape())
	all, err := tape.Forward([]Seed{{x, c}}, batched(k))
	if err != nil {
		t.Fatal(err)
	}
	for i := range k {
		one, err := tape.Forward([]Seed{{x, c.Index(i).Clone()}})
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range ys {
			want, ok := one.Lookup(y)
			got, also := all.Lookup(y)
			if ok != also {
				t.Fatalf("the tangent is there in a batch: %v, alone: %v", also, ok)
			}
			if ok {
				sameBits(t, got.Index(i), want)
			}
		}
	}
}

func sameBits(t *testing.T, a, b *Tensor) {
	t.Helper()
	x, y := a.Float64s(), b.Float64s()
	if len(x) != len(y) {
		t.Fatalf("%v in a batch, %v alone", a, b)
	}
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			t.Fatalf("element %d is %v in a batch and %v alone", i, x[i], y[i])
		}
	}
}
