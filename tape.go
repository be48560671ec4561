package backsweep

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/backsweep/backsweep/internal/array"
)

// Tape records the ops that run, in the order in which they run. It belongs to
// one goroutine while it records; a second one that uses it meanwhile gets
// ErrGoroutine. Reset empties it for the next step and keeps its memory.
//
// A tensor keeps its tape reachable, so keeping an attached loss keeps the
// whole graph: keep loss.Item() or loss.Clone() instead.
type Tape struct {
	columns
	m       machine
	pool    array.Pool
	handles []Tensor // of the slab that is being handed out
	epoch   uint32
	busy    int32 // 1 while an op or a sweep runs

	open   bool  // an op is being recorded
	before marks // the columns before that op

	joined map[*value]int32 // leaves by what they are
	recent [joinCache]joinEntry
	layIDs [layCache]layEntry
	atIDs  []int32 // by opcode, the attributes used last

	names    map[int32]string
	segments []segment                         // checkpoints, in tape order
	inside   bool                              // one is being recorded
	again    machine                           // replays
	hooks    map[int32][]func(*Tensor) *Tensor // by value; nil when there are none
	scopes   []scopeEntry
	scopeIDs map[scopeEntry]int32
	scope    int32
	runs     []scopeRun

	sites     bool
	siteIDs   []int32 // by node
	siteTable []siteEntry
	sitePCs   map[uintptr]int32

	swept   string    // the sweep that let values go; "" before
	sweptBy []uintptr // its callers
	broken  bool      // that sweep failed half-way
	grads   []*array.Buf
	last    *sweepRecord // of the last sweep that was traced
	scratch sweepMemory
}

const (
	joinCache = 64
	layCache  = 256
)

type joinEntry struct {
	val *value
	id  int32
}

type layEntry struct {
	l  *array.Layout
	id int32
}

// leaf is what a tape knows of a tensor that no op produced.
type leaf struct {
	val     *value
	p       unsafe.Pointer // its storage
	version uint64         // of the storage when it joined
	bytes   int
	kind    leafKind
	id      int32
	sto     int32
}

type leafKind uint8

const (
	constantLeaf leafKind = iota
	inputLeaf
	paramLeaf
)

// TapeOption is an option of NewTape.
type TapeOption func(*Tape)

// Sites makes the tape keep the place in the program where each op was called.
// It costs about a microsecond an op.
func Sites() TapeOption { return func(t *Tape) { t.sites = true } }

// NewTape makes an empty tape.
func NewTape(opts ...TapeOption) *Tape {
	t := &Tape{
		joined:   map[*value]int32{},
		names:    map[int32]string{},
		atIDs:    make([]int32, numOps),
		sitePCs:  map[uintptr]int32{},
		scopeIDs: map[scopeEntry]int32{},
	}
	t.m.place, t.m.tape = onTape, t
	for _, o := range opts {
		o(t)
	}
	t.clear()
	return t
}

// Len is the number of nodes.
func (t *Tape) Len() int { return int(t.nNodes) }

// Reset empties the tape and takes every buffer back for the next step. A
// tensor of the tape, and a gradient of its sweeps, fails by name afterwards.
func (t *Tape) Reset() {
	t.enter("Reset")
	defer t.leave()
	t.epoch++
	for i, b := range t.bufs {
		if b != nil {
			t.pool.Release(b)
			t.bufs[i] = nil
		}
	}
	for i, b := range t.grads {
		t.pool.Release(b)
		t.grads[i] = nil
	}
	t.clear()
}

func (t *Tape) clear() {
	t.marks = marks{}
	t.bufs, t.sizes, t.grads = t.bufs[:0], t.sizes[:0], t.grads[:0]
	clear(t.leaves)
	t.leaves = t.leaves[:0]
	clear(t.lays)
	t.lays = t.lays[:0]
	clear(t.attrs)
	t.attrs = t.attrs[:0]
	clear(t.joined)
	clear(t.names)
	t.hooks = nil
	t.segments, t.inside = t.segments[:0], false
	clear(t.recent[:])
	clear(t.layIDs[:])
	for i := range t.atIDs {
		t.atIDs[i] = -1
	}
	clear(t.scopes)
	clear(t.scopeIDs)
	t.scopes = append(t.scopes[:0], scopeEntry{parent: -1})
	t.runs = append(t.runs[:0], scopeRun{})
	t.scope = 0
	t.siteIDs = t.siteIDs[:0]
	t.swept, t.broken, t.last = "", false, nil
}

// enter takes the tape for the running goroutine, or throws ErrGoroutine.
func (t *Tape) enter(op string) {
	if !atomic.CompareAndSwapInt32(&t.busy, 0, 1) {
		throw(fail(ErrGoroutine, op, "give each goroutine a tape of its own (parameters may be shared), and leave the tape alone in observers",
			"the tape is being used by another goroutine at this moment"))
	}
}

// leave gives the tape back. After an op that failed it takes back what the op
// had added so far. The store is plain: where a second goroutine reads the flag
// meanwhile without being told to wait, that is the race that enter reports.
func (t *Tape) leave() {
	if t.open {
		t.rollback()
	}
	t.busy = 0
}

func (t *Tape) begin() {
	// Field by field: a copy of the whole would stall on the writes before it.
	b := &t.before
	b.nNodes, b.nValues, b.nStores, b.nOperands, b.slabAt = t.nNodes, t.nValues, t.nStores, t.nOperands, t.slabAt
	b.nLeaves, b.nBufs = len(t.leaves), len(t.bufs)
	t.open = true
}

func (t *Tape) rollback() {
	t.open = false
	b := t.before
	for i := b.nBufs; i < len(t.bufs); i++ {
		t.pool.Release(t.bufs[i])
		t.bufs[i] = nil
	}
	t.bufs, t.sizes = t.bufs[:b.nBufs], t.sizes[:b.nBufs]
	for i := b.nLeaves; i < len(t.leaves); i++ {
		delete(t.joined, t.leaves[i].val)
		delete(t.names, t.leaves[i].id)
		t.leaves[i] = leaf{}
	}
	t.leaves = t.leaves[:b.nLeaves]
	clear(t.recent[:])
	// Holds of the nodes that go were counted on storages that stay.
	for n := t.nNodes - 1; n >= b.nNodes; n-- {
		t.eachHold(n, func(sto int32) { t.store(sto).holds-- })
	}
	if t.sites {
		t.siteIDs = t.siteIDs[:b.nNodes]
	}
	t.marks = b
}

// alloc makes room for an output of the op that is being recorded.
func (t *Tape) alloc(l *array.Layout) ref {
	bytes := l.Bytes()
	if bytes <= slabInline {
		sto, p := t.addSlab(bytes)
		return ref{l: l, p: p, at: tapePlace(-1, sto)}
	}
	b := t.pool.Get(bytes)
	t.bufs, t.sizes = append(t.bufs, b), append(t.sizes, bytes)
	sto := t.addStore(uint32(len(t.bufs)-1), 0, inBuf)
	return ref{l: l, p: b.P, at: tapePlace(-1, sto)}
}

// layoutID returns the number under which the tape knows a layout.
func (t *Tape) layoutID(l *array.Layout) int32 {
	e := &t.layIDs[hashPointer(l)%layCache]
	if e.l == l {
		return e.id
	}
	t.lays = append(t.lays, l)
	*e = layEntry{l, int32(len(t.lays) - 1)}
	return e.id
}

// attrID stores attributes, or finds that the op used the same ones last.
func (t *Tape) attrID(code opcode, at *attrs) int32 {
	if last := t.atIDs[code]; last >= 0 && t.attrs[last].equal(at) {
		return last
	}
	c := *at
	for k, v := range c.ints {
		if v != nil {
			c.ints[k] = append([]int{}, v...)
		}
	}
	t.attrs = append(t.attrs, c)
	id := int32(len(t.attrs) - 1)
	t.atIDs[code] = id
	return id
}

// mustOwn throws ErrReset for a tensor of an earlier epoch of the tape.
func (t *Tape) mustOwn(x *Tensor) { t.mustOwnFor(x, "") }

func (t *Tape) mustOwnFor(x *Tensor, op string) {
	if x.epoch != t.epoch {
		throw(fail(ErrReset, op, "copy values before Tape.Reset (Data, Item, Clone), or compute the tensor again",
			"tensor t%d belonged to the tape before it was reset", x.id))
	}
}

// mustHave throws unless the tensor's value is still there.
func (t *Tape) mustHave(x *Tensor, op string) {
	t.mustOwnFor(x, op)
	if len(t.segments) > 0 && t.dropped(t.storeOf(x.id)) {
		e := fail(ErrReleased, op, "return it from the function that Checkpoint runs", "the value of %s was dropped by Checkpoint", t.label(x.id))
		e.Tensor = t.label(x.id)
		throw(e)
	}
	if t.gone(x.id) {
		e := fail(ErrReleased, op, "call Keep on it when it is made, or sweep with Retain",
			"the value of %s is gone: no rule needed it any more, and %s let it go", t.label(x.id), t.sweptText())
		e.Tensor = t.label(x.id)
		throw(e)
	}
}

// sweptText says which sweep let values go, and where it was called.
func (t *Tape) sweptText() string {
	text := t.swept
	if at := siteOf(t.sweptBy); at != "" {
		text += " at " + at
	}
	if t.broken {
		text += ", which did not finish,"
	}
	return text
}

// gone reports whether a sweep has let the value go.
func (t *Tape) gone(v int32) bool {
	return t.store(t.storeOf(v)).has(letGo)
}

// keep makes the value's storage live until Reset.
func (t *Tape) keep(v int32) {
	t.store(t.storeOf(v)).set(kept)
}

// label names a value in a text: its name, or t and its id.
func (t *Tape) label(v int32) string {
	if n := t.names[v]; n != "" {
		return n
	}
	return "t" + strconv.Itoa(int(v))
}

// nodeLabel names a node in a text, as in "n9 matmul".
func (t *Tape) nodeLabel(n int32) string {
	return fmt.Sprintf("n%d %s", n, t.opOf(n).name)
}
