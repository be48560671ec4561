package draw

import (
	"fmt"

	"github.com/backsweep/backsweep/record"
)

// Style says what is drawn as what.
type Style string

// The styles.
const (
	Ops       Style = "ops"       // ops are nodes, tensors are edges
	Bipartite Style = "bipartite" // ops are boxes, tensors are circles
)

// Options change a drawing. The zero value draws in the style Ops and numbers
// the nodes by the record's sweep, if it has one.
type Options struct {
	Style Style // "" means Ops
	// Sequence numbers the nodes by another order than the record's sweep:
	// node ids, the first visited first.
	Sequence []int
	Width    int // columns of the terminal drawing; 0 means 80
	// Lines bounds the lines of the terminal drawing: ops in the middle are
	// left out, and a line says how many. 0 means no bound.
	Lines int
}

// Limits of the drawings, in nodes. A picture of more than a few thousand is of
// little use to a person.
const (
	MaxSVG     = 20_000
	MaxDOT     = 200_000
	MaxMermaid = 2_000 // browsers refuse much larger ones
)

// TooLargeError says that a record has too many nodes for a format.
type TooLargeError struct {
	Format string
	Nodes  int
	Limit  int
}

func (e *TooLargeError) Error() string {
	instead := "draw it as text, which takes any number of nodes"
	if e.Format == "Mermaid" && e.Nodes <= MaxSVG {
		instead = "draw it as SVG, or as text, which takes any number of nodes"
	}
	return fmt.Sprintf("draw: the record has %d nodes, and %s takes at most %d; %s", e.Nodes, e.Format, e.Limit, instead)
}

func (o *Options) check(rec *record.Record, format string, limit int) error {
	switch o.Style {
	case "":
		o.Style = Ops
	case Ops, Bipartite:
	default:
		return fmt.Errorf("draw: there is no style %q; the styles are ops and bipartite", o.Style)
	}
	// Tensors weigh as much as nodes: a record may be all leaves.
	if n := max(len(rec.Nodes), len(rec.Tensors)/4); n > limit {
		return &TooLargeError{Format: format, Nodes: n, Limit: limit}
	}
	for i, n := range o.Sequence {
		if n < 0 || n >= len(rec.Nodes) {
			return fmt.Errorf("draw: sequence[%d]: node %d does not exist", i, n)
		}
	}
	return nil
}
