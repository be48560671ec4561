package gonumopt_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gonumopt"
)

// rosenbrock is Σ 100·(x[i+1] - x[i]²)² + (1 - x[i])² (H. Rosenbrock, "An
// Automatic Method for Finding the Greatest or Least Value of a Function", 1960).
func rosenbrock(in ...*backsweep.Tensor) *backsweep.Tensor {
	x := in[0]
	n := x.Dim(0)
	a, b := x.Slice(backsweep.Range{Stop: n - 1}), x.Slice(backsweep.Range{Start: 1, Stop: n})
	return b.Sub(a.Square()).Square().MulScalar(100).Add(a.Neg().AddScalar(1).Square()).Sum()
}

func methods() map[string]optimize.Method {
	return map[string]optimize.Method{"BFGS": &optimize.BFGS{}, "Newton": &optimize.Newton{}, "CG": &optimize.CG{}}
}

func TestRosenbrock(t *testing.T) {
	for name, m := range methods() {
		start := []float64{-1.2, 1, -1.2, 1, 0.5}
		result, err := optimize.Minimize(gonumopt.Problem(rosenbrock), start, &optimize.Settings{GradientThreshold: 1e-8}, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(result.F) > 1e-12 && math.Abs(result.F-3.930839) > 1e-3 { // the other minimum of five variables
			t.Errorf("%s: ended at %v with %v", name, result.X, result.F)
		}
	}
}

// The derivatives beside differences.
func TestDerivatives(t *testing.T) {
	p := gonumopt.Problem(rosenbrock)
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		grad, hess := make([]float64, 3), mat.NewSymDense(3, nil)
		p.Grad(grad, x)
		p.Hess(hess, x)
		want := fd.Gradient(nil, p.Func, x, &fd.Settings{Formula: fd.Central})
		wantHess := mat.NewDense(3, 3, nil)
		fd.Jacobian(wantHess, p.Grad, x, &fd.JacobianSettings{Formula: fd.Central})
		for i := range x {
			if math.Abs(grad[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Errorf("seed %d: gradient %v, by differences %v", seed, grad, want)
			}
			for j := range x {
				if math.Abs(hess.At(i, j)-wantHess.At(i, j)) > 1e-5*(1+math.Abs(wantHess.At(i, j))) {
					t.Errorf("seed %d: element %d, %d of the Hessian is %v, by differences %v", seed, i, j, hess.At(i, j), wantHess.At(i, j))
				}
			}
		}
	}
}

func TestAMisuseEndsTheMinimization(t *testing.T) {
	bad := func(in ...*backsweep.Tensor) *backsweep.Tensor {
		return in[0].MatMul(backsweep.Zeros(backsweep.Float64, 7))
	}
	for name, m := range methods() {
		_, err := optimize.Minimize(gonumopt.Problem(bad), []float64{1, 2}, nil, m)
		if !errors.Is(err, backsweep.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noScalar := func(in ...*backsweep.Tensor) *backsweep.Tensor { return in[0] }
	p := gonumopt.Problem(noScalar)
	if v := p.Func([]float64{1, 2}); !math.IsNaN(v) {
		t.Errorf("the value of no scalar is %v", v)
	}
	if s, err := p.Status(); s != optimize.Failure || err == nil {
		t.Errorf("status %v, %v", s, err)
	}
}

func ExampleProblem() {
	paraboloid := func(in ...*backsweep.Tensor) *backsweep.Tensor {
		return in[0].Sub(backsweep.New([]float64{3, -1})).Square().Sum()
	}
	result, err := optimize.Minimize(gonumopt.Problem(paraboloid), []float64{0, 0}, nil, &optimize.Newton{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f %.4f\n", result.X[0], result.X[1])
	// Output: 3.0000 -1.0000
}
