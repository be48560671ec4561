package backsweep

import (
	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// Normalization rows keep their operands and no more: mean and deviation are
// computed again in the sweep, where the row is in cache anyway.

var epsParam = []param{{name: "eps", kind: pFloat, optional: true, def: "1e-05"}}

// lastAxis checks x [..., n] against vectors of n elements, and returns how many
// rows there are.
func (m *machine) lastAxis(x ref, vectors ...int) (rows, n int) {
	m.floats(x)
	rank := len(x.l.Shape)
	if rank == 0 {
		m.misfit("normalize over one axis or more", "a 0-d tensor has no last axis")
	}
	rows, n, _ = block(x.l.Shape, rank-1)
	for _, i := range vectors {
		if s := m.in[i].l.Shape; len(s) != 1 || s[0] != n {
			m.misfit("gamma and beta have one element for each position of the last axis", "shapes %s do not fit", m.shapesText())
		}
	}
	for i := 1; i < len(m.in); i++ {
		m.sameDType(0, i)
	}
	return rows, n
}

func evalNormRows(centered bool) func(m *machine) {
	return func(m *machine) {
		var vectors []int
		for i := 1; i < len(m.in); i++ {
			vectors = append(vectors, i)
		}
		rows, n := m.lastAxis(m.in[0], vectors...)
		dst := m.produce(m.like(m.in[0]))
		if dst.l.DType == Float32 {
			normRows[float32](m, dst, rows, n, centered)
		} else {
			normRows[float64](m, dst, rows, n, centered)
		}
	}
}

func normRows[T float32 | float64](m *machine, dst ref, rows, n int, centered bool) {
	var beta []T
	if len(m.in) == 3 {
		beta = dense[T](m.packed(m.in[2]))
	}
	kernel.NormRows(dense[T](dst), dense[T](m.packed(m.in[0])), dense[T](m.packed(m.in[1])), beta, rows, n, T(m.at.f[0]), centered)
}

func evalNormRowsGrad(centered bool) func(m *machine) {
	return func(m *machine) {
		rows, n := m.lastAxis(m.in[0], 2)
		if !array.SameShape(m.in[0].l.Shape, m.in[1].l.Shape) {
			m.misfit("the cotangent has the shape of the operand", "shapes %s do not fit", m.shapesText())
		}
		dx, dgamma := m.produce(m.like(m.in[0])), m.produce(m.layout(m.in[0].l.DType, n))
		if dx.l.DType == Float32 {
			normRowsGrad[float32](m, dx, dgamma, rows, n, centered)
		} else {
			normRowsGrad[float64](m, dx, dgamma, rows, n, centered)
		}
	}
}

func normRowsGrad[T float32 | float64](m *machine, dx, dgamma ref, rows, n int, centered bool) {
	work := dense[T](m.scratch(m.layout(dx.l.DType, kernel.NormRowsWork(rows, n))))
	kernel.NormRowsGrad(dense[T](dx), dense[T](dgamma), dense[T](m.packed(m.in[0])), dense[T](m.packed(m.in[1])), dense[T](m.packed(m.in[2])),
		rows, n, T(m.at.f[0]), centered, work)
}

// gradOfNormRows is the rule of layer_norm and rms_norm.
func gradOfNormRows(grad opcode) func(r *rule) {
	return func(r *rule) {
		if r.want(0) || r.want(1) {
			dx := r.do3(grad, r.at, r.dout(0), r.in(0), r.in(1))
			dgamma := r.second()
			if r.want(0) {
				r.give(0, dx)
			}
			if r.want(1) {
				r.give(1, dgamma)
			}
		}
		if r.nIn == 3 && r.want(2) {
			r.give(2, r.dout(0)) // the engine sums it over the rows
		}
	}
}

func init() {
	define(opLayerNorm, op{name: "layer_norm", doc: "(x - mean)/√(variance + eps) over the last axis, times gamma plus beta (x, gamma, beta)",
		formula: "dx = r·(a - mean(a) - x̂·mean(a·x̂)) with a = dy·gamma, dgamma = Σ dy·x̂, dbeta = Σ dy", arity: 3, reads: readsIn(0, 1),
		params: epsParam, cost: costEach(6), eval: evalNormRows(true),
		grad:    gradOfNormRows(opLayerNormGrad),
		tangent: func(r *rule) { normOver(r, lastAxisOnly, true, r.in(0)).tangentOfNorm(r.in(1)) },
		samples: []sample{on(f(3, 5), f(5), f(5)), on(f(2, 3, 4), f(4), f(4)).with(attrs{f: [2]float64{0.1}}), on(f(4), f(4), f(4)), on(f(0, 4), f(4), f(4))},
	})
	define(opLayerNormGrad, op{name: "layer_norm_grad", doc: "the gradients of layer_norm in x and gamma (dy, x, gamma)", formula: "that of r·(a - mean(a) - x̂·mean(a·x̂)) and Σ dy·x̂",
		arity: 3, outs: 2, flags: engineOnly, reads: readsIn(0, 1, 2), params: epsParam, cost: costEach(15), eval: evalNormRowsGrad(true),
		grad:    func(r *rule) { normOver(r, lastAxisOnly, true, r.in(1)).gradOfGrad() },
		tangent: func(r *rule) { normOver(r, lastAxisOnly, true, r.in(1)).tangentOfGrad() },
		samples: []sample{on(f(3, 5), f(3, 5), f(5)), on(f(2, 3, 4), f(2, 3, 4), f(4)).with(attrs{f: [2]float64{0.1}})},
	})
	define(opRMSNorm, op{name: "rms_norm", doc: "x/√(mean of x² + eps) over the last axis, times gamma (x, gamma)",
		formula: "dx = r·(a - x̂·mean(a·x̂)) with a = dy·gamma, dgamma = Σ dy·x̂", arity: 2, reads: readsIn(0, 1),
		params: epsParam, cost: costEach(4), eval: evalNormRows(false),
		grad:    gradOfNormRows(opRMSNormGrad),
		tangent: func(r *rule) { normOver(r, lastAxisOnly, false, r.in(0)).tangentOfNorm(r.in(1)) },
		samples: []sample{on(f(3, 5), f(5)), on(f(2, 3, 4), f(4)).with(attrs{f: [2]float64{0.1}}), on(f(4), f(4)), on(f(0, 4), f(4))},
	})
	define(opRMSNormGrad, op{name: "rms_norm_grad", doc: "the gradients of rms_norm in x and gamma (dy, x, gamma)", formula: "that of r·(a - x̂·mean(a·x̂)) and Σ dy·x̂",
		arity: 3, outs: 2, flags: engineOnly, reads: readsIn(0, 1, 2), params: epsParam, cost: costEach(11), eval: evalNormRowsGrad(false),
		grad:    func(r *rule) { normOver(r, lastAxisOnly, false, r.in(1)).gradOfGrad() },
		tangent: func(r *rule) { normOver(r, lastAxisOnly, false, r.in(1)).tangentOfGrad() },
		samples: []sample{on(f(3, 5), f(3, 5), f(5)), on(f(2, 3, 4), f(2, 3, 4), f(4)).with(attrs{f: [2]float64{0.1}})},
	})
}

// LayerNorm normalizes over the last axis, (x - mean)/√(variance + eps) with the
// biased variance, and returns that times gamma plus beta, each with one element
// for each position of that axis (J. L. Ba, J. R. Kiros and G. E. Hinton, "Layer
// Normalization", 2016).
func (x *Tensor) LayerNorm(gamma, beta *Tensor, eps float64) *Tensor {
	return apply3(opLayerNorm, &attrs{f: [2]float64{eps}}, x, gamma, beta)
}

// RMSNorm returns x/√(mean of x² + eps)·gamma over the last axis; gamma has one
// element for each of its positions (B. Zhang and R. Sennrich, "Root Mean Square
// Layer Normalization", 2019).
func (x *Tensor) RMSNorm(gamma *Tensor, eps float64) *Tensor {
	return apply2(opRMSNorm, &attrs{f: [2]float64{eps}}, x, gamma)
}

// channels checks x [n, channels, ...] against vectors of one element a channel.
func (m *machine) channels(x ref, vectors ...int) (images, channels, n int) {
	m.floats(x)
	if len(x.l.Shape) < 2 {
		m.misfit("images are [n, channels, ...]", "shape %s has no axis of channels", array.ShapeString(x.l.Shape))
	}
	images, channels, n = block(x.l.Shape, 1)
	for _, i := range vectors {
		if s := m.in[i].l.Shape; len(s) != 1 || s[0] != channels {
			m.misfit("gamma and beta have one element a channel", "shapes %s do not fit", m.shapesText())
		}
	}
	for i := 1; i < len(m.in); i++ {
		m.sameDType(0, i)
	}
	return images, channels, n
}

func init() {
	define(opBatchNorm, op{name: "batch_norm", doc: "(x - mean)/√(variance + eps) of each channel (axis 1), times gamma plus beta; and each channel's mean and biased variance (x, gamma, beta)",
		formula: "dx = r·(a - mean(a) - x̂·mean(a·x̂)) with a = dy·gamma, dgamma = Σ dy·x̂, dbeta = Σ dy", arity: 3, outs: 3, reads: readsIn(0, 1) | readsOut(1),
		params: epsParam, cost: costIn(7),
		eval: func(m *machine) {
			images, channels, n := m.channels(m.in[0], 1, 2)
			x := m.packed(m.in[0])
			dst, mean, variance := m.produce(m.like(x)), m.produce(m.like(m.in[1])), m.produce(m.like(m.in[1]))
			work := m.scratch(m.layout(x.l.DType, images*channels))
			gamma, beta := m.packed(m.in[1]), m.packed(m.in[2])
			if x.l.DType == Float32 {
				kernel.NormChannels(dense[float32](dst), dense[float32](mean), dense[float32](variance), dense[float32](x), dense[float32](gamma), dense[float32](beta),
					images, channels, n, float32(m.at.f[0]), dense[float32](work))
			} else {
				kernel.NormChannels(dense[float64](dst), dense[float64](mean), dense[float64](variance), dense[float64](x), dense[float64](gamma), dense[float64](beta),
					images, channels, n, m.at.f[0], dense[float64](work))
			}
		},
		grad: gradOfBatchNorm,
		tangent: func(r *rule) {
			n := normOver(r, allButChannels, true, r.in(0))
			n.tangentOfNorm(r.in(1))
			if r.hasTan(0) {
				c := r.shapeOut(1)
				r.makes(1, r.reshape(n.mean(r.tan(0)), c))
				r.makes(2, r.reshape(r.scale(n.mean(r.mul(n.around, r.tan(0))), 2), c))
			}
		},
		samples: []sample{on(f(5, 3), f(3), f(3)), on(f(2, 3, 4), f(3), f(3)).with(attrs{f: [2]float64{0.1}}), on(f(2, 2, 2, 3), f(2), f(2))},
	})
	define(opBatchNormGrad, op{name: "batch_norm_grad", doc: "the gradients of batch_norm's first output in x and gamma (dy, x, gamma)", formula: "that of r·(a - mean(a) - x̂·mean(a·x̂)) and Σ dy·x̂",
		arity: 3, outs: 2, flags: engineOnly, reads: readsIn(0, 1, 2), params: epsParam, cost: costEach(14),
		eval: func(m *machine) {
			images, channels, n := m.channels(m.in[0], 2)
			if !array.SameShape(m.in[0].l.Shape, m.in[1].l.Shape) {
				m.misfit("the cotangent has the shape of the operand", "shapes %s do not fit", m.shapesText())
			}
			dy, x, gamma := m.packed(m.in[0]), m.packed(m.in[1]), m.packed(m.in[2])
			dx, dgamma := m.produce(m.like(x)), m.produce(m.like(gamma))
			work := m.scratch(m.layout(x.l.DType, (images+3)*channels))
			if x.l.DType == Float32 {
				kernel.NormChannelsGrad(dense[float32](dx), dense[float32](dgamma), dense[float32](dy), dense[float32](x), dense[float32](gamma),
					images, channels, n, float32(m.at.f[0]), dense[float32](work))
			} else {
				kernel.NormChannelsGrad(dense[float64](dx), dense[float64](dgamma), dense[float64](dy), dense[float64](x), dense[float64](gamma),
					images, channels, n, m.at.f[0], dense[float64](work))
			}
		},
		grad:    func(r *rule) { normOver(r, allButChannels, true, r.in(1)).gradOfGrad() },
		tangent: func(r *rule) { normOver(r, allButChannels, true, r.in(1)).tangentOfGrad() },
		samples: []sample{on(f(5, 3), f(5, 3), f(3)), on(f(2, 3, 4), f(2, 3, 4), f(3)).with(attrs{f: [2]float64{0.1}})},
	})
}

func gradOfBatchNorm(r *rule) {
	x := r.in(0)
	axes, c := allButChannels(x.l.Shape), r.shapeIn(1)
	var dx ref
	plus := func(g ref) {
		if dx.l == nil {
			dx = g
		} else {
			dx = r.add(dx, g)
		}
	}
	dgamma, dbeta := ref{}, ref{}
	if r.has(0) {
		if r.want(0) || r.want(1) {
			plus(r.do3(opBatchNormGrad, r.at, r.dout(0), x, r.in(1)))
			dgamma = r.second()
		}
		if r.want(2) {
			dbeta = r.sumOver(r.dout(0), axes, false)
		}
	} else if r.want(1) || r.want(2) {
		dgamma = r.full(0, x.l.DType, c)
		dbeta = dgamma
	}
	if r.want(0) {
		share := make([]int, len(x.l.Shape)-1)
		n := float64(x.l.N) / float64(max(c[0], 1))
		share[0] = c[0]
		for i := 1; i < len(share); i++ {
			share[i] = 1
		}
		if r.has(1) {
			plus(r.spread(r.reshape(r.scale(r.dout(1), 1/n), share), x.l.Shape))
		}
		if r.has(2) {
			around := r.sub(x, r.reshape(r.out(1), share))
			plus(r.mul(around, r.reshape(r.scale(r.dout(2), 2/n), share)))
		}
		r.give(0, dx)
	}
	if r.want(1) {
		r.give(1, dgamma)
	}
	if r.want(2) {
		r.give(2, dbeta)
	}
}

// BatchNorm normalizes each channel of x, [n, channels, ...], over images and
// places: (x - mean)/√(variance + eps) with the batch's own mean and biased
// variance, times gamma plus beta, one element a channel each. It also returns
// mean and variance, [channels] (S. Ioffe and C. Szegedy, "Batch Normalization",
// 2015).
func (x *Tensor) BatchNorm(gamma, beta *Tensor, eps float64) (y, mean, variance *Tensor) {
	out := applyAll(opBatchNorm, &attrs{f: [2]float64{eps}}, []*Tensor{x, gamma, beta})
	return out[0], out[1], out[2]
}

// BatchNormWith is BatchNorm with a mean and a variance, [channels], that were
// found before, as in inference: (x - mean)/√(variance + eps)·gamma + beta. All
// four carry gradients.
func (x *Tensor) BatchNormWith(gamma, beta, mean, variance *Tensor, eps float64) *Tensor {
	shape := []int{-1}
	for a := 2; a < x.Rank(); a++ {
		shape = append(shape, 1)
	}
	scale := gamma.Div(variance.AddScalar(eps).Sqrt())
	return x.Sub(mean.Reshape(shape...)).Mul(scale.Reshape(shape...)).Add(beta.Reshape(shape...))
}
