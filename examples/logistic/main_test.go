package main

import (
	"slices"
	"testing"
)

func TestTheWordsTellWhatFails(t *testing.T) {
	const seed = 1
	r, err := study(seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.functions < 3000 {
		t.Errorf("only %d functions", r.functions)
	}
	if r.accuracy < r.majority+0.1 {
		t.Errorf("seed %d: %.3f are said rightly, by always saying the same %.3f", seed, r.accuracy, r.majority)
	}
	if !slices.Contains(r.failWords, "error") && !slices.Contains(r.failWords, "err") {
		t.Errorf("the words that tell failure are %v", r.failWords)
	}
}
