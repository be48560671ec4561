package order

import "math/big"

// Count returns how many legal orders there are. It looks at no more than limit
// visited sets, or [IdealLimit] when limit is 0 or less; beyond that, and
// beyond [IdealNodes] nodes, it returns a *TooLargeError. A graph of few
// branches has few such sets: two chains of 500 nodes have 251,001, and more than
// 10^299 orders.
//
// It is a dynamic program over order ideals: the orders that visit a set are
// those that visit the set without one of its last nodes. To count without a
// limit is #P-complete (G. Brightwell and P. Winkler, Counting linear
// extensions, 1991).
func (g *Graph) Count(limit int) (*big.Int, error) {
	if limit <= 0 {
		limit = IdealLimit
	}
	w, err := newIdeals(g, "count", int64(limit))
	if err != nil {
		return nil, err
	}
	ways, next := []*big.Int{big.NewInt(1)}, []*big.Int(nil)
	for range g.n {
		for i := range ways {
			for _, v := range w.choices(i) {
				j, fresh, ok := w.add(i, v)
				if !ok {
					return nil, &TooLargeError{What: "count", Unit: "visited sets", Size: -1, Limit: int64(limit)}
				}
				if fresh {
					next = append(next, new(big.Int))
				}
				next[j].Add(next[j], ways[i])
			}
		}
		w.advance()
		ways, next = next, ways[:0]
	}
	return ways[0], nil
}
