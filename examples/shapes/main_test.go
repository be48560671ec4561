package main

import (
	"strings"
	"testing"
)

func TestTheNetworkTellsShapesApart(t *testing.T) {
	const seed = 1
	var log strings.Builder
	right, err := run(&log, seed)
	if err != nil {
		t.Fatal(err)
	}
	if right < 0.93 {
		t.Errorf("seed %d: only %.3f of fresh images:\n%s", seed, right, &log)
	}
}
