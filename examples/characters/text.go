package main

import (
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var markup = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>`)

// specification is the text of the Go specification, which comes with every
// toolchain, without its markup.
func specification() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("asking go for its documents: %w", err)
	}
	page, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "doc", "go_spec.html"))
	if err != nil {
		return "", fmt.Errorf("the Go toolchain has come without its specification: %w", err)
	}
	text := html.UnescapeString(markup.ReplaceAllString(string(page), ""))
	return regexp.MustCompile(`\n\s*\n+`).ReplaceAllString(text, "\n\n"), nil
}

// alphabet numbers the characters of a text.
type alphabet struct {
	runes []rune
	id    map[rune]int64
}

func newAlphabet(text string) *alphabet {
	a := &alphabet{id: map[rune]int64{}}
	for _, r := range text {
		if _, ok := a.id[r]; !ok {
			a.id[r] = 0
			a.runes = append(a.runes, r)
		}
	}
	slices.Sort(a.runes)
	for i, r := range a.runes {
		a.id[r] = int64(i)
	}
	return a
}

func (a *alphabet) encode(text string) []int64 {
	out := make([]int64, 0, len(text))
	for _, r := range text {
		out = append(out, a.id[r])
	}
	return out
}

func (a *alphabet) decode(ids []int64) string {
	var b strings.Builder
	for _, i := range ids {
		b.WriteRune(a.runes[i])
	}
	return b.String()
}

// byFrequency is the number of bits that a character of test takes when it is
// told by how often the characters of train follow the one before it (pairs), or
// come up at all. Each counts a
// hundredth more than it does, so that none is impossible.
func byFrequency(train, test []int64, n int, pairs bool) float64 {
	count := make([]float64, n*n)
	at := func(before, c int64) int {
		if !pairs {
			before = 0
		}
		return int(before)*n + int(c)
	}
	for i := range count {
		count[i] = 0.01
	}
	for i, c := range train[1:] {
		count[at(train[i], c)]++
	}
	bits := 0.0
	for i, c := range test[1:] {
		row := count[at(test[i], 0) : at(test[i], 0)+n]
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		bits -= math.Log2(row[c] / sum)
	}
	return bits / float64(len(test)-1)
}
