package kernel

import "os"

// Paths, from the fastest.
const (
	pathAVX512 = "avx512" // AVX-512 F, DQ, BW and VL, with BMI2
	pathAVX2   = "avx2"   // AVX2 with FMA and BMI2
	pathGo     = "go"     // plain Go, everywhere
)

// path is the one in use.
var path = pathGo

// Path names the implementation in use: avx512, avx2 or go. It is the fastest
// that the processor has, or the one that the environment variable
// BACKSWEEP_KERNELS names; a name that is unknown or that the processor cannot
// run is as if none were given. It is chosen once, at the start of the program.
func Path() string { return path }

func init() {
	have := paths()
	choice := have[0]
	for _, p := range have {
		if p == os.Getenv("BACKSWEEP_KERNELS") {
			choice = p
		}
	}
	use(choice)
}
