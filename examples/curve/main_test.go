package main

import (
	"fmt"
	"math"
	"os"
	"testing"
)

func TestTheFitIsTheCertifiedOne(t *testing.T) {
	for _, start := range [][]float64{{1, 5}, {0.7, 4}} { // the institute's own two
		f, err := fit(start)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Value {
			if math.Abs(f.Value[i]/certified[i]-1) > 1e-9 || math.Abs(f.Linearized[i]/certifiedDeviation[i]-1) > 1e-8 {
				t.Errorf("b%d is %.11g ± %.11g, certified %.11g ± %.11g", i+1, f.Value[i], f.Linearized[i], certified[i], certifiedDeviation[i])
			}
			if math.Abs(f.Deviation[i]/f.Linearized[i]-1) > 0.02 {
				t.Errorf("b%d: ± %v by the Hessian, ± %v by the Jacobian", i+1, f.Deviation[i], f.Linearized[i])
			}
		}
	}
}

func Example() {
	if err := run(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// energy = b1 · temperature^b2
	// b1 = 0.76886226 ± 0.01821   linearized ± 0.01828197   certified 0.76886226 ± 0.01828197
	// b2 = 3.86040559 ± 0.05152   linearized ± 0.05172661   certified 3.86040559 ± 0.05172661
	// correlation -0.991, residual sum of squares 0.0043173084
}
