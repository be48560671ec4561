package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

var update = flag.Bool("update", false, "write the golden files anew")

// vector is what Go says of one record, for the page's TypeScript to say too.
type vector struct {
	Name   string         `json:"name"`
	Record *record.Record `json:"record"`
	Legal  []legalVector  `json:"legal"`
	Faulty []faultyVector `json:"faulty"`
	Why    [][4]int       `json:"why"` // a, b, the length of the path if a waits for b, and if b waits for a
}

type legalVector struct {
	Sequence []int           `json:"sequence"`
	Moments  []record.Moment `json:"moments"`
	Peak     int             `json:"peak"`
	Steps    []record.Step   `json:"steps"`
	Held     []record.Held   `json:"held"` // at the peak
	Missing  [][2]int        `json:"missing"`
}

type faultyVector struct {
	Sequence []int `json:"sequence"`
	Node     int   `json:"node"`
	Consumer int   `json:"consumer"`
	Tensor   int   `json:"tensor"`
}

const diamond = `
param w 4x4
input x 4x4
scope left
a matmul x w
b tanh a
scope right
c matmul x w
d exp c
scope
s mul b d
e add s a
loss: sum e
`

const towers = `
param E 50x8
param W 8x8
input q 4x8
input d 4x8
scope query
qa:4x8 linear q E
qb tanh qa
qc matmul qb W
qu unit qc
scope document
da:4x8 linear d E
db tanh da
dc matmul db W
du unit dc
scope
dots:4x4 matmul qu du
loss: xent dots
`

// chain is a stack of blocks with a residual connection, which share a weight.
func chain(blocks int) string {
	var b strings.Builder
	b.WriteString("param w 4x4\ninput x 4x4\nh0 relu x\n")
	for i := range blocks {
		fmt.Fprintf(&b, "param g%d 4x4\nscope block%d\na%d matmul h%d w\nb%d mul a%d g%d\nh%d add b%d h%d\n", i, i, i, i, i, i, i, i+1, i, i)
	}
	fmt.Fprintf(&b, "scope\nloss: sum h%d\n", blocks)
	return b.String()
}

func vectors(t *testing.T) []vector {
	var list []vector
	for _, c := range []struct{ name, text string }{{"diamond", diamond}, {"towers", towers}, {"chain", chain(4)}} {
		rec := sketch.Swept(c.text)
		list = append(list, newVector(t, c.name, rec))
	}
	return list
}

func newVector(t *testing.T, name string, rec *record.Record) vector {
	v := vector{Name: name, Record: rec}
	g, nodes, err := rec.Graph()
	if err != nil {
		t.Fatal(err)
	}
	ids := func(seq []int32) []int {
		list := make([]int, len(seq))
		for i, x := range seq {
			list[i] = nodes[x]
		}
		return list
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, seq := range [][]int{rec.Sweep.Sequence, ids(g.Depth()), ids(g.Breadth()), ids(g.Random(1)), ids(g.Random(2)), ids(g.Random(3))} {
		sweep, err := rec.Replan(seq)
		if err != nil {
			t.Fatal(err)
		}
		planned := *rec
		planned.Sweep = sweep
		m := planned.Memory()
		l := legalVector{Sequence: seq, Moments: m.Moments, Peak: m.Peak, Steps: sweep.Steps, Held: m.Held}
		// Halfway through: how many contributions each node is missing.
		visited := map[int]bool{}
		for _, n := range seq[:len(seq)/2] {
			visited[n] = true
		}
		for _, n := range nodes {
			count := 0
			for e := range g.Edges() {
				if nodes[e.From] == n && !visited[nodes[e.To]] {
					count++
				}
			}
			l.Missing = append(l.Missing, [2]int{n, count})
		}
		v.Legal = append(v.Legal, l)
		wrong := append([]int(nil), seq...)
		for range 3 {
			i, j := rng.IntN(len(wrong)), rng.IntN(len(wrong))
			wrong[i], wrong[j] = wrong[j], wrong[i]
			var fault *record.SequenceError
			if errors.As(rec.CheckSequence(wrong), &fault) {
				v.Faulty = append(v.Faulty, faultyVector{append([]int(nil), wrong...), fault.Node, fault.Consumer, fault.Tensor})
			}
		}
	}
	for a := range nodes {
		for b := range nodes {
			if a != b {
				answer := g.Why(int32(a), int32(b))
				v.Why = append(v.Why, [4]int{nodes[a], nodes[b], len(answer.Path), len(answer.Back)})
			}
		}
	}
	return v
}

// The page's TypeScript is held to this file; see sweep.test.ts.
func TestVectorsAreFresh(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(vectors(t)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "vectors.json")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is stale; run go test ./view -update and read the difference", path)
	}
}
