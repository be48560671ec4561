package backsweep_test

import (
	"fmt"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// A line fitted to four points: the shortest useful program.
func Example() {
	w := backsweep.NewParam("w", backsweep.Scalar(float32(0)))
	b := backsweep.NewParam("b", backsweep.Scalar(float32(0)))
	x := backsweep.New([]float32{0, 1, 2, 3})
	y := backsweep.New([]float32{1, 3, 5, 7})

	tape := backsweep.NewTape()
	for range 500 {
		tape.Reset()
		loss := tape.Input("x", x).Mul(w).Add(b).Sub(y).Square().Mean()
		grads, err := tape.Backward(loss)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range []*backsweep.Tensor{w, b} {
			g := grads.Of(p).Item()
			backsweep.Update(p, func(v []float32) { v[0] -= float32(0.1 * g) })
		}
	}
	fmt.Printf("y = %.3f x + %.3f\n", w.Item(), b.Item())
	// Output: y = 2.000 x + 1.000
}

// Two towers meet in a dot product. The reverse of the tape is one order in
// which they can be swept; the other tower first is another, with the same
// bits; the dot product after a tower is not one.
func ExampleGivenOrder() {
	u := backsweep.NewParam("u", backsweep.New([]float32{0.5, -1}))
	v := backsweep.NewParam("v", backsweep.New([]float32{2, 1}))
	tape := backsweep.NewTape()
	q := tape.Input("query", backsweep.New([]float32{1, 2})).Mul(u).Tanh()    // n0 mul, n1 tanh
	d := tape.Input("document", backsweep.New([]float32{3, 4})).Mul(v).Tanh() // n2 mul, n3 tanh
	loss := q.Dot(d)                                                          // n4 dot

	for _, order := range []backsweep.Order{
		backsweep.TapeOrder,
		backsweep.GivenOrder(4, 1, 0, 3, 2),
		backsweep.GivenOrder(1, 4, 0, 3, 2),
	} {
		grads, err := tape.Backward(loss, backsweep.WithOrder(order), backsweep.Retain())
		if err != nil {
			fmt.Println(err.(*backsweep.Error).What)
			continue
		}
		fmt.Printf("%v %.4f %.4f\n", order, grads.Of(u).Float64s(), grads.Of(v).Float64s())
	}
	// Output:
	// tape [0.7864 0.1412] [0.0000 -0.0052]
	// given [0.7864 0.1412] [0.0000 -0.0052]
	// n1 tanh cannot be visited before n4 dot, which consumes its output t3: part of its gradient has not been computed
}

// An observer sees each step of a sweep.
func ExampleObserve() {
	tape := backsweep.NewTape()
	x := tape.Watch(backsweep.Scalar(float32(2)))
	loss := x.Mul(x).Named("y").Add(x)
	grads, err := tape.Backward(loss, backsweep.Observe(func(e backsweep.Event) {
		switch e.Kind {
		case record.Visited:
			fmt.Printf("n%d visited\n", e.Node)
		case record.Added:
			fmt.Printf("  n%d gives t%d contribution %d\n", e.Node, e.Tensor, e.Rank+1)
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dx =", grads.Of(x).Item())
	// Output:
	// n1 visited
	//   n1 gives t1 contribution 1
	//   n1 gives t0 contribution 1
	// n0 visited
	//   n0 gives t0 contribution 2
	//   n0 gives t0 contribution 3
	// dx = 5
}

// A forward sweep on the same record yields every tensor's derivative with
// respect to one input.
func ExampleTape_Forward() {
	tape := backsweep.NewTape()
	x := tape.Watch(backsweep.Scalar(3.0))
	y := x.Mul(x)
	z := y.Log()
	t, err := tape.Forward([]backsweep.Seed{{Tensor: x, Tangent: backsweep.Scalar(1.0)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("dy/dx = %g, dz/dx = %.4f\n", t.Of(y).Item(), t.Of(z).Item())
	// Output: dy/dx = 6, dz/dx = 0.6667
}

// A recorded sweep can be differentiated again.
func ExampleRecorded() {
	tape := backsweep.NewTape()
	x := tape.Watch(backsweep.Scalar(2.0))
	first, err := tape.Backward(x.Mul(x).Mul(x), backsweep.Recorded())
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := tape.Backward(first.Of(x))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(second.Of(x).Item())
	// Output: 12
}

// Catch turns a misuse into an error.
func ExampleCatch() {
	product := func(a, b *backsweep.Tensor) (c *backsweep.Tensor, err error) {
		defer backsweep.Catch(&err)
		return a.MatMul(b), nil
	}
	_, err := product(backsweep.Zeros(backsweep.Float32, 2, 3), backsweep.Zeros(backsweep.Float32, 2, 3))
	fmt.Println(err.(*backsweep.Error).What)
	// Output: shapes [2,3] and [2,3] do not multiply: 3 columns meet 2 rows
}
