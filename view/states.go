package view

import (
	"github.com/backsweep/backsweep/draw"
)

const (
	readable = 300    // boxes of the picture to begin with, at most
	states   = 48     // pictures that a self-contained page holds, at most
	boxes    = 15_000 // and boxes in all of them
)

// first says which regions are open to begin with: as many levels as leave a
// picture readable.
func (f *folder) first() []bool {
	open := make([]bool, len(f.regions))
	deep := 0
	for i := range f.regions {
		deep = max(deep, f.regions[i].Depth)
	}
	for d := 0; d <= deep; d++ {
		wider := append([]bool(nil), open...)
		for i := range f.regions {
			wider[i] = wider[i] || f.regions[i].Depth == d
		}
		if len(f.units(wider)) > readable {
			break
		}
		open = wider
	}
	return open
}

// all says that every region is open.
func (f *folder) all() []bool {
	open := make([]bool, len(f.regions))
	for i := range open {
		open[i] = true
	}
	return open
}

// likely lists the states of a page that has no server to ask, beginning with
// the first: every one where they are few, and otherwise each level and each
// region by itself.
func (f *folder) likely() [][]bool {
	list := [][]bool{f.first()}
	if n := len(f.regions); n <= 5 {
		for bits := range 1 << n {
			open := make([]bool, n)
			for i := range open {
				open[i] = bits>>i&1 == 1
			}
			list = append(list, open)
		}
		return f.distinct(list)
	}
	list = append(list, make([]bool, len(f.regions)), f.all())
	for d := range deepest {
		open := make([]bool, len(f.regions))
		for i := range open {
			open[i] = f.regions[i].Depth <= d
		}
		list = append(list, open)
	}
	for r := range f.regions {
		if r == states {
			break
		}
		open := make([]bool, len(f.regions))
		for p := r; p >= 0; p = f.regions[p].Parent {
			open[p] = true
		}
		list = append(list, open)
	}
	return f.distinct(list)
}

// distinct leaves out states that show the same, and what would be too much.
func (f *folder) distinct(list [][]bool) [][]bool {
	seen := map[string]bool{}
	kept := list[:0]
	total := 0
	for i, open := range list {
		key := make([]byte, len(open))
		for r := range open {
			open[r] = open[r] && !f.hidden(r, open)
			if open[r] {
				key[r] = 1
			}
		}
		if seen[string(key)] || len(kept) == states {
			continue
		}
		if n := len(f.units(open)); i == 0 || total+n <= boxes {
			seen[string(key)] = true
			total += n
			kept = append(kept, open)
		}
	}
	return kept
}

// pictures lays out what a self-contained page holds.
func (f *folder) pictures() ([]*Picture, error) {
	var list []*Picture
	for i, open := range f.likely() {
		for _, style := range []draw.Style{draw.Ops, draw.Bipartite} {
			if style == draw.Bipartite && i > 0 {
				continue
			}
			p, err := f.picture(open, style)
			if err != nil {
				return nil, err
			}
			list = append(list, p)
		}
	}
	return list, nil
}
