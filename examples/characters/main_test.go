package main

import (
	"strings"
	"testing"
)

func TestBothModelsReadBetterThanPairs(t *testing.T) {
	const seed = 1
	var log strings.Builder
	r, err := run(&log, seed, 250)
	if err != nil {
		t.Fatal(err)
	}
	if !(r.recurrent < r.pairs && r.transformer < r.pairs && r.pairs < r.single) {
		t.Errorf("seed %d: %+v\n%s", seed, r, &log)
	}
}
