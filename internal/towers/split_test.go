package towers_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/backsweep/backsweep/internal/towers"
)

func TestSplit(t *testing.T) {
	s := towers.NewSplit(1009, 7)
	if len(s.HeldOut) != 100 || len(s.Train) != 909 {
		t.Errorf("%d held out, %d to train on", len(s.HeldOut), len(s.Train))
	}
	if !slices.IsSorted(s.HeldOut) || !slices.IsSorted(s.Train) {
		t.Error("not ascending")
	}
	all := slices.Sorted(slices.Values(slices.Concat(s.HeldOut, s.Train)))
	for i, p := range all {
		if p != i {
			t.Fatalf("pair %d is %d", i, p)
		}
	}
	if !reflect.DeepEqual(s, towers.NewSplit(1009, 7)) {
		t.Error("the same seed splits otherwise")
	}
	if reflect.DeepEqual(s, towers.NewSplit(1009, 8)) {
		t.Error("another seed splits the same")
	}
}

func TestBatches(t *testing.T) {
	s := towers.NewSplit(100, 7) // 90 to train on: 4 batches of 20 an epoch
	take := func(seed uint64, n int) [][]int {
		var out [][]int
		for b := range s.Batches(20, seed) {
			out = append(out, slices.Clone(b))
			if len(out) == n {
				break
			}
		}
		return out
	}
	if s.EpochBatches(20) != 4 {
		t.Errorf("%d batches an epoch", s.EpochBatches(20))
	}
	got := take(1, 8)
	for epoch := range 2 {
		seen := make(map[int]bool)
		for _, b := range got[4*epoch : 4*epoch+4] {
			for _, p := range b {
				if seen[p] || !slices.Contains(s.Train, p) {
					t.Errorf("epoch %d: pair %d again, or held out", epoch, p)
				}
				seen[p] = true
			}
		}
	}
	if reflect.DeepEqual(got[:4], got[4:]) {
		t.Error("both epochs are the same")
	}
	if !reflect.DeepEqual(got, take(1, 8)) {
		t.Error("the same seed draws otherwise")
	}
	if reflect.DeepEqual(got, take(2, 8)) {
		t.Error("another seed draws the same")
	}
}

func TestBatchesThatCannotBe(t *testing.T) {
	for _, size := range []int{0, 91} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("batches of %d out of 90", size)
				}
			}()
			towers.NewSplit(100, 7).Batches(size, 1)
		}()
	}
}
