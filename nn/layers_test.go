package nn_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
	"github.com/backsweep/backsweep/nn"
)

type tensor = backsweep.Tensor

// batchnorm-running-statistics: the running variance is the unbiased one,
// Momentum is the weight of the new value, and inference changes nothing.
func TestBatchNormRunningStatistics(t *testing.T) {
	b := nn.NewBatchNorm("norm", 1)
	x := backsweep.New([]float32{1, 2, 6}, 3, 1)
	y := b.Train(x)
	near(t, "mean", b.Mean, []float64{0.3}, 1e-6)
	near(t, "variance", b.Variance, []float64{1.6}, 1e-6)
	r := 1 / math.Sqrt(14.0/3+1e-5)
	near(t, "training", y, []float64{-2 * r, -r, 3 * r}, 1e-6)
	versions := [2]uint64{b.Mean.Version(), b.Variance.Version()}
	r = 1 / math.Sqrt(1.6+1e-5)
	near(t, "inference", b.Forward(x), []float64{0.7 * r, 1.7 * r, 5.7 * r}, 1e-6)
	if versions != [2]uint64{b.Mean.Version(), b.Variance.Version()} {
		t.Error("inference changed the running statistics")
	}

	// On a tape the statistics stay off it, and the gradient is that of the
	// batch's own.
	tape := backsweep.NewTape()
	in := tape.Watch(x)
	loss := b.Train(in).Mul(backsweep.New([]float32{1, 0, 0}, 3, 1)).Sum()
	grads, err := tape.Backward(loss)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, v := range grads.Of(in).Float64s() {
		sum += v
	}
	if math.Abs(sum) > 1e-6 {
		t.Errorf("the gradient adds up to %v, but adding a constant to the batch changes nothing", sum)
	}
	tape.Reset()
	near(t, "variance after two", b.Variance, []float64{0.9*1.6 + 0.7}, 1e-6)
}

func TestBatchNormNeedsTwoElementsAChannel(t *testing.T) {
	defer func() {
		if e, ok := recover().(*backsweep.Error); !ok || !errors.Is(e, backsweep.ErrShape) {
			t.Errorf("got %v", e)
		}
	}()
	nn.NewBatchNorm("norm", 2).Train(backsweep.Zeros(backsweep.Float32, 1, 2))
}

// dropout-mask-consistency: what stays is divided by 1-p, the sweep uses the
// mask of the forward pass, and the generator's state decides the mask.
func TestDropoutMaskConsistency(t *testing.T) {
	const n, p = 10000, 0.25
	x := backsweep.Full(backsweep.Float64, 1, n)
	tape := backsweep.NewTape()
	in := tape.Watch(x)
	y := nn.Train(nn.Dropout{P: p, Rng: generator(7)}, in)
	zeros := 0
	for _, v := range y.Float64s() {
		switch v {
		case 0:
			zeros++
		case 4.0 / 3:
		default:
			t.Fatalf("an element is %v", v)
		}
	}
	if share := float64(zeros) / n; math.Abs(share-p) > 0.02 {
		t.Errorf("%v of the elements are 0", share)
	}
	out := y.Clone()
	grads, err := tape.Backward(y, backsweep.Cotangent(x))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "gradient", grads.Of(in), out.Float64s(), 0)
	near(t, "again", nn.Dropout{P: p, Rng: generator(7)}.Train(x), out.Float64s(), 0)
	if d := (nn.Dropout{P: p}); d.Forward(x) != x {
		t.Error("inference changed x")
	}
	near(t, "all", nn.Dropout{P: 1, Rng: generator(7)}.Train(backsweep.Full(backsweep.Float64, math.Inf(1), 2)), []float64{0, 0}, 0)
}

func near(t *testing.T, what string, got *tensor, want []float64, tol float64) {
	t.Helper()
	d := got.Float64s()
	if len(d) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(d), len(want))
	}
	for i, w := range want {
		if math.Abs(d[i]-w) > tol*(1+math.Abs(w)) {
			t.Errorf("%s: element %d is %v, want %v", what, i, d[i], w)
		}
	}
}

// wide makes a layer's parameters float64 inputs of a function, so that its
// gradients can be checked.
func wide(ps []*tensor) []*tensor {
	out := make([]*tensor, len(ps))
	for i, p := range ps {
		out[i] = p.Clone().Cast(backsweep.Float64)
	}
	return out
}

func draw(seed uint64, shape ...int) *tensor {
	return backsweep.Randn(generator(seed), shape...).Cast(backsweep.Float64)
}

func TestRecurrentLayersAreTheirEquations(t *testing.T) {
	const n, steps, in, width = 2, 3, 4, 5
	x := draw(1, n, steps, in)
	step := func(k int) *tensor {
		return x.Slice(backsweep.Range{Stop: backsweep.End, Step: 1}, backsweep.Range{Start: k, Stop: k + 1, Step: 1}).Reshape(n, in)
	}

	ps := wide(nn.NewLSTM(generator(2), "lstm", in, width).Params())
	l := nn.LSTM{W: ps[0], U: ps[1], B: ps[2]}
	ys, y, next := l.Forward(x, nil, nil)
	h, c := backsweep.Zeros(backsweep.Float64, n, width), backsweep.Zeros(backsweep.Float64, n, width)
	for k := range steps {
		g := step(k).MatMul(l.W).Add(h.MatMul(l.U)).Add(l.B).Split(1, width, width, width, width)
		c = g[1].Sigmoid().Mul(c).Add(g[0].Sigmoid().Mul(g[2].Tanh()))
		h = g[3].Sigmoid().Mul(c.Tanh())
		near(t, "LSTM output", ys.Slice(backsweep.Range{Stop: backsweep.End, Step: 1}, backsweep.Range{Start: k, Stop: k + 1, Step: 1}), h.Float64s(), 1e-12)
	}
	near(t, "LSTM last", y, h.Float64s(), 1e-12)
	near(t, "LSTM state", next, c.Float64s(), 1e-12)

	ps = wide(nn.NewGRU(generator(3), "gru", in, width).Params())
	g := nn.GRU{W: ps[0], U: ps[1], B: draw(4, 3*width), C: draw(5, 3*width)}
	_, last := g.Forward(x, nil)
	h = backsweep.Zeros(backsweep.Float64, n, width)
	for k := range steps {
		a, b := step(k).Linear(g.W, g.B).Split(1, width, width, width), h.Linear(g.U, g.C).Split(1, width, width, width)
		r, z := a[0].Add(b[0]).Sigmoid(), a[1].Add(b[1]).Sigmoid()
		m := a[2].Add(r.Mul(b[2])).Tanh()
		h = z.Neg().AddScalar(1).Mul(m).Add(z.Mul(h))
	}
	near(t, "GRU", last, h.Float64s(), 1e-12)

	ps = wide(nn.NewRNN(generator(6), "rnn", in, width).Params())
	e := nn.RNN{W: ps[0], U: ps[1], B: draw(7, width)}
	_, last = e.Forward(x, draw(8, n, width))
	h = draw(8, n, width)
	for k := range steps {
		h = step(k).Linear(e.W, e.B).Add(h.MatMul(e.U)).Tanh()
	}
	near(t, "RNN", last, h.Float64s(), 1e-12)
}

// Gradients of whole layers, also where only some of the outputs are used.
func TestLayersDifferentiate(t *testing.T) {
	rng := generator(1)
	lstm, gru, rnn := nn.NewLSTM(rng, "l", 3, 2), nn.NewGRU(rng, "g", 3, 2), nn.NewRNN(rng, "r", 3, 2)
	conv := nn.NewConv2d(rng, "c", 2, 4, 3, backsweep.ConvSpec{Pad: []int{1}, Stride: []int{2}, Groups: 2})
	line := nn.NewConv1d(rng, "d", 3, 2, 2, backsweep.ConvSpec{Dilation: []int{2}})
	enc := nn.NewTransformerEncoder(rng, "t", 4, 2, 6)
	for name, c := range map[string]struct {
		x  []int
		ps []*tensor
		f  func(x *tensor, p []*tensor) *tensor
	}{
		"lstm outputs": {[]int{2, 3, 3}, lstm.Params(), func(x *tensor, p []*tensor) *tensor {
			ys, _, _ := nn.LSTM{W: p[0], U: p[1], B: p[2]}.Forward(x, nil, nil)
			return ys
		}},
		"lstm state": {[]int{2, 3, 3}, lstm.Params(), func(x *tensor, p []*tensor) *tensor {
			_, _, c := nn.LSTM{W: p[0], U: p[1], B: p[2]}.Forward(x, nil, nil)
			return c
		}},
		"gru": {[]int{2, 3, 3}, gru.Params(), func(x *tensor, p []*tensor) *tensor {
			hs, _ := nn.GRU{W: p[0], U: p[1], B: p[2], C: p[3]}.Forward(x, nil)
			return hs
		}},
		"rnn": {[]int{2, 3, 3}, rnn.Params(), func(x *tensor, p []*tensor) *tensor {
			_, h := nn.RNN{W: p[0], U: p[1], B: p[2]}.Forward(x, nil)
			return h
		}},
		"conv2d": {[]int{1, 2, 4, 3}, conv.Params(), func(x *tensor, p []*tensor) *tensor {
			return nn.Conv{W: p[0], B: p[1], Spec: conv.Spec}.Forward(x)
		}},
		"conv1d": {[]int{2, 3, 4}, line.Params(), func(x *tensor, p []*tensor) *tensor {
			return nn.Conv{W: p[0], B: p[1], Spec: line.Spec}.Forward(x)
		}},
		"batch norm": {[]int{3, 2, 2}, nn.NewBatchNorm("b", 2).Params(), func(x *tensor, p []*tensor) *tensor {
			b := nn.NewBatchNorm("b", 2)
			b.Gamma, b.Beta = p[0], p[1]
			return b.Train(x)
		}},
		"batch norm, inference": {[]int{3, 2, 2}, nn.NewBatchNorm("b", 2).Params(), func(x *tensor, p []*tensor) *tensor {
			return x.BatchNormWith(p[0], p[1], backsweep.New([]float64{1, 2}), backsweep.New([]float64{3, 4}), 0.1)
		}},
		"encoder": {[]int{2, 3, 4}, enc.Params(), func(x *tensor, p []*tensor) *tensor {
			return encoder(enc, p).Forward(x, backsweep.AttentionSpec{Causal: true})
		}},
	} {
		in := append([]*tensor{draw(9, c.x...)}, wide(c.ps)...)
		f := func(in []*tensor) *tensor { return c.f(in[0], in[1:]).Square().Sum() }
		if err := gradcheck.Check(f, in, gradcheck.Twice()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Parameters get their gradients also where the state before the first step is
// on no tape.
func TestRecurrentLayersTrainFromPlainStates(t *testing.T) {
	rng := generator(1)
	lstm, gru, rnn := nn.NewLSTM(rng, "l", 3, 2), nn.NewGRU(rng, "g", 3, 2), nn.NewRNN(rng, "r", 3, 2)
	for _, h := range []*tensor{nil, backsweep.Randn(rng, 2, 2)} {
		tape := backsweep.NewTape()
		x := tape.Input("x", backsweep.Randn(rng, 2, 4, 3))
		_, a, _ := lstm.Forward(x, h, h)
		_, b := gru.Forward(x, h)
		_, c := rnn.Forward(x, h)
		grads, err := tape.Backward(a.Add(b).Add(c).Square().Sum())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(append(lstm.Params(), gru.Params()...), rnn.Params()...) {
			if _, state := grads.Lookup(p); state != backsweep.Computed {
				t.Errorf("%s: %v", p.Name(), state)
			}
		}
	}
}

// encoder is the block with other parameters, in the order of Params.
func encoder(e nn.TransformerEncoder, p []*tensor) nn.TransformerEncoder {
	for i, l := range []*nn.Linear{&e.Attention.Query, &e.Attention.Key, &e.Attention.Value, &e.Attention.Out} {
		*l = nn.Linear{W: p[2*i], B: p[2*i+1]}
	}
	e.Norm1.Gamma, e.Norm1.Beta = p[8], p[9]
	e.Up, e.Down = nn.Linear{W: p[10], B: p[11]}, nn.Linear{W: p[12], B: p[13]}
	e.Norm2.Gamma, e.Norm2.Beta = p[14], p[15]
	return e
}

// A causal block's output at a position does not depend on later ones, and a
// key that a mask hides does not matter.
func TestAttentionSeesOnlyWhatItMay(t *testing.T) {
	enc := nn.NewTransformerEncoder(generator(1), "t", 4, 2, 6)
	x := backsweep.Randn(generator(2), 2, 3, 4)
	other := x.Clone()
	backsweep.Update(other, func(d []float32) {
		for i := range 2 {
			for k := range 4 {
				d[(i*3+2)*4+k] += 1
			}
		}
	})
	first := func(y *tensor) []float64 {
		all := backsweep.Range{Stop: backsweep.End, Step: 1}
		return y.Slice(all, backsweep.Range{Stop: 2, Step: 1}).Float64s()
	}
	mask := backsweep.New([]bool{true, true, false}, 1, 1, 1, 3)
	for name, s := range map[string]backsweep.AttentionSpec{"causal": {Causal: true}, "mask": {Mask: mask}} {
		if a, b := first(enc.Forward(x, s)), first(enc.Forward(other, s)); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %v and %v", name, a, b)
		}
	}
	if a, b := first(enc.Forward(x, backsweep.AttentionSpec{})), first(enc.Forward(other, backsweep.AttentionSpec{})); reflect.DeepEqual(a, b) {
		t.Error("without a mask the last position does not matter")
	}
}

func TestDropoutRunsInTrainingOnly(t *testing.T) {
	enc := nn.NewTransformerEncoder(generator(1), "t", 4, 2, 6)
	enc.Dropout = nn.Dropout{P: 0.5, Rng: generator(3)}
	x := backsweep.Randn(generator(2), 2, 3, 4)
	none := backsweep.AttentionSpec{}
	plain := enc.Forward(x, none).Float64s()
	if !reflect.DeepEqual(plain, enc.Forward(x, none).Float64s()) {
		t.Error("inference is random")
	}
	if reflect.DeepEqual(plain, enc.Train(x, none).Float64s()) {
		t.Error("nothing was dropped")
	}

	net := nn.Sequential{nn.NewLinear(generator(1), "l", 4, 4), nn.Func((*tensor).Relu), nn.Dropout{P: 0.5, Rng: generator(3)}, nn.Sequential{nn.NewBatchNorm("b", 4)}}
	net.Train(x.Reshape(-1, 4))
	b := net[3].(nn.Sequential)[0].(nn.BatchNorm)
	if b.Mean.Version() == 0 {
		t.Error("training did not reach the inner layer")
	}
	v := b.Mean.Version()
	net.Forward(x.Reshape(-1, 4))
	if b.Mean.Version() != v {
		t.Error("inference moved the running statistics")
	}
	if names := len(net.Params()); names != 4 {
		t.Errorf("%d parameters", names)
	}
}

func TestInitializersHaveTheirVariance(t *testing.T) {
	for name, want := range map[string]float64{
		"lecun_normal": 1.0 / 120, "lecun_uniform": 1.0 / 120, "he_normal": 2.0 / 120, "he_uniform": 2.0 / 120,
		"glorot_normal": 2.0 / 200, "glorot_uniform": 2.0 / 200, "zeros": 0, "orthogonal": 1.0 / 120,
	} {
		f, ok := nn.InitNamed(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		for _, shape := range [][]int{{120, 80}, {80, 120}, {8, 12, 5, 2}} {
			in, out := nn.Fans(shape...)
			w := want
			switch {
			case name == "orthogonal":
				w = 1 / float64(max(shape[len(shape)-1], prod(shape)/shape[len(shape)-1]))
			case want > 0 && name[0] != 'g':
				w = want * 120 / float64(in)
			case want > 0:
				w = 2 / float64(in+out)
			}
			mean, std := moments(f(generator(4), shape...))
			if math.Abs(mean) > 0.01 || math.Abs(std*std-w) > 0.15*w {
				t.Errorf("%s %v: mean %v, variance %v, want 0 and %v", name, shape, mean, std*std, w)
			}
		}
	}
	if _, ok := nn.InitNamed("guess"); ok {
		t.Error("there is an initializer called guess")
	}
	q := nn.Orthogonal(generator(5), 3, 5)
	near(t, "q·qᵀ", q.MatMul(q.T()), []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, 1e-6)
	q = nn.Orthogonal(generator(5), 5, 2)
	near(t, "qᵀ·q", q.T().MatMul(q), []float64{1, 0, 0, 1}, 1e-6)
}

func prod(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
