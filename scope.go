package backsweep

import (
	"runtime"
	"sort"
)

// scopeEntry is a named region of the graph.
type scopeEntry struct {
	parent int32
	name   string
}

// scopeRun says that the nodes from node on are in scope, up to the next run.
type scopeRun struct {
	node, scope int32
}

// siteEntry is a place in the program.
type siteEntry struct {
	function, file string
	line           int
}

// Scope opens a named region inside the current one: what is recorded until
// the returned function is called belongs to it.
//
//	end := tape.Scope("query tower")
//	q := tower(query)
//	end()
//
// Opening a name again inside the same region goes on with that region.
func (t *Tape) Scope(name string) (end func()) {
	t.enter("Scope")
	defer t.leave()
	outer, epoch := t.scope, t.epoch
	key := scopeEntry{outer, name}
	s, ok := t.scopeIDs[key]
	if !ok {
		s = int32(len(t.scopes))
		t.scopes = append(t.scopes, key)
		t.scopeIDs[key] = s
	}
	t.enterScope(s)
	return func() {
		t.enter("Scope")
		defer t.leave()
		if t.epoch == epoch {
			t.enterScope(outer)
		}
	}
}

func (t *Tape) enterScope(s int32) {
	t.scope = s
	last := &t.runs[len(t.runs)-1]
	if last.node == t.nNodes {
		last.scope = s
		return
	}
	t.runs = append(t.runs, scopeRun{t.nNodes, s})
}

// scopeOf is the scope of a node.
func (t *Tape) scopeOf(n int32) int32 {
	k := sort.Search(len(t.runs), func(i int) bool { return t.runs[i].node > n })
	return t.runs[k-1].scope
}

// site remembers where the op that is being recorded was called.
func (t *Tape) site() {
	var pcs [16]uintptr
	n := runtime.Callers(3, pcs[:])
	for _, pc := range pcs[:n] {
		if id, ok := t.sitePCs[pc]; ok {
			if id >= 0 {
				t.siteIDs = append(t.siteIDs, id)
				return
			}
			continue // a place inside this package
		}
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		if inside(f.Function, f.File) {
			t.sitePCs[pc] = -1
			continue
		}
		id := int32(len(t.siteTable))
		t.siteTable = append(t.siteTable, siteEntry{f.Function, f.File, f.Line})
		t.sitePCs[pc] = id
		t.siteIDs = append(t.siteIDs, id)
		return
	}
	t.siteIDs = append(t.siteIDs, -1)
}
