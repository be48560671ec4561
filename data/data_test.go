package data_test

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/data"
)

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func numbers(index []int) []int { return index }

func TestEveryExampleIsDealtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, size := rapid.IntRange(0, 50).Draw(t, "n"), rapid.IntRange(1, 60).Draw(t, "size")
		drop := rapid.Bool().Draw(t, "drop")
		opts := []data.Option{data.Shuffle(generator(rapid.Uint64().Draw(t, "seed")))}
		if drop {
			opts = append(opts, data.DropLast())
		}
		var all []int
		for b := range data.Prefetch(data.Batches(n, size, numbers, opts...), rapid.IntRange(0, 3).Draw(t, "ahead")) {
			if len(b) > size || len(b) < size && (drop || len(all)+len(b) != n) {
				t.Fatalf("a batch of %d after %d of %d", len(b), len(all), n)
			}
			all = append(all, b...)
		}
		want := n
		if drop {
			want -= n % size
		}
		slices.Sort(all)
		if len(all) != want || len(slices.Compact(all)) != want {
			t.Fatalf("dealt %v of %d", all, n)
		}
	})
}

func TestTheGeneratorDecidesTheOrder(t *testing.T) {
	pass := func(seq iter.Seq[[]int]) (all [][]int) { return slices.Collect(seq) }
	deal := func(seed uint64) iter.Seq[[]int] {
		return data.Batches(20, 6, numbers, data.Shuffle(generator(seed)))
	}
	a, b := deal(1), deal(1)
	first, second := pass(a), pass(a)
	if !reflect.DeepEqual(first, pass(b)) || !reflect.DeepEqual(second, pass(b)) {
		t.Error("one seed deals two ways")
	}
	if reflect.DeepEqual(first, second) || reflect.DeepEqual(first, pass(deal(2))) {
		t.Error("two passes, or two seeds, deal one way")
	}
	if !reflect.DeepEqual(pass(data.Prefetch(deal(1), 2)), first) {
		t.Error("fetched ahead, the order is another")
	}
}

func TestTable(t *testing.T) {
	table := data.Table{backsweep.New([]float32{0, 1, 2, 3, 4, 5}, 3, 2), backsweep.New([]int64{7, 8, 9})}
	var got []string
	for b := range table.Batches(2) {
		got = append(got, fmt.Sprint(b[0], b[1]))
	}
	want := []string{"float32[2,2] [[0 1] [2 3]] int64[2] [7 8]", "float32[1,2] [[4 5]] int64[1] [9]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	first, rest := table.Split(generator(3), 0.7)
	if first.Len() != 2 || rest.Len() != 1 {
		t.Errorf("split into %d and %d", first.Len(), rest.Len())
	}
	labels := append(first[1].Float64s(), rest[1].Float64s()...)
	if slices.Sort(labels); !slices.Equal(labels, []float64{7, 8, 9}) {
		t.Errorf("split into %v and %v", first[1], rest[1])
	}
	if n := (data.Table{}).Len(); n != 0 {
		t.Errorf("nothing has %d examples", n)
	}
}

func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"rows":  func() { data.Table{backsweep.Arange(2), backsweep.Arange(3)}.Batches(1) },
		"0-d":   func() { data.Table{backsweep.Scalar(1.0)}.Len() },
		"size":  func() { data.Batches(1, 0, numbers) },
		"share": func() { data.Table{backsweep.Arange(2)}.Split(generator(1), 1.5) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(*backsweep.Error); !ok || !errors.Is(err, backsweep.ErrValue) {
					t.Errorf("%s was taken: %v", name, err)
				}
			}()
			f()
		}()
	}
}

// counted runs f and expects as many goroutines after it as before.
func counted(t *testing.T, f func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	f()
	after := runtime.NumGoroutine()
	for range 1000 { // one that has ended may still be counted for a moment
		if after == before {
			return
		}
		time.Sleep(time.Millisecond)
		after = runtime.NumGoroutine()
	}
	t.Errorf("%d goroutines became %d", before, after)
}

func endless(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

func TestNoGoroutineOutlivesARange(t *testing.T) {
	counted(t, func() {
		for v := range data.Prefetch(endless, 3) {
			if v == 5 {
				break
			}
		}
	})
	counted(t, func() {
		defer func() {
			if r := recover(); r != "mine" {
				t.Errorf("the loop's panic became %v", r)
			}
		}()
		for range data.Prefetch(endless, 3) {
			panic("mine")
		}
	})
	counted(t, func() {
		last := -1
		defer func() {
			if r := recover(); r != "theirs" || last != 1 {
				t.Errorf("the panic of what is ranged over became %v, after %d", r, last)
			}
		}()
		for v := range data.Prefetch(func(yield func(int) bool) { _ = yield(0) && yield(1); panic("theirs") }, 3) {
			last = v
		}
	})
	counted(t, func() {
		for range data.Prefetch(func(func(int) bool) {}, 1) {
			t.Error("nothing yields something")
		}
	})
}

func TestPrefetchIsAhead(t *testing.T) {
	made := make(chan int, 10)
	seq := func(yield func(int) bool) {
		for i := 0; i < 5; i++ {
			made <- i
			if !yield(i) {
				return
			}
		}
	}
	for range data.Prefetch(seq, 2) {
		for want := range 3 {
			select {
			case v := <-made:
				if v != want {
					t.Fatalf("made %d, want %d", v, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("value %d is not made ahead", want)
			}
		}
		return
	}
}
