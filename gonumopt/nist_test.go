package gonumopt_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gonumopt"
)

// Misra1a of the Statistical Reference Datasets of the National Institute of
// Standards and Technology (public domain): D. Misra's dental research of
// monomolecular adsorption, 1978. Volume by pressure, 14 observations, the model
// y = b1·(1 - exp(-b2·x)).
var (
	misraY = []float64{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78}
	misraX = []float64{77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0}
)

// The certified values, to 11 digits.
var (
	misraB      = []float64{2.3894212918e+02, 5.5015643181e-04}
	misraDev    = []float64{2.7070075241e+00, 7.2668688436e-06}
	misraSquare = 1.2455138894e-01
)

// misra1a is the sum of squared residuals; the parameters are in units of 100 and
// 1e-4, so that one step fits both.
func misra1a(in ...*backsweep.Tensor) *backsweep.Tensor {
	b1, b2 := in[0].Index(0).MulScalar(100), in[0].Index(1).MulScalar(1e-4)
	x, y := backsweep.New(misraX), backsweep.New(misraY)
	return b1.Mul(x.Mul(b2).Neg().Exp().Neg().AddScalar(1)).Sub(y).Square().Sum()
}

func TestMisra1a(t *testing.T) {
	for _, start := range [][]float64{{5, 1}, {2.5, 5}} { // NIST's own two, 500 and 250
		for name, m := range map[string]optimize.Method{"Newton": &optimize.Newton{}, "BFGS": &optimize.BFGS{}} {
			result, err := optimize.Minimize(gonumopt.Problem(misra1a), start, &optimize.Settings{GradientThreshold: 1e-9, Converger: optimize.NeverTerminate{}, MajorIterations: 2000}, m)
			if result == nil {
				t.Errorf("%s from %v: %v", name, start, err)
				continue
			}
			for i, scale := range []float64{100, 1e-4} {
				if got := result.X[i] * scale; math.Abs(got/misraB[i]-1) > 1e-8 {
					t.Errorf("%s from %v: b%d is %.11g, certified %.11g (%v)", name, start, i+1, got, misraB[i], err)
				}
			}
			// The deviations that the institute certifies leave the residuals' own
			// curvature out, which is small here.
			h, err := backsweep.Hessian(misra1a, backsweep.New(result.X))
			if err != nil {
				t.Fatal(err)
			}
			covariance := h.Inverse().MulScalar(2 * result.F / float64(len(misraX)-2))
			for i, scale := range []float64{100, 1e-4} {
				if got := math.Sqrt(covariance.At(i, i)) * scale; math.Abs(got/misraDev[i]-1) > 0.01 {
					t.Errorf("%s from %v: the deviation of b%d is %v, certified %v", name, start, i+1, got, misraDev[i])
				}
			}
			if math.Abs(result.F/misraSquare-1) > 1e-9 {
				t.Errorf("%s from %v: the residual sum is %.11g, certified %.11g", name, start, result.F, misraSquare)
			}
		}
	}
}
