package main

import (
	"strings"
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

// A record without a sweep can be drawn and asked about its nodes; what only a
// plan knows is refused.
func TestRecordWithoutASweep(t *testing.T) {
	path := t.TempDir() + "/r.json"
	must(t, "record", "-e", joined, "-o", path)
	rec, err := record.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	rec.Sweep = nil
	for i := range rec.Tensors {
		rec.Tensors[i].Grad = record.NoSweep
	}
	if err := rec.Write(path); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"draw", path}, {"why", path, "a", "loss"}, {"why", path, "a"}} {
		if must(t, args...) == "" {
			t.Errorf("%v prints nothing", args)
		}
	}
	for _, args := range [][]string{{"order", path}, {"payload", path}} {
		if _, err, code := command(args...); code != exitNo || !strings.Contains(err, "no sweep") {
			t.Errorf("%v: exit %d, %s", args, code, err)
		}
	}
	if _, err, code := command("grad", path); code != exitUsage || !strings.Contains(err, "a record has no values") {
		t.Errorf("grad: exit %d, %s", code, err)
	}
	if _, _, code := command("order", path, "--in", "x=1"); code != exitUsage {
		t.Errorf("--in with a record: exit %d", code)
	}
}
