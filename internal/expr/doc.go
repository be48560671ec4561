// Package expr runs the small programs of the command: Go syntax, read by
// go/parser, whose names are tensors and whose calls are ops.
//
//	h := tanh(x*w + b)
//	for i := range 3 {
//		h = h + sigmoid(h*u)
//	}
//	sum(h, opt{axis: 0})
//
// Statements are separated by ";" or new lines. The last one is the loss; it
// may be a bare expression. Names that no statement produces are inputs.
//
// Go never runs: Parse reads the text, and Run walks its syntax tree and
// records every op on a tape as it is met. So "for" and "if" leave no trace but
// the ops that they led to, and another input may record another graph.
//
// # Expressions
//
//   - x + y, x - y, x * y, x / y, -x. A number beside a tensor keeps the tensor's
//     element type: x + 2 is add_scalar, 3 * x is mul_scalar. A quotient is
//     mul_scalar where the number's reciprocal is exact, and else a division by
//     a constant.
//   - x > y and the other comparisons, which give a mask: where(x > 0, x, 0.1*x).
//   - tanh(x), sum(x, 0), reshape(x, 2, -1): any op by its table name, tensors
//     first, then attributes by position. One last literal gives them by name:
//     sum(x, opt{axes: {0, 1}, keepdims: true}).
//   - x.Tanh(), x.Sum(0), x.T(): the methods of backsweep.Tensor.
//   - x[2], x[1:3]: a position, or a range, of the first axis.
//   - a, b := split(x, 0, 1, 2): ops of several outputs.
//   - Numbers are float64, and 1/2 is 0.5.
package expr
