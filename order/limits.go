package order

import "fmt"

// The limits of what is not linear by nature. Each is where an answer takes a
// few seconds on one core.
const (
	// ClosureLimit is the number of steps over edges that Windows and Reduction
	// may take; 64 nodes are followed in one step.
	ClosureLimit = 1 << 31
	// WidthLimit is the number of nodes of which Width takes a graph.
	WidthLimit = 16384
	// IdealLimit is the number of visited sets that LeanestExact looks at, and
	// Count unless it is told otherwise.
	IdealLimit = 1 << 20
	// IdealNodes is the number of nodes of which Count and LeanestExact take a
	// graph, however few visited sets it has. It bounds their memory: a set takes
	// two bits a node.
	IdealNodes = 1024
)

// TooLargeError says that a graph is beyond a limit.
type TooLargeError struct {
	What  string // what was asked: "width", "count", …
	Unit  string // what was counted: "nodes", "edges", "visited sets", "steps"
	Size  int64  // how many there are, or -1 when counting stopped at the limit
	Limit int64
}

func (e *TooLargeError) Error() string {
	if e.Size < 0 {
		return fmt.Sprintf("order: %s: the graph is too large: more than %d %s, which is the limit", e.What, e.Limit, e.Unit)
	}
	return fmt.Sprintf("order: %s: the graph is too large: %d %s, and the limit is %d", e.What, e.Size, e.Unit, e.Limit)
}
