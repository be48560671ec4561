package gradcheck_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

func ExampleCheck() {
	f := func(in []*bs.Tensor) *bs.Tensor { return in[0].MatMul(in[1]).Tanh() }
	x := bs.New([]float64{0.1, 0.2, 0.3, 0.4}, 2, 2)
	w := bs.New([]float64{-0.5, 0.7}, 2, 1)
	fmt.Println(gradcheck.Check(f, []*bs.Tensor{x, w}, gradcheck.Full(), gradcheck.Twice()))
	// Output: <nil>
}

func ExampleOp() {
	x := bs.New([]float64{0.1, 0.2, 0.3, 0.4}, 2, 2)
	fmt.Println(gradcheck.Op("softmax", []*bs.Tensor{x}, bs.Attrs{"axis": 0}, gradcheck.Full()))
	// Output: <nil>
}

var point = []*bs.Tensor{bs.New([]float64{0.5, -1.25, 2}, 3)}

// x·detach(x) has half the gradient of x²: every comparison with a difference
// must see it, at the entry that is furthest off.
func TestWrongGradientIsFound(t *testing.T) {
	f := func(in []*bs.Tensor) *bs.Tensor { return in[0].Mul(in[0].Detach()) }
	err := gradcheck.Check(f, point)
	var mismatch *gradcheck.Error
	if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), "reverse sweep against central differences") {
		t.Fatalf("error %v", err)
	}
	// A sum over all entries may cancel by chance; an entry does not.
	err = gradcheck.Check(f, point, gradcheck.Full(), gradcheck.Tolerance(0.01))
	if !errors.As(err, &mismatch) || mismatch.Got == mismatch.Want {
		t.Fatalf("error %v", err)
	}
}

// The first derivative is right and the second is not: 1/2·x·x has gradient x;
// here it is computed as a constant.
func TestWrongSecondDerivativeIsFound(t *testing.T) {
	f := func(in []*bs.Tensor) *bs.Tensor {
		x := in[0]
		c := x.Detach()
		// value x²/2, gradient x by way of constants alone
		return x.Mul(c).Sub(c.Mul(c).MulScalar(0.5))
	}
	if err := gradcheck.Check(f, point, gradcheck.Full()); err != nil {
		t.Fatal(err)
	}
	err := gradcheck.Check(f, point, gradcheck.Twice())
	if err == nil || !strings.Contains(err.Error(), "central differences of the gradient of input 0 at [") {
		t.Fatalf("error %v", err)
	}
}

func TestMissingGradientIsFound(t *testing.T) {
	f := func(in []*bs.Tensor) *bs.Tensor { return in[0].Add(in[1].Detach()) }
	err := gradcheck.Check(f, []*bs.Tensor{point[0], point[0]})
	if err == nil || !strings.Contains(err.Error(), "input 1 has no gradient, although the outputs change with it") {
		t.Fatalf("error %v", err)
	}
	if err := gradcheck.Check(f, []*bs.Tensor{point[0], point[0]}, gradcheck.Constant(1)); err != nil {
		t.Fatal(err)
	}
	// A gradient that is absent because it is zero is no fault.
	zero := func(in []*bs.Tensor) *bs.Tensor { return in[0].Add(in[1].Gt(in[0]).Cast(bs.Float64)) }
	if err := gradcheck.Check(zero, []*bs.Tensor{point[0], point[0].AddScalar(1)}, gradcheck.Full(), gradcheck.Twice()); err != nil {
		t.Fatal(err)
	}
}

// Behaviour case checker-detects-nan; TestMissingGradientIsFound is its other
// half.
func TestNaNIsAFailure(t *testing.T) {
	err := gradcheck.Check(func(in []*bs.Tensor) *bs.Tensor { return in[0].Log() }, point)
	if err == nil {
		t.Fatal("log of a negative number passed")
	}
}

// What f computes must not depend on whether it is recorded.
func TestValueThatDependsOnTheTapeIsFound(t *testing.T) {
	f := func(in []*bs.Tensor) *bs.Tensor {
		if in[0].Tape() != nil {
			return in[0].MulScalar(2)
		}
		return in[0]
	}
	err := gradcheck.Check(f, point)
	if err == nil || !strings.Contains(err.Error(), "the value on a tape against the value on none of output 0") {
		t.Fatalf("error %v", err)
	}
}

func TestErrorsOfTheFunctionComeBack(t *testing.T) {
	err := gradcheck.Op("matmul", []*bs.Tensor{point[0], bs.Zeros(bs.Float64, 2, 2)}, nil)
	if !errors.Is(err, bs.ErrShape) {
		t.Errorf("error %v", err)
	}
	if err := gradcheck.Op("nope", point, nil); !errors.Is(err, bs.ErrValue) {
		t.Errorf("error %v", err)
	}
	err = gradcheck.Check(func(in []*bs.Tensor) *bs.Tensor { return in[0].Reshape(7) }, point)
	if !errors.Is(err, bs.ErrShape) {
		t.Errorf("error %v", err)
	}
	defer func() {
		if recover() != "mine" {
			t.Error("a panic of the function did not surface")
		}
	}()
	gradcheck.Check(func(in []*bs.Tensor) *bs.Tensor { panic("mine") }, point)
}

func TestFloat32(t *testing.T) {
	x := point[0].Cast(bs.Float32)
	f := func(in []*bs.Tensor) *bs.Tensor { return in[0].Tanh().Mul(in[0]).Sum() }
	if err := gradcheck.Check(f, []*bs.Tensor{x}, gradcheck.Full(), gradcheck.Twice()); err != nil {
		t.Error(err)
	}
	half := func(in []*bs.Tensor) *bs.Tensor { return in[0].Mul(in[0].Detach()).Sum() }
	if err := gradcheck.Check(half, []*bs.Tensor{x}); err == nil {
		t.Error("half a gradient passed")
	}
}

func TestSeveralOutputsAndIndices(t *testing.T) {
	x := bs.New([]float64{1, 2, 3, 4, 5, 6}, 3, 2)
	if err := gradcheck.Op("split", []*bs.Tensor{x}, bs.Attrs{"axis": 0, "sizes": []int{1, 2}}, gradcheck.Full(), gradcheck.Twice()); err != nil {
		t.Error(err)
	}
	if err := gradcheck.Op("take", []*bs.Tensor{x, bs.New([]int64{2, 2, 0})}, nil, gradcheck.Full(), gradcheck.Twice()); err != nil {
		t.Error(err)
	}
}
