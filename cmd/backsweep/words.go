package main

import (
	"fmt"

	"github.com/backsweep/backsweep/record"
)

// tensorText names a tensor with its id, as in "h (t3)".
func tensorText(rec *record.Record, t int) string {
	name, id := rec.TensorName(t), fmt.Sprintf("t%d", t)
	if name == id {
		return id
	}
	return name + " (" + id + ")"
}

// lossText names the loss, as in "the loss y (t3)".
func lossText(rec *record.Record) string {
	if rec.TensorName(rec.Loss()) == "loss" {
		return fmt.Sprintf("the loss (t%d)", rec.Loss())
	}
	return "the loss " + tensorText(rec, rec.Loss())
}

// storages names storages by the tensors that lie in them.
type storages struct {
	rec     *record.Record
	tensors [][]int // by storage, ascending
}

func newStorages(rec *record.Record) *storages {
	s := &storages{rec: rec, tensors: make([][]int, len(rec.Storages))}
	for t := range rec.Tensors {
		st := rec.Tensors[t].Storage
		s.tensors[st] = append(s.tensors[st], t)
	}
	return s
}

// text is the first tensor of a storage and its bytes, as in "h (24 B)".
func (s *storages) text(st int) string {
	return s.name(st) + " (" + record.BytesText(s.rec.Storages[st].Bytes) + ")"
}

// name is that of the first tensor in the storage that has one.
func (s *storages) name(st int) string {
	for _, t := range s.tensors[st] {
		if s.rec.Tensors[t].Name != "" {
			return s.rec.Tensors[t].Name
		}
	}
	if len(s.tensors[st]) == 0 {
		return fmt.Sprintf("storage %d", st)
	}
	return s.rec.TensorName(s.tensors[st][0])
}
