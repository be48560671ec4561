package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress says how far training has come: a bar where a person watches, and a
// line now and then where nobody does.
type progress struct {
	w     io.Writer
	steps int
	bar   *progressbar.ProgressBar // nil without a terminal
}

// progressLines is about how many lines stand for the bar.
const progressLines = 6

func newProgress(w io.Writer, steps int) *progress {
	p := &progress{w: w, steps: steps}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(steps, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("training"),
			progressbar.OptionSetWidth(24), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true))
	}
	return p
}

// step reports a step, counted from 1. What cannot be printed is no reason to
// stop training.
func (p *progress) step(step int, loss float64) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("training, loss %.3f", loss))
		p.bar.Add(1)
		return
	}
	if every := max(1, p.steps/progressLines); step%every == 0 || step == p.steps {
		fmt.Fprintf(p.w, "step %d of %d, loss %.3f\n", step, p.steps, loss)
	}
}

// end takes the bar off the screen.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Clear()
	}
}
