// Package order answers every question about the order of a backward sweep:
// which orders are legal, which one to take, why one node waits for another,
// how many there are.
//
// # What an order is
//
// A tape lists nodes in the order in which they ran: 0, 1, 2, … A node consumes
// tensors that earlier nodes produced, so the tape is a directed acyclic graph
// whose edges lead from a smaller id to a larger one:
//
//	q := tanh(a)     // node 0
//	u := exp(q)      // node 1
//	d := tanh(b)     // node 2
//	v := exp(d)      // node 3
//	s := dot(u, v)   // node 4
//
//	0 tanh ─q→ 1 exp ─u┐
//	                   ├→ 4 dot
//	2 tanh ─d→ 3 exp ─v┘
//
// A sweep goes the other way. It visits each node once, and a node may go only
// when all that consumed its outputs have gone, because only then has each of
// them handed over its share of the gradient. A sequence that keeps this rule
// is an order. Reverse tape order, 4 3 2 1 0, always is one, but it is never
// the only one when the graph has branches that do not touch: here either
// tower may go first, or they may take turns, and there are six orders in all.
//
//	4 1 0 3 2
//	4 1 3 0 2
//	4 1 3 2 0
//	4 3 1 0 2
//	4 3 1 2 0
//	4 3 2 1 0
//
// Orders are the linear extensions of a partial order, "x waits for y", and
// the sets of nodes that a sweep may have visited at some moment are its
// ideals. Most of this package is classical theory of these two.
//
//   - [Graph.Check] tells whether a sequence is an order and names the edge that
//     it breaks; [Graph.Reasons] says for each node what let it go.
//   - [Graph.Tape], [Graph.Depth], [Graph.Breadth], [Graph.Random],
//     [Graph.Leanest] are orders to take; [Graph.LeanestExact] is the best there
//     is, on small graphs; [Graph.Peak] is what an order costs in memory.
//   - [Graph.Why] tells whether one node must wait for another, by the shortest
//     chain of reasons or by an order in which it does not.
//   - [Graph.Windows], [Graph.Width], [Graph.CriticalPath], [Graph.Count],
//     [Graph.All] measure the freedom that a graph leaves.
//   - [Graph.Dominators] finds what every gradient path passes through,
//     [Graph.Reduction] the edges that say something the others do not.
//
// Everything works on plain int32 ids and knows nothing of tensors' values.
// Nothing recurses over a graph. What is linear by nature is linear here and
// takes graphs of ten million nodes; what is not returns a [TooLargeError] that
// says its limit. Equal arguments give equal results on every machine.
package order
