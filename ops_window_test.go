package backsweep_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	bs "github.com/backsweep/backsweep"
)

// slide describes a random convolution or pool of one to three axes.
type slide struct {
	rank, n, groups, in, out         int // in and out are channels of a group
	extent, kernel, stride, dilation []int
	before, after                    []int
}

func drawSlide(t *rapid.T, dilated bool) slide {
	s := slide{
		rank: rapid.IntRange(1, 3).Draw(t, "rank"), n: rapid.IntRange(0, 2).Draw(t, "n"), groups: rapid.IntRange(1, 3).Draw(t, "groups"),
		in: rapid.IntRange(1, 2).Draw(t, "in"), out: rapid.IntRange(1, 2).Draw(t, "out"),
	}
	for range s.rank {
		k := rapid.IntRange(1, 3).Draw(t, "kernel")
		d := 1
		pad := k / 2
		if dilated {
			d, pad = rapid.IntRange(1, 2).Draw(t, "dilation"), 3
		}
		before, after := rapid.IntRange(0, pad).Draw(t, "before"), rapid.IntRange(0, pad).Draw(t, "after")
		least := max(1, (k-1)*d+1-before-after)
		s.extent = append(s.extent, rapid.IntRange(least, least+3).Draw(t, "extent"))
		s.kernel, s.dilation = append(s.kernel, k), append(s.dilation, d)
		s.before, s.after = append(s.before, before), append(s.after, after)
		s.stride = append(s.stride, rapid.IntRange(1, 3).Draw(t, "stride"))
	}
	return s
}

func (s *slide) pad() []int { return append(slices.Clone(s.before), s.after...) }

// eachIndex calls f with every index below the extents, in row-major order.
func eachIndex(extents []int, f func(index []int)) {
	if len(extents) == 0 || slices.Contains(extents, 0) {
		if len(extents) == 0 {
			f(nil)
		}
		return
	}
	index := make([]int, len(extents))
	for {
		f(index)
		a := len(index) - 1
		for ; a >= 0; a-- {
			if index[a]++; index[a] < extents[a] {
				break
			}
			index[a] = 0
		}
		if a < 0 {
			return
		}
	}
}

func flat(extents, index []int) int {
	at := 0
	for a, d := range extents {
		at = at*d + index[a]
	}
	return at
}

// whole draws a tensor of whole numbers, whose sums are exact in any order.
func wholeNumbers(t *rapid.T, shape ...int) *bs.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	d := make([]float32, n)
	for i := range d {
		d[i] = float32(rapid.IntRange(-4, 4).Draw(t, "value"))
	}
	return bs.New(d, shape...)
}

// Convolution against its definition, and its transpose as the adjoint:
// ⟨conv(x, w), y⟩ = ⟨x, conv_transpose(y, w)⟩.
func TestConvIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlide(t, true)
		x := wholeNumbers(t, append([]int{s.n, s.groups * s.in}, s.extent...)...)
		w := wholeNumbers(t, append([]int{s.groups * s.out, s.in}, s.kernel...)...)
		spec := bs.ConvSpec{Stride: s.stride, Pad: s.pad(), Dilation: s.dilation, Groups: s.groups}
		got := x.Conv(w, spec)
		shape := []int{s.n, s.groups * s.out}
		for a := range s.rank {
			shape = append(shape, (s.extent[a]+s.before[a]+s.after[a]-(s.kernel[a]-1)*s.dilation[a]-1)/s.stride[a]+1)
		}
		xs, ws := x.Float64s(), w.Float64s()
		var want []float64
		eachIndex(shape, func(o []int) {
			sum := 0.0
			eachIndex(append([]int{s.in}, s.kernel...), func(k []int) {
				from := []int{o[0], o[1]/s.out*s.in + k[0]}
				for a := range s.rank {
					p := o[2+a]*s.stride[a] + k[1+a]*s.dilation[a] - s.before[a]
					if p < 0 || p >= s.extent[a] {
						return
					}
					from = append(from, p)
				}
				sum += xs[flat(x.Shape(), from)] * ws[flat(w.Shape(), append([]int{o[1]}, k...))]
			})
			want = append(want, sum)
		})
		if !slices.Equal(got.Shape(), shape) || !slices.Equal(got.Float64s(), append([]float64{}, want...)) {
			t.Fatalf("conv %v of %v: %v, want %v", w.Shape(), x.Shape(), got, want)
		}
		y := wholeNumbers(t, shape...)
		back := y.ConvTranspose(w, bs.ConvSpec{Stride: s.stride, Pad: exactly(s, shape), Dilation: s.dilation, Groups: s.groups})
		if a, b := got.Mul(y).Sum().Item(), x.Mul(back).Sum().Item(); a != b {
			t.Fatalf("⟨conv x, y⟩ = %v, ⟨x, transpose y⟩ = %v", a, b)
		}
	})
}

// exactly is the padding with which the transpose gives the extents back: from
// the padding after an axis comes what the last window left out.
func exactly(s slide, shape []int) []int {
	pad := s.pad()
	for a := range s.rank {
		pad[s.rank+a] = (shape[2+a]-1)*s.stride[a] + (s.kernel[a]-1)*s.dilation[a] + 1 - s.extent[a] - s.before[a]
	}
	return pad
}

// Pools against their definition, with places.
func TestPoolsAreTheirDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSlide(t, false)
		ceil := rapid.Bool().Draw(t, "ceil")
		x := wholeNumbers(t, append([]int{s.n, s.in}, s.extent...)...)
		spec := bs.PoolSpec{Kernel: s.kernel, Stride: s.stride, Pad: s.pad(), Ceil: ceil}
		largest, places := x.MaxPoolPlaces(spec)
		mean := x.AvgPool(spec)
		spec.ExcludePad = true
		inner := x.AvgPool(spec)

		shape := []int{s.n, s.in}
		for a := range s.rank {
			// Windows that begin before the end, the last of which may reach beyond.
			end := s.extent[a] + s.before[a] + s.after[a]
			n := 0
			for o := 0; o < s.extent[a]+s.before[a]; o += s.stride[a] {
				if o+s.kernel[a] > end && (!ceil || o-s.stride[a]+s.kernel[a] >= end) {
					break
				}
				n++
			}
			shape = append(shape, n)
		}
		if !slices.Equal(largest.Shape(), shape) || !slices.Equal(mean.Shape(), shape) {
			t.Fatalf("shapes %v and %v, want %v", largest.Shape(), mean.Shape(), shape)
		}
		xs, ls, ps, ms, rs := x.Float64s(), largest.Float64s(), bs.Data[int64](places), bs.Data[float32](mean), bs.Data[float32](inner)
		at := 0
		eachIndex(shape, func(o []int) {
			best, place, sum, n, padded := math.Inf(-1), -1, 0.0, 0, 0
			eachIndex(s.kernel, func(k []int) {
				at, inside, within := []int{}, true, true
				for a := range s.rank {
					p := o[2+a]*s.stride[a] + k[a] - s.before[a]
					inside = inside && p >= 0 && p < s.extent[a]
					within = within && p < s.extent[a]+s.after[a]
					at = append(at, p)
				}
				if within {
					padded++
				}
				if !inside {
					return
				}
				v := xs[flat(x.Shape(), append([]int{o[0], o[1]}, at...))]
				n++
				sum += v
				if v > best {
					best, place = v, flat(s.extent, at)
				}
			})
			if ls[at] != best || ps[at] != int64(place) {
				t.Fatalf("largest at %v: %v from %d, want %v from %d", o, ls[at], ps[at], best, place)
			}
			if ms[at] != float32(sum)/float32(padded) || rs[at] != float32(sum)/float32(n) {
				t.Fatalf("means at %v: %v and %v, want %v/%d and /%d", o, ms[at], rs[at], sum, padded, n)
			}
			at++
		})
	})
}

func TestMaxPoolKeepsNaN(t *testing.T) {
	nan := math.NaN()
	y, places := bs.New([]float64{1, nan, 3, nan, 5, 6}, 1, 1, 6).MaxPoolPlaces(bs.PoolSpec{Kernel: []int{3}})
	if d := y.Float64s(); !math.IsNaN(d[0]) || !math.IsNaN(d[1]) || !slices.Equal(bs.Data[int64](places), []int64{1, 3}) {
		t.Errorf("%v from %v", y, places)
	}
}

func TestConvTransposeOutputPad(t *testing.T) {
	y := bs.New([]float64{1, 2}, 1, 1, 2).ConvTranspose(bs.New([]float64{1, 10}, 1, 1, 2), bs.ConvSpec{Stride: []int{3}, OutputPad: []int{2}})
	mustBeClose(t, "output", y, bs.New([]float64{1, 10, 0, 2, 20, 0, 0}, 1, 1, 7), 0)
	y = bs.New([]float64{1, 2}, 1, 1, 2).ConvTranspose(bs.New([]float64{1, 10}, 1, 1, 2), bs.ConvSpec{Stride: []int{3}, Pad: []int{1}, OutputPad: []int{1}})
	mustBeClose(t, "cropped", y, bs.New([]float64{10, 0, 2, 20}, 1, 1, 4), 0)
}

func TestWindowsThatDoNotFit(t *testing.T) {
	x, w := bs.Zeros(bs.Float32, 1, 4, 5), bs.Zeros(bs.Float32, 2, 4, 3)
	for name, c := range map[string]struct {
		f    func()
		want error
	}{
		"kernel too large":      {func() { x.Conv(bs.Zeros(bs.Float32, 2, 4, 6), bs.ConvSpec{}) }, bs.ErrShape},
		"dilated too far":       {func() { x.Conv(w, bs.ConvSpec{Dilation: []int{3}}) }, bs.ErrShape},
		"other channels":        {func() { x.Conv(bs.Zeros(bs.Float32, 2, 3, 3), bs.ConvSpec{}) }, bs.ErrShape},
		"groups do not divide":  {func() { x.Conv(w, bs.ConvSpec{Groups: 3}) }, bs.ErrShape},
		"other axes":            {func() { x.Conv(bs.Zeros(bs.Float32, 2, 4, 3, 3), bs.ConvSpec{}) }, bs.ErrShape},
		"no axes":               {func() { bs.Zeros(bs.Float32, 3, 4).Conv(bs.Zeros(bs.Float32, 2, 4), bs.ConvSpec{}) }, bs.ErrShape},
		"mixed types":           {func() { x.Conv(w.Cast(bs.Float64), bs.ConvSpec{}) }, bs.ErrDType},
		"integers":              {func() { x.Cast(bs.Int64).Conv(w.Cast(bs.Int64), bs.ConvSpec{}) }, bs.ErrDType},
		"stride 0":              {func() { x.Conv(w, bs.ConvSpec{Stride: []int{0}}) }, bs.ErrValue},
		"negative padding":      {func() { x.Conv(w, bs.ConvSpec{Pad: []int{-1}}) }, bs.ErrValue},
		"three strides":         {func() { x.Conv(w, bs.ConvSpec{Stride: []int{1, 1, 1}}) }, bs.ErrValue},
		"output padding":        {func() { x.Conv(w, bs.ConvSpec{OutputPad: []int{1}}) }, bs.ErrValue},
		"output padding, large": {func() { x.ConvTranspose(bs.Zeros(bs.Float32, 4, 1, 3), bs.ConvSpec{OutputPad: []int{1}}) }, bs.ErrValue},
		"crops everything":      {func() { x.ConvTranspose(bs.Zeros(bs.Float32, 4, 1, 3), bs.ConvSpec{Pad: []int{4}}) }, bs.ErrShape},
		"scalar":                {func() { bs.Scalar(float32(1)).ConvTranspose(w, bs.ConvSpec{OutputPad: []int{1}}) }, bs.ErrShape},
		"pool too large":        {func() { x.MaxPool(bs.PoolSpec{Kernel: []int{6}}) }, bs.ErrShape},
		"no kernel":             {func() { x.MaxPool(bs.PoolSpec{}) }, bs.ErrValue},
		"pads too far":          {func() { x.AvgPool(bs.PoolSpec{Kernel: []int{3}, Pad: []int{2}}) }, bs.ErrValue},
		"pool of rows":          {func() { bs.Zeros(bs.Float32, 3, 4).AvgPool(bs.PoolSpec{Kernel: []int{2}}) }, bs.ErrShape},
		"gamma of other width":  {func() { x.LayerNorm(bs.Zeros(bs.Float32, 4), bs.Zeros(bs.Float32, 5), 0) }, bs.ErrShape},
		"gamma of a channel":    {func() { x.BatchNorm(bs.Zeros(bs.Float32, 5), bs.Zeros(bs.Float32, 4), 0) }, bs.ErrShape},
		"gates of other width":  {func() { bs.Zeros(bs.Float32, 2, 7).LSTMGates(bs.Zeros(bs.Float32, 2, 2)) }, bs.ErrShape},
		"p above 1":             {func() { x.Dropout(source(t), 1.5) }, bs.ErrValue},
	} {
		err := func() (err error) {
			defer bs.Catch(&err)
			c.f()
			return nil
		}()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Extents of 0: no images, no channels in or out, no rows, nothing to normalize.
func TestLayersOfNothing(t *testing.T) {
	z := func(shape ...int) *bs.Tensor { return bs.Zeros(bs.Float64, shape...) }
	pad := bs.ConvSpec{Pad: []int{1}}
	for name, c := range map[string]struct {
		in   []*bs.Tensor
		f    func(x []*bs.Tensor) *bs.Tensor
		want []int
	}{
		"no images":         {[]*bs.Tensor{z(0, 2, 4), z(3, 2, 3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].Conv(x[1], pad) }, []int{0, 3, 4}},
		"no channels in":    {[]*bs.Tensor{z(2, 0, 4), z(3, 0, 3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].Conv(x[1], pad) }, []int{2, 3, 4}},
		"no channels out":   {[]*bs.Tensor{z(2, 2, 4), z(0, 2, 3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].Conv(x[1], pad) }, []int{2, 0, 4}},
		"nothing but pad":   {[]*bs.Tensor{z(2, 2, 0), z(1, 2, 2)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].Conv(x[1], pad) }, []int{2, 1, 1}},
		"transpose, no in":  {[]*bs.Tensor{z(2, 0, 4), z(0, 3, 3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].ConvTranspose(x[1], bs.ConvSpec{}) }, []int{2, 3, 6}},
		"transpose, no out": {[]*bs.Tensor{z(2, 2, 4), z(2, 0, 3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].ConvTranspose(x[1], bs.ConvSpec{}) }, []int{2, 0, 6}},
		"pool of pad":       {[]*bs.Tensor{z(1, 1, 0)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].AvgPool(bs.PoolSpec{Kernel: []int{2}, Pad: []int{1}}) }, []int{1, 1, 1}},
		"max pool, none":    {[]*bs.Tensor{z(1, 0, 4)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].MaxPool(bs.PoolSpec{Kernel: []int{2}}) }, []int{1, 0, 2}},
		"rows of nothing":   {[]*bs.Tensor{z(3, 0), z(0), z(0)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].LayerNorm(x[1], x[2], 1) }, []int{3, 0}},
		"no rows":           {[]*bs.Tensor{z(0, 3), z(3)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].RMSNorm(x[1], 1) }, []int{0, 3}},
		"no batch":          {[]*bs.Tensor{z(0, 3), z(3), z(3)}, func(x []*bs.Tensor) *bs.Tensor { y, _, _ := x[0].BatchNorm(x[1], x[2], 1); return y }, []int{0, 3}},
		"no channels":       {[]*bs.Tensor{z(2, 0, 3), z(0), z(0)}, func(x []*bs.Tensor) *bs.Tensor { y, _, _ := x[0].BatchNorm(x[1], x[2], 1); return y }, []int{2, 0, 3}},
		"no width":          {[]*bs.Tensor{z(2, 0), z(2, 0)}, func(x []*bs.Tensor) *bs.Tensor { y, _ := x[0].LSTMGates(x[1]); return y }, []int{2, 0}},
		"no equations":      {[]*bs.Tensor{z(0, 0), z(0, 2)}, func(x []*bs.Tensor) *bs.Tensor { return x[0].Solve(x[1]) }, []int{0, 2}},
		"no keys":           {[]*bs.Tensor{z(2, 3), z(0, 3), z(0, 1)}, func(x []*bs.Tensor) *bs.Tensor { return bs.Attention(x[0], x[1], x[2], bs.AttentionSpec{Causal: true}) }, []int{2, 1}},
	} {
		tape := bs.NewTape()
		in := make([]*bs.Tensor, len(c.in))
		for i, x := range c.in {
			in[i] = tape.Watch(x)
		}
		y := c.f(in)
		if !slices.Equal(y.Shape(), c.want) {
			t.Errorf("%s: shape %v, want %v", name, y.Shape(), c.want)
		}
		grads, err := tape.Backward(y, bs.Cotangent(z(y.Shape()...).AddScalar(1)), bs.Recorded())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, x := range in {
			if d := grads.Of(x); !slices.Equal(d.Shape(), c.in[i].Shape()) {
				t.Errorf("%s: gradient %d has shape %v", name, i, d.Shape())
			}
		}
	}
}
