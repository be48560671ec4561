package backsweep

import (
	"fmt"
	"unsafe"

	"github.com/backsweep/backsweep/internal/array"
)

// DType is the type of a tensor's elements.
type DType = array.DType

// The element types. Float32 is the default; Int64 and Bool are for indices
// and masks and carry no gradient.
const (
	Float32 = array.Float32
	Float64 = array.Float64
	Int64   = array.Int64
	Bool    = array.Bool
)

// Element is the Go type of an element.
type Element = array.Element

// Tensor is an n-dimensional array. One that is on a tape is an edge of the
// tape's graph: it leads from the node that produced it to every node that
// consumed it. Ops never change a tensor; only leaves can be changed, by the
// setters ([Tensor.Fill], [SetData], [Update]) and by optimizers.
//
// A tensor that is on no tape may be read by many goroutines at once.
type Tensor struct {
	tape  *Tape  // nil when the tensor is on no tape
	val   *value // what it is, when it is on no tape
	id    int32  // value id on the tape
	epoch uint32 // the tape's epoch when the tensor was made
}

// value is a tensor that is on no tape.
type value struct {
	layout *array.Layout
	st     *storage
	name   string
	param  bool
	view   *paramView // set for a view of a parameter
	taint  *taint     // set when it was computed from a parameter off the tape
	owner  *Tape      // set for a gradient: it lives until the owner's Reset
	epoch  uint32
}

// storage is a buffer that outlives tapes. Every change counts its version up.
type storage struct {
	p         unsafe.Pointer
	version   uint64
	changed   string    // the call that changed it last; "" when none did
	changedBy []uintptr // its nearest callers
	ended     string    // the custom op to which it was lent, once that is over
}

// paramView remembers how a view of a parameter was made, so that the view can
// join a tape.
type paramView struct {
	base *Tensor
	op   opcode
	at   attrs
	out  int32 // which output of the op
}

// taint remembers why a value may not meet a tape.
type taint struct {
	param  string // the parameter's name, or "" for a gradient
	op     string // the op that was computed off the tape
	custom bool   // it was computed inside a custom op, op
}

func newStorage(bytes int) *storage {
	mem := make([]uint64, (bytes+7)/8+1)
	return &storage{p: unsafe.Pointer(unsafe.SliceData(mem))}
}

func plainTensor(l *array.Layout, st *storage) *Tensor {
	return &Tensor{val: &value{layout: l, st: st}, id: -1}
}

// New makes a tensor of the given shape from a copy of data, in row-major
// order. Without a shape it is one-dimensional; an empty shape ([]int{}...)
// makes it 0-d. It panics with ErrShape when the shape does not have as many
// elements as data.
func New[T Element](data []T, shape ...int) *Tensor {
	if shape == nil {
		shape = []int{len(data)}
	}
	l := checkedLayout("New", array.DTypeOf[T](), shape)
	if l.N != len(data) {
		throw(fail(ErrShape, "New", "give as many values as the shape has elements",
			"shape %s has %d elements, but there are %d values", array.ShapeString(shape), l.N, len(data)))
	}
	st := newStorage(l.Bytes())
	copy(array.Slice[T](st.p, l.N), data)
	return plainTensor(l, st)
}

// Scalar makes a 0-d tensor.
func Scalar[T Element](v T) *Tensor {
	l := array.Contiguous(array.DTypeOf[T](), nil)
	st := newStorage(l.Bytes())
	array.Slice[T](st.p, 1)[0] = v
	return plainTensor(l, st)
}

// Zeros makes a tensor of zeros (false for Bool).
func Zeros(dt DType, shape ...int) *Tensor {
	l := checkedLayout("Zeros", dt, shape)
	return plainTensor(l, newStorage(l.Bytes()))
}

// Full makes a tensor in which every element is v, converted to the element
// type.
func Full(dt DType, v float64, shape ...int) *Tensor {
	l := checkedLayout("Full", dt, shape)
	st := newStorage(l.Bytes())
	fillDense(st.p, l, v)
	return plainTensor(l, st)
}

// Arange makes the one-dimensional int64 tensor 0, 1, ..., n-1.
func Arange(n int) *Tensor {
	t := Zeros(Int64, n)
	for i := range array.Slice[int64](t.val.st.p, n) {
		array.Slice[int64](t.val.st.p, n)[i] = int64(i)
	}
	return t
}

// Normal is a source of numbers drawn from the standard normal distribution,
// such as *rand.Rand of math/rand/v2.
type Normal interface{ NormFloat64() float64 }

// Uniform is a source of numbers drawn evenly from [0, 1), such as *rand.Rand
// of math/rand/v2.
type Uniform interface{ Float64() float64 }

// Randn makes a float32 tensor of draws from the standard normal distribution.
// Cast it for another element type.
func Randn(rng Normal, shape ...int) *Tensor {
	t := Zeros(Float32, shape...)
	d := array.Slice[float32](t.val.st.p, t.val.layout.N)
	for i := range d {
		d[i] = float32(rng.NormFloat64())
	}
	return t
}

// Rand makes a float32 tensor of draws from the interval [lo, hi).
func Rand(rng Uniform, lo, hi float64, shape ...int) *Tensor {
	t := Zeros(Float32, shape...)
	d := array.Slice[float32](t.val.st.p, t.val.layout.N)
	for i := range d {
		d[i] = float32(lo + float64((hi-lo)*rng.Float64()))
	}
	return t
}

// NewParam makes a parameter: a named leaf that outlives tapes, holding a copy
// of the values of t. It joins the tape of whatever it meets, and its gradient
// is always asked for.
func NewParam(name string, t *Tensor) *Tensor {
	if name == "" {
		throw(fail(ErrValue, "NewParam", "give it a name; optimizers and files know parameters by name", "a parameter needs a name"))
	}
	c := t.Clone()
	if !c.val.layout.DType.IsFloat() {
		throw(fail(ErrDType, "NewParam", "cast it to float32 or float64", "parameter %q is %s, which carries no gradient", name, c.val.layout.DType))
	}
	c.val.name, c.val.param = name, true
	return c
}

func checkedLayout(op string, dt DType, shape []int) *array.Layout {
	if dt > Bool {
		throw(fail(ErrDType, op, "use Float32, Float64, Int64 or Bool", "%s is not an element type", dt))
	}
	n, ok := array.Count(shape)
	if !ok || n > (1<<62)/dt.Size() {
		throw(fail(ErrShape, op, "extents are 0 or more and their product fits an int", "shape %s is not one", array.ShapeString(shape)))
	}
	return array.Contiguous(dt, shape)
}

// layout returns the tensor's layout, or throws when the tensor's tape was
// reset.
func (x *Tensor) layout() *array.Layout {
	if x == nil {
		throw(fail(ErrValue, "", "pass a tensor", "the tensor is nil"))
	}
	if x.tape == nil {
		return x.val.layout
	}
	x.tape.mustOwn(x)
	return x.tape.layoutOf(x.id)
}

// DType is the type of the elements.
func (x *Tensor) DType() DType { return x.layout().DType }

// Shape returns a copy of the extents.
func (x *Tensor) Shape() []int { return append([]int{}, x.layout().Shape...) }

// SameShape reports whether two tensors have the same extents.
func (x *Tensor) SameShape(y *Tensor) bool {
	return array.SameShape(x.layout().Shape, y.layout().Shape)
}

// Strides returns a copy of the strides, in elements.
func (x *Tensor) Strides() []int { return append([]int{}, x.layout().Strides...) }

// Rank is the number of axes; 0 for a scalar.
func (x *Tensor) Rank() int { return len(x.layout().Shape) }

// Dim is the extent of an axis, which may be negative to count from the last.
func (x *Tensor) Dim(axis int) int {
	l := x.layout()
	return l.Shape[axisOf("Dim", axis, len(l.Shape))]
}

// Len is the number of elements.
func (x *Tensor) Len() int { return x.layout().N }

// Tape returns the tape that the tensor is on, or nil.
func (x *Tensor) Tape() *Tape { return x.tape }

// ID is the tensor's id on its tape, or -1 when it is on none.
func (x *Tensor) ID() int { return int(x.id) }

// Node is the id of the node that produced the tensor, or -1 for a leaf.
func (x *Tensor) Node() int {
	if x.tape == nil {
		return -1
	}
	x.tape.mustOwn(x)
	return int(max(x.tape.producer(x.id), -1))
}

// IsParam reports whether the tensor is a parameter.
func (x *Tensor) IsParam() bool { return x.tape == nil && x.val.param }

// Name is the name that the tensor was given, or "".
func (x *Tensor) Name() string {
	if x.tape == nil {
		return x.val.name
	}
	x.tape.mustOwn(x)
	return x.tape.names[x.id]
}

// Named gives a tensor that is on a tape a name for pictures and errors, and
// returns it. On a tensor that is on no tape it does nothing, so that the same
// code serves inference.
func (x *Tensor) Named(name string) *Tensor {
	if x.tape != nil {
		x.tape.mustOwn(x)
		x.tape.names[x.id] = name
	}
	return x
}

// Keep makes the value live until [Tape.Reset], although no gradient rule may
// read it, and returns the tensor. On a tensor that is on no tape it does
// nothing.
func (x *Tensor) Keep() *Tensor {
	if x.tape != nil {
		x.tape.mustHave(x, "Keep")
		x.tape.keep(x.id)
	}
	return x
}

// label names the tensor in an error text.
func (x *Tensor) label() string {
	if x.tape != nil {
		return x.tape.label(x.id)
	}
	if x.val.name != "" {
		return x.val.name
	}
	return "a tensor of shape " + array.ShapeString(x.val.layout.Shape)
}

// ref returns what the engine needs to read the tensor's value.
func (x *Tensor) ref(op string) ref {
	if x == nil {
		throw(fail(ErrValue, op, "pass a tensor", "the tensor is nil"))
	}
	if x.tape != nil {
		x.tape.mustHave(x, op)
		return x.tape.refOf(x.id)
	}
	v := x.val
	if v.st.ended != "" {
		throw(fail(ErrReleased, op, "Clone it during the call", "the tensor was lent to custom op %s for one call only", v.st.ended))
	}
	if v.owner != nil && v.epoch != v.owner.epoch {
		throw(fail(ErrReset, op, "copy it (Clone, Data) before Tape.Reset", "%s is a gradient of a tape that was reset since", x.label()))
	}
	return ref{l: v.layout, p: v.st.p, at: offTape}
}

func fillDense(p unsafe.Pointer, l *array.Layout, v float64) {
	switch l.DType {
	case Float32:
		fillSlice(array.Slice[float32](p, l.N), float32(v))
	case Float64:
		fillSlice(array.Slice[float64](p, l.N), v)
	case Int64:
		fillSlice(array.Slice[int64](p, l.N), int64(v))
	case Bool:
		fillSlice(array.Slice[bool](p, l.N), v != 0)
	}
}

// fillSlice sets all elements. Copies of a stretch that stays in the nearest
// cache are faster than a loop.
func fillSlice[T any](d []T, v T) {
	const stretch = 2048
	done := min(len(d), 16)
	for i := range done {
		d[i] = v
	}
	for done < len(d) {
		done += copy(d[done:], d[:min(done, stretch)])
	}
}

// axisOf resolves an axis that may be negative.
func axisOf(op string, axis, rank int) int {
	a := axis
	if a < 0 {
		a += rank
	}
	if a < 0 || a >= rank {
		if rank == 0 {
			throw(fail(ErrIndex, op, "leave the axis out", "axis %d was given, but a 0-d tensor has no axes", axis))
		}
		throw(fail(ErrIndex, op, fmt.Sprintf("axes run from %d to %d", -rank, rank-1), "axis %d does not exist in a tensor of rank %d", axis, rank))
	}
	return a
}

// ParseDType reads the name of an element type.
func ParseDType(s string) (DType, bool) { return array.ParseDType(s) }
