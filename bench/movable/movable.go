// Package movable lets gorgonia start. One of its dependencies refuses to
// initialize under a Go version that it does not know, unless the environment
// names that version. Packages initialize in the order of their import paths
// once what they import has, and this one's sorts before that dependency's.
package movable

import (
	"os"
	"runtime"
	"strings"
)

func init() {
	dots := strings.SplitN(runtime.Version(), ".", 3)
	if len(dots) >= 2 {
		os.Setenv("ASSUME_NO_MOVING_GC_UNSAFE_RISK_IT_WITH", dots[0]+"."+dots[1])
	}
}
