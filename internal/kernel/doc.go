// Package kernel holds the loops: elementwise functions, reductions, matrix
// products and row gathers on slices. It knows nothing of shapes beyond
// (outer, n, inner), of tapes or of gradients.
//
// These are plain Go. Every exported function is a seam behind which an
// implementation for one processor may stand; it then has to give the bits of
// its own path for every call, whatever the number of goroutines, the address
// or the alignment: the order in which a reduction adds depends on lengths
// alone.
//
// Fused multiply-add is never left to the compiler: T(x*y) + z rounds twice on
// every architecture.
package kernel

// Float is an element type that carries gradients.
type Float interface{ float32 | float64 }

// Number is an element type with arithmetic.
type Number interface{ float32 | float64 | int64 }
