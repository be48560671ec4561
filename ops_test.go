package backsweep_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	bs "github.com/backsweep/backsweep"
)

// The properties below hold the ops against loops over indices, on operands of
// every rank up to 3 or so, with extents of 0 and 1 and any strides. Elements
// are small whole numbers, so that sums and products are exact.

func drawShape(t *rapid.T, label string, most int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, 3), 0, most).Draw(t, label)
}

// drawTensor makes a view of the given shape with random strides: axes
// permuted, positions left out, and gone through backwards.
func drawTensor(t *rapid.T, label string, dt bs.DType, shape []int) *bs.Tensor {
	rank := len(shape)
	perm := rapid.Permutation(upTo(rank)).Draw(t, label+" axes")
	steps := rapid.SliceOfN(rapid.SampledFrom([]int{1, 1, 2, -1, -2}), rank, rank).Draw(t, label+" steps")
	large, ranges := make([]int, rank), make([]bs.Range, rank)
	for a, from := range perm {
		n, step := shape[from], steps[a]
		large[a] = max(1, n*max(step, -step))
		ranges[a] = bs.Range{Start: 0, Stop: n * step, Step: step}
		if step < 0 {
			ranges[a] = bs.Range{Start: -1, Stop: -bs.End, Step: step}
		}
		if n == 0 {
			ranges[a] = bs.Range{Start: 0, Stop: 0, Step: step}
		}
	}
	n := count(large)
	d := rapid.SliceOfN(rapid.IntRange(-4, 4), n, n).Draw(t, label)
	values := make([]float64, n)
	for i, v := range d {
		values[i] = float64(v)
	}
	back := make([]int, rank)
	for a, from := range perm {
		back[from] = a
	}
	x := bs.New(values, large...).Cast(dt).Slice(ranges...).Transpose(back...)
	if !slices.Equal(x.Shape(), shape) {
		t.Fatalf("the test drew shape %v, not %v", x.Shape(), shape)
	}
	return x
}

func drawFloat(t *rapid.T) bs.DType {
	return rapid.SampledFrom([]bs.DType{bs.Float32, bs.Float64}).Draw(t, "dtype")
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// each calls f with every index of a shape, in row-major order.
func each(shape []int, f func(index []int)) {
	index := make([]int, len(shape))
	for range count(shape) {
		f(index)
		for a := len(shape) - 1; a >= 0; a-- {
			if index[a]++; index[a] < shape[a] {
				break
			}
			index[a] = 0
		}
	}
}

// mustBe compares a tensor with a function of the index.
func mustBe(t *rapid.T, got *bs.Tensor, shape []int, want func(index []int) float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), shape) {
		t.Fatalf("shape %v, want %v", got.Shape(), shape)
	}
	flat := got.Float64s()
	k := 0
	each(shape, func(index []int) {
		w, at := want(index), got.At(index...)
		if at != flat[k] && !(math.IsNaN(at) && math.IsNaN(flat[k])) {
			t.Fatalf("At(%v) is %v, but element %d of Float64s is %v", index, at, k, flat[k])
		}
		if at != w && !(math.IsNaN(at) && math.IsNaN(w)) && !(math.Abs(at-w) <= 1e-6*(1+math.Abs(w))) {
			t.Fatalf("element %v is %v, want %v", index, at, w)
		}
		k++
	})
}

// refuses checks that f panics with an error of a kind.
func refuses(t *rapid.T, kind error, f func()) {
	t.Helper()
	var err error
	func() {
		defer bs.Catch(&err)
		f()
	}()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want one that says: %v", err, kind)
	}
}

// stretched is the index into an operand that was broadcast.
func stretched(index, shape []int) []int {
	at := slices.Clone(index[len(index)-len(shape):])
	for a, d := range shape {
		if d == 1 {
			at[a] = 0
		}
	}
	return at
}

// drawBroadcast draws shapes that broadcast to one, which is returned too.
func drawBroadcast(t *rapid.T, n int) (shapes [][]int, common []int) {
	common = drawShape(t, "common shape", 4)
	shapes = make([][]int, n)
	for i := range shapes {
		drop := rapid.IntRange(0, len(common)).Draw(t, "axes left out")
		shapes[i] = slices.Clone(common[drop:])
		for a := range shapes[i] {
			if rapid.IntRange(0, 2).Draw(t, "stretch") == 0 {
				shapes[i][a] = 1
			}
		}
	}
	out := make([]int, 0, len(common))
	for a := -len(common); a < 0; a++ {
		d, has := 1, false
		for _, s := range shapes {
			if -a > len(s) {
				continue
			}
			has = true
			if e := s[len(s)+a]; e != 1 {
				d = e
			}
		}
		if has {
			out = append(out, d)
		}
	}
	return shapes, out
}

func TestBroadcasting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes, common := drawBroadcast(t, 2)
		dt := rapid.SampledFrom([]bs.DType{bs.Float32, bs.Float64, bs.Int64}).Draw(t, "dtype")
		a, b := drawTensor(t, "a", dt, shapes[0]), drawTensor(t, "b", dt, shapes[1])
		pair := func(f func(x, y float64) float64) func(index []int) float64 {
			return func(i []int) float64 { return f(a.At(stretched(i, shapes[0])...), b.At(stretched(i, shapes[1])...)) }
		}
		mustBe(t, a.Add(b), common, pair(func(x, y float64) float64 { return x + y }))
		mustBe(t, a.Sub(b), common, pair(func(x, y float64) float64 { return x - y }))
		mustBe(t, a.Mul(b), common, pair(func(x, y float64) float64 { return x * y }))
		mustBe(t, a.Maximum(b), common, pair(func(x, y float64) float64 { return max(x, y) }))
		mustBe(t, a.Minimum(b), common, pair(func(x, y float64) float64 { return min(x, y) }))
		truth := func(v bool) float64 {
			if v {
				return 1
			}
			return 0
		}
		mustBe(t, a.Gt(b), common, pair(func(x, y float64) float64 { return truth(x > y) }))
		mustBe(t, a.Le(b), common, pair(func(x, y float64) float64 { return truth(x <= y) }))
		mustBe(t, a.Eq(b), common, pair(func(x, y float64) float64 { return truth(x == y) }))
		mustBe(t, a.Ne(b), common, pair(func(x, y float64) float64 { return truth(x != y) }))
		if dt.IsFloat() {
			mustBe(t, a.Div(b), common, pair(func(x, y float64) float64 { return near(dt, x/y) }))
			mustBe(t, a.Pow(b), common, pair(func(x, y float64) float64 { return near(dt, math.Pow(x, y)) }))
		}
	})
}

// near rounds to an element type.
func near(dt bs.DType, v float64) float64 {
	if dt == bs.Float32 {
		return float64(float32(v))
	}
	return v
}

func TestShapesThatDoNotBroadcastAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawShape(t, "a", 3), drawShape(t, "b", 3)
		fits := true
		for i := 1; i <= min(len(a), len(b)); i++ {
			if p, q := a[len(a)-i], b[len(b)-i]; p != q && p != 1 && q != 1 {
				fits = false
			}
		}
		x, y := bs.Zeros(bs.Float32, a...), bs.Zeros(bs.Float32, b...)
		if fits {
			x.Add(y)
			return
		}
		refuses(t, bs.ErrShape, func() { x.Add(y) })
		refuses(t, bs.ErrShape, func() { x.Gt(y) })
		refuses(t, bs.ErrShape, func() { bs.Where(x.Gt(x), x, y) })
	})
}

func TestWhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes, common := drawBroadcast(t, 3)
		dt := rapid.SampledFrom([]bs.DType{bs.Float32, bs.Float64, bs.Int64, bs.Bool}).Draw(t, "dtype")
		c, a, b := drawTensor(t, "c", bs.Bool, shapes[0]), drawTensor(t, "a", dt, shapes[1]), drawTensor(t, "b", dt, shapes[2])
		mustBe(t, bs.Where(c, a, b), common, func(i []int) float64 {
			if c.At(stretched(i, shapes[0])...) != 0 {
				return a.At(stretched(i, shapes[1])...)
			}
			return b.At(stretched(i, shapes[2])...)
		})
	})
}

// pythonSlice lists the positions of start:stop:step as Python's slice.indices
// defines them.
func pythonSlice(start, stop, step, n int) []int {
	resolve := func(v int) int {
		if v < 0 {
			v = max(v+n, -1)
			if step > 0 {
				v = max(v, 0)
			}
			return v
		}
		if step > 0 {
			return min(v, n)
		}
		return min(v, n-1)
	}
	at := []int{}
	for i, e := resolve(start), resolve(stop); (step > 0 && i < e) || (step < 0 && i > e); i += step {
		if at = append(at, i); step > n || step < -n {
			break // one more step leaves the axis
		}
	}
	return at
}

func TestSlicingFollowsPython(t *testing.T) {
	position := rapid.OneOf(rapid.IntRange(-9, 9), rapid.SampledFrom([]int{-bs.End, math.MinInt, 1 << 40}))
	step := rapid.OneOf(rapid.SampledFrom([]int{1, -1, 2, -2, 3, -3, 7}), rapid.SampledFrom([]int{bs.End, -bs.End, math.MinInt}))
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 3).Draw(t, "shape")
		x := drawTensor(t, "x", bs.Int64, shape)
		n := rapid.IntRange(1, len(shape)).Draw(t, "axes sliced")
		at := make([][]int, len(shape))
		ranges := make([]bs.Range, n)
		want := make([]int, len(shape))
		for a, d := range shape {
			at[a] = upTo(d)
			if a < n {
				ranges[a] = bs.Range{Start: position.Draw(t, "start"), Stop: position.Draw(t, "stop"), Step: step.Draw(t, "step")}
				at[a] = pythonSlice(ranges[a].Start, ranges[a].Stop, ranges[a].Step, d)
			}
			want[a] = len(at[a])
		}
		mustBe(t, x.Slice(ranges...), want, func(i []int) float64 {
			from := make([]int, len(i))
			for a := range i {
				from[a] = at[a][i[a]]
			}
			return x.At(from...)
		})
	})
}

func TestIndexDropsTheFirstAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := append([]int{rapid.IntRange(1, 4).Draw(t, "n")}, drawShape(t, "rest", 2)...)
		x := drawTensor(t, "x", bs.Float32, shape)
		i := rapid.IntRange(-shape[0]-1, shape[0]).Draw(t, "i")
		if i < -shape[0] || i >= shape[0] {
			refuses(t, bs.ErrIndex, func() { x.Index(i) })
			return
		}
		k := (i + shape[0]) % shape[0]
		mustBe(t, x.Index(i), shape[1:], func(j []int) float64 { return x.At(append([]int{k}, j...)...) })
	})
}

func TestReshapeKeepsRowMajorOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawShape(t, "shape", 3)
		x := drawTensor(t, "x", bs.Float64, shape)
		n := count(shape)
		// Another shape of as many elements: factors of n, in any order.
		var to []int
		for rest := n; len(to) < 4; {
			d := rapid.IntRange(0, 6).Draw(t, "extent")
			if n == 0 {
				to = append(to, d)
				if slices.Contains(to, 0) {
					break
				}
				if len(to) == 3 {
					to = append(to, 0)
				}
				continue
			}
			if d == 0 || rest%d != 0 {
				to = append(to, rest)
				break
			}
			to = append(to, d)
			rest /= d
			if len(to) == 4 && rest > 1 {
				to = append(to, rest)
			}
		}
		flat := x.Float64s()
		k := 0
		next := func([]int) float64 { k++; return flat[k-1] }
		y := x.Reshape(to...)
		mustBe(t, y, to, next)
		if n > 0 {
			free := rapid.IntRange(0, len(to)-1).Draw(t, "free axis")
			asked := slices.Clone(to)
			asked[free] = -1
			k = 0
			mustBe(t, x.Reshape(asked...), to, next)
		}
		refuses(t, bs.ErrShape, func() { x.Reshape(n + 1) })
		refuses(t, bs.ErrShape, func() { x.Reshape(-1, -1) })
		refuses(t, bs.ErrShape, func() { x.Reshape(-2) })
	})
}

func TestTransposeMovesAxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := drawShape(t, "shape", 4)
		x := drawTensor(t, "x", bs.Bool, shape)
		perm := rapid.Permutation(upTo(len(shape))).Draw(t, "perm")
		named := slices.Clone(perm)
		want := make([]int, len(perm))
		for i, a := range perm {
			want[i] = shape[a]
			if rapid.Bool().Draw(t, "negative") {
				named[i] = a - len(perm)
			}
		}
		mustBe(t, x.Transpose(named...), want, func(i []int) float64 {
			from := make([]int, len(i))
			for k, a := range perm {
				from[a] = i[k]
			}
			return x.At(from...)
		})
		if len(shape) > 1 {
			last := len(shape) - 1
			mustBe(t, x.T(), append(slices.Clone(shape[:last-1]), shape[last], shape[last-1]), func(i []int) float64 {
				from := slices.Clone(i)
				from[last], from[last-1] = i[last-1], i[last]
				return x.At(from...)
			})
			refuses(t, bs.ErrValue, func() { x.Transpose(make([]int, len(shape))...) })
		}
	})
}

func TestBroadcastToSqueezeAndUnsqueeze(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shapes, common := drawBroadcast(t, 1)
		x := drawTensor(t, "x", bs.Float32, shapes[0])
		lead := drawShape(t, "new axes", 2)
		to := append(lead, common...)
		mustBe(t, x.BroadcastTo(to...), to, func(i []int) float64 { return x.At(stretched(i, shapes[0])...) })
		flat := x.Float64s()
		k := 0
		next := func([]int) float64 { k++; return flat[k-1] }
		at := rapid.IntRange(-len(shapes[0])-1, len(shapes[0])).Draw(t, "axis")
		place := at
		if at < 0 {
			place = at + len(shapes[0]) + 1
		}
		y := x.Unsqueeze(at)
		mustBe(t, y, slices.Insert(slices.Clone(shapes[0]), place, 1), next)
		k = 0
		mustBe(t, y.Squeeze(at), shapes[0], next)
		k = 0
		mustBe(t, x.Squeeze(), slices.DeleteFunc(slices.Clone(shapes[0]), func(d int) bool { return d == 1 }), next)
	})
}

func TestConcatStackAndSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(t, "shape")
		dt := rapid.SampledFrom([]bs.DType{bs.Float32, bs.Float64, bs.Int64, bs.Bool}).Draw(t, "dtype")
		axis := rapid.IntRange(0, len(shape)-1).Draw(t, "axis")
		named := axis
		if rapid.Bool().Draw(t, "negative") {
			named -= len(shape)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 4).Draw(t, "sizes")
		var parts []*bs.Tensor
		var owner, offset []int // of each position
		for k, n := range sizes {
			s := slices.Clone(shape)
			s[axis] = n
			parts = append(parts, drawTensor(t, "part", dt, s))
			for i := range n {
				owner, offset = append(owner, k), append(offset, i)
			}
		}
		whole := slices.Clone(shape)
		whole[axis] = len(owner)
		y := bs.Concat(named, parts...)
		mustBe(t, y, whole, func(i []int) float64 {
			from := slices.Clone(i)
			from[axis] = offset[i[axis]]
			return parts[owner[i[axis]]].At(from...)
		})
		for k, p := range y.Split(named, sizes...) {
			mustBe(t, p, parts[k].Shape(), func(i []int) float64 { return parts[k].At(i...) })
		}
		refuses(t, bs.ErrShape, func() { y.Split(axis, append(sizes, 1)...) })

		a, b := drawTensor(t, "a", dt, shape), drawTensor(t, "b", dt, shape)
		mustBe(t, bs.Stack(axis, a, b), slices.Insert(slices.Clone(shape), axis, 2), func(i []int) float64 {
			j := slices.Delete(slices.Clone(i), axis, axis+1)
			return []*bs.Tensor{a, b}[i[axis]].At(j...)
		})
	})
}

func TestCast(t *testing.T) {
	all := []bs.DType{bs.Float32, bs.Float64, bs.Int64, bs.Bool}
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.SampledFrom(all).Draw(t, "from"), rapid.SampledFrom(all).Draw(t, "to")
		shape := drawShape(t, "shape", 3)
		x := drawTensor(t, "x", from, shape)
		y := x.Cast(to)
		if y.DType() != to {
			t.Fatalf("type %s", y.DType())
		}
		mustBe(t, y, shape, func(i []int) float64 {
			v := x.At(i...)
			if to == bs.Bool && v != 0 {
				return 1
			}
			return v
		})
	})
}
