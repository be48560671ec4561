package view

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/backsweep/backsweep/record"
)

// Region is a contiguous part of the tape that folds into one box: a scope (or
// a part of one that was left and entered again), a row of scopes that are
// alike, or a stretch of a part that is too long to be drawn at once.
type Region struct {
	Parent int    `json:"parent"` // -1 for a region that stands in no other
	From   int    `json:"from"`   // its nodes are From … To-1
	To     int    `json:"to"`
	Scope  int    `json:"scope"` // -1 for a row of scopes and a stretch
	Label  string `json:"label"`
	Depth  int    `json:"depth"`
}

const (
	deepest = 12  // scopes below this depth do not fold by themselves
	alike   = 3   // so many scopes in a row that are alike fold as one
	stretch = 200 // a stretch has so many nodes
	parts   = 400 // what has more nodes beside its regions is cut into stretches
)

// regions finds the regions of a record. They are in the order in which they
// begin, outer ones first. Contiguous parts of a topological order can be
// contracted, each to a point, without making a cycle; so any of them may be
// folded in any picture.
func regions(rec *record.Record) []Region {
	found := scopeRegions(rec)
	found = rows(rec, found)
	return nest(stretches(rec, found))
}

// scopeRegions finds the longest contiguous parts of the tape that lie in one scope.
func scopeRegions(rec *record.Record) []Region {
	depth := make([]int, len(rec.Scopes))
	up := make([]int, len(rec.Scopes)) // the scope itself, or the ancestor that is as deep as regions go
	for i := range rec.Scopes {
		if i == 0 {
			continue
		}
		depth[i] = depth[rec.Scopes[i].Parent] + 1
		up[i] = i
		if depth[i] > deepest {
			up[i] = up[rec.Scopes[i].Parent]
		}
	}
	var found []Region
	var open []int // indices into found
	path := make([]int, 0, deepest)
	for n := range rec.Nodes {
		path = path[:0]
		for s := up[rec.Nodes[n].Scope]; s > 0; s = rec.Scopes[s].Parent {
			path = append(path, s)
		}
		same := 0
		for same < len(open) && same < len(path) && found[open[same]].Scope == path[len(path)-1-same] {
			same++
		}
		for _, r := range open[same:] {
			found[r].To = n
		}
		open = open[:same]
		for i := len(path) - 1 - same; i >= 0; i-- {
			open = append(open, len(found))
			found = append(found, Region{From: n, Scope: path[i], Label: rec.Scopes[path[i]].Name})
		}
	}
	for _, r := range open {
		found[r].To = len(rec.Nodes)
	}
	number := map[int]int{}
	for i := range found {
		number[found[i].Scope]++
	}
	part := map[int]int{}
	for i := range found {
		if s := found[i].Scope; number[s] > 1 {
			part[s]++
			found[i].Label = fmt.Sprintf("%s (%d of %d)", found[i].Label, part[s], number[s])
		}
	}
	return nest(found)
}

// nest orders regions and finds their parents and depths. Regions that are given
// lie within each other or apart.
func nest(found []Region) []Region {
	sortRegions(found)
	var open []int
	for i := range found {
		for len(open) > 0 && found[open[len(open)-1]].To <= found[i].From {
			open = open[:len(open)-1]
		}
		found[i].Parent, found[i].Depth = -1, len(open)
		if len(open) > 0 {
			found[i].Parent = open[len(open)-1]
		}
		open = append(open, i)
	}
	return found
}

// rows adds a region around each row of neighbours that are alike: the same ops
// in the same scopes, under names that differ by their numbers alone.
func rows(rec *record.Record, found []Region) []Region {
	children := make([][]int, len(found)+1)
	for i := range found {
		children[found[i].Parent+1] = append(children[found[i].Parent+1], i)
	}
	kinds := make([]uint64, len(found))
	for i := range found {
		kinds[i] = kindOf(rec, &found[i])
	}
	all := found
	for parent, list := range children {
		for i := 0; i < len(list); {
			j := i + 1
			for j < len(list) && found[list[j-1]].To == found[list[j]].From && kinds[list[j]] == kinds[list[i]] {
				j++
			}
			whole := parent > 0 && found[list[i]].From == found[parent-1].From && found[list[j-1]].To == found[parent-1].To
			if j-i >= alike && !whole {
				all = append(all, Region{From: found[list[i]].From, To: found[list[j-1]].To, Scope: -1,
					Label: fmt.Sprintf("%s ×%d", stem(found[list[i]].Label), j-i)})
			} else if j-i >= alike {
				all[parent-1].Label += fmt.Sprintf(": %s ×%d", stem(found[list[i]].Label), j-i)
			}
			i = j
		}
	}
	return nest(all)
}

// kindOf is a number that regions which are alike have in common.
func kindOf(rec *record.Record, r *Region) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, stem(r.Label), r.To-r.From)
	for n := r.From; n < r.To; n++ {
		fmt.Fprint(h, "\x00", rec.Nodes[n].Op, "\x01", stem(rec.Scopes[rec.Nodes[n].Scope].Name))
	}
	return h.Sum64()
}

// stem is a name without its numbers: "block" of "block7" and "block_07".
func stem(name string) string {
	if s := strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name), "_-. "); s != "" {
		return s
	}
	return name
}

// stretches cuts what has more nodes beside its regions than a picture should
// show at once. A sequence that repeats itself is cut where it repeats.
func stretches(rec *record.Record, found []Region) []Region {
	all := found
	own := gaps(found, len(rec.Nodes))
	for _, list := range own {
		count := 0
		for _, g := range list {
			count += g[1] - g[0]
		}
		if count <= parts {
			continue
		}
		for _, g := range list {
			all = append(all, cut(rec, g[0], g[1])...)
		}
	}
	return all
}

// gaps lists, for the picture as a whole and for each region, the parts of it
// that lie in none of its regions.
func gaps(found []Region, nodes int) [][][2]int {
	own := make([][][2]int, len(found)+1)
	next := make([]int, len(found)+1) // where the part that is not covered yet begins
	for i := range found {
		next[i+1] = found[i].From
	}
	for i := range found {
		p := found[i].Parent + 1
		if next[p] < found[i].From {
			own[p] = append(own[p], [2]int{next[p], found[i].From})
		}
		next[p] = found[i].To
	}
	for p := range own {
		end := nodes
		if p > 0 {
			end = found[p-1].To
		}
		if next[p] < end {
			own[p] = append(own[p], [2]int{next[p], end})
		}
	}
	return own
}

// cut cuts a part of the tape into stretches, and those, where they are very
// many, into stretches of stretches.
func cut(rec *record.Record, from, to int) []Region {
	if to-from < 2*alike {
		return nil
	}
	size, what := stretch, "nodes"
	if p := period(rec, from, to); p > 0 {
		size, what = p, "step"
		for size < 12 && (to-from)/size > parts {
			size += p
		}
	}
	var all []Region
	for wide := size; ; wide *= 50 {
		for a := from; a < to; a += wide {
			b := min(a+wide, to)
			label := fmt.Sprintf("%s n%d–n%d", what, a, b-1)
			if what == "step" && wide > size {
				label = fmt.Sprintf("step ×%d, n%d–n%d", (b-a+size-1)/size, a, b-1)
			}
			if b-a > 1 {
				all = append(all, Region{From: a, To: b, Scope: -1, Label: label})
			}
		}
		if (to-from)/wide <= parts/4 {
			return all
		}
	}
}

// period is the length of the piece that a part of the tape repeats, by ops, or
// 0.
func period(rec *record.Record, from, to int) int {
	const longest = 256
	for p := 2; p <= longest && 4*p <= to-from; p++ {
		same := true
		for n := from + p; n < to && same; n++ {
			same = rec.Nodes[n].Op == rec.Nodes[n-p].Op
		}
		if same {
			return p
		}
	}
	return 0
}
