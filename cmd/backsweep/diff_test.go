package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/record"
)

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	a, b := dir+"/a.json", dir+"/b.json.gz"
	must(t, "record", "-e", pass, "--in", "x:3", "-o", a)
	must(t, "record", "-e", "h := x; for i := range 3 { h = relu(h*w) }; sum(h)", "--in", "x:3", "-o", b)
	if out, err, code := command("diff", a, a); code != 0 || err != "" || !strings.HasPrefix(out, "0 appeared, 0 went, 0 changed") {
		t.Errorf("the same record twice: exit %d\n%s%s", code, out, err)
	}
	out, err, code := command("diff", a, b)
	if code != exitNo || err != "" || !strings.Contains(out, "relu") || !strings.Contains(out, "tanh") {
		t.Errorf("two records: exit %d\n%s%s", code, out, err)
	}
	out, _, code = command("diff", a, b, "--json")
	var c record.Comparison
	if e := json.Unmarshal([]byte(out), &c); e != nil || code != exitNo || len(c.Differences) == 0 {
		t.Errorf("as JSON: exit %d, %v\n%s", code, e, out)
	}
}
