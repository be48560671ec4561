package order

import "fmt"

// CriticalPath returns the longest path, in the order of the sweep: ids
// descend. However many workers there are, the sweep takes at least as long as
// the nodes of this path one after another. cost[v] is the cost of visiting
// node v in any unit; nil means 1 for each node. Of several longest paths it is
// the one that begins at the smallest end and turns to the largest consumer.
// CriticalPath panics when cost has another length than the graph. Time and
// space are linear.
//
// It is the critical path method of J. E. Kelley and M. R. Walker
// (Critical-path planning and scheduling, 1959).
func (g *Graph) CriticalPath(cost []int64) []int32 {
	if cost != nil && len(cost) != g.n {
		panic(fmt.Sprintf("order: %d costs for %d nodes", len(cost), g.n))
	}
	if g.n == 0 {
		return nil
	}
	const none = -1
	total := make([]int64, g.n) // of the longest path that ends in the node
	via := make([]int32, g.n)
	end := int32(g.n - 1)
	for v := int32(g.n) - 1; v >= 0; v-- {
		best := int64(0)
		via[v] = none
		for _, c := range g.consumers(v) {
			if total[c] > best || total[c] == best && total[c] > 0 {
				best, via[v] = total[c], c
			}
		}
		total[v] = best + 1
		if cost != nil {
			total[v] = best + cost[v]
		}
		if total[v] >= total[end] {
			end = v
		}
	}
	var path []int32
	for v := end; v != none; v = via[v] {
		path = append(path, v)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}
