// Curve fits a curve to measurements by Newton's method and says how sure its
// parameters are, by the Hessian of the squared residuals.
//
// The measurements are DanWood of the Statistical Reference Datasets of the
// National Institute of Standards and Technology (C. Daniel and F. Wood, "Fitting
// Equations to Data", 1980): the energy that a carbon filament lamp radiates, by
// its temperature in units of 1,000 K. The model is energy = b1 · temperature^b2.
// The institute certifies the parameters and their standard deviations to 11
// digits.
package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"gonum.org/v1/gonum/optimize"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gonumopt"
)

var (
	temperature = []float64{1.309, 1.471, 1.490, 1.565, 1.611, 1.680}
	energy      = []float64{2.138, 3.421, 3.597, 4.340, 4.882, 5.660}

	certified          = []float64{7.6886226176e-01, 3.8604055871e+00}
	certifiedDeviation = []float64{1.8281973860e-02, 5.1726610913e-02}
)

// Fit is parameters and what is known of them.
type Fit struct {
	Value       []float64
	Deviation   []float64 // standard deviations, from the Hessian
	Linearized  []float64 // the same from the Jacobian alone, as the institute has them
	Correlation float64
	Residuals   float64 // their sum of squares
}

// residuals are the model's values less the measured ones.
func residuals(in ...*backsweep.Tensor) *backsweep.Tensor {
	b1, b2 := in[0].Index(0), in[0].Index(1)
	return b1.Mul(backsweep.New(temperature).Pow(b2)).Sub(backsweep.New(energy))
}

func squares(in ...*backsweep.Tensor) *backsweep.Tensor { return residuals(in...).Square().Sum() }

// fit minimizes the sum of squares. Near the minimum it is a parabola whose
// Hessian H tells how far the parameters can move at what cost: their covariance
// is 2·s²·H⁻¹, where s² is the variance of a measurement. Where the residuals
// are small, H is near 2·JᵀJ, with the Jacobian J of the model.
func fit(start []float64) (*Fit, error) {
	result, err := optimize.Minimize(gonumopt.Problem(squares), start, &optimize.Settings{GradientThreshold: 1e-10}, &optimize.Newton{})
	if err != nil {
		return nil, err
	}
	at := backsweep.New(result.X)
	h, err := backsweep.Hessian(squares, at)
	if err != nil {
		return nil, err
	}
	j, _, err := backsweep.Jacobian(residuals, at)
	if err != nil {
		return nil, err
	}
	variance := result.F / float64(len(energy)-len(start))
	f := &Fit{Value: result.X, Residuals: result.F}
	covariance := h.Inverse().MulScalar(2 * variance)
	linearized := j.T().MatMul(j).Inverse().MulScalar(variance)
	for i := range start {
		f.Deviation = append(f.Deviation, math.Sqrt(covariance.At(i, i)))
		f.Linearized = append(f.Linearized, math.Sqrt(linearized.At(i, i)))
	}
	f.Correlation = covariance.At(0, 1) / f.Deviation[0] / f.Deviation[1]
	return f, nil
}

func run(w io.Writer) error {
	f, err := fit([]float64{1, 5})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "energy = b1 · temperature^b2")
	for i, v := range f.Value {
		fmt.Fprintf(w, "b%d = %.8f ± %.5f   linearized ± %.8f   certified %.8f ± %.8f\n",
			i+1, v, f.Deviation[i], f.Linearized[i], certified[i], certifiedDeviation[i])
	}
	fmt.Fprintf(w, "correlation %.3f, residual sum of squares %.10f\n", f.Correlation, f.Residuals)
	return nil
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
