package nn

import (
	"math"

	"github.com/backsweep/backsweep"
)

// Source is a generator of random numbers, such as *rand.Rand of math/rand/v2.
type Source interface {
	backsweep.Normal
	backsweep.Uniform
}

// Init draws the first values of a weight of the given shape, float32. A weight
// of two axes is [in, out], one of more is a kernel, [out, in, extent...]; what
// an output sums over is its fan-in, what an input reaches its fan-out.
type Init func(rng Source, shape ...int) *backsweep.Tensor

// initializers are looked up, never ranged over.
var initializers = map[string]Init{
	"lecun_normal":   normal(func(in, out float64) float64 { return 1 / in }),
	"lecun_uniform":  uniform(func(in, out float64) float64 { return 1 / in }),
	"glorot_normal":  normal(func(in, out float64) float64 { return 2 / (in + out) }),
	"glorot_uniform": uniform(func(in, out float64) float64 { return 2 / (in + out) }),
	"he_normal":      normal(func(in, out float64) float64 { return 2 / in }),
	"he_uniform":     uniform(func(in, out float64) float64 { return 2 / in }),
	"zeros": func(_ Source, shape ...int) *backsweep.Tensor {
		return backsweep.Zeros(backsweep.Float32, shape...)
	},
	"ones": func(_ Source, shape ...int) *backsweep.Tensor {
		return backsweep.Full(backsweep.Float32, 1, shape...)
	},
}

// InitNamed returns the initializer of a name: lecun_normal, lecun_uniform (the
// variance is 1/fan-in; LeCun et al., "Efficient BackProp", 1998), glorot_normal,
// glorot_uniform (2/(fan-in + fan-out); Glorot and Bengio, 2010, also called
// Xavier), he_normal, he_uniform (2/fan-in, for Relu; He et al., 2015, also
// called Kaiming), orthogonal (Saxe et al., 2013), zeros or ones. ok is false
// for any other.
func InitNamed(name string) (f Init, ok bool) {
	f, ok = initializers[name]
	return f, ok
}

// Fans returns the fan-in and the fan-out of a weight's shape.
func Fans(shape ...int) (in, out int) {
	switch len(shape) {
	case 0:
		return 1, 1
	case 1:
		return shape[0], shape[0]
	case 2:
		return shape[0], shape[1]
	}
	taps := 1
	for _, d := range shape[2:] {
		taps *= d
	}
	return shape[1] * taps, shape[0] * taps
}

func scaleOf(variance func(in, out float64) float64, shape []int) float64 {
	in, out := Fans(shape...)
	return math.Sqrt(variance(float64(max(in, 1)), float64(max(out, 1))))
}

func normal(variance func(in, out float64) float64) Init {
	return func(rng Source, shape ...int) *backsweep.Tensor {
		return backsweep.Randn(rng, shape...).MulScalar(scaleOf(variance, shape))
	}
}

// uniform draws from ±√(3·variance), which has that variance.
func uniform(variance func(in, out float64) float64) Init {
	return func(rng Source, shape ...int) *backsweep.Tensor {
		bound := math.Sqrt(3) * scaleOf(variance, shape)
		return backsweep.Rand(rng, -bound, bound, shape...)
	}
}

func init() { initializers["orthogonal"] = Orthogonal }

// Orthogonal draws a weight whose rows, or columns where there are more rows
// than columns, are orthonormal: the axes before the last are the rows. It is
// the unitary factor of a normal matrix, by Gram and Schmidt's method run twice
// (A. M. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in
// deep linear neural networks", 2013).
func Orthogonal(rng Source, shape ...int) *backsweep.Tensor {
	columns := 1
	rows := 1
	if n := len(shape); n > 0 {
		columns = shape[n-1]
		for _, d := range shape[:n-1] {
			rows *= d
		}
	}
	count, width := rows, columns
	if rows > columns {
		count, width = columns, rows
	}
	q := make([][]float64, count)
	for i := range q {
		q[i] = make([]float64, width)
		for j := range q[i] {
			q[i][j] = rng.NormFloat64()
		}
		for range 2 {
			for _, p := range q[:i] {
				along := dot(p, q[i])
				for j, v := range p {
					q[i][j] -= float64(along * v)
				}
			}
		}
		size := math.Sqrt(dot(q[i], q[i]))
		for j := range q[i] {
			q[i][j] /= size
		}
	}
	data := make([]float32, rows*columns)
	for i := range rows {
		for j := range columns {
			if rows > columns {
				data[i*columns+j] = float32(q[j][i])
			} else {
				data[i*columns+j] = float32(q[i][j])
			}
		}
	}
	return backsweep.New(data, shape...)
}

func dot(a, b []float64) (s float64) {
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}
