// Package kernel holds the loops: elementwise functions, reductions, matrix
// products, row gathers and optimizer steps on slices. It knows nothing of
// shapes beyond (outer, n, inner), of tapes or of gradients of graphs.
//
// These are plain Go. Every exported function is a seam behind which an
// implementation for one processor may stand; it then has to give the bits of
// its own path for every call, whatever the number of goroutines, the address
// or the alignment: the order in which a reduction adds depends on lengths
// alone.
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
