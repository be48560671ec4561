package cases_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/internal/cases"
)

var folder = flag.String("cases", "testdata/cases", "folder of case files, from here or from the repository's root")

// Every case of every file of the folder. One that fails fails the test,
// unless it is only a goal (level stretch). One that needs what the library does
// not offer is skipped, and counted as that.
func TestCases(t *testing.T) {
	dir := *folder
	if _, err := os.Stat(dir); err != nil && !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir)
	}
	list, err := cases.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	total := map[string]int{}
	kinds := map[string]map[string]int{}
	for _, c := range list {
		h := c.About()
		err := run(c)
		what := "passed"
		switch {
		case errors.Is(err, cases.ErrSkipped):
			what = "skipped"
		case err != nil:
			what = "failed"
			if h.Level != "stretch" {
				t.Fail()
			}
		}
		if err != nil {
			lines = append(lines, fmt.Sprintf("%s %s (%s, %s): %v", what, h.ID, h.Kind, h.Level, err))
		}
		if kinds[h.Kind] == nil {
			kinds[h.Kind] = map[string]int{}
		}
		kinds[h.Kind][what]++
		total[what]++
	}
	if !testing.Verbose() && !t.Failed() {
		return
	}
	names := make([]string, 0, len(kinds))
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Printf("%-22s %s\n", name, counts(kinds[name]))
	}
	fmt.Println(strings.Join(lines, "\n"))
	fmt.Println(counts(total))
}

func counts(n map[string]int) string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", n["passed"], n["failed"], n["skipped"])
}

// run turns a panic, which is a fault in any case, into its error.
func run(c cases.Case) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return c.Run()
}
