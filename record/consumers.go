package record

// Use is one place at which a tensor is consumed.
type Use struct {
	Node int
	Slot int // operand slot of the node
}

// Consumers tells who consumes each tensor, in compressed rows: the uses of
// all tensors stand in one slice, ascending by node and slot within a tensor.
type Consumers struct {
	start []int
	uses  []Use
}

// Consumers builds the table in one pass over the record. Keep it; the record
// does not.
func (r *Record) Consumers() *Consumers {
	c := &Consumers{start: make([]int, len(r.Tensors)+1)}
	for i := range r.Nodes {
		for _, t := range r.Nodes[i].Inputs {
			c.start[t+1]++
		}
	}
	for t := range r.Tensors {
		c.start[t+1] += c.start[t]
	}
	c.uses = make([]Use, c.start[len(r.Tensors)])
	next := make([]int, len(r.Tensors))
	copy(next, c.start)
	for i := range r.Nodes {
		for slot, t := range r.Nodes[i].Inputs {
			c.uses[next[t]] = Use{Node: i, Slot: slot}
			next[t]++
		}
	}
	return c
}

// Of lists the uses of a tensor. The slice belongs to the table.
func (c *Consumers) Of(tensor int) []Use {
	return c.uses[c.start[tensor]:c.start[tensor+1]:c.start[tensor+1]]
}
