// Package kernel holds the loops: elementwise functions, reductions, matrix
// products, row gathers and optimizer steps on slices. It knows nothing of
// shapes beyond (outer, n, inner), of tapes or of gradients of graphs.
//
// Every exported function is plain Go, in a file named after what it does, and
// many have a twin in assembly behind it: vector lists them, gen writes them,
// and Path says which are in use. The paths differ in bits where a polynomial or
// a fused multiply-add does better than the plain loop; sums, and all that
// IEEE 754 rounds once, have the same bits on every path. On one path the bits
// of a call depend on its operands and lengths alone, whatever the number of
// goroutines, the address or the alignment; those of an elementwise function on
// the element alone, and those of a matrix product on its row, its column and
// their length.
//
// Fused multiply-add is never left to the compiler: T(x*y) + z rounds twice on
// every architecture.
//
// The caller has checked lengths and indices. Where a function takes slices of
// equal length it reads the length of its first source; a shorter operand
// panics as any Go slice does. Nothing here allocates unless its comment says
// so.
package kernel

// Float is an element type that carries gradients.
type Float interface{ float32 | float64 }

// Number is an element type with arithmetic.
type Number interface{ float32 | float64 | int64 }
