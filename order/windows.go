package order

import "math/bits"

// Window is where a node may stand in a legal order. Positions begin at 0.
type Window struct{ Earliest, Latest int32 }

// Windows returns the window of each node over all legal orders: all that it
// waits for must come before it, all that waits for it after it, and nothing
// else matters. The error is a *TooLargeError when the transitive closure takes
// more than [ClosureLimit] steps. Space is linear.
//
// The closure is built 64 nodes at a time, one bit each, and only counted.
func (g *Graph) Windows() ([]Window, error) {
	blocks := int64(g.n+63) / 64
	if steps := blocks * int64(g.n+len(g.con)); steps > ClosureLimit {
		return nil, &TooLargeError{What: "windows", Unit: "steps", Size: steps, Limit: ClosureLimit}
	}
	windows := make([]Window, g.n)
	for v := range windows {
		windows[v].Latest = int32(g.n - 1)
	}
	reach := make([]uint64, g.n) // by node: which of the block's nodes lie beyond it
	for lo := 0; lo < g.n; lo += 64 {
		hi := min(lo+64, g.n)
		for v := int32(hi) - 1; v >= 0; v-- {
			beyond := uint64(0)
			for _, c := range g.consumers(v) {
				if int(c) >= hi {
					break
				}
				beyond |= reach[c]
				if int(c) >= lo {
					beyond |= 1 << (int(c) - lo)
				}
			}
			reach[v] = beyond
			windows[v].Earliest += int32(bits.OnesCount64(beyond))
		}
		for v := int32(lo); int(v) < g.n; v++ {
			before := uint64(0)
			for i := g.proStart[v+1] - 1; i >= g.proStart[v]; i-- {
				p := g.pro[i]
				if int(p) < lo {
					break
				}
				before |= reach[p]
				if int(p) < hi {
					before |= 1 << (int(p) - lo)
				}
			}
			reach[v] = before
			windows[v].Latest -= int32(bits.OnesCount64(before))
		}
	}
	return windows, nil
}
