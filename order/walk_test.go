package order_test

import (
	"slices"
	"testing"
)

func TestWalksOfTwoTowers(t *testing.T) {
	n := towers(t)
	for _, c := range []struct {
		name string
		seq  []int32
		want string
	}{
		{"tape", n.Tape(), "s v d u q"},
		{"depth", n.Depth(), "s v d u q"},
		{"breadth", n.Breadth(), "s v u d q"},
	} {
		if got := n.names(c.seq); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Depth stops where branches meet, and takes up the other one there.
func TestDepthWaitsWhereBranchesMeet(t *testing.T) {
	n := tape(t, node("x", "leaf"), node("a", "x"), node("b", "x"), node("b2", "b"), node("s", "a", "b2"))
	if got := n.names(n.Depth()); got != "s b2 b a x" {
		t.Error(got)
	}
	n = tape(t, node("x", "leaf"), node("a", "x"), node("b", "x"), node("a2", "a"), node("s", "a2", "b"))
	if got := n.names(n.Depth()); got != "s a2 a b x" {
		t.Error(got)
	}
	if got := n.names(n.Breadth()); got != "s a2 b a x" {
		t.Error(got)
	}
}

func TestRandomReachesEveryOrder(t *testing.T) {
	n := tape(t, node("a", "x"), node("b", "x"), node("c", "a", "b"), node("d", "a"), node("e", "y"))
	var seen [][]int32
	for seed := range uint64(3000) {
		if seq := n.Random(seed); !slices.ContainsFunc(seen, func(s []int32) bool { return slices.Equal(s, seq) }) {
			seen = append(seen, seq)
		}
	}
	if count, err := n.Count(0); err != nil || int64(len(seen)) != count.Int64() {
		t.Errorf("%d of %v orders, %v", len(seen), count, err)
	}
}

// The bits of a seeded order are a promise.
func TestRandomIsTheSameEverywhere(t *testing.T) {
	g, _ := fan(t, 10)
	if got := g.Random(42); !slices.Equal(got, []int32{9, 8, 1, 7, 4, 5, 6, 2, 3, 0}) {
		t.Error(got)
	}
}
