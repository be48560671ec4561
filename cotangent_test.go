package backsweep_test

import (
	"slices"
	"testing"

	bs "github.com/backsweep/backsweep"
)

// The sweep reads the caller's cotangent where it lies: it must neither add to
// it nor hand it out as a gradient.
func TestACotangentStaysTheCallers(t *testing.T) {
	want := []float32{1, 2, 3}
	cot := bs.New(want)
	tape := bs.NewTape()
	x := tape.Watch(bs.New([]float32{4, 5, 6}))
	y := x.Add(x).Add(x)
	tape.Watch(y)
	g, err := tape.Backward(y, bs.Cotangent(cot))
	if err != nil {
		t.Fatal(err)
	}
	dx, dy := g.Of(x), g.Of(y)
	if got := bs.Data[float32](dx); !slices.Equal(got, []float32{3, 6, 9}) {
		t.Errorf("dx = %v", got)
	}
	cot.Fill(7)
	if got := bs.Data[float32](dy); !slices.Equal(got, want) {
		t.Errorf("dy = %v after the cotangent was changed", got)
	}
	tape.Reset()
	again := tape.Watch(bs.New([]float32{4, 5, 6})).Neg()
	if again.Float64s(); !slices.Equal(bs.Data[float32](cot), []float32{7, 7, 7}) {
		t.Errorf("the tape took the cotangent's memory: %v", cot)
	}
}
