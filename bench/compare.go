package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// spans of a measurement.
type effort struct {
	batch  time.Duration // of repetitions that are timed together
	rounds int           // most rounds; each is a batch of ours and one of theirs
	budget time.Duration // after which no further round starts, once there are three
}

var (
	full  = effort{40 * time.Millisecond, 21, 8 * time.Second}
	quick = effort{8 * time.Millisecond, 5, time.Second}
)

// result is a workload against one peer. ratio says how many times better ours
// is: their time, bytes or other figure over ours, or our rate over theirs. It
// is the median of the rounds' ratios; low and high are their 10th and 90th
// percentiles. ours and theirs are medians.
type result struct {
	ratio, low, high float64
	ours, theirs     float64
	fault            string // values that do not agree; "" when they do, or there are none
}

// bench owns the processes of the sides, which live until no job needs them.
type bench struct {
	effort
	sides map[string]*side
}

func (b *bench) side(name string, threads int) (*side, error) {
	return b.sideAs(fmt.Sprint(name, threads), name, threads)
}

// sideAs starts the process of a library, unless it runs already under the key.
func (b *bench) sideAs(key, name string, threads int) (*side, error) {
	if s := b.sides[key]; s != nil && !s.ended {
		return s, nil
	}
	s, err := startSide(name, threads)
	if err == nil {
		b.sides[key] = s
	}
	return s, err
}

func (b *bench) stop() {
	for _, s := range b.sides {
		s.stop()
	}
}

// compare measures a workload here and at a peer by turns.
func (b *bench) compare(w *workload, p *peer) (result, error) {
	switch w.kind {
	case growth:
		return b.compareGrowth(w, p)
	case figure:
		return b.compareFigures(w, p)
	}
	ours, err := b.side("ours", w.threads)
	if err != nil {
		return result{}, err
	}
	mine, err := ours.prepare(w.name)
	if err != nil {
		return result{}, fmt.Errorf("ours: %w", err)
	}
	if p.side == "bar" {
		return b.rounds(w, ours, func(int) (float64, error) { return p.bar, nil }, 1)
	}
	theirs, err := b.peerSide(p, w)
	if err != nil {
		return result{}, err
	}
	values, err := theirs.prepare(p.jobOf(w))
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", p.side, err)
	}
	n, err := b.repetitions(theirs)
	if err != nil {
		return result{}, err
	}
	r, err := b.rounds(w, ours, func(n int) (float64, error) { return w.time(theirs, n) }, n)
	r.fault = disagreement(mine, values, p)
	return r, err
}

// peerSide starts the peer's process. A peer may be another job of ours, which
// gets a process of its own.
func (b *bench) peerSide(p *peer, w *workload) (*side, error) {
	threads := p.threads
	if threads == 0 {
		threads = w.threads
	}
	if p.side == "ours" {
		return b.sideAs(fmt.Sprint("other", threads), "ours", threads)
	}
	return b.side(p.side, threads)
}

// repetitions finds how many make up a batch, and warms the side up.
func (b *bench) repetitions(s *side) (int, error) {
	for n := 1; ; {
		_, wall, err := s.run(n)
		if err != nil {
			return 0, err
		}
		if wall >= float64(b.batch)/2 || n >= 1<<24 {
			return max(1, int(float64(n)*float64(b.batch)/wall)), nil
		}
		n = max(2*n, int(float64(n)*0.7*float64(b.batch)/max(wall, 1)))
	}
}

// rounds measures by turns. measure returns the peer's figure over n
// repetitions, in the workload's unit.
func (b *bench) rounds(w *workload, ours *side, measure func(n int) (float64, error), theirN int) (result, error) {
	n, err := b.repetitions(ours)
	if err != nil {
		return result{}, err
	}
	var mine, theirs []float64
	begun := time.Now()
	for i := 0; i < b.effort.rounds && (i < 3 || time.Since(begun) < b.budget); i++ {
		x, err := w.time(ours, n)
		if err != nil {
			return result{}, err
		}
		y, err := measure(theirN)
		if err != nil {
			return result{}, err
		}
		mine, theirs = append(mine, x), append(theirs, y)
	}
	return w.summary(mine, theirs), nil
}

// rest is how long threads may go on spinning after their work, OpenBLAS's for
// one. Where several are measured the other side's are let come to rest.
const rest = 100 * time.Millisecond

// time runs a batch and returns its figure in the workload's unit.
func (w *workload) time(s *side, n int) (float64, error) {
	if w.threads > 1 {
		time.Sleep(rest)
	}
	cpu, wall, err := s.run(n)
	if err != nil {
		return 0, err
	}
	t := wall
	if w.threads == 1 {
		t = cpu
	}
	t /= float64(n)
	if w.unit.rate {
		return w.per / t, nil
	}
	return t / w.per, nil
}

func (b *bench) compareFigures(w *workload, p *peer) (result, error) {
	var mine, theirs []float64
	ours, err := b.side("ours", w.threads)
	if err != nil {
		return result{}, err
	}
	values, err := ours.prepare(w.name)
	if err != nil {
		return result{}, fmt.Errorf("ours: %w", err)
	}
	var other *side
	fault := ""
	if p.side != "bar" && p.side != "alone" {
		if other, err = b.peerSide(p, w); err != nil {
			return result{}, err
		}
		theirs, err := other.prepare(p.jobOf(w))
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", p.side, err)
		}
		fault = disagreement(values, theirs, p)
	}
	for range min(b.effort.rounds, 5) {
		x, err := ours.one("figure")
		if err != nil {
			return result{}, err
		}
		y := p.bar
		if other != nil {
			if y, err = other.one("figure"); err != nil {
				return result{}, err
			}
		}
		mine, theirs = append(mine, x), append(theirs, y)
	}
	r := w.summary(mine, theirs)
	r.fault = fault
	return r, nil
}

// compareGrowth starts a process for each figure.
func (b *bench) compareGrowth(w *workload, p *peer) (result, error) {
	grow := func(side, job string) (float64, error) {
		s, err := startSide(side, w.threads)
		if err != nil {
			return 0, err
		}
		defer s.stop()
		v, err := s.one("growth %d %s", w.repeat, job)
		return v / w.per, err
	}
	var mine, theirs []float64
	for range 3 {
		x, err := grow("ours", w.job)
		if err != nil {
			return result{}, err
		}
		y := p.bar
		if p.side != "bar" {
			if y, err = grow(p.side, w.job); err != nil {
				return result{}, err
			}
		}
		mine, theirs = append(mine, x), append(theirs, y)
	}
	return w.summary(mine, theirs), nil
}

// summary is the medians of the rounds; a ratio with nothing is 0.
func (w *workload) summary(mine, theirs []float64) result {
	ratios := make([]float64, len(mine))
	for i := range mine {
		switch {
		case theirs[i] == 0:
		case w.unit.rate:
			ratios[i] = mine[i] / theirs[i]
		default:
			ratios[i] = theirs[i] / mine[i]
		}
	}
	for _, s := range [][]float64{mine, theirs, ratios} {
		slices.Sort(s)
	}
	k := len(ratios)
	return result{ratio: ratios[k/2], low: ratios[k/10], high: ratios[(k-1)-k/10], ours: mine[k/2], theirs: theirs[k/2]}
}

// agreement is how far the values of two sides may lie apart: they round their
// sums in different orders. Two jobs of ours give the same bits.
const agreement = 2e-3

func disagreement(a, b []float64, p *peer) string {
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d values, theirs %d", len(a), len(b))
	}
	within := agreement
	if p.side == "ours" {
		within = 0
	}
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= within*(math.Abs(a[i])+math.Abs(b[i]))) {
			return fmt.Sprintf("value %d is %.7g, theirs %.7g", i, a[i], b[i])
		}
	}
	return ""
}
