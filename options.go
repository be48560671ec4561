package backsweep

import (
	"context"
	"fmt"

	"github.com/backsweep/backsweep/record"
)

// Order says in which order a sweep visits the nodes. The zero Order is
// reverse tape order: a legal order that takes no graph algorithm.
type Order struct {
	kind string
	seed uint64
	ids  []int
}

// The orders that can be asked for by name. See package order for what each
// one is.
var (
	TapeOrder    = Order{}
	DepthFirst   = Order{kind: "depth"}
	BreadthFirst = Order{kind: "breadth"}
	Leanest      = Order{kind: "leanest"}
)

// RandomOrder is a random legal order; the same seed gives the same order.
func RandomOrder(seed uint64) Order { return Order{kind: "random", seed: seed} }

// GivenOrder is an order of one's own: node ids, first visited first. It may
// leave out nodes that are not in the sweep, and must have each node that is.
func GivenOrder(nodes ...int) Order {
	return Order{kind: "given", ids: append([]int{}, nodes...)}
}

// String names the order: tape, depth, breadth, leanest, random, given.
func (o Order) String() string {
	if o.kind == "" {
		return "tape"
	}
	if o.kind == "random" {
		return fmt.Sprintf("random (seed %d)", o.seed)
	}
	return o.kind
}

// Event is one thing that a sweep did; see [record.Event].
type Event = record.Event

// SweepOption is an option of one sweep.
type SweepOption func(*sweepOptions)

type sweepOptions struct {
	order     Order
	workers   int
	retain    bool
	keepGrads bool
	recorded  bool
	trace     bool
	ctx       context.Context
	observe   func(Event)
	cotangent *Tensor
	batch     int // how many cotangents the sweep carries at once, else 0
}

// WithOrder makes the sweep visit the nodes in another legal order. Gradients
// are the same, bit for bit, under every one.
func WithOrder(o Order) SweepOption { return func(s *sweepOptions) { s.order = o } }

// Workers makes n goroutines visit nodes side by side; n is 1 or more. The
// order then says which of the nodes that could be visited goes first.
// Gradients are the same, bit for bit, for every n.
func Workers(n int) SweepOption { return func(s *sweepOptions) { s.workers = n } }

// Retain keeps the payload and every value, so that the tape can be swept
// again. Without it a sweep ends the intermediate values of its tape.
func Retain() SweepOption { return func(s *sweepOptions) { s.retain = true } }

// KeepGrads asks for the gradient of every tensor, not only of parameters and
// watched tensors.
func KeepGrads() SweepOption { return func(s *sweepOptions) { s.keepGrads = true } }

// Recorded records the sweep itself on the tape, so that gradients can be
// differentiated again. It implies Retain, and runs in reverse tape order on
// one worker, since the ids of its own nodes rank the next derivative.
func Recorded() SweepOption { return func(s *sweepOptions) { s.recorded = true } }

// Context stops the sweep between two nodes once ctx is done; the sweep then
// returns an error that wraps ctx.Err.
func Context(ctx context.Context) SweepOption { return func(s *sweepOptions) { s.ctx = ctx } }

// Observe calls f with each thing that the sweep does, one at a time, in the
// order in which it happens. f must not use the tape.
func Observe(f func(Event)) SweepOption { return func(s *sweepOptions) { s.observe = f } }

// Trace makes the tape remember the sweep, plan and events, so that
// [Tape.Record] has them.
func Trace() SweepOption { return func(s *sweepOptions) { s.trace = true } }

// Cotangent starts Backward from a loss that is not a scalar: c has the loss's
// shape and element type.
func Cotangent(c *Tensor) SweepOption { return func(s *sweepOptions) { s.cotangent = c } }

func gatherOptions(op string, opts []SweepOption) (sweepOptions, error) {
	s := sweepOptions{workers: 1}
	for _, o := range opts {
		o(&s)
	}
	if s.workers < 1 {
		return s, fail(ErrValue, op, "use 1 or more", "%d workers", s.workers)
	}
	if s.recorded {
		if s.order.kind != "" || s.workers != 1 {
			return s, fail(ErrUnsupported, op, "leave WithOrder and Workers out",
				"a recorded sweep runs in tape order on one worker (asked: %s order, %d workers)", s.order, s.workers)
		}
		s.retain = true
	}
	return s, nil
}
