package draw

import "github.com/backsweep/backsweep/record"

// enclosure is a scope, or a contiguous part of one, that is drawn as a frame.
// Enclosure 0 is the whole picture. Parents stand before their children.
type enclosure struct {
	scope  int
	parent int
	part   int // 1, 2, … when the scope is drawn in several parts, else 0
	depth  int
	nodes  []int // that are in it or below, in tape order
}

const (
	// Frames deeper than this help nobody to see.
	deepest = 12
	// How many scopes of one frame may be cut into parts; each costs a pass.
	mostCut = 32
)

// enclosures finds the frames of a record: a scope gets one where it can be
// contracted to a point without making a cycle. A scope that was left and
// entered again, with nodes outside in between that depend on it and on which
// it depends, is cut into parts; one that would be tied up with others even
// so gets none. It returns the frames and the innermost one of each node.
func enclosures(rec *record.Record) (frames []enclosure, of []int) {
	of = make([]int, len(rec.Nodes))
	all := make([]int, len(rec.Nodes))
	for i := range all {
		all[i] = i
	}
	depth := make([]int, len(rec.Scopes))
	for i := 1; i < len(rec.Scopes); i++ {
		depth[i] = depth[rec.Scopes[i].Parent] + 1
	}
	f := &framer{rec: rec, vertex: make([]int, len(rec.Nodes)), phase: make([]int, len(rec.Nodes))}
	for i := range f.vertex {
		f.vertex[i] = -1
	}
	frames = []enclosure{{scope: 0, parent: -1, nodes: all}}
	at := make([]int, len(rec.Nodes)) // the scope that a node belongs to, on the level below the frame
	for e := 0; e < len(frames); e++ {
		frame := &frames[e]
		if frame.depth >= deepest {
			continue
		}
		some := false
		for _, n := range frame.nodes {
			s := rec.Nodes[n].Scope
			for depth[s] > frame.depth+1 {
				s = rec.Scopes[s].Parent
			}
			at[n] = -1
			if depth[s] == frame.depth+1 {
				at[n], some = s, true
			}
		}
		if !some {
			continue
		}
		for _, part := range f.parts(frame.nodes, at) {
			for _, n := range part.nodes {
				of[n] = len(frames)
			}
			part.parent, part.depth = e, frames[e].depth+1
			frames = append(frames, part)
		}
	}
	numberParts(rec, frames)
	return frames, of
}

// numberParts numbers the frames of a scope that no single frame holds whole.
func numberParts(rec *record.Record, frames []enclosure) {
	size := make([]int, len(rec.Scopes)) // nodes in the scope or below
	for i := range rec.Nodes {
		size[rec.Nodes[i].Scope]++
	}
	for s := len(size) - 1; s > 0; s-- {
		size[rec.Scopes[s].Parent] += size[s]
	}
	parts := make([]int, len(rec.Scopes))
	for e := range frames {
		f := &frames[e]
		f.part = 0
		if len(f.nodes) < size[f.scope] {
			parts[f.scope]++
			f.part = parts[f.scope]
		}
	}
}

// framer finds the frames inside one frame.
type framer struct {
	rec    *record.Record
	vertex []int // of the contracted graph, by node
	phase  []int // of the scope that is being cut, by node
}

// parts returns the frames that the scopes in at can have, ordered by their
// first nodes.
func (f *framer) parts(nodes, at []int) []enclosure {
	group := map[[2]int]int{} // scope and part → index into parts
	var parts []enclosure
	part := map[int]int{} // by node; absent means part 0
	gather := func(dissolved map[[2]int]bool) {
		clear(group)
		parts = parts[:0]
		for _, n := range nodes {
			key := [2]int{at[n], part[n]}
			if at[n] < 0 || dissolved[key] {
				continue
			}
			i, ok := group[key]
			if !ok {
				i = len(parts)
				group[key] = i
				parts = append(parts, enclosure{scope: at[n], part: part[n]})
			}
			parts[i].nodes = append(parts[i].nodes, n)
		}
	}
	gather(nil)
	tied := f.tied(nodes, parts)
	if len(tied) == 0 {
		return parts
	}
	for k, i := range tied {
		if k >= mostCut {
			break
		}
		f.cut(nodes, at, parts[i].scope)
		for _, n := range parts[i].nodes {
			part[n] = f.phase[n] + 1
		}
	}
	dissolved := map[[2]int]bool{}
	gather(nil)
	for _, i := range f.tied(nodes, parts) {
		dissolved[[2]int{parts[i].scope, parts[i].part}] = true
	}
	gather(dissolved)
	return parts
}

// cut numbers the visits that the nodes make to a scope: how often, at most, a
// path to a node leaves the scope and comes back.
func (f *framer) cut(nodes, at []int, scope int) {
	inFrame := map[int]bool{}
	for _, n := range nodes {
		inFrame[n] = true
		inside := at[n] == scope
		f.phase[n] = -1
		if inside {
			f.phase[n] = 0
		}
		for _, t := range f.rec.Nodes[n].Inputs {
			p := f.rec.Tensors[t].Producer
			if p < 0 || !inFrame[p] || f.phase[p] < 0 {
				continue
			}
			came := f.phase[p]
			if inside && at[p] != scope {
				came++
			}
			f.phase[n] = max(f.phase[n], came)
		}
	}
}

// tied returns the parts that lie on a cycle when every part is contracted to
// a point (strongly connected components, R. Tarjan 1972, with a stack of its
// own).
func (f *framer) tied(nodes []int, parts []enclosure) []int {
	for i := range parts {
		for _, n := range parts[i].nodes {
			f.vertex[n] = i
		}
	}
	count := len(parts)
	for _, n := range nodes {
		if f.vertex[n] < 0 {
			f.vertex[n] = count
			count++
		}
	}
	var edges [][2]int32
	for _, n := range nodes {
		for _, t := range f.rec.Nodes[n].Inputs {
			if p := f.rec.Tensors[t].Producer; p >= 0 && f.vertex[p] >= 0 && f.vertex[p] != f.vertex[n] {
				edges = append(edges, [2]int32{int32(f.vertex[p]), int32(f.vertex[n])})
			}
		}
	}
	for _, n := range nodes {
		f.vertex[n] = -1
	}
	component, size := components(count, edges)
	var tied []int
	for i := range parts {
		if size[component[i]] > 1 {
			tied = append(tied, i)
		}
	}
	return tied
}

// components numbers the strongly connected components of a graph.
func components(n int, edges [][2]int32) (of []int32, size []int) {
	start, to := rows(n, len(edges), func(i int) (int32, int32) { return edges[i][0], edges[i][1] })
	of = make([]int32, n)
	index := make([]int32, n) // 0: not seen
	low := make([]int32, n)
	next := append([]int32{}, start[:n]...)
	for i := range of {
		of[i] = -1
	}
	var path, open []int32
	seen := int32(0)
	enter := func(v int32) {
		seen++
		index[v], low[v] = seen, seen
		path, open = append(path, v), append(open, v)
	}
	for root := range int32(n) {
		if index[root] > 0 {
			continue
		}
		enter(root)
		for len(path) > 0 {
			v := path[len(path)-1]
			if next[v] < start[v+1] {
				w := to[next[v]]
				next[v]++
				if index[w] == 0 {
					enter(w)
				} else if of[w] < 0 {
					low[v] = min(low[v], index[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				u := path[len(path)-1]
				low[u] = min(low[u], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			c := int32(len(size))
			size = append(size, 0)
			for {
				w := open[len(open)-1]
				open = open[:len(open)-1]
				of[w] = c
				size[c]++
				if w == v {
					break
				}
			}
		}
	}
	return of, size
}

// rows gathers m pairs by their first member, keeping their order: the second
// members of v are to[start[v]:start[v+1]].
func rows(n, m int, pair func(i int) (v, w int32)) (start []int32, to []int32) {
	start = make([]int32, n+1)
	for i := range m {
		v, _ := pair(i)
		start[v+1]++
	}
	for v := range n {
		start[v+1] += start[v]
	}
	to = make([]int32, m)
	next := append([]int32{}, start[:n]...)
	for i := range m {
		v, w := pair(i)
		to[next[v]] = w
		next[v]++
	}
	return start, to
}
