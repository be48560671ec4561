package backsweep_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// An import against the table of docs/architecture.md is a design error.
func TestRoomsImportOnlyWhatTheyMay(t *testing.T) {
	const root = "github.com/backsweep/backsweep"
	may := map[string][]string{ // by room; a room that is not here may import public packages and what it owns
		"":                {"order", "record", "internal/array", "internal/kernel"},
		"order":           {},
		"record":          {"order"},
		"draw":            {"record", "order"},
		"internal/array":  {},
		"internal/kernel": {},
		"internal/fit":    {""},
		"internal/expr":   {""},
		"gradcheck":       {""},
		"data":            {""},
		"gonumopt":        {""},
		"nn":              {""},
		"state":           {"", "internal/fit"},
		"optim":           {"", "internal/fit", "internal/kernel"},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	room := func(path string) (string, bool) {
		if path == root {
			return "", true
		}
		return strings.CutPrefix(path, root+"/")
	}
	seen := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		paths := strings.Fields(line)
		here, _ := room(paths[0])
		allowed, known := may[here]
		if !known {
			continue
		}
		seen++
		for _, path := range paths[1:] {
			if there, ours := room(path); ours && !slices.Contains(allowed, there) {
				t.Errorf("%q imports %q", here, there)
			}
			if here == "" && strings.Contains(path, ".") && !strings.HasPrefix(path, root) && !strings.HasPrefix(path, "golang.org/x/sys/") {
				t.Errorf("the root imports %s; it stands on the standard library and golang.org/x/sys alone", path)
			}
		}
	}
	if seen != len(may) {
		t.Errorf("%d rooms were looked at, not %d", seen, len(may))
	}
}
