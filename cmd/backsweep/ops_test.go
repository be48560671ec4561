package main

import (
	"encoding/json"
	"testing"

	"github.com/backsweep/backsweep"
)

func TestOps(t *testing.T) {
	golden(t, "ops", []string{"ops", "sum", "tanh", "split", "detach", "concat", "cross_entropy"})
	must(t, "ops")
	var rows []backsweep.OpInfo
	if err := json.Unmarshal([]byte(must(t, "ops", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(backsweep.Ops()) {
		t.Errorf("%d rows of %d", len(rows), len(backsweep.Ops()))
	}
}
