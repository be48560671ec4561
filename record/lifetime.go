package record

// BeforeSweep is the step of a storage that is let go before the first visit,
// because no rule of the sweep reads it.
const BeforeSweep = -1

// LetGo says for each storage at which step of the sequence it is let go: the
// index of the last visit whose payload it is; [BeforeSweep] when no visit reads
// it; len(sequence) when it outlives the sweep, because it belongs to a leaf, to
// a kept tensor or to a root. For the record's own sweep the plan decides
// instead, with what it lets go and when.
func (r *Record) LetGo(sequence []int) []int {
	until := make([]int, len(r.Storages))
	if s := r.Sweep; s != nil && sameSequence(s.Sequence, sequence) {
		for st := range until {
			until[st] = len(sequence)
		}
		for _, st := range s.Before {
			until[st] = BeforeSweep
		}
		for i := range s.Steps {
			for _, st := range s.Steps[i].Frees {
				until[st] = i
			}
		}
		return until
	}
	for st := range until {
		until[st] = BeforeSweep
	}
	for i, n := range sequence {
		for _, save := range r.Nodes[n].Saves {
			until[r.Tensors[save.Tensor].Storage] = i
		}
	}
	for i := range r.Tensors {
		if t := &r.Tensors[i]; t.Kept || t.Kind != Computed || r.Storages[t.Storage].Leaf {
			until[t.Storage] = len(sequence)
		}
	}
	if r.Sweep != nil {
		for _, t := range r.Sweep.Roots {
			until[r.Tensors[t].Storage] = len(sequence)
		}
	} else if loss := r.Loss(); loss >= 0 {
		until[r.Tensors[loss].Storage] = len(sequence)
	}
	return until
}

func sameSequence(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Readers says for each storage which node of the sequence reads it last as
// payload, or -1.
func (r *Record) Readers(sequence []int) []int {
	last := make([]int, len(r.Storages))
	for st := range last {
		last[st] = -1
	}
	for _, n := range sequence {
		for _, save := range r.Nodes[n].Saves {
			last[r.Tensors[save.Tensor].Storage] = n
		}
	}
	return last
}
