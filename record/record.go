// Package record is the tape as plain data: what ran, what was kept and why,
// and what the sweep did. A record is portable and versioned: it can be
// written to a file, read back on another machine, drawn, questioned and
// compared with another. The package knows nothing of tensors' values or of
// kernels.
//
// Ids are dense: Tensors[i].ID == i, Nodes[i].ID == i, and so on. Nodes are in
// tape order, so every input of a node is a leaf or an output of an earlier
// node; the graph is acyclic by construction, and [Record.Validate] refuses a
// file in which it is not.
package record

// Version is the version of the format that this package writes.
const Version = 1

// Format is the value of the field "format" in every record.
const Format = "backsweep-record"

// Record is one tape.
type Record struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Title    string    `json:"title,omitempty"`
	Tensors  []Tensor  `json:"tensors"`
	Nodes    []Node    `json:"nodes"`
	Scopes   []Scope   `json:"scopes"` // Scopes[0] is the root, with an empty name
	Storages []Storage `json:"storages"`
	Sites    []Site    `json:"sites,omitempty"`
	Sweep    *Sweep    `json:"sweep,omitempty"`
}

// Kind says where a tensor comes from.
type Kind string

// The kinds of tensors. Only Computed tensors have a producer; the others are
// leaves.
const (
	Param    Kind = "param"
	Input    Kind = "input"
	Constant Kind = "constant"
	Computed Kind = "computed"
)

// State is the state of a tensor's gradient. The four are never confused, and
// none but Computed has a number.
type State string

// The states of a gradient. NoSweep ("") means that no sweep has run.
const (
	NoSweep     State = ""
	Known       State = "computed"    // there is a number
	Unconnected State = "unconnected" // no differentiable path leads to the loss: zero by mathematics
	Released    State = "released"    // was computed, consumed and let go
	NotAsked    State = "not_asked"   // on no path from anything that was asked for
)

// Tensor is an edge of the graph: it leads from the node that produced it to
// every node that consumed it.
type Tensor struct {
	ID       int    `json:"id"`
	Name     string `json:"name,omitempty"`
	Kind     Kind   `json:"kind"`
	Producer int    `json:"producer"` // node id, or -1 for a leaf
	Output   int    `json:"output"`   // the tensor is the producer's Output-th output
	DType    string `json:"dtype"`    // float32, float64, int64, bool
	Shape    []int  `json:"shape"`
	Bytes    int64  `json:"bytes"`   // elements times element size
	Storage  int    `json:"storage"` // storage id; views share one
	Watched  bool   `json:"watched,omitempty"`
	Kept     bool   `json:"kept,omitempty"` // by Tensor.Keep
	Grad     State  `json:"grad,omitempty"`
	Scope    int    `json:"scope"`           // scope of a leaf's first use, or of the producer
	Stats    *Stats `json:"stats,omitempty"` // of the value, when the tape was asked for it
}

// Stats summarises a tensor's value.
type Stats struct {
	Min   Number `json:"min"` // over finite values
	Mean  Number `json:"mean"`
	Max   Number `json:"max"`
	Zeros int64  `json:"zeros"`
	NaNs  int64  `json:"nans"`
	Infs  int64  `json:"infs"`
}

// Node is one op that ran.
type Node struct {
	ID      int    `json:"id"`
	Op      string `json:"op"`
	Attrs   string `json:"attrs,omitempty"` // as in a program: "0, keepdims: true"
	Inputs  []int  `json:"inputs"`          // tensor ids, by operand slot
	Outputs []int  `json:"outputs"`         // tensor ids
	Scope   int    `json:"scope"`
	Site    int    `json:"site"` // index into Sites, or -1
	Saves   []Save `json:"saves,omitempty"`
	// Multiply-adds, counted by formula from the shapes: of the op itself, of
	// its gradient rule, of its tangent rule.
	ForwardCost int64 `json:"forward_cost,omitempty"`
	ReverseCost int64 `json:"reverse_cost,omitempty"`
	TangentCost int64 `json:"tangent_cost,omitempty"`
}

// Save is one tensor of a node's payload: kept because the node's gradient
// rule (or its tangent rule) reads it back.
type Save struct {
	Tensor int    `json:"tensor"`
	Role   string `json:"role"`   // "input 1", "output 0"
	Reason string `json:"reason"` // "the rule of mul multiplies the cotangent by it"
}

// Scope is a named region of the graph; a path is the names from the root,
// joined by "/".
type Scope struct {
	ID     int    `json:"id"`
	Parent int    `json:"parent"` // -1 for the root
	Name   string `json:"name"`
}

// Storage is one buffer; several tensors may be views of it.
type Storage struct {
	ID    int   `json:"id"`
	Bytes int64 `json:"bytes"`
	Leaf  bool  `json:"leaf,omitempty"` // belongs to a leaf: it outlives the sweep
}

// Site is a place in a program.
type Site struct {
	Func string `json:"func,omitempty"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// Sweep is one backward sweep: its plan and, if it ran, its events.
type Sweep struct {
	Roots    []int  `json:"roots"` // tensor ids; the loss is Roots[0]
	Order    string `json:"order"` // tape, depth, breadth, random, leanest, given
	Seed     uint64 `json:"seed,omitempty"`
	Workers  int    `json:"workers"`
	Retain   bool   `json:"retain,omitempty"`
	Sequence []int  `json:"sequence"` // node ids in the planned order
	Steps    []Step `json:"steps"`    // one for each entry of Sequence, in the same order
	// Before lists the storages that go back before the first visit, because
	// no rule of the plan reads them.
	Before []int   `json:"before,omitempty"`
	Events []Event `json:"events,omitempty"` // what happened, in the order in which it happened
}

// Step is what the plan says about one visit.
type Step struct {
	Node int `json:"node"`
	// Replays lists the nodes of a checkpoint that compute their values again
	// before the visit, because it is the first to one of them.
	Replays []int `json:"replays,omitempty"`
	// Gives lists the contributions that the visit hands out, by operand slot.
	Gives []Give `json:"gives,omitempty"`
	// Frees lists the storages whose last reader this visit is.
	Frees []int `json:"frees,omitempty"`
	// Drops lists the tensors whose gradient is let go after the visit.
	Drops []int `json:"drops,omitempty"`
}

// Give is one contribution to a tensor's gradient.
type Give struct {
	Slot   int `json:"slot"`   // operand slot of the node
	Tensor int `json:"tensor"` // the tensor that receives it
	Rank   int `json:"rank"`   // its canonical turn, from 0: the seeds of a root first, then descending consumer id, then ascending slot
	Of     int `json:"of"`     // how many contributions the tensor gets in all, seeds included
	// Parked says that the contribution arrives before its turn and waits
	// until contribution Rank-1 has been added. (With workers, whether one
	// parks is known only from the events.)
	Parked bool `json:"parked,omitempty"`
}

// EventKind says what happened.
type EventKind string

// The kinds of events.
const (
	Seeded       EventKind = "seed"    // a root received its cotangent
	Visited      EventKind = "visit"   // a node's rule ran
	Added        EventKind = "add"     // a contribution was added (or moved in, when first)
	Parked       EventKind = "park"    // a contribution came before its turn
	Freed        EventKind = "free"    // a storage was let go
	GradReleased EventKind = "release" // a gradient was consumed and let go
	Replayed     EventKind = "replay"  // a node of a checkpoint computed its values again
)

// Event is one thing that a sweep did. Fields that do not apply are -1.
type Event struct {
	Kind    EventKind `json:"kind"`
	Node    int       `json:"node"`
	Slot    int       `json:"slot"`
	Tensor  int       `json:"tensor"`
	Storage int       `json:"storage"`
	Rank    int       `json:"rank"`
	Bytes   int64     `json:"bytes"`
	Worker  int       `json:"worker"`
}
