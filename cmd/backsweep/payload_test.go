package main

import "testing"

func TestPayload(t *testing.T) {
	golden(t, "payload",
		[]string{"payload", "-e", cut, "--in", "x:3", "--in", "w:3"},
		[]string{"payload", "-e", wide, "--in", "x:100", "--order", "breadth"},
		[]string{"payload", "-e", pass, "--in", "x:8", "--lines", "12"},
		[]string{"payload", "-e", "x"},
		[]string{"payload", "-e", joined, "--order", "0,1,2"},
	)
}
