package kernel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
	"pgregory.net/rapid"
)

func TestSGDStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "n")
		s := kernel.SGD{
			Rate:      0.1,
			Momentum:  rapid.SampledFrom([]float64{0, 0.9}).Draw(t, "momentum"),
			Dampening: rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "dampening"),
			Decay:     rapid.SampledFrom([]float64{0, 0.01}).Draw(t, "decay"),
			Nesterov:  rapid.Bool().Draw(t, "nesterov"),
		}
		w := ordinary[float64](t, n, "w")
		want, mom := slices.Clone(w), make([]float64, n)
		var b []float64
		if s.Momentum != 0 {
			b = slices.Repeat([]float64{math.NaN()}, n) // the first step must not read it
		}
		for step := range 3 {
			g := ordinary[float64](t, n, "g")
			s.First = step == 0
			kernel.SGDStep(w, g, b, s)
			for i := range want {
				d := g[i] + s.Decay*want[i]
				if s.Momentum != 0 {
					if s.First {
						mom[i] = d
					} else {
						mom[i] = s.Momentum*mom[i] + (1-s.Dampening)*d
					}
					if s.Nesterov {
						d += s.Momentum * mom[i]
					} else {
						d = mom[i]
					}
				}
				want[i] -= s.Rate * d
				requireNear(t, "weight", w[i], want[i], 1e-14)
			}
		}
	})
}

func TestAdamStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "n")
		a := kernel.Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8,
			Decay: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "decay"), Decoupled: rapid.Bool().Draw(t, "decoupled")}
		w := ordinary[float64](t, n, "w")
		want, m, v := slices.Clone(w), make([]float64, n), make([]float64, n)
		rm, rv := make([]float64, n), make([]float64, n)
		for step := range 3 {
			g := ordinary[float64](t, n, "g")
			a.Step = step + 1
			kernel.AdamStep(w, g, m, v, a)
			for i := range want {
				d := g[i]
				if a.Decoupled {
					want[i] -= a.Rate * a.Decay * want[i]
				} else {
					d += a.Decay * want[i]
				}
				rm[i] = 0.9*rm[i] + 0.1*d
				rv[i] = 0.999*rv[i] + 0.001*d*d
				want[i] -= a.Rate * (rm[i] / (1 - math.Pow(0.9, float64(a.Step)))) / (math.Sqrt(rv[i]/(1-math.Pow(0.999, float64(a.Step)))) + a.Eps)
				requireNear(t, "weight", w[i], want[i], 1e-12)
			}
		}
	})
}

func TestAdamRowsLeavesOtherRowsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		idx, rows := indices(t, rapid.IntRange(0, 20).Draw(t, "n"))
		slices.Sort(idx)
		idx = slices.Compact(idx)
		width := rapid.IntRange(1, 5).Draw(t, "width")
		a := kernel.Adam{Rate: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Step: 3}
		w := ordinary[float32](t, rows*width, "w")
		m := ordinary[float32](t, rows*width, "m")
		v := ordinary[float32](t, rows*width, "v")
		kernel.Square(v, v)
		g := ordinary[float32](t, len(idx)*width, "g")
		ww, wm, wv := slices.Clone(w), slices.Clone(m), slices.Clone(v)
		kernel.AdamRows(w, g, m, v, idx, width, a)
		for i, r := range idx {
			lo, hi := int(r)*width, (int(r)+1)*width
			kernel.AdamStep(ww[lo:hi], g[i*width:(i+1)*width], wm[lo:hi], wv[lo:hi], a)
		}
		requireBits(t, "weights", w, ww)
		requireBits(t, "first average", m, wm)
		requireBits(t, "second average", v, wv)
	})
}
