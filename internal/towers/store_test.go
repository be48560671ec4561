package towers_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/internal/towers"
)

func TestSavedTowersReadBackBitForBit(t *testing.T) {
	task := smallTask(t)
	for _, tc := range models {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		m := task.NewModel(tc.shared)
		train(t, task, m, 2, 1)
		saved := towers.Trained{Model: m, Vocab: task.Vocab, Steps: 2, Seed: 1<<64 - 1}
		if err := saved.Save(dir); err != nil {
			t.Fatal(err)
		}
		got, err := towers.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got.Model.Shared != tc.shared || got.Steps != 2 || got.Seed != 1<<64-1 || !reflect.DeepEqual(got.Vocab, task.Vocab) {
			t.Errorf("%s: read back shared %v, %d steps, seed %d, %d words", tc.name, got.Model.Shared, got.Steps, got.Seed, got.Vocab.Len())
		}
		if !reflect.DeepEqual(valuesOf(got.Model), valuesOf(m)) {
			t.Errorf("%s: other bits", tc.name)
		}
		query := task.Queries.Of(3)
		if a, b := m.Index(task.Documents).Scores(query), got.Model.Index(task.Documents).Scores(query); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: other scores", tc.name)
		}
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(names) != 2 {
			t.Errorf("%s: files %v, %v", tc.name, names, err)
		}
	}
}

func TestWhatLoadRefuses(t *testing.T) {
	task := smallTask(t)
	dir := t.TempDir()
	if _, err := towers.Load(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	saved := towers.Trained{Model: task.NewModel(false), Vocab: task.Vocab, Steps: 1, Seed: 1}
	model, words := filepath.Join(dir, towers.ModelFile), filepath.Join(dir, towers.VocabularyFile)
	for _, tc := range []struct {
		name, want string
		spoil      func() error
	}{
		{"no vocabulary", "is not beside it", func() error { return os.Remove(words) }},
		{"another vocabulary", "is not the vocabulary", func() error { return os.WriteFile(words, []byte("a\nb\n"), 0o644) }},
		{"cut short", "metadata incomplete", func() error { return os.Truncate(model, 2000) }},
		{"no tensors", "header", func() error { return os.WriteFile(model, []byte("no"), 0o644) }},
		{"other tensors", "these are no towers", func() error {
			return os.WriteFile(model, append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, "{}"...), 0o644)
		}},
	} {
		if err := saved.Save(dir); err != nil {
			t.Fatal(err)
		}
		if err := tc.spoil(); err != nil {
			t.Fatal(err)
		}
		_, err := towers.Load(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
