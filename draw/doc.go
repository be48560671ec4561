// Package draw turns a record into a picture: SVG, DOT, Mermaid, or lines of a
// terminal.
//
// One convention holds in all of them. The forward pass runs from top to
// bottom: leaves stand above what consumes them, the loss is last. The backward
// sweep runs from bottom to top, and each node that it visits bears its turn:
// 1, 2, 3, … What a node keeps for its gradient rule stands on the node. A leaf
// is a labelled stub, never an op's box; a leaf that is consumed in places far
// apart is drawn again near each of them, as a ghost of the one leaf. In the
// style [Ops], ops are nodes and tensors are edges; in the style [Bipartite],
// circles are tensors and boxes are ops. One picture never mixes the two.
//
// The same record gives the same picture, byte for byte.
//
// Records are taken to be valid (see [record.Record.Validate]).
package draw
