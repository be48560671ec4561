package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	golden(t, "order",
		[]string{"order", "-e", joined, "--in", "x=1"},
		[]string{"order", "-e", wide, "--in", "x:4", "--order", "depth"},
		[]string{"order", "-e", cut, "--in", "x:3", "--in", "w:3", "--order", "leanest"},
		[]string{"order", "-e", pass, "--in", "x:3", "--order", "random", "--seed", "3", "--lines", "8"},
		[]string{"order", "-e", joined, "--check", "2,0,1"},
		[]string{"order", "-e", joined, "--check", "n2 mul, a, b"},
		[]string{"order", "-e", joined, "--check", "2,1"},
		[]string{"order", "-e", joined, "--check", "2,1,1,0"},
		[]string{"order", "-e", joined, "--check", "2,1,7"},
		[]string{"order", "-e", joined, "--check", "0,2,1"},
		[]string{"order", "-e", joined, "--check", "0,2,1", "--json"},
		[]string{"order", "-e", joined, "--check", "2,0,1", "--json", "--count", "--width", "--windows", "--all"},
		[]string{"order", "-e", joined, "--count", "--all", "--windows", "--width"},
		[]string{"order", "-e", "x"},
	)
}

// Every order by name is legal by what the JSON says alone.
func TestOrderJSONIsLegal(t *testing.T) {
	for _, p := range []string{joined, wide, pass} {
		for _, o := range []string{"tape", "depth", "breadth", "leanest", "random"} {
			var a orderJSON
			if err := json.Unmarshal([]byte(must(t, "order", "-e", p, "--order", o, "--json", "--seed", "5")), &a); err != nil {
				t.Fatal(err)
			}
			if fault := illegalBy(&a); fault != "" || !a.Legal {
				t.Errorf("%s, %s: legal is %v; %s", p, o, a.Legal, fault)
			}
		}
	}
}

// illegalBy checks an order with nothing but its JSON.
func illegalBy(a *orderJSON) string {
	at := map[int]int{}
	for i, n := range a.Order {
		if _, twice := at[n]; twice {
			return fmt.Sprintf("n%d comes twice", n)
		}
		at[n] = i
	}
	if len(at) != len(a.Nodes) {
		return "not every node comes"
	}
	for _, n := range a.Nodes {
		for _, in := range n.Inputs {
			if p := a.Tensors[in].Producer; p >= 0 && at[p] < at[n.ID] {
				return fmt.Sprintf("n%d comes before n%d", p, n.ID)
			}
		}
	}
	return ""
}

// Random permutations are accepted exactly when they are legal.
func TestCheckAgreesWithTheEdges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	legal := 0
	p := "a := exp(x); b := tanh(y); c := x*x; a + b + c"
	for range 200 {
		ids := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(rng.Perm(5))), ","), "[]")
		out, _, code := command("order", "-e", p, "--check", ids, "--json")
		var a orderJSON
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatal(err)
		}
		want := illegalBy(&a) == ""
		if a.Legal != want || (code == 0) != want {
			t.Errorf("%s: legal is %v and the exit code %d, but legal is %v", ids, a.Legal, code, want)
		}
		if want {
			legal++
		}
	}
	t.Logf("%d of 200 were legal", legal)
}

// A record from a file shows the plan that the tape shows.
func TestRecordsShowTheSamePlans(t *testing.T) {
	for i, p := range []string{joined, wide, pass, cut} {
		path := fmt.Sprintf("%s/%d.json.gz", t.TempDir(), i)
		in := []string{"-e", p, "--in", "x:3"}
		if strings.Contains(p, "w") {
			in = append(in, "--in", "w:3")
		}
		if !strings.Contains(p, "sum(") {
			in = []string{"-e", p}
		}
		must(t, append([]string{"record", "-o", path}, in...)...)
		for _, o := range []string{"tape", "depth", "breadth", "random", "leanest"} {
			for _, c := range []string{"order", "payload"} {
				tape := must(t, append([]string{c, "--order", o, "--lines", "0"}, in...)...)
				file := must(t, c, path, "--order", o, "--lines", "0")
				// A sweep that ran keeps its root, which a plan has not done yet.
				if tape != file {
					t.Errorf("%s, %s --order %s: the tape shows\n%s\nand the file\n%s", p, c, o, tape, file)
				}
			}
		}
	}
}
