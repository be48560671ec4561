package main

import (
	"strings"
	"testing"
)

func TestEveryWorkloadHasItsJobs(t *testing.T) {
	have := map[string]map[string]maker{}
	for name, l := range libraries {
		have[name] = l.jobs()
	}
	seen := map[string]bool{}
	for _, w := range workloads() {
		if seen[w.name] {
			t.Errorf("%q is there twice", w.name)
		}
		seen[w.name] = true
		if len(w.name) > 37 {
			t.Errorf("%q does not fit its column", w.name)
		}
		job := w.name
		if w.kind == growth {
			job = w.job
		}
		if have["ours"][job] == nil {
			t.Errorf("%q: there is no job %q here", w.name, job)
		}
		for _, p := range w.peers {
			job := p.jobOf(&w)
			switch {
			case p.side == "torch" && w.kind == growth:
				job = w.job
				fallthrough
			case p.side == "torch":
				if !inTorchScript(job) {
					t.Errorf("%q: PyTorch does not know the job %q", w.name, job)
				}
			case have[p.side] != nil && have[p.side][job] == nil:
				t.Errorf("%q: %s has no job %q", w.name, p.side, job)
			}
		}
	}
}

// inTorchScript looks for a job's name, or for the pattern that its group is
// made by.
func inTorchScript(job string) bool {
	for _, group := range []string{"scalar ", "4-element ", "scalar chain ", "exp ", "tanh ", "sigmoid ", "add ", "mul ", "sum ", "softmax "} {
		if strings.HasPrefix(job, group) {
			return true
		}
	}
	return strings.Contains(torchScript, `j["`+job+`"]`)
}

func TestRatiosSayHowMuchBetterOursIs(t *testing.T) {
	time, rate := &workload{unit: milliseconds}, &workload{unit: gigaflops}
	if r := time.summary([]float64{2, 1, 3}, []float64{6, 4, 6}); r.ratio != 3 || r.low != 2 || r.high != 4 || r.ours != 2 || r.theirs != 6 {
		t.Errorf("times: %+v", r)
	}
	if r := rate.summary([]float64{80}, []float64{40}); r.ratio != 2 {
		t.Errorf("rates: %+v", r)
	}
	if r := time.summary([]float64{5}, []float64{0}); r.ratio != 0 {
		t.Errorf("alone: %+v", r)
	}
}

func TestDisagreement(t *testing.T) {
	far, ours := &peer{side: "torch"}, &peer{side: "ours"}
	for _, c := range []struct {
		a, b []float64
		p    *peer
		ok   bool
	}{
		{[]float64{1}, []float64{1.0001}, far, true},
		{[]float64{1}, []float64{1.0001}, ours, false},
		{[]float64{1, 2}, []float64{1, 2.1}, far, false},
		{[]float64{1, 2}, []float64{1}, far, false},
		{[]float64{1}, nil, far, true},
	} {
		if got := disagreement(c.a, c.b, c.p); (got == "") != c.ok {
			t.Errorf("%v and %v (%s): %q", c.a, c.b, c.p.side, got)
		}
	}
}

func TestServeAnswersALineForALine(t *testing.T) {
	ran := 0
	l := library{
		jobs: func() map[string]maker {
			return map[string]maker{"work": func() *job {
				return &job{run: func(n int) { ran += n }, values: []float64{0.5, 2}, figure: func() float64 { return 7 }}
			}}
		},
		version: func() string { return "a library 1.0" },
	}
	var out strings.Builder
	in := "version\nprepare work\nrun 3\nfigure\nprepare other\ngrowth 2 work\n"
	if err := serve(l, strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 || lines[0] != "a library 1.0" || lines[1] != "ok 0.5 2" || len(strings.Fields(lines[2])) != 2 || lines[3] != "7" || !strings.HasPrefix(lines[4], "none ") {
		t.Errorf("answers %q", lines)
	}
	if ran != 5 {
		t.Errorf("ran %d times, not 3 + 2", ran)
	}
	if err := serve(l, strings.NewReader("nonsense\n"), &out); err == nil {
		t.Error("nonsense is answered")
	}
}

func TestTableFits(t *testing.T) {
	var out strings.Builder
	tab := table{out: &out}
	tab.head(nil)
	w := &workload{name: "infer MLP 64-64-64-1 b1, 8 goroutines", unit: gigaflops, threads: 2}
	tab.row(w, &peer{side: "1 at once", least: 1.5}, result{ratio: 0.123, low: 0.111, high: 0.999, ours: 12345, theirs: 54321})
	tab.foot()
	for line := range strings.Lines(out.String()) {
		if n := len(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if !strings.Contains(out.String(), "< 1.50") {
		t.Errorf("a ratio that misses its mark is not marked:\n%s", out.String())
	}
}
