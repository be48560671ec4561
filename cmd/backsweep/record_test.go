package main

import (
	"testing"

	"github.com/backsweep/backsweep/record"
)

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	a, b := dir+"/a.json", dir+"/b.json.gz"
	must(t, "record", "-e", wide, "--in", "x:3", "-o", a, "--order", "depth", "--workers", "2")
	rec, err := record.Read(a)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Sweep == nil || rec.Sweep.Order != "depth" || rec.Sweep.Workers != 2 || len(rec.Sweep.Events) == 0 {
		t.Errorf("the sweep is %+v", rec.Sweep)
	}
	for i := range rec.Tensors {
		if x := &rec.Tensors[i]; x.Stats == nil || x.Stats.Min > x.Stats.Max {
			t.Errorf("the values of %s are summarised as %+v", rec.TensorName(i), x.Stats)
		}
	}
	must(t, "record", a, "-o", b, "--order", "breadth")
	again, err := record.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	if again.Sweep.Order != "breadth" || again.Sweep.Events != nil {
		t.Errorf("planned anew, the sweep is %s with %d events", again.Sweep.Order, len(again.Sweep.Events))
	}
	if must(t, "record", b, "--order", "depth") == "" {
		t.Error("without -o, nothing is printed")
	}
}
