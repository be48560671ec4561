package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
)

// The models of peer_torch.py, with the same first values.

type optimizer interface{ Step(optim.Gradients) error }

// training repeats a step: forward on a tape that is reset, backward, optimizer.
// After the steps whose losses are compared the rate falls to next to nothing,
// so that every step that is measured does the work of a first one: a model that
// has learned its one batch by heart has gradients that are not normal numbers.
func training(loss func(tape *backsweep.Tape) *tensor, opt optimizer, rate *float64) *job {
	tape := backsweep.NewTape()
	step := func() *tensor {
		tape.Reset()
		l := loss(tape)
		g := must(tape.Backward(l))
		if err := opt.Step(g); err != nil {
			panic(err)
		}
		return l
	}
	j := &job{run: func(n int) {
		for range n {
			step()
		}
	}}
	// The losses of four steps tell gradients and updates apart.
	for range 4 {
		j.values = append(j.values, step().Item())
	}
	*rate = 1e-12
	return j
}

// descent is training by SGD.
func descent(loss func(tape *backsweep.Tape) *tensor, params ...*tensor) *job {
	sgd := optim.NewSGD(0.01, params...)
	return training(loss, sgd, &sgd.LR)
}

func linear(seed, in, out int) nn.Linear {
	scale := 1 / math.Sqrt(float64(in))
	return nn.Linear{W: param(fmt.Sprint("w", seed), seed, scale, in, out), B: param(fmt.Sprint("b", seed), seed+1, scale, out)}
}

type mlp struct {
	layers []nn.Linear
	act    func(*tensor) *tensor
}

func newMLP(act func(*tensor) *tensor, widths ...int) mlp {
	m := mlp{act: act}
	for i := range len(widths) - 1 {
		m.layers = append(m.layers, linear(10*i+10, widths[i], widths[i+1]))
	}
	return m
}

func (m mlp) forward(x *tensor) *tensor {
	for i, l := range m.layers {
		x = l.Forward(x)
		if i+1 < len(m.layers) {
			x = m.act(x)
		}
	}
	return x
}

func (m mlp) params() (p []*tensor) {
	for _, l := range m.layers {
		p = append(p, l.Params()...)
	}
	return p
}

func modelJobs(jobs map[string]maker) {
	jobs["MLP 784-256-256-10 b64 step"] = func() *job {
		m := newMLP((*tensor).Relu, 784, 256, 256, 10)
		x, y := filled(1, 1, 64, 784), backsweep.New(numbers(64, 2, 10))
		return descent(func(tape *backsweep.Tape) *tensor { return m.forward(tape.Input("x", x)).CrossEntropy(y) }, m.params()...)
	}
	jobs["MLP 64-64-64-1 b16 step"] = func() *job {
		m := newMLP((*tensor).Tanh, 64, 64, 64, 1)
		x, y := filled(1, 1, 16, 64), filled(2, 1, 16, 1)
		return descent(func(tape *backsweep.Tape) *tensor { return m.forward(tape.Input("x", x)).Sub(y).Square().Mean() }, m.params()...)
	}
	jobs["two-tower dense Adam step"] = func() *job { return twoTower(false) }
	jobs["two-tower sparse Adam step"] = func() *job { return twoTower(true) }
	jobs["transformer step"] = func() *job {
		t := newTransformer()
		return descent(t.loss, t.params...)
	}
	jobs["transformer, backward/forward"] = func() *job { return &job{figure: newTransformer().backwardOverForward} }
	jobs["LSTM step"] = lstm
	jobs["LeNet-5 b32 step"] = leNet
	for workers := 1; workers <= 2; workers++ {
		name := "two wide towers, 1 worker"
		if workers == 2 {
			name = "two wide towers, 2 workers"
		}
		jobs[name] = func() *job { return wideTowers(workers) }
	}
}

// Two towers: a mean of 16 of 20000 rows of width 64, a linear layer, tanh and
// another linear layer; 128 pairs, each against the others' documents.
func twoTower(sparse bool) *job {
	const vocabulary, width, words, pairs = 20000, 64, 16, 128
	type tower struct {
		table *tensor
		a, b  nn.Linear
		index *tensor
	}
	offsets := make([]int64, pairs)
	for i := range offsets {
		offsets[i] = int64(i * words)
	}
	starts := backsweep.New(offsets)
	var towers [2]tower
	var params []*tensor
	for i := range towers {
		t := &towers[i]
		t.table = param(fmt.Sprint("table", i), 3+i, 1, vocabulary, width)
		t.a, t.b = linear(20+10*i, width, width), linear(40+10*i, width, width)
		t.index = backsweep.New(numbers(pairs*words, 5+i, vocabulary))
		params = append(params, t.table)
		params = append(append(params, t.a.Params()...), t.b.Params()...)
	}
	label := backsweep.Arange(pairs)
	adam := optim.NewAdam(1e-3, params...)
	return training(func(tape *backsweep.Tape) *tensor {
		var out [2]*tensor
		for i, t := range towers {
			index := tape.Input("index", t.index)
			var mean *tensor
			if sparse {
				mean = t.table.EmbeddingBag(index, starts)
			} else {
				mean = t.table.Take(index.Reshape(pairs, words), 0).Mean(1)
			}
			out[i] = t.b.Forward(t.a.Forward(mean).Tanh())
		}
		return out[0].MatMul(out[1].T()).CrossEntropy(label)
	}, adam, &adam.LR)
}

// transformer is two blocks with layer normalization first: width 128, four
// heads, 64 positions with a causal mask, batch 8, hidden width 512.
type transformer struct {
	blocks []block
	x, y   *tensor
	params []*tensor
}

const (
	modelWidth, heads, positions, sequences, hidden = 128, 4, 64, 8, 512
	headWidth                                       = modelWidth / heads
)

type block struct {
	gamma, beta        [2]*tensor
	qkv, out, up, down nn.Linear
}

func newTransformer() *transformer {
	t := &transformer{x: filled(1, 1, sequences, positions, modelWidth), y: filled(2, 1, sequences, positions, modelWidth)}
	for i := range 2 {
		var b block
		for k := range 2 {
			b.gamma[k] = backsweep.NewParam("gamma", backsweep.Full(backsweep.Float32, 1, modelWidth))
			b.beta[k] = backsweep.NewParam("beta", backsweep.Zeros(backsweep.Float32, modelWidth))
			t.params = append(t.params, b.gamma[k], b.beta[k])
		}
		s := 100 * (i + 1)
		b.qkv, b.out = linear(s, modelWidth, 3*modelWidth), linear(s+10, modelWidth, modelWidth)
		b.up, b.down = linear(s+20, modelWidth, hidden), linear(s+30, hidden, modelWidth)
		for _, l := range []nn.Linear{b.qkv, b.out, b.up, b.down} {
			t.params = append(t.params, l.Params()...)
		}
		t.blocks = append(t.blocks, b)
	}
	return t
}

func (b *block) forward(x *tensor) *tensor {
	h := b.qkv.Forward(x.LayerNorm(b.gamma[0], b.beta[0], 1e-5))
	h = h.Reshape(sequences, positions, 3, heads, headWidth).Transpose(2, 0, 3, 1, 4) // [3, sequence, head, position, width]
	parts := h.Split(0, 1, 1, 1)
	for i, p := range parts {
		parts[i] = p.Squeeze(0)
	}
	a := backsweep.Attention(parts[0], parts[1], parts[2], backsweep.AttentionSpec{Causal: true})
	a = a.Transpose(0, 2, 1, 3).Reshape(sequences, positions, modelWidth)
	x = x.Add(b.out.Forward(a))
	return x.Add(b.down.Forward(b.up.Forward(x.LayerNorm(b.gamma[1], b.beta[1], 1e-5)).Gelu()))
}

func (t *transformer) loss(tape *backsweep.Tape) *tensor {
	h := tape.Input("x", t.x)
	for i := range t.blocks {
		h = t.blocks[i].forward(h)
	}
	return h.Sub(t.y).Square().Mean()
}

// backwardOverForward is the time of the sweep over that of recording.
func (t *transformer) backwardOverForward() float64 {
	tape := backsweep.NewTape()
	var forward, backward int64
	for begun := time.Now(); time.Since(begun) < 500*time.Millisecond; {
		t0, _ := clock()
		l := t.loss(tape)
		t1, _ := clock()
		must(tape.Backward(l))
		t2, _ := clock()
		forward, backward = forward+t1-t0, backward+t2-t1
		tape.Reset()
	}
	return float64(backward) / float64(forward)
}

// lstm is one layer of width 128 over 50 steps of a batch of 16.
func lstm() *job {
	const width, steps, batch = 128, 50, 16
	scale := 1 / math.Sqrt(width)
	layer := nn.LSTM{W: param("w", 10, scale, width, 4*width), U: param("u", 20, scale, width, 4*width), B: param("b", 11, scale, 4*width)}
	x, y := filled(1, 1, batch, steps, width), filled(2, 1, batch, steps, width)
	return descent(func(tape *backsweep.Tape) *tensor {
		out, _, _ := layer.Forward(tape.Input("x", x), nil, nil)
		return out.Sub(y).Square().Mean()
	}, layer.Params()...)
}

// leNet is LeNet-5 with ReLU and maximum pooling on 28x28 images, batch 32.
func leNet() *job {
	k1, b1 := param("k1", 10, 0.2, 6, 1, 5, 5), param("c1", 11, 0.2, 6, 1, 1)
	k2, b2 := param("k2", 20, 0.08, 16, 6, 5, 5), param("c2", 21, 0.08, 16, 1, 1)
	net := newMLP((*tensor).Relu, 400, 120, 84, 10)
	x, y := filled(1, 1, 32, 1, 28, 28), backsweep.New(numbers(32, 2, 10))
	pad, pool := backsweep.ConvSpec{Pad: []int{2, 2}}, backsweep.PoolSpec{Kernel: []int{2}}
	return descent(func(tape *backsweep.Tape) *tensor {
		h := tape.Input("x", x).Conv(k1, pad).Add(b1).Relu().MaxPool(pool)
		h = h.Conv(k2, backsweep.ConvSpec{}).Add(b2).Relu().MaxPool(pool)
		return net.forward(h.Reshape(32, 400)).CrossEntropy(y)
	}, append(net.params(), k1, b1, k2, b2)...)
}

// wideTowers are two towers of three layers of width 512, batch 256, that meet
// at the loss. The figure is the wall-clock time of the sweep alone.
func wideTowers(workers int) *job {
	const width, batch = 512, 256
	towers := [2]mlp{newMLP((*tensor).Tanh, width, width, width, width), newMLP((*tensor).Tanh, width, width, width, width)}
	x := [2]*tensor{filled(1, 1, batch, width), filled(2, 1, batch, width)}
	tape := backsweep.NewTape()
	sweep := func() (g *backsweep.Grads, ms float64) {
		tape.Reset()
		loss := towers[0].forward(tape.Input("a", x[0])).Mul(towers[1].forward(tape.Input("b", x[1]))).Mean()
		_, begun := clock()
		g = must(tape.Backward(loss, backsweep.Workers(workers)))
		_, ended := clock()
		return g, float64(ended-begun) / 1e6
	}
	sweep()
	j := &job{figure: func() float64 {
		var times []float64
		for range 21 {
			_, ms := sweep()
			times = append(times, ms)
		}
		slices.Sort(times)
		return times[len(times)/2]
	}}
	g, _ := sweep()
	for _, p := range append(towers[0].params(), towers[1].params()...) {
		j.values = append(j.values, bitsOf(backsweep.Data[float32](g.Of(p))))
	}
	return j
}

// bitsOf is a sum that differs when a bit of one value does, almost surely.
func bitsOf(s []float32) float64 {
	h := uint32(2166136261)
	for _, v := range s {
		h = (h ^ math.Float32bits(v)) * 16777619
	}
	return float64(h)
}
