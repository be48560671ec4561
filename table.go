package backsweep

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/backsweep/backsweep/internal/array"
)

// opcode names a row of the op table.
type opcode uint16

// mask is a set of operand slots and outputs that a rule reads back: bit i is
// input i, bit 8+j is output j. For ops of any number of operands, every slot
// from 7 on shares bit 7.
type mask uint16

func readsIn(slots ...int) (m mask) {
	for _, i := range slots {
		m |= 1 << min(i, 7)
	}
	return m
}

func readsOut(js ...int) (m mask) {
	for _, j := range js {
		m |= 1 << (8 + j)
	}
	return m
}

func (m mask) in(i int) bool  { return m>>min(i, 7)&1 != 0 }
func (m mask) out(j int) bool { return m>>(8+j)&1 != 0 }

type flag uint8

const (
	// elementwise: output element i depends on element i of each (broadcast)
	// operand alone. Broadcasting, strides and, through the gradient rule, the
	// tangent rule then come from the engine.
	elementwise flag = 1 << iota
	// linear: linear in all float operands together, so that the tangent is the
	// op itself applied to the tangents (absent ones are zeros).
	linear
	// viewing: the output shares its operand's storage where strides allow.
	viewing
	// constantOp: the mathematics gives no derivative, or it is zero wherever
	// it exists: what flows through is not connected.
	constantOp
	// engineOnly: a row that gradient rules are written in; it has no method of
	// its own, but is recorded, differentiated and checked like any other.
	engineOnly
)

// attrs are the attributes of one node. What each field means is said by the
// op's params.
type attrs struct {
	ints  [3][]int
	f     [2]float64
	i     int
	b     bool
	dtype DType

	custom *Custom
}

func (a *attrs) equal(b *attrs) bool {
	if a.custom != b.custom || a.f != b.f || a.i != b.i || a.b != b.b || a.dtype != b.dtype {
		return false
	}
	for k := range a.ints {
		if (a.ints[k] == nil) != (b.ints[k] == nil) || len(a.ints[k]) != len(b.ints[k]) {
			return false
		}
		for j, v := range a.ints[k] {
			if v != b.ints[k][j] {
				return false
			}
		}
	}
	return true
}

// param describes one attribute: its name in a program, its type, and the
// field of attrs that holds it.
type param struct {
	name     string
	kind     paramKind
	slot     int      // which of attrs.ints or attrs.f
	optional bool     // may be left out; def is then its value
	def      string   // as printed
	words    []string // of a pWord: what may stand there
}

type paramKind uint8

const (
	pInts   paramKind = iota // list of ints, as the last parameter variadic
	pInt                     // attrs.i
	pFloat                   // attrs.f[slot]
	pBool                    // attrs.b
	pDType                   // attrs.dtype
	pWord                    // attrs.i, an index into words
	pText                    // the letters of a text, in attrs.ints[slot]
	pCustom                  // attrs.custom
)

// op is a row of the table: all that is to know about one op.
type op struct {
	name    string
	doc     string // what it computes, in one line
	formula string // the gradient rule, in one line
	arity   int    // number of tensors it takes; -1: one or more
	outs    int    // number of outputs, 1 unless said; -1: decided by the attributes
	params  []param
	reads   mask // what the two rules read back; this alone decides the payload
	nograd  mask // operands that carry no gradient: indices, masks
	flags   flag

	// prepare checks and normalises the attributes (negative axes, -1 extents)
	// against the operands. It throws, before anything is recorded.
	prepare func(m *machine)
	// eval computes the outputs. It throws, before anything is recorded.
	eval func(m *machine)
	// Kernels of an elementwise op of one or two operands; eval is then derived.
	un32  func(dst, x []float32)
	un64  func(dst, x []float64)
	bin32 func(dst, a, b []float32)
	bin64 func(dst, a, b []float64)
	binI  func(dst, a, b []int64)

	// grad gives each wanted operand its cotangent. tangent computes the
	// outputs' tangents from those of the operands; nil where it follows from
	// the flags.
	grad    func(r *rule)
	tangent func(r *rule)

	// cost counts multiply-adds; nil means one an output element.
	cost func(m *machine) int64

	samples []sample

	code opcode
	each int64 // of an op that has kernels: what cost says of one element
}

func (o *op) is(f flag) bool { return o.flags&f != 0 }

// sample is an input on which the tests check a row.
type sample struct {
	in []operand
	at attrs
}

// operand describes a random operand: values drawn evenly from [lo, hi), or
// indices below bound, or a mask.
type operand struct {
	shape  []int
	lo, hi float64
	kind   byte // 'f' float, 's' float that is a whole number, 'i' index below hi, 'b' mask, 't' mask that holds throughout, 'd' float matrices with a heavy diagonal, 'o' ascending offsets from 0 to at most hi
}

func f(shape ...int) operand   { return operand{shape: shape, lo: -2, hi: 2, kind: 'f'} }
func pos(shape ...int) operand { return operand{shape: shape, lo: 0.2, hi: 2.5, kind: 'f'} }
func in(lo, hi float64, shape ...int) operand {
	return operand{shape: shape, lo: lo, hi: hi, kind: 'f'}
}

// steps draws whole numbers from lo to hi, so that many are equal.
func steps(lo, hi float64, shape ...int) operand {
	return operand{shape: shape, lo: lo, hi: hi + 1, kind: 's'}
}
func below(n int, shape ...int) operand { return operand{shape: shape, hi: float64(n), kind: 'i'} }
func flags(shape ...int) operand        { return operand{shape: shape, kind: 'b'} }
func ones(shape ...int) operand         { return operand{shape: shape, kind: 't'} }
func offsets(n int, shape ...int) operand {
	return operand{shape: shape, hi: float64(n), kind: 'o'}
}

// dominant draws matrices of which the diagonal outweighs the rest, so that they
// are far from singular and their symmetric part is positive definite.
func dominant(shape ...int) operand { return operand{shape: shape, lo: -1, hi: 1, kind: 'd'} }

func on(in ...operand) sample { return sample{in: in} }
func (s sample) with(at attrs) sample {
	s.at = at
	return s
}

// draw makes the operand with random values; floats get the type dt.
func (o operand) draw(rng *rand.Rand, dt DType) *Tensor {
	n := 1
	for _, d := range o.shape {
		n *= d
	}
	switch o.kind {
	case 'i':
		d := make([]int64, n)
		for i := range d {
			d[i] = rng.Int64N(int64(o.hi))
		}
		return New(d, shapeOrScalar(o.shape)...)
	case 'o':
		d := make([]int64, n)
		for i := 1; i < n; i++ {
			d[i] = min(int64(o.hi), d[i-1]+rng.Int64N(4))
		}
		return New(d, shapeOrScalar(o.shape)...)
	case 'b', 't':
		d := make([]bool, n)
		for i := range d {
			d[i] = o.kind == 't' || rng.IntN(2) == 0
		}
		return New(d, shapeOrScalar(o.shape)...)
	}
	d := make([]float64, n)
	for i := range d {
		d[i] = o.lo + float64((o.hi-o.lo)*rng.Float64())
		switch o.kind {
		case 's':
			d[i] = math.Floor(d[i])
		case 'd':
			if c := o.shape[len(o.shape)-1]; i/c%c == i%c {
				d[i] += float64(c)
			}
		}
	}
	x := New(d, shapeOrScalar(o.shape)...)
	if dt == Float32 {
		x = x.Cast(Float32)
	}
	return x
}

// shapeOrScalar makes New see a 0-d shape: no shape at all means one axis.
func shapeOrScalar(shape []int) []int {
	if shape == nil {
		return []int{}
	}
	return shape
}

// table holds the rows, by opcode; define fills it when the program starts.
var table [numOps]op

var byName = map[string]opcode{}

// define enters a row. It panics when a field that the row needs is missing,
// so that an incomplete table never gets as far as a test.
func define(code opcode, o op) {
	bad := func(what string) { panic(fmt.Sprintf("op table: row %d %q: %s", code, o.name, what)) }
	switch {
	case o.name == "":
		bad("no name")
	case table[code].name != "":
		bad("defined twice")
	case o.doc == "":
		bad("no doc")
	case o.arity == 0:
		bad("no arity")
	case len(o.samples) == 0:
		bad("no samples")
	case o.is(constantOp) != (o.grad == nil):
		bad("an op has a gradient rule, or is marked constantOp")
	case o.grad != nil && o.formula == "":
		bad("no formula for the gradient rule")
	case o.is(constantOp) && o.reads != 0:
		bad("reads something back without a rule")
	case o.eval == nil && o.un32 == nil && o.bin32 == nil:
		bad("no evaluation")
	case o.un32 != nil && (o.un64 == nil || o.arity != 1 || !o.is(elementwise)):
		bad("a unary kernel is for both float types and elementwise")
	case o.bin32 != nil && (o.bin64 == nil || o.arity != 2 || !o.is(elementwise)):
		bad("a binary kernel is for both float types and elementwise")
	case o.grad != nil && o.tangent == nil && !o.is(elementwise) && !o.is(linear):
		bad("no tangent rule")
	}
	if _, dup := byName[o.name]; dup {
		bad("name taken")
	}
	if o.outs == 0 {
		o.outs = 1
	}
	o.code = code
	if o.each = 1; o.cost != nil && (o.un32 != nil || o.bin32 != nil) {
		o.each = o.cost(&machine{out: []ref{{l: array.Contiguous(Float32, nil)}}})
	}
	byName[o.name] = code
	table[code] = o
}
