package kernel

// Paths lists the paths that this processor runs, from the fastest, and Use
// takes one of them.
var (
	Paths = paths
	Use   = use
)
