package backsweep

import (
	"fmt"
	"strings"

	"github.com/backsweep/backsweep/internal/array"
	"github.com/backsweep/backsweep/internal/kernel"
)

// Data returns a copy of the values in row-major order. T must be the Go type
// of the tensor's element type. It panics with ErrDType when it is not, and
// with ErrReleased when a sweep has let the value go.
func Data[T Element](x *Tensor) []T {
	r := x.ref("Data")
	if want := array.DTypeOf[T](); r.l.DType != want {
		throw(fail(ErrDType, "Data", "ask for Data["+goType(r.l.DType)+"], or Cast first", "%s has element type %s, not %s", x.label(), r.l.DType, want))
	}
	out := make([]T, r.l.N)
	copyOut(out, r)
	return out
}

// Float64s returns a copy of the values in row-major order, converted to
// float64 (false is 0, true is 1).
func (x *Tensor) Float64s() []float64 {
	r := x.ref("Float64s")
	out := make([]float64, r.l.N)
	switch r.l.DType {
	case Float32:
		d := make([]float32, r.l.N)
		copyOut(d, r)
		for i, v := range d {
			out[i] = float64(v)
		}
	case Float64:
		copyOut(out, r)
	case Int64:
		d := make([]int64, r.l.N)
		copyOut(d, r)
		for i, v := range d {
			out[i] = float64(v)
		}
	case Bool:
		d := make([]bool, r.l.N)
		copyOut(d, r)
		for i, v := range d {
			if v {
				out[i] = 1
			}
		}
	}
	return out
}

// Item is the value of a tensor with one element, converted to float64. It
// panics with ErrShape when the tensor has another number of elements.
func (x *Tensor) Item() float64 {
	if l := x.layout(); l.N != 1 {
		throw(fail(ErrShape, "Item", "use At or Data", "%s has %d elements, not one", x.label(), l.N))
	}
	return x.Float64s()[0]
}

// At is the value at an index, converted to float64. It panics with ErrIndex
// when the index does not exist.
func (x *Tensor) At(index ...int) float64 {
	r := x.ref("At")
	return load(r, offsetOf("At", r.l, index))
}

func offsetOf(op string, l *array.Layout, index []int) int {
	if len(index) != len(l.Shape) {
		throw(fail(ErrIndex, op, "give one index an axis", "%d indices for a tensor of shape %s", len(index), array.ShapeString(l.Shape)))
	}
	o := l.Offset
	for a, i := range index {
		if i < 0 || i >= l.Shape[a] {
			throw(fail(ErrIndex, op, "indices count from 0", "index %d on axis %d of a tensor of shape %s", i, a, array.ShapeString(l.Shape)))
		}
		o += i * l.Strides[a]
	}
	return o
}

func load(r ref, offset int) float64 {
	switch r.l.DType {
	case Float32:
		return float64(array.Slice[float32](r.p, offset+1)[offset])
	case Float64:
		return array.Slice[float64](r.p, offset+1)[offset]
	case Int64:
		return float64(array.Slice[int64](r.p, offset+1)[offset])
	default:
		if array.Slice[bool](r.p, offset+1)[offset] {
			return 1
		}
		return 0
	}
}

func copyOut[T Element](dst []T, r ref) {
	if r.l.N == 0 {
		return
	}
	if r.l.Dense {
		copy(dst, array.Slice[T](r.p, r.l.Offset+r.l.N)[r.l.Offset:])
		return
	}
	if repeats(r.l) {
		fillSlice(dst, array.Slice[T](r.p, r.l.Offset+1)[r.l.Offset])
		return
	}
	kernel.CopyStrided(dst, array.Slice[T](r.p, extent(r.l)), r.l.Offset, r.l.Shape, r.l.Strides)
}

// repeats reports whether all elements are one.
func repeats(l *array.Layout) bool {
	for i, s := range l.Strides {
		if s != 0 && l.Shape[i] > 1 {
			return false
		}
	}
	return true
}

// extent is one past the largest offset that the layout reaches.
func extent(l *array.Layout) int {
	if l.N == 0 {
		return 0
	}
	o := l.Offset
	for i, d := range l.Shape {
		if s := l.Strides[i]; s > 0 {
			o += (d - 1) * s
		}
	}
	return o + 1
}

func goType(dt DType) string { return dt.String() }

// Clone returns a tensor on no tape with a copy of the values. Like Detach it
// ends differentiation: what is computed from it does not lead back.
func (x *Tensor) Clone() *Tensor {
	r := x.ref("Clone")
	l := r.l
	if !l.Plain {
		l = array.Contiguous(l.DType, l.Shape)
	}
	st := newStorage(l.Bytes())
	copyDense(st.ref(l), r)
	return plainTensor(l, st)
}

func (s *storage) ref(l *array.Layout) ref { return ref{l: l, p: s.p, at: offTape} }

// leaf returns the storage of a leaf that may be changed, or throws.
func (x *Tensor) leaf(op string) *value {
	if x.tape == nil {
		if x.val.view != nil {
			throw(fail(ErrNotALeaf, op, "change the parameter itself", "%s is a view of parameter %q", x.label(), x.val.view.root()))
		}
		if x.val.owner != nil {
			throw(fail(ErrNotALeaf, op, "Clone it and change the copy", "a gradient is not changed in place"))
		}
		return x.val
	}
	x.tape.mustOwn(x)
	if n := x.tape.producer(x.id); n >= 0 {
		throw(fail(ErrNotALeaf, op, "change a leaf, or compute a new tensor", "%s was produced by %s", x.label(), x.tape.nodeLabel(n)))
	}
	return x.tape.leafOf(x.id).val
}

func (v *paramView) root() string {
	for v.base.val.view != nil {
		v = v.base.val.view
	}
	return v.base.val.name
}

func (v *value) bump(call string) {
	v.st.version++
	v.st.changed = call
	if cap(v.st.changedBy) == 0 {
		v.st.changedBy = make([]uintptr, nearCallers)
	}
	v.st.changedBy = callers(v.st.changedBy[:nearCallers])
}

// nearCallers are enough to name the call of a setter, which is no more than
// two calls away within this package.
const nearCallers = 3

// changedText says which call changed the storage last, and where.
func (s *storage) changedText() string {
	if at := siteOf(s.changedBy); at != "" {
		return s.changed + " at " + at
	}
	return s.changed
}

// Fill sets every element of a leaf to v. It panics with ErrNotALeaf on what
// an op produced.
func (x *Tensor) Fill(v float64) {
	val := x.leaf("Fill")
	l := val.layout
	if l.Plain {
		fillDense(val.st.p, l, v)
	} else {
		throw(fail(ErrNotALeaf, "Fill", "Clone it and fill the copy", "%s is a view", x.label()))
	}
	val.bump("Fill")
}

// SetAt sets one element of a leaf, converted to the element type.
func (x *Tensor) SetAt(v float64, index ...int) {
	val := x.leaf("SetAt")
	o := offsetOf("SetAt", val.layout, index)
	one := &array.Layout{DType: val.layout.DType, N: 1, Dense: true}
	size := val.layout.DType.Size()
	fillDense(ptrAt(val.st.p, o*size), one, v)
	val.bump("SetAt")
}

// SetData replaces the values of a leaf by a copy of data, in row-major order.
// It panics with ErrShape, ErrDType or ErrNotALeaf.
func SetData[T Element](x *Tensor, data []T) {
	val := x.leaf("SetData")
	l := val.layout
	if want := array.DTypeOf[T](); l.DType != want {
		throw(fail(ErrDType, "SetData", "convert the values to "+goType(l.DType), "%s has element type %s, not %s", x.label(), l.DType, want))
	}
	if len(data) != l.N {
		throw(fail(ErrShape, "SetData", "give as many values as the tensor has elements", "%s has %d elements, but there are %d values", x.label(), l.N, len(data)))
	}
	if l.Plain {
		copy(array.Slice[T](val.st.p, l.N), data)
	} else {
		kernel.ScatterStrided(array.Slice[T](val.st.p, extent(l)), l.Offset, l.Shape, l.Strides, data)
	}
	val.bump("SetData")
}

// Update lets f change the values of a leaf in place, in row-major order, and
// counts its version up. The slice is lent for the call only. It is what
// optimizers are made of. It panics with ErrDType or ErrNotALeaf.
func Update[T Element](x *Tensor, f func(data []T)) {
	update(x, "Update", f).bump("Update")
}

// UpdateAs is Update under the name of the caller, such as "Adam.Step": where
// the change turns out to be a mistake, the error names that instead of the
// place of the call, and the change takes half a microsecond less.
func UpdateAs[T Element](call string, x *Tensor, f func(data []T)) {
	st := update(x, call, f).st
	st.version++
	st.changed, st.changedBy = call, st.changedBy[:0]
}

func update[T Element](x *Tensor, call string, f func(data []T)) *value {
	val := x.leaf(call)
	l := val.layout
	if want := array.DTypeOf[T](); l.DType != want {
		throw(fail(ErrDType, call, "use Update["+goType(l.DType)+"]", "%s has element type %s, not %s", x.label(), l.DType, want))
	}
	if !l.Dense {
		throw(fail(ErrNotALeaf, call, "update the tensor that it views", "%s is a strided view", x.label()))
	}
	f(array.Slice[T](val.st.p, l.Offset+l.N)[l.Offset:])
	return val
}

// Read lends f the values in row-major order, for the call only; they must not
// be changed. It spares the copy that [Data] makes when the tensor lies
// densely. It panics with ErrDType.
func Read[T Element](x *Tensor, f func(data []T)) {
	r := x.ref("Read")
	if want := array.DTypeOf[T](); r.l.DType != want {
		throw(fail(ErrDType, "Read", "use Read["+goType(r.l.DType)+"]", "%s has element type %s, not %s", x.label(), r.l.DType, want))
	}
	if r.l.Dense {
		f(array.Slice[T](r.p, r.l.Offset+r.l.N)[r.l.Offset:])
		return
	}
	f(Data[T](x))
}

// Version counts the changes that were made to a tensor on no tape.
func (x *Tensor) Version() uint64 {
	if x.tape != nil {
		if x.Node() >= 0 {
			return 0
		}
		return x.tape.leafOf(x.id).val.st.version
	}
	return x.val.st.version
}

const printLimit = 6 // elements shown at either end of an axis

// String prints element type, shape and values; long axes are elided.
func (x *Tensor) String() string {
	l := x.layout()
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s ", l.DType, array.ShapeString(l.Shape))
	if x.tape != nil && x.tape.gone(x.id) {
		b.WriteString("(let go)")
		return b.String()
	}
	r := x.ref("String")
	index := make([]int, len(l.Shape))
	printAxis(&b, r, index, 0)
	return b.String()
}

// printAxis recurses over the axes of one tensor, never over a graph.
func printAxis(b *strings.Builder, r ref, index []int, axis int) {
	if axis == len(index) {
		v := load(r, offsetOf("String", r.l, index))
		switch r.l.DType {
		case Float32:
			fmt.Fprint(b, float32(v))
		case Bool:
			fmt.Fprint(b, v != 0)
		default:
			fmt.Fprint(b, v)
		}
		return
	}
	b.WriteByte('[')
	for i := 0; i < r.l.Shape[axis]; i++ {
		if i > 0 {
			b.WriteByte(' ')
		}
		if n := r.l.Shape[axis]; n > 2*printLimit && i == printLimit {
			fmt.Fprintf(b, "… (%d more)", n-2*printLimit)
			i = n - printLimit - 1
			continue
		}
		index[axis] = i
		printAxis(b, r, index, axis+1)
	}
	b.WriteByte(']')
}
