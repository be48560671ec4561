package order

import "fmt"

// Sizes says what the nodes of a graph hold in memory while one worker sweeps
// it: the gradients, by tensor, and the payload, by storage. It is plain data;
// a node is its id in the graph, a tensor and a storage are indices into Grads
// and Storages. An entry that nothing refers to costs nothing, so the tensors
// and storages of a whole tape may be listed as they are.
//
// The model is that of the sweep itself:
//
//   - A tensor's gradient is the sum of its contributions, added in rank order:
//     the seed first, then by descending consumer, then by ascending operand
//     slot. The first moves in and becomes the gradient; the next ones are added
//     and let go at once. One that comes before its turn is parked, and holds its
//     own bytes until then. In reverse tape order nothing parks.
//   - A gradient is let go after its tensor's producer has been visited, which
//     consumes it, unless it is to be kept.
//   - A storage is let go after the last of its readers has been visited. One
//     without readers went back before the sweep.
//   - While a node is visited, all contributions that it hands out exist next to
//     everything that was held before.
type Sizes struct {
	Grads    []Grad
	Uses     []Use
	Storages []Storage
	Readers  []Reader
}

// Grad describes the gradient of one tensor.
type Grad struct {
	Bytes    int64 // of the gradient, and of each contribution to it
	Producer int32 // the node that produced the tensor, or -1 when none in the graph did
	Seeded   bool  // the tensor is a root: its cotangent is there from the beginning
	Kept     bool  // asked for: held to the end even when it has a producer
}

// Use says that Consumer contributes to the gradient of Tensor. A node that has
// the tensor in two of its operand slots has two entries. The list may be in
// any order.
type Use struct{ Tensor, Consumer int32 }

// Storage is one buffer of payload, counted once however many views of it
// are read.
type Storage struct {
	Bytes int64
	Kept  bool // held to the end
}

// Reader says that the rule of Node reads Storage. Repeated entries count once.
type Reader struct{ Storage, Node int32 }

// SizesError says which entry of a Sizes cannot belong to the graph.
type SizesError struct {
	List   string // "Grads", "Uses", "Storages" or "Readers"
	Index  int
	Reason string
}

func (e *SizesError) Error() string {
	return fmt.Sprintf("order: sizes: %s[%d]: %s", e.List, e.Index, e.Reason)
}

// Check returns a *SizesError when s does not fit g: an id out of range, a
// negative size, or a use of a tensor that g has no edge for, since a
// contribution must come before its tensor's producer is visited.
func (s Sizes) Check(g *Graph) error {
	bad := func(list string, i int, format string, args ...any) error {
		return &SizesError{List: list, Index: i, Reason: fmt.Sprintf(format, args...)}
	}
	for i, t := range s.Grads {
		if t.Bytes < 0 {
			return bad("Grads", i, "%d bytes", t.Bytes)
		}
		if t.Producer != -1 && !within(t.Producer, g.n) {
			return bad("Grads", i, "there is no node %d", t.Producer)
		}
	}
	for i, u := range s.Uses {
		if !within(u.Tensor, len(s.Grads)) {
			return bad("Uses", i, "there is no tensor %d", u.Tensor)
		}
		if !within(u.Consumer, g.n) {
			return bad("Uses", i, "there is no node %d", u.Consumer)
		}
		if p := s.Grads[u.Tensor].Producer; p >= 0 && !g.hasEdge(p, u.Consumer) {
			return bad("Uses", i, "the graph has no edge from node %d, which produced tensor %d, to node %d", p, u.Tensor, u.Consumer)
		}
	}
	for i, b := range s.Storages {
		if b.Bytes < 0 {
			return bad("Storages", i, "%d bytes", b.Bytes)
		}
	}
	for i, r := range s.Readers {
		if !within(r.Storage, len(s.Storages)) {
			return bad("Readers", i, "there is no storage %d", r.Storage)
		}
		if !within(r.Node, g.n) {
			return bad("Readers", i, "there is no node %d", r.Node)
		}
	}
	return nil
}

// hasEdge looks for consumer among the ascending consumers of producer.
func (g *Graph) hasEdge(producer, consumer int32) bool {
	lo, hi := g.conStart[producer], g.conStart[producer+1]
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch c := g.con[mid]; {
		case c == consumer:
			return true
		case c < consumer:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}

// model is a Sizes arranged by node. What one node contributes to one tensor
// is a give; gives are numbered by tensor and, within a tensor, by rank.
type model struct {
	Sizes
	rankStart []int32 // the gives to tensor t are rankStart[t] … rankStart[t+1]-1
	tensor    []int32 // of a give
	giver     []int32 // the node of a give
	parts     []int64 // of a give: its number of operand slots

	giveStart, gives     []int32 // by node
	outputStart, outputs []int32 // by node: the tensors whose gradient its visit consumes
	readStart, reads     []int32 // by node: the storages that it reads
	readerStart, readers []int32 // by storage: the nodes that read it
	handed               []int64 // by node: the bytes of all that it gives
}

func newModel(g *Graph, s Sizes) (*model, error) {
	if err := s.Check(g); err != nil {
		return nil, err
	}
	m := &model{Sizes: s, handed: make([]int64, g.n)}
	m.rank(g.n)
	m.giveStart, m.gives = buckets(g.n, len(m.giver), func(k int32) int32 { return m.giver[k] })
	for k, v := range m.giver {
		m.handed[v] += m.parts[k] * s.Grads[m.tensor[k]].Bytes
	}
	var produced []int32
	for t := range s.Grads {
		if s.Grads[t].Producer >= 0 {
			produced = append(produced, int32(t))
		}
	}
	m.outputStart, m.outputs = buckets(g.n, len(produced), func(i int32) int32 { return s.Grads[produced[i]].Producer })
	for i, p := range m.outputs {
		m.outputs[i] = produced[p]
	}
	m.read(g.n)
	return m, nil
}

// rank numbers the gives: by tensor, then by descending consumer.
func (m *model) rank(nodes int) {
	last := int32(nodes - 1)
	_, byGiver := buckets(nodes, len(m.Uses), func(i int32) int32 { return last - m.Uses[i].Consumer })
	start, order := buckets(len(m.Grads), len(m.Uses), func(i int32) int32 { return m.Uses[byGiver[i]].Tensor })
	m.rankStart = make([]int32, len(m.Grads)+1)
	for t := range m.Grads {
		m.rankStart[t] = int32(len(m.tensor))
		for i := start[t]; i < start[t+1]; i++ {
			u := m.Uses[byGiver[order[i]]]
			if k := len(m.giver) - 1; i > start[t] && m.giver[k] == u.Consumer {
				m.parts[k]++
				continue
			}
			m.tensor = append(m.tensor, u.Tensor)
			m.giver = append(m.giver, u.Consumer)
			m.parts = append(m.parts, 1)
		}
	}
	m.rankStart[len(m.Grads)] = int32(len(m.tensor))
}

// read sorts the readers both ways and drops repetitions.
func (m *model) read(nodes int) {
	_, byNode := buckets(nodes, len(m.Readers), func(i int32) int32 { return m.Readers[i].Node })
	_, order := buckets(len(m.Storages), len(m.Readers), func(i int32) int32 { return m.Readers[byNode[i]].Storage })
	distinct := make([]Reader, 0, len(m.Readers))
	for _, i := range order {
		r := m.Readers[byNode[i]]
		if k := len(distinct); k == 0 || distinct[k-1] != r {
			distinct = append(distinct, r)
		}
	}
	m.readerStart, m.readers = buckets(len(m.Storages), len(distinct), func(i int32) int32 { return distinct[i].Storage })
	m.readStart, m.reads = buckets(nodes, len(distinct), func(i int32) int32 { return distinct[i].Node })
	for i := range distinct {
		m.readers[i] = distinct[m.readers[i]].Node
		m.reads[i] = distinct[m.reads[i]].Storage
	}
}
