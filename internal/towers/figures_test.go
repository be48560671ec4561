//go:build !race

package towers_test

import (
	"testing"

	"github.com/backsweep/backsweep/internal/towers"
)

// What 18 epochs on the standard library come to, beside BM25 and towers that were not trained.
func TestFigures(t *testing.T) {
	task, err := towers.NewTask(corpus(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("BM25:", task.BM25Figures())
	for _, tc := range models {
		m := task.NewModel(tc.shared)
		untrained := task.Figures(m)
		train(t, task, m, 18*task.EpochSteps(), 2)
		trained := task.Figures(m)
		t.Logf("%s: untrained %s; trained %s (%.4f)", tc.name, untrained, trained, trained.Recall10)
		bar := map[bool]float64{false: 0.60, true: 0.78}[tc.shared]
		if trained.Recall10 < bar || untrained.Recall10 > trained.Recall10/2 {
			t.Errorf("%s: untrained %s; trained %s; the bar is %.2f", tc.name, untrained, trained, bar)
		}
	}
}
