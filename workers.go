package backsweep

import (
	"container/heap"
	"sync"
)

// crew is a sweep by several workers. Rules run side by side; all bookkeeping
// is done by one worker at a time, under the lock. The plan fixes which of the
// nodes that could be visited goes first; the observer sees the sequence that
// really happened, in which a node counts as visited when its rule is done.
type crew struct {
	*sweep
	mu       sync.Mutex
	wake     sync.Cond
	ready    readyNodes
	waiting  []int32 // by index into full.ids: edges to consumers not yet visited
	turn     []int32 // by index: its place in the planned order
	large    []bool  // by index: worth waking another worker for
	visited  []int32 // as it really happened
	running  int
	stop     bool
	err      error
	panicked any
	failed   bool
}

// readyNodes is a heap of nodes that could be visited, by planned place.
type readyNodes struct {
	ids  []int32
	turn []int32
}

func (h *readyNodes) Len() int           { return len(h.ids) }
func (h *readyNodes) Less(i, j int) bool { return h.turn[h.ids[i]] < h.turn[h.ids[j]] }
func (h *readyNodes) Swap(i, j int)      { h.ids[i], h.ids[j] = h.ids[j], h.ids[i] }
func (h *readyNodes) Push(x any)         { h.ids = append(h.ids, x.(int32)) }
func (h *readyNodes) Pop() any {
	x := h.ids[len(h.ids)-1]
	h.ids = h.ids[:len(h.ids)-1]
	return x
}

// runWorkers visits every node of the plan with as many goroutines as were
// asked for, the caller's included. None outlives the call.
func (s *sweep) runWorkers() error {
	f := s.p.full
	c := &crew{sweep: s, waiting: make([]int32, len(f.ids)), turn: make([]int32, len(f.ids)), large: make([]bool, len(f.ids))}
	c.wake.L = &c.mu
	c.ready.turn = c.turn
	for i, d := range f.seq {
		c.turn[d] = int32(i)
	}
	for e := range f.graph.Edges() {
		c.waiting[e.From]++
	}
	for _, d := range f.seq {
		if c.waiting[d] == 0 {
			c.ready.ids = append(c.ready.ids, d)
		}
	}
	heap.Init(&c.ready)
	for d, n := range f.ids {
		c.large[d] = s.t.work(n) >= wakeAbove
	}

	var group sync.WaitGroup
	defer group.Wait() // also when this goroutine ends in an observer
	for id := 1; id < s.p.options.workers; id++ {
		w := s.newWorker(id)
		group.Go(func() { c.work(w) })
	}
	c.work(s.newWorker(0))
	group.Wait()
	for id := 1; id < s.p.options.workers; id++ {
		w := s.t.scratch.rules[id]
		s.cost += w.m.madds
		s.t.pool.Absorb(w.pool)
	}
	if c.failed {
		panic(c.panicked)
	}
	if c.err != nil {
		return c.err
	}
	return f.graph.Check(c.visited)
}

// work visits nodes until there are none left. A panic, in a rule or in an
// observer, stops every worker and surfaces at the caller.
func (c *crew) work(w *worker) {
	locked, finished := false, false
	defer func() {
		if finished {
			return
		}
		r := recover()
		if r == nil {
			r = "backsweep: an observer or a rule ended its goroutine (runtime.Goexit)"
		}
		if !locked {
			c.mu.Lock()
		}
		if !c.failed {
			c.failed, c.panicked = true, r
		}
		c.stop = true
		c.wake.Broadcast()
		c.mu.Unlock()
	}()
	c.mu.Lock()
	locked = true
	for {
		for len(c.ready.ids) == 0 && c.running > 0 && !c.stop {
			c.wake.Wait()
		}
		if c.stop || len(c.ready.ids) == 0 {
			finished = true
			c.wake.Broadcast()
			c.mu.Unlock()
			return
		}
		if err := c.cancelled(); err != nil {
			c.err, c.stop = err, true
			continue
		}
		d := heap.Pop(&c.ready).(int32)
		c.load(w, c.p.full.ids[d])
		c.running++
		c.mu.Unlock()
		locked = false
		w.op.grad(&w.rule)
		c.mu.Lock()
		locked = true
		c.running--
		if c.stop {
			continue // nobody is told of a visit after the one that failed
		}
		c.settle(w)
		c.visited = append(c.visited, d)
		c.release(d)
	}
}

// wakeAbove is the work, in nanoseconds as estimated by [Tape.work], above
// which a node that could be visited is worth waking a worker for. A woken
// goroutine costs about 12 µs on a busy machine with two cores; below this
// limit the worker that is awake visits the node itself.
const wakeAbove = 50_000

// work estimates how long a node's rule takes, in nanoseconds: two passes of
// its forward work, at 16 multiply-adds or 8 bytes a nanosecond.
func (t *Tape) work(n int32) int64 {
	bytes := 0
	k, nIn := t.insOf(n)
	for i := range nIn {
		bytes += t.layoutOf(t.operand(k + i)).Bytes()
	}
	v, nOut := t.outsOf(n)
	for j := range nOut {
		bytes += t.layoutOf(v + j).Bytes()
	}
	return t.costOf(n)/8 + int64(bytes)/4
}

// release makes the producers ready whose last consumer has been visited.
func (c *crew) release(d int32) {
	f := c.p.full
	n := f.ids[d]
	k, nIn := c.t.insOf(n)
	o := c.t.opOf(n)
	for i := range nIn {
		v := c.t.operand(k + i)
		if !c.p.wants(o, int(i), v) {
			continue
		}
		m := c.t.producer(v)
		if m < 0 || !c.p.nodes[m] {
			continue
		}
		e := f.dense[m]
		c.waiting[e]--
		if c.waiting[e] == 0 {
			heap.Push(&c.ready, e)
			if c.large[e] && len(c.ready.ids) > 1 {
				c.wake.Signal()
			}
		}
	}
	if len(c.ready.ids) == 0 && c.running == 0 {
		c.wake.Broadcast()
	}
}
