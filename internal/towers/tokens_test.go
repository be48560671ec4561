package towers_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/internal/towers"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		" .,;()[]*_":                         "",
		"parseHTTPRequest2XX":                "parse pars~ http http~ request requ~ 2 xx",
		"TrimSpace":                          "trim trim~ space spac~",
		"trimmed, Trim":                      "trimmed trim~ trim trim~",
		"IsNaN":                              "is na n",
		"ID HTTP aB ABc":                     "id http http~ a b a bc",
		"SHA256 1024kB":                      "sha 256 1024 k b",
		"net/http.ListenAndServeTLS([]byte)": "net http http~ listen list~ and serve serv~ tls byte byte~",
		"snake_case":                         "snake snak~ case case~",
		"Ünïcödé größe 日本語文字です": "ünïcödé ünïc~ größe größ~ 日本語文字です 日本語文~",
		"bad\xffbyte": "bad byte byte~",
	} {
		if got := strings.Join(towers.Tokens(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVocabKeepsWhatIsSeenTwice(t *testing.T) {
	v := towers.NewVocab([]string{"b once b", "a", "a twice2"})
	if got, want := v.Words(), []string{"a", "b"}; !reflect.DeepEqual(got, want) || v.Len() != 2 {
		t.Fatalf("words %v, want %v", got, want)
	}
	if id, ok := v.Lookup("b"); id != 1 || !ok {
		t.Errorf("b is %d, %v", id, ok)
	}
	if _, ok := v.Lookup("once"); ok {
		t.Error("a token seen once has an id")
	}
}

func TestBags(t *testing.T) {
	v := towers.NewVocab([]string{"a a b b c c"})
	b := v.Bags([]string{"unknown", "c a c", "", "b"})
	want := towers.Bags{Indexes: []int64{2, 0, 2, 1}, Offsets: []int64{0, 0, 3, 3}}
	if !reflect.DeepEqual(b, want) {
		t.Fatalf("got %v, want %v", b, want)
	}
	for i, want := range [][]int64{{}, {2, 0, 2}, {}, {1}} {
		if got := b.Of(i); len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("bag %d: %v, want %v", i, got, want)
		}
	}
	picked := b.Select([]int{3, 2, 1, 3})
	if want := (towers.Bags{Indexes: []int64{1, 2, 0, 2, 1}, Offsets: []int64{0, 1, 1, 4}}); !reflect.DeepEqual(picked, want) {
		t.Errorf("selected %v, want %v", picked, want)
	}
	if v.Bags(nil).Len() != 0 {
		t.Error("no texts make bags")
	}
}

func TestVocabFile(t *testing.T) {
	v := towers.NewVocab([]string{"trimmed Trim größe größe 22 22"})
	var file bytes.Buffer
	if err := v.Write(&file); err != nil {
		t.Fatal(err)
	}
	if got, want := file.String(), "22\ngröße\ngröß~\ntrim~\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
	back, err := towers.ReadVocab(&file)
	if err != nil || !reflect.DeepEqual(back, v) {
		t.Errorf("read back %v, %v", back, err)
	}
	for _, bad := range []string{"a\n\nb\n", "b\na\n", "a\na\n", "a\n" + strings.Repeat("x", 1<<17)} {
		if _, err := towers.ReadVocab(strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%.10q: %v", bad, err)
		}
	}
}

func TestVocabIsFromTrainingPairsOnly(t *testing.T) {
	c := corpus(t)
	s := towers.NewSplit(len(c.Pairs), 1)
	v := towers.TrainingVocab(c, s)
	seen := make(map[string]int)
	for _, i := range s.Train {
		for _, token := range towers.Tokens(c.Pairs[i].Document() + " " + c.Pairs[i].Query) {
			seen[token]++
		}
	}
	for _, w := range v.Words() {
		if seen[w] < 2 {
			t.Errorf("%q is seen %d times in training", w, seen[w])
		}
	}
}
