package main

import "testing"

func TestWhy(t *testing.T) {
	path := t.TempDir() + "/cut.json"
	must(t, "record", "-e", cut, "--in", "x:3", "--in", "w:3", "-o", path)
	var commands [][]string
	for _, names := range [][]string{
		{"n0", "loss"}, {"g", "h"}, {"h", "g"}, {"n0 mul", "n1"}, {"y", "h"}, {"x", "h"}, {"h", "h"}, {"n0", "q"},
		{"x"}, {"w"}, {"h"}, {"g"}, {"y"}, {"loss"}, {"n0"}, {"q"},
	} {
		commands = append(commands, append([]string{"why", "-e", cut, "--in", "x=[1,2,3]", "--in", "w=[1,-1,0.5]"}, names...))
	}
	commands = append(commands,
		[]string{"why", "-e", joined, "a", "b"},
		[]string{"why", "-e", pass, "i=0/h", "i=2/h"},
		[]string{"why", "-e", pass, "h"},
		[]string{"why", "-e", "i := cast(x, int64); sum(take(w, i, 0))", "--in", "x=[0,1]", "--in", "w:2x2", "x"},
		[]string{"why", "-e", "i := cast(x, int64); sum(take(w, i, 0))", "--in", "x=[0,1]", "--in", "w:2x2", "i"},
		[]string{"why", "-e", "y := detach(x*w); y + w", "x"},
		[]string{"why", "-e", "m := where(x > 0, w, 0.5); m", "x"},
		[]string{"why", "-e", "u := exp(x); w*w", "x"},
		[]string{"why", "-e", "u := exp(x); w*w", "u"},
		[]string{"why", "-e", "x*x - x*x", "--in", "x=3", "x"},
		[]string{"why", "-e", "a, b := split(x, 0, 1, 1); sum(a)", "--in", "x=[1,2]", "n0"},
		[]string{"why", "-e", "a, b := split(x, 0, 1, 1); sum(a)", "--in", "x=[1,2]", "b"},
	)
	golden(t, "why", commands...)
	if out := must(t, "why", path, "w"); out == "" {
		t.Error("a record says nothing")
	}
}
