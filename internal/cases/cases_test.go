package cases_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/backsweep/backsweep/internal/cases"
)

// Every case of type graph that the op table can run. Those of level must fail
// the test; of the others a failure is a printed line.
func TestGraphCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files (%v)", err)
	}
	passed, missed := 0, 0
	skipped := map[string]int{}
	for _, path := range files {
		list, err := cases.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			err := c.Run()
			switch {
			case err == nil:
				passed++
			case errors.Is(err, cases.ErrSkipped):
				skipped[err.Error()]++
			case c.Level == "must":
				t.Errorf("%s (%s): %v", c.ID, c.Kind, err)
			default:
				missed++
				t.Logf("%s (%s, level %s): %v", c.ID, c.Kind, c.Level, err)
			}
		}
	}
	t.Logf("%d passed, %d below must missed, skipped: %v", passed, missed, skipped)
}
