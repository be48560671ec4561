// Package backsweep is reverse-mode automatic differentiation by running
// ordinary Go code.
//
// # Record
//
// Ops are methods on tensors. When one of an op's operands is on a [Tape], the
// op runs and is recorded there: it becomes a node, and the tensors are edges,
// from the node that produced one to each node that consumed it. The record is
// of what ran on this input, not a plan: if, for and recursion just work, and
// another input may record another graph.
//
//	w := backsweep.NewParam("w", backsweep.Randn(rng, 784, 10))
//	tape := backsweep.NewTape()
//	x := tape.Input("x", batch)
//	loss := x.MatMul(w).Tanh().Sum()
//	grads, err := tape.Backward(loss)
//	dw := grads.Of(w)
//
// # Payload
//
// A node keeps the tensors that its gradient rule will read back, its payload,
// and nothing else: tanh keeps its output, mul both operands, add nothing. What
// no rule reads goes back before the sweep starts; payload goes back as the
// sweep passes its last reader. So a Backward ends the intermediate values of
// its graph. Keep makes one value survive, [Retain] all of them.
//
// # Sweep
//
// The backward sweep starts at the loss, whose gradient is 1, and visits every
// node after all consumers of its output; a visit multiplies by the node's
// derivative and hands each operand its contribution. A tensor that several
// nodes consumed gets the sum. One sweep costs about as much as the forward
// pass and yields the gradient of every tensor; a forward sweep ([Tape.Forward])
// yields the derivative of every tensor with respect to one input direction.
//
// # Order
//
// A node may be visited once every consumer of its output has been: before
// that its gradient is not complete, and nothing can stand in for it. The
// reverse of the recording order is always legal, and needs no graph
// algorithm. It is a legal order, not the order: where two towers meet in a dot
// product, either may be swept first, or both at once. Contributions are added
// in one canonical order whatever the sweep's, those that come early wait, so
// all legal orders and any number of workers give the same bits. An illegal
// order is refused with the edge that it breaks. Package
// [github.com/backsweep/backsweep/order] has the theory.
//
// # States of a gradient
//
// Four things are never confused: a gradient that was computed; one that is
// zero because no differentiable path leads from the tensor to the loss; one
// that was consumed and let go; and one that nothing asked for. See
// [Grads.State].
//
// # Errors
//
// An op that is misused panics with an [*Error] that names the op, the shapes
// and the place of the call, and leaves the tape as it was; [Catch] turns such
// a panic into an error at a boundary of your choice. Everything that sweeps
// returns an error.
//
// # Without a tape
//
// The same code with no operand on a tape is plain evaluation: nothing is
// recorded or kept, and any number of goroutines may run it at once.
package backsweep
