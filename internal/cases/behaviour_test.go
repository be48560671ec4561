package cases

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every prose case of the behaviour list is a test that names its id.
func TestEveryBehaviourCaseHasATest(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "testdata", "cases", "behaviour.md"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, "_test.go") {
			var b []byte
			b, err = os.ReadFile(path)
			tests.Write(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`(?m)^## ([a-z0-9-]+)`).FindAllStringSubmatch(string(text), -1)
	if len(ids) < 30 {
		t.Fatalf("only %d cases", len(ids))
	}
	for _, id := range ids {
		if !strings.Contains(tests.String(), id[1]) {
			t.Errorf("no test names behaviour case %s", id[1])
		}
	}
}
