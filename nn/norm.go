package nn

import (
	"github.com/backsweep/backsweep"
)

// LayerNorm normalizes over the last axis.
type LayerNorm struct {
	Gamma, Beta *backsweep.Tensor // [width]
	Eps         float64
}

// NewLayerNorm makes a float32 layer with parameters name.gamma, ones, and
// name.beta, zeros, and an Eps of 1e-5.
func NewLayerNorm(name string, width int) LayerNorm {
	return LayerNorm{Gamma: param(name+".gamma", ones(width)), Beta: param(name+".beta", zeros(width)), Eps: 1e-5}
}

// Forward normalizes x, [..., width]; see [backsweep.Tensor.LayerNorm].
func (l LayerNorm) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	return x.LayerNorm(l.Gamma, l.Beta, l.Eps)
}

// Params lists Gamma and Beta.
func (l LayerNorm) Params() []*backsweep.Tensor { return []*backsweep.Tensor{l.Gamma, l.Beta} }

// RMSNorm divides by the root of the mean square over the last axis.
type RMSNorm struct {
	Gamma *backsweep.Tensor // [width]
	Eps   float64
}

// NewRMSNorm makes a float32 layer with a parameter name.gamma, ones, and an Eps
// of 1e-6.
func NewRMSNorm(name string, width int) RMSNorm {
	return RMSNorm{Gamma: param(name+".gamma", ones(width)), Eps: 1e-6}
}

// Forward normalizes x, [..., width]; see [backsweep.Tensor.RMSNorm].
func (l RMSNorm) Forward(x *backsweep.Tensor) *backsweep.Tensor { return x.RMSNorm(l.Gamma, l.Eps) }

// Params lists Gamma.
func (l RMSNorm) Params() []*backsweep.Tensor { return []*backsweep.Tensor{l.Gamma} }

// BatchNorm normalizes each channel of [n, channels, ...]: in training by the
// batch's own mean and variance, in inference by the running ones.
type BatchNorm struct {
	Gamma, Beta *backsweep.Tensor // [channels]

	// Mean and Variance run along in training: each becomes (1 - Momentum) times
	// itself plus Momentum times that of the batch. The variance that is stored
	// is the unbiased one, as it stands for the whole data; the batch itself is
	// normalized by its biased one. They are no parameters and no part of any
	// graph.
	Mean, Variance *backsweep.Tensor // [channels]
	Momentum       float64           // the weight of the new value (PyTorch's way round)
	Eps            float64
}

// NewBatchNorm makes a float32 layer with parameters name.gamma, ones, and
// name.beta, zeros, a running mean of 0 and variance of 1, a Momentum of 0.1 and
// an Eps of 1e-5.
func NewBatchNorm(name string, channels int) BatchNorm {
	return BatchNorm{
		Gamma: param(name+".gamma", ones(channels)), Beta: param(name+".beta", zeros(channels)),
		Mean: zeros(channels), Variance: ones(channels),
		Momentum: 0.1, Eps: 1e-5,
	}
}

// Forward normalizes by the running statistics and changes nothing.
func (b BatchNorm) Forward(x *backsweep.Tensor) *backsweep.Tensor {
	return x.BatchNormWith(b.Gamma, b.Beta, b.Mean, b.Variance, b.Eps)
}

// Train normalizes by the statistics of x and moves the running ones. It panics
// with ErrShape where a channel has one element only, since that has no
// variance.
func (b BatchNorm) Train(x *backsweep.Tensor) *backsweep.Tensor {
	y, mean, variance := x.BatchNorm(b.Gamma, b.Beta, b.Eps)
	n := x.Len() / max(mean.Len(), 1)
	if n < 2 && mean.Len() > 0 {
		misuse(backsweep.ErrShape, "BatchNorm.Train", "use Forward, or a larger batch", "a channel of one element has no variance")
	}
	move(b.Mean, mean, b.Momentum, 1)
	move(b.Variance, variance, b.Momentum, float64(n)/float64(n-1))
	return y
}

// Params lists Gamma and Beta.
func (b BatchNorm) Params() []*backsweep.Tensor { return []*backsweep.Tensor{b.Gamma, b.Beta} }

// move makes running (1-m)·running + m·scale·now.
func move(running, now *backsweep.Tensor, m, scale float64) {
	fresh := now.Float64s()
	if running.DType() == backsweep.Float64 {
		backsweep.Update(running, func(d []float64) { moveAs(d, fresh, m, scale) })
	} else {
		backsweep.Update(running, func(d []float32) { moveAs(d, fresh, m, scale) })
	}
}

func moveAs[T float32 | float64](d []T, fresh []float64, m, scale float64) {
	for i, v := range fresh {
		d[i] = T(float64((1-m)*float64(d[i])) + float64(m*scale*v))
	}
}

// Dropout sets elements to 0 at random in training, and does nothing in
// inference.
type Dropout struct {
	P   float64           // the probability of 0
	Rng backsweep.Uniform // draws the masks
}

// Forward returns x.
func (d Dropout) Forward(x *backsweep.Tensor) *backsweep.Tensor { return x }

// Train drops elements of x; see [backsweep.Tensor.Dropout].
func (d Dropout) Train(x *backsweep.Tensor) *backsweep.Tensor {
	if d.P == 0 {
		return x
	}
	return x.Dropout(d.Rng, d.P)
}

// Params lists nothing.
func (d Dropout) Params() []*backsweep.Tensor { return nil }
