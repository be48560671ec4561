package array

import "testing"

func TestClassesHoldWhatTheyAreAskedFor(t *testing.T) {
	last := -1
	for n := 0; n < 1<<14; n++ {
		c, size := classOf(n)
		if size < n {
			t.Fatalf("class of %d bytes holds %d", n, size)
		}
		if n > minBytes && float64(size) > 1.26*float64(n) {
			t.Fatalf("class of %d bytes holds %d", n, size)
		}
		if size%8 != 0 {
			t.Fatalf("class of %d bytes holds %d, not whole words", n, size)
		}
		if c < last || c > last+1 {
			t.Fatalf("class of %d bytes is %d after %d", n, c, last)
		}
		last = c
	}
}
