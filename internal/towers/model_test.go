package towers_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/internal/towers"
)

// smallTask has 144 made-up functions: a verb and a noun each, which query and document say in other words.
func smallTask(t *testing.T) *towers.Task {
	t.Helper()
	verbs := []string{"Trim", "Split", "Join", "Read", "Write", "Open", "Close", "Sort", "Find", "Copy", "Parse", "Print"}
	nouns := []string{"Spaces", "Files", "Words", "Lines", "Bytes", "Runes", "Keys", "Trees", "Maps", "Names", "Paths", "Codes"}
	said := []string{"removes", "cuts", "glues", "loads", "stores", "begins", "ends", "ranks", "seeks", "clones", "decodes", "shows"}
	var pairs []towers.Pair
	for v, verb := range verbs {
		for n, noun := range nouns {
			pairs = append(pairs, towers.Pair{
				Package: "small", Name: verb + noun, Signature: "(x " + noun + ") error",
				Query: said[v] + " all of the " + nouns[n] + " there are", Rest: "It never panics.",
			})
		}
	}
	task, err := towers.NewTask(towers.NewCorpus(pairs), 1)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func train(t *testing.T, task *towers.Task, m *towers.Model, steps, workers int) (losses []float64) {
	t.Helper()
	err := task.Train(context.Background(), m, steps, workers, func(step int, loss float64) {
		if losses = append(losses, loss); step != len(losses) {
			t.Errorf("step %d after %d", step, len(losses)-1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return losses
}

// valuesOf are the bits of all parameters, by name.
func valuesOf(m *towers.Model) map[string][]uint32 {
	all := make(map[string][]uint32)
	for _, p := range m.Params() {
		for _, v := range backsweep.Data[float32](p) {
			all[p.Name()] = append(all[p.Name()], math.Float32bits(v))
		}
	}
	return all
}

var models = []struct {
	name   string
	shared bool
}{{"separate", false}, {"shared", true}}

func TestTrainingIsTheSameBitsByAnyNumberOfWorkers(t *testing.T) {
	task := smallTask(t)
	for _, tc := range models {
		var first map[string][]uint32
		for _, workers := range []int{1, 2, 4} {
			m := task.NewModel(tc.shared)
			losses := train(t, task, m, 6, workers)
			if losses[5] >= losses[0] {
				t.Errorf("%s, %d workers: the loss goes from %v to %v", tc.name, workers, losses[0], losses[5])
			}
			if got := valuesOf(m); first == nil {
				first = got
			} else if !reflect.DeepEqual(got, first) {
				t.Errorf("%s: %d workers train other bits", tc.name, workers)
			}
		}
	}
}

func TestTheSeedDecidesTheModel(t *testing.T) {
	a, b, c := towers.NewModel(10, false, 1), towers.NewModel(10, false, 1), towers.NewModel(10, false, 2)
	if !reflect.DeepEqual(valuesOf(a), valuesOf(b)) || reflect.DeepEqual(valuesOf(a), valuesOf(c)) {
		t.Error("values do not follow the seed")
	}
	if got := len(a.Params()); got != 10 {
		t.Errorf("separate towers have %d parameters", got)
	}
	if got := len(towers.NewModel(10, true, 1).Params()); got != 9 {
		t.Errorf("towers that share a table have %d parameters", got)
	}
}

func TestTrainedTowersFindWhatUntrainedOnesDoNot(t *testing.T) {
	task := smallTask(t)
	m := task.NewModel(false)
	before := task.Figures(m)
	train(t, task, m, 80, 2)
	if after := task.Figures(m); after.Recall10 < 0.6 || after.MRR < 2*before.MRR {
		t.Errorf("untrained: %s; trained: %s", before, after)
	}
}

func TestScoresAreDotProductsOfUnitCodes(t *testing.T) {
	task := smallTask(t)
	for _, tc := range models {
		m := task.NewModel(tc.shared)
		x := m.Index(task.Documents)
		for _, q := range []int{0, 5, 143} {
			scores := x.Scores(task.Queries.Of(q))
			if len(scores) != len(task.Corpus.Pairs) {
				t.Fatalf("%d scores", len(scores))
			}
			for d, s := range scores {
				if !(s >= -1.0001 && s <= 1.0001) {
					t.Errorf("%s: query %d, document %d: %v is no product of unit codes", tc.name, q, d, s)
				}
			}
		}
		own := m.Query.Encode(backsweep.New(task.Queries.Of(5)), backsweep.New([]int64{0}))
		other := m.Document.Encode(backsweep.New(task.Documents.Of(7)), backsweep.New([]int64{0}))
		if got, want := float64(x.Scores(task.Queries.Of(5))[7]), own.Mul(other).Sum().Item(); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: score %v, dot product %v", tc.name, got, want)
		}
	}
}

func TestEveryWayToSweepAStepAgrees(t *testing.T) {
	task := smallTask(t)
	for _, tc := range models {
		w, err := task.SweepManyWays(context.Background(), task.NewModel(tc.shared), 1, 2, 4)
		if err != nil {
			t.Fatal(err)
		}
		if !w.Agree() {
			t.Errorf("%s: %+v", tc.name, w.Ways)
		}
		if len(w.Ways) != 9 || w.Gradients != map[bool]int{false: 10, true: 9}[tc.shared] || w.Numbers < 4*64*64 {
			t.Errorf("%s: %d ways, %d gradients of %d numbers", tc.name, len(w.Ways), w.Gradients, w.Numbers)
		}
	}
}

func TestTrainingStopsWhenToldTo(t *testing.T) {
	task := smallTask(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := task.Train(ctx, task.NewModel(false), 100, 2, func(step int, _ float64) {
		if step == 3 {
			cancel()
		}
		if step > 3 {
			t.Errorf("step %d", step)
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTooFewFunctions(t *testing.T) {
	if _, err := towers.NewTask(towers.NewCorpus(nil), 1); err == nil || err.Error() != "the sources have only 0 functions to train on" {
		t.Errorf("got %v", err)
	}
}

// The picture of one step: two columns, one a tower; the dot product below both; the loss last; no edge crosses another.
func TestThePictureOfTheTowers(t *testing.T) {
	task := smallTask(t)
	for _, tc := range models {
		rec, err := task.Record(context.Background(), task.NewModel(tc.shared))
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Validate(); err != nil {
			t.Fatal(err)
		}
		l, err := draw.NewLayout(rec, draw.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := l.Crossings(); n != 0 {
			t.Errorf("%s: edges cross %d times", tc.name, n)
		}
		if len(l.Frames) != 2 || l.Frames[0].Label != towers.QueryTower || l.Frames[1].Label != towers.DocumentTower {
			t.Fatalf("%s: frames %+v", tc.name, l.Frames)
		}
		query, document := l.Frames[0].Rect, l.Frames[1].Rect
		if query.X+query.W > document.X || query.Y > document.Y+document.H || document.Y > query.Y+query.H {
			t.Errorf("%s: the towers do not stand side by side: %v, %v", tc.name, query, document)
		}
		floor := max(query.Y+query.H, document.Y+document.H)
		loss := slices.IndexFunc(l.Stubs, func(s draw.Stub) bool { return s.Loss })
		if loss < 0 {
			t.Fatalf("%s: no loss", tc.name)
		}
		for _, b := range l.Boxes {
			switch rec.ScopePath(rec.Nodes[b.Node].Scope) {
			case towers.QueryTower:
				if !query.Contains(b.Rect) {
					t.Errorf("%s: %s stands outside its tower", tc.name, b.Title)
				}
			case towers.DocumentTower:
				if !document.Contains(b.Rect) {
					t.Errorf("%s: %s stands outside its tower", tc.name, b.Title)
				}
			default:
				if b.Rect.Y < floor {
					t.Errorf("%s: %s does not stand below both towers", tc.name, b.Title)
				}
			}
			if b.Rect.Y+b.Rect.H > l.Stubs[loss].Rect.Y {
				t.Errorf("%s: %s reaches below the loss", tc.name, b.Title)
			}
		}
	}
}
