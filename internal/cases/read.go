package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Case is one case of any type. Run's error is nil when everything that the
// case expects holds, and wraps [ErrSkipped] when the library does not offer
// what it needs: such a case has not passed.
type Case interface {
	About() *Head
	Run() error
}

// ErrSkipped says that a case needs an op, an option or a reader that the
// library does not offer.
var ErrSkipped = errors.New("not offered")

// About returns what every case has.
func (h *Head) About() *Head { return h }

// Read reads every JSON file of a folder, in the order of their names.
func Read(dir string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no JSON files in %s", dir)
	}
	var out []Case
	for _, path := range paths {
		list, err := readFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

func readFile(path string) ([]Case, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Schema int               `json:"schema"`
		Kind   string            `json:"kind"`
		Cases  []json.RawMessage `json:"cases"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, err
	}
	if file.Schema != 1 {
		return nil, fmt.Errorf("schema %d, want 1", file.Schema)
	}
	var out []Case
	for k, raw := range file.Cases {
		var head Head
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("case %d: %w", k, err)
		}
		c := ofType(head.Type)
		if c == nil {
			return nil, fmt.Errorf("case %s has the type %q", head.ID, head.Type)
		}
		if err := json.Unmarshal(raw, c); err != nil {
			return nil, fmt.Errorf("case %s: %w", head.ID, err)
		}
		if h := c.About(); h.Kind == "" {
			h.Kind = file.Kind
		}
		out = append(out, c)
	}
	return out, nil
}

func ofType(name string) Case {
	switch name {
	case "graph":
		return &Graph{}
	case "optim":
		return &Steps{}
	case "schedule":
		return &Schedule{}
	case "clip":
		return &Clip{}
	case "format":
		return &File{}
	}
	return nil
}
