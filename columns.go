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

// nodeRow is one node: 16 bytes.
type nodeRow struct {
	op   opcode
	outs uint16 // number of outputs
	attr int32  // index into Tape.attrs, or -1
	in   int32  // first entry in the operand column
	out  int32  // value id of output 0; the others follow
}

// valueRow is one tensor: 12 bytes.
type valueRow struct {
	prod int32  // producing node, or -1-k for leaf k
	sto  int32  // storage id
	lay  uint32 // index into Tape.lays, shifted past the flags
}

const (
	valueFlagBits = 4
	mostLayouts   = 1<<(32-valueFlagBits) - 1
)

func (r *valueRow) has(f valueFlag) bool { return r.lay&uint32(f) != 0 }
func (r *valueRow) set(f valueFlag)      { r.lay |= uint32(f) }

// storeRow is one storage: 12 bytes.
type storeRow struct {
	loc   uint32 // slab unit, index into Tape.bufs, or leaf, as the flags say
	holds int32  // how many times a rule of some node will read it back
	size  uint32 // bytes of a small value, shifted past the flags; others know their own
}

const storeFlagBits = 5

func (r *storeRow) has(f storeFlag) bool { return r.size&uint32(f) != 0 }
func (r *storeRow) set(f storeFlag)      { r.size |= uint32(f) }

type valueFlag uint8

const (
	watched valueFlag = 1 << iota
)

type storeFlag uint8

const (
	inBuf    storeFlag = 1 << iota // a buffer of the pool: bufs[loc]
	inLeaf                         // a leaf's own storage: leaves[loc]
	kept                           // by Keep, or as a root of a sweep
	letGo                          // a sweep has let it go
	returned                       // it came out of a checkpoint, and stays
)

// slabUnits is the number of 8-byte words in one block of the slab that small
// values live in.
const (
	slabUnits  = 8192
	slabInline = 64 // values of at most so many bytes live in the slab
)

// columns are the storage of a tape.
type columns struct {
	nodes    []*[chunkLen]nodeRow
	values   []*[chunkLen]valueRow
	stores   []*[chunkLen]storeRow
	operands []*[chunkLen]int32
	slabs    []unsafe.Pointer

	marks
	attrs  []attrs
	lays   []*array.Layout
	leaves []leaf
	bufs   []*array.Buf
	sizes  []int // of bufs, in bytes as asked for
}

// marks say how far each column is filled; an op that fails goes back to them.
type marks struct {
	nNodes, nValues, nStores, nOperands int32
	slabAt                              uint32
	nLeaves, nBufs                      int // only in Tape.before
}

func (c *columns) node(n int32) *nodeRow   { return &c.nodes[n>>chunkBits][n&chunkMask] }
func (c *columns) value(v int32) *valueRow { return &c.values[v>>chunkBits][v&chunkMask] }
func (c *columns) store(s int32) *storeRow { return &c.stores[s>>chunkBits][s&chunkMask] }

func (c *columns) opOf(n int32) *op { return &table[c.node(n).op] }

func (c *columns) attrsOf(n int32) *attrs {
	if a := c.node(n).attr; a >= 0 {
		return &c.attrs[a]
	}
	return &noAttrs
}

var noAttrs attrs

// outsOf returns the value id of a node's output 0 and the number of outputs.
func (c *columns) outsOf(n int32) (first, count int32) {
	r := c.node(n)
	return r.out, int32(r.outs)
}

// insOf returns the position of a node's operands in the operand column and
// their number.
func (c *columns) insOf(n int32) (first, count int32) {
	first = c.node(n).in
	end := c.nOperands
	if n+1 < c.nNodes {
		end = c.node(n + 1).in
	}
	return first, end - first
}

func (c *columns) operand(k int32) int32 { return c.operands[k>>chunkBits][k&chunkMask] }

// producer is the node that produced a value, or a negative number for a leaf.
func (c *columns) producer(v int32) int32 { return c.value(v).prod }

func (c *columns) storeOf(v int32) int32 { return c.value(v).sto }

func (c *columns) layoutOf(v int32) *array.Layout {
	return c.lays[c.value(v).lay>>valueFlagBits]
}

func (c *columns) leafOf(v int32) *leaf { return &c.leaves[-1-c.value(v).prod] }

// pointer is where a storage starts.
func (c *columns) pointer(s int32) unsafe.Pointer {
	r := c.store(s)
	switch {
	case r.size&uint32(inBuf|inLeaf) == 0:
		return unsafe.Add(c.slabs[r.loc/slabUnits], r.loc%slabUnits*8)
	case r.has(inBuf):
		return c.bufs[r.loc].P
	default:
		return c.leaves[r.loc].p
	}
}

func (c *columns) refOf(v int32) ref {
	r := c.value(v)
	return ref{l: c.lays[r.lay>>valueFlagBits], p: c.pointer(r.sto), at: tapePlace(v, r.sto)}
}

// addStore appends a storage.
func (c *columns) addStore(loc uint32, bytes int, flag storeFlag) int32 {
	s := c.nStores
	if int(s>>chunkBits) == len(c.stores) {
		c.stores = append(c.stores, new([chunkLen]storeRow))
	}
	*c.store(s) = storeRow{loc: loc, size: uint32(bytes)<<storeFlagBits | uint32(flag)}
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
	return c.addStore(at, bytes, 0), unsafe.Add(c.slabs[at/slabUnits], at%slabUnits*8)
}

// addValue appends a value.
func (c *columns) addValue(prod, lay, sto int32) int32 {
	v := c.nValues
	if int(v>>chunkBits) == len(c.values) {
		c.values = append(c.values, new([chunkLen]valueRow))
	}
	*c.value(v) = valueRow{prod: prod, sto: sto, lay: uint32(lay) << valueFlagBits}
	c.nValues++
	return v
}

// addOperand appends one operand of the node that is being recorded.
func (c *columns) addOperand(v int32) {
	k := c.nOperands
	if int(k>>chunkBits) == len(c.operands) {
		c.operands = append(c.operands, new([chunkLen]int32))
	}
	c.operands[k>>chunkBits][k&chunkMask] = v
	c.nOperands++
}

// addNode appends a node whose operands are about to be added.
func (c *columns) addNode(code opcode, outs int, attr, firstOut int32) int32 {
	n := c.nNodes
	if int(n>>chunkBits) == len(c.nodes) {
		c.nodes = append(c.nodes, new([chunkLen]nodeRow))
	}
	*c.node(n) = nodeRow{op: code, outs: uint16(outs), attr: attr, in: c.nOperands, out: firstOut}
	c.nNodes++
	return n
}

// bytesOf is the size of a storage.
func (c *columns) bytesOf(s int32) int64 {
	r := c.store(s)
	switch {
	case r.has(inBuf):
		return int64(c.sizes[r.loc])
	case r.has(inLeaf):
		return int64(c.leaves[r.loc].bytes)
	default:
		return int64(r.size >> storeFlagBits)
	}
}
