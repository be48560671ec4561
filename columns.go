package backsweep

import (
	"unsafe"

	"github.com/backsweep/backsweep/internal/array"
)

// The tape's columns grow in chunks of fixed size, so that growing never moves
// what is there, and hold no pointers, so that the collector never scans a
// long tape.

const (
	chunkBits = 12
	chunkLen  = 1 << chunkBits
	chunkMask = chunkLen - 1
)

type nodeChunk struct {
	op   [chunkLen]opcode
	outs [chunkLen]uint16 // number of outputs
	attr [chunkLen]int32  // index into Tape.attrs, or -1
	in   [chunkLen]int32  // first entry in the operand column
	out  [chunkLen]int32  // value id of output 0; the others follow
}

type valueChunk struct {
	prod [chunkLen]int32 // producing node, or -1-k for leaf k
	lay  [chunkLen]int32 // index into Tape.lays
	sto  [chunkLen]int32 // storage id
	flag [chunkLen]valueFlag
}

type storeChunk struct {
	loc   [chunkLen]uint32 // slab unit, index into Tape.bufs, or leaf, as the flags say
	holds [chunkLen]int32  // how many times a rule of some node will read it back
	units [chunkLen]uint32 // size in words of 8 bytes
	flag  [chunkLen]storeFlag
}

type operandChunk [chunkLen]int32

type valueFlag uint8

const (
	watched valueFlag = 1 << iota
)

type storeFlag uint8

const (
	inBuf  storeFlag = 1 << iota // a buffer of the pool: bufs[loc]
	inLeaf                       // a leaf's own storage: leaves[loc]
	kept                         // by Keep, or as a root of a sweep
	letGo                        // a sweep has let it go
)

// slabUnits is the number of 8-byte words in one block of the slab that small
// values live in.
const (
	slabUnits  = 8192
	slabInline = 64 // values of at most so many bytes live in the slab
)

// columns are the storage of a tape.
type columns struct {
	nodes    []*nodeChunk
	values   []*valueChunk
	stores   []*storeChunk
	operands []*operandChunk
	slabs    []unsafe.Pointer

	marks
	attrs  []attrs
	lays   []*array.Layout
	leaves []leaf
	bufs   []*array.Buf
}

// marks say how far each column is filled; an op that fails goes back to them.
type marks struct {
	nNodes, nValues, nStores, nOperands int32
	slabAt                              uint32
	nLeaves, nBufs                      int
}

func (c *columns) nodeAt(n int32) (*nodeChunk, int32)   { return c.nodes[n>>chunkBits], n & chunkMask }
func (c *columns) valueAt(v int32) (*valueChunk, int32) { return c.values[v>>chunkBits], v & chunkMask }
func (c *columns) storeAt(s int32) (*storeChunk, int32) { return c.stores[s>>chunkBits], s & chunkMask }

func (c *columns) opOf(n int32) *op {
	ch, i := c.nodeAt(n)
	return &table[ch.op[i]]
}

func (c *columns) attrsOf(n int32) *attrs {
	ch, i := c.nodeAt(n)
	if a := ch.attr[i]; a >= 0 {
		return &c.attrs[a]
	}
	return &noAttrs
}

var noAttrs attrs

// outsOf returns the value id of a node's output 0 and the number of outputs.
func (c *columns) outsOf(n int32) (first, count int32) {
	ch, i := c.nodeAt(n)
	return ch.out[i], int32(ch.outs[i])
}

// insOf returns the position of a node's operands in the operand column and
// their number.
func (c *columns) insOf(n int32) (first, count int32) {
	ch, i := c.nodeAt(n)
	first = ch.in[i]
	end := c.nOperands
	if n+1 < c.nNodes {
		ch, i = c.nodeAt(n + 1)
		end = ch.in[i]
	}
	return first, end - first
}

func (c *columns) operand(k int32) int32 { return c.operands[k>>chunkBits][k&chunkMask] }

// producer is the node that produced a value, or a negative number for a leaf.
func (c *columns) producer(v int32) int32 {
	ch, i := c.valueAt(v)
	return ch.prod[i]
}

func (c *columns) storeOf(v int32) int32 {
	ch, i := c.valueAt(v)
	return ch.sto[i]
}

func (c *columns) layoutOf(v int32) *array.Layout {
	ch, i := c.valueAt(v)
	return c.lays[ch.lay[i]]
}

func (c *columns) leafOf(v int32) *leaf {
	ch, i := c.valueAt(v)
	return &c.leaves[-1-ch.prod[i]]
}

// pointer is where a storage starts.
func (c *columns) pointer(s int32) unsafe.Pointer {
	ch, i := c.storeAt(s)
	loc := ch.loc[i]
	switch f := ch.flag[i]; {
	case f&inBuf != 0:
		return c.bufs[loc].P
	case f&inLeaf != 0:
		return c.leaves[loc].val.st.p
	default:
		return unsafe.Add(c.slabs[loc/slabUnits], loc%slabUnits*8)
	}
}

func (c *columns) refOf(v int32) ref {
	ch, i := c.valueAt(v)
	return ref{l: c.lays[ch.lay[i]], p: c.pointer(ch.sto[i]), id: v, sto: ch.sto[i]}
}

// addStore appends a storage.
func (c *columns) addStore(loc uint32, units int, flag storeFlag) int32 {
	s := c.nStores
	if int(s>>chunkBits) == len(c.stores) {
		c.stores = append(c.stores, new(storeChunk))
	}
	ch, i := c.storeAt(s)
	ch.loc[i], ch.holds[i], ch.units[i], ch.flag[i] = loc, 0, uint32(units), flag
	c.nStores++
	return s
}

// addSlab makes room for a small value and returns its storage id and address.
func (c *columns) addSlab(bytes int) (int32, unsafe.Pointer) {
	units := uint32(max(bytes+7, 8) / 8)
	at := c.slabAt
	if at%slabUnits+units > slabUnits {
		at += slabUnits - at%slabUnits
	}
	if int(at/slabUnits) == len(c.slabs) {
		c.slabs = append(c.slabs, unsafe.Pointer(unsafe.SliceData(make([]uint64, slabUnits))))
	}
	c.slabAt = at + units
	return c.addStore(at, int(units), 0), unsafe.Add(c.slabs[at/slabUnits], at%slabUnits*8)
}

// addValue appends a value.
func (c *columns) addValue(prod, lay, sto int32) int32 {
	v := c.nValues
	if int(v>>chunkBits) == len(c.values) {
		c.values = append(c.values, new(valueChunk))
	}
	ch, i := c.valueAt(v)
	ch.prod[i], ch.lay[i], ch.sto[i], ch.flag[i] = prod, lay, sto, 0
	c.nValues++
	return v
}

// addOperand appends one operand of the node that is being recorded.
func (c *columns) addOperand(v int32) {
	k := c.nOperands
	if int(k>>chunkBits) == len(c.operands) {
		c.operands = append(c.operands, new(operandChunk))
	}
	c.operands[k>>chunkBits][k&chunkMask] = v
	c.nOperands++
}

// addNode appends a node whose operands are about to be added.
func (c *columns) addNode(code opcode, outs int, attr, firstOut int32) int32 {
	n := c.nNodes
	if int(n>>chunkBits) == len(c.nodes) {
		c.nodes = append(c.nodes, new(nodeChunk))
	}
	ch, i := c.nodeAt(n)
	ch.op[i], ch.outs[i], ch.attr[i], ch.in[i], ch.out[i] = code, uint16(outs), attr, c.nOperands, firstOut
	c.nNodes++
	return n
}

// bytesOf is the size of a storage.
func (c *columns) bytesOf(s int32) int64 {
	ch, i := c.storeAt(s)
	return int64(ch.units[i]) * 8
}
