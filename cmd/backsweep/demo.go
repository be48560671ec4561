package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/internal/towers"
	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/view"
)

// demo trains two towers to find functions of the standard library.
type demo struct {
	steps   int
	seed    uint64
	workers int
	share   bool
	out     string
	ask     string

	ctx    context.Context
	given  func(flag string) bool
	stdout io.Writer
	stderr io.Writer
}

// The files of a demo's folder, beside the towers themselves.
const (
	towersSVG    = "towers.svg"
	towersPage   = "towers.html"
	towersRecord = "towers.record.json.gz"
)

// defaultSteps are 18 epochs of the standard library of Go 1.26.
const defaultSteps = 486

func demoCommand() *cobra.Command {
	d := &demo{}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Train two towers on the standard library's doc comments",
		Long: wrap(`demo trains a two-tower scorer on real text: given the first sentence of a doc comment, find the function. The text is the standard library's own, from the sources that came with Go; nothing is downloaded.

It prints the loss, what the towers find beside BM25 and towers that were not trained, and what one step looks like on the tape; sweeps that step in several orders by several workers and compares every bit; and leaves a picture, a record and the trained towers in a folder. --ask answers from what was trained.`, columns, ""),
		Example: `  backsweep demo
  backsweep demo --share
  backsweep demo --ask 'trim spaces from both ends'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d.ctx, d.stdout, d.stderr = c.Context(), c.OutOrStdout(), c.ErrOrStderr()
			d.given = c.Flags().Changed
			return d.run()
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.IntVar(&d.steps, "steps", defaultSteps, "of 128 pairs each; 486 are 18 epochs")
	fl.Uint64Var(&d.seed, "seed", 1, "of what is held out, first values, batches")
	fl.IntVar(&d.workers, "workers", 2, "goroutines a sweep; bits do not depend on it")
	fl.BoolVar(&d.share, "share", false, "one table for both towers, a skip around their layers")
	fl.StringVar(&d.out, "out", "backsweep-demo", "`DIR` to write; --ask reads it")
	fl.StringVar(&d.ask, "ask", "", "answer a `QUESTION` with ten functions")
	return c
}

func (d *demo) run() error {
	switch {
	case d.steps < 1:
		return misuse("use 1 or more", "--steps is %d", d.steps)
	case d.workers < 1:
		return misuse("use 1 or more", "--workers is %d", d.workers)
	case d.out == "":
		return misuse("name a folder", "--out is empty")
	case d.given("ask"):
		return d.answer()
	}
	return d.show()
}

// task reads the corpus and cuts it up.
func (d *demo) task() (*towers.Task, error) {
	corpus, err := d.corpus()
	if err != nil {
		return nil, err
	}
	return towers.NewTask(corpus, d.seed)
}

func (d *demo) corpus() (*towers.Corpus, error) {
	src, err := towers.Sources(d.ctx)
	if err != nil {
		return nil, err
	}
	return towers.ReadCorpus(d.ctx, src)
}

// show is the demo without --ask.
func (d *demo) show() error {
	if err := os.MkdirAll(d.out, 0o755); err != nil { // before the work, not after it
		return err
	}
	task, err := d.task()
	if err != nil {
		return err
	}
	kind := "two separate towers"
	if d.share {
		kind = "two towers that share a table"
	}
	fmt.Fprintf(d.stdout, "%s functions of the standard library: %s to train on, %s held out.\n%s, %d wide, that know %s words.\n\n",
		grouped(len(task.Corpus.Pairs)), grouped(len(task.Split.Train)), grouped(len(task.Split.HeldOut)),
		strings.ToUpper(kind[:1])+kind[1:], towers.Width, grouped(task.Vocab.Len()))

	m := task.NewModel(d.share)
	untrained := task.Figures(m)
	start := time.Now()
	losses, err := d.train(task, m)
	if err != nil {
		return err
	}
	d.curve(losses, time.Since(start))
	d.figures(task, untrained, task.Figures(m))

	rec, err := task.Record(d.ctx, m)
	if err != nil {
		return err
	}
	if err := draw.Text(d.stdout, rec, draw.Options{Width: columns}); err != nil {
		return err
	}
	ways, err := task.SweepManyWays(d.ctx, m, 1, 2, 4)
	if err != nil {
		return err
	}
	d.ways(ways)
	if err := d.write(task, m, rec); err != nil {
		return err
	}
	d.goOn(rec)
	if !ways.Agree() {
		return errNo
	}
	return nil
}

func (d *demo) train(task *towers.Task, m *towers.Model) ([]float64, error) {
	var losses []float64
	p := newProgress(d.stderr, d.steps)
	defer p.end()
	err := task.Train(d.ctx, m, d.steps, d.workers, func(step int, loss float64) {
		losses = append(losses, loss)
		p.step(step, loss)
	})
	return losses, err
}

// curve plots the loss, averaged over as many steps as a column stands for.
func (d *demo) curve(losses []float64, took time.Duration) {
	const width, height = 68, 9
	n := min(width, len(losses))
	means := make([]float64, n)
	for i := range means {
		part := losses[i*len(losses)/n : (i+1)*len(losses)/n]
		for _, v := range part {
			means[i] += v / float64(len(part))
		}
	}
	fmt.Fprintf(d.stdout, "The loss from step 1 to %d (%.1f s, seed %d):\n\n", len(losses), took.Seconds(), d.seed)
	fmt.Fprintln(d.stdout, asciigraph.Plot(means, asciigraph.Height(height), asciigraph.LowerBound(0), asciigraph.Precision(1)))
}

func (d *demo) figures(task *towers.Task, untrained, trained towers.Figures) {
	fmt.Fprintf(d.stdout, "\nHow well %d held-out queries find their own among all %s functions:\n\n", trained.Queries, grouped(len(task.Corpus.Pairs)))
	fmt.Fprintf(d.stdout, "  %-18s %9s %10s %7s\n", "", "recall@1", "recall@10", "MRR")
	for _, row := range []struct {
		name string
		f    towers.Figures
	}{{"trained towers", trained}, {"untrained towers", untrained}, {"BM25", task.BM25Figures()}} {
		fmt.Fprintf(d.stdout, "  %-18s %9.2f %10.2f %7.2f\n", row.name, row.f.Recall1, row.f.Recall10, row.f.MRR)
	}
	fmt.Fprintln(d.stdout)
}

// ways prints a table with an order a line and a number of workers a column.
func (d *demo) ways(w *towers.Ways) {
	fmt.Fprint(d.stdout, "\nThat step swept in other orders, by more workers; a number stands for all bits\nof all gradients:\n\n")
	fmt.Fprintf(d.stdout, "  %-22s", "")
	order := w.Ways[0].Order
	for _, way := range w.Ways {
		if way.Order == order {
			fmt.Fprintf(d.stdout, "%12s", counted(way.Workers, "worker"))
		}
	}
	order = ""
	for _, way := range w.Ways {
		if way.Order != order {
			order = way.Order
			fmt.Fprintf(d.stdout, "\n  %-22s", order)
		}
		fmt.Fprintf(d.stdout, "%12s", fmt.Sprintf("%08x", way.Print))
	}
	fmt.Fprint(d.stdout, "\n\n")
	if w.Agree() {
		fmt.Fprintf(d.stdout, "All bits agree: %s numbers in %d gradients, swept in %d ways.\n", grouped(w.Numbers), w.Gradients, len(w.Ways))
		return
	}
	for _, way := range w.Ways {
		if len(way.Differs) > 0 {
			fmt.Fprintln(d.stdout, wrap(fmt.Sprintf("Bits differ: %s, %s: the gradients of %s.", way.Order, counted(way.Workers, "worker"), strings.Join(way.Differs, ", ")), columns, "  "))
		}
	}
}

// write leaves the picture, the record and the towers in the folder.
func (d *demo) write(task *towers.Task, m *towers.Model, rec *record.Record) error {
	var picture, page bytes.Buffer
	if err := errors.Join(draw.SVG(&picture, rec, draw.Options{}), view.HTML(&page, rec)); err != nil {
		return err
	}
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	if err := towers.WriteFile(filepath.Join(d.out, towersSVG), picture.Bytes()); err != nil {
		return err
	}
	if err := towers.WriteFile(filepath.Join(d.out, towersPage), page.Bytes()); err != nil {
		return err
	}
	if err := rec.Write(filepath.Join(d.out, towersRecord)); err != nil {
		return err
	}
	t := towers.Trained{Model: m, Vocab: task.Vocab, Steps: d.steps, Seed: d.seed}
	return t.Save(d.out)
}

// goOn says what was written, and what can be done with it.
func (d *demo) goOn(rec *record.Record) {
	fmt.Fprintf(d.stdout, "\nWritten to %s:\n", d.out)
	for _, f := range [][2]string{
		{towersSVG, "the picture of that step"},
		{towersPage, "the page of that step: the sweep as a film, and why"},
		{towersRecord, "its record: what ran, what was kept and why, the sweep"},
		{towers.ModelFile, "the trained towers"},
		{towers.VocabularyFile, "the words that they know"},
	} {
		fmt.Fprintf(d.stdout, "  %-22s  %s\n", f[0], f[1])
	}
	command := "backsweep"
	if strings.Contains(os.Args[0], "go-build") { // started by go run, so there is no such command on the PATH
		command = "go run ./cmd/backsweep"
	}
	file := quoted(filepath.Join(d.out, towersRecord))
	out := ""
	if d.given("out") {
		out = " --out " + quoted(d.out)
	}
	fmt.Fprint(d.stdout, "\nGo on with:\n")
	fmt.Fprintf(d.stdout, "  %s demo%s --ask 'trim spaces from both ends'\n", command, out)
	if !d.share {
		fmt.Fprintf(d.stdout, "  %s demo --share        which finds more\n", command)
	}
	if h, dots := producer(rec, "q.h"), producer(rec, "dots"); h != "" && dots != "" {
		fmt.Fprintf(d.stdout, "  %s why %s %s %s\n", command, file, h, dots)
	}
	fmt.Fprintf(d.stdout, "  %s view %s --open\n", command, file)
	fmt.Fprintf(d.stdout, "  %s why %s q.bag\n", command, file)
	fmt.Fprintf(d.stdout, "  %s payload %s\n", command, file)
	fmt.Fprintf(d.stdout, "  %s draw %s --format mermaid\n", command, file)
}

// producer is the id of the node that made the tensor of that name.
func producer(rec *record.Record, name string) string {
	found, err := rec.Find(name)
	if err != nil || found.Tensor < 0 {
		return ""
	}
	return "n" + strconv.Itoa(rec.Tensors[found.Tensor].Producer)
}

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return strings.ContainsRune(" \t\n'\"\\$`&|;<>()*?[]#~!{}", r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// answer is the demo with --ask: it trains only if nothing is there.
func (d *demo) answer() error {
	if len(strings.Fields(d.ask)) == 0 {
		return misuse("say in a few words what a function should do", "--ask is empty")
	}
	trained, err := towers.Load(d.out)
	if errors.Is(err, fs.ErrNotExist) {
		trained, err = d.prepare()
	} else if err == nil {
		err = d.matches(trained)
	}
	if err != nil {
		return err
	}
	question := trained.Vocab.Bags([]string{d.ask}).Of(0)
	if len(question) == 0 {
		return &noError{fmt.Sprintf("the towers know none of the words of %q", d.ask)}
	}
	corpus, err := d.corpus()
	if err != nil {
		return err
	}
	scores := trained.Model.Index(trained.Vocab.Bags(corpus.Documents())).Scores(question)
	for i, id := range towers.Top(scores, 10) {
		p := &corpus.Pairs[id]
		fmt.Fprintln(d.stdout, shortened(fmt.Sprintf("%2d  %s  %s", i+1, p.Title(), p.Query), columns))
	}
	return nil
}

// prepare trains the towers that are not there yet, and leaves them in the
// folder.
func (d *demo) prepare() (*towers.Trained, error) {
	fmt.Fprintf(d.stderr, "there are no towers in %s yet; training them first\n", d.out)
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return nil, err
	}
	task, err := d.task()
	if err != nil {
		return nil, err
	}
	m := task.NewModel(d.share)
	if _, err := d.train(task, m); err != nil {
		return nil, err
	}
	rec, err := task.Record(d.ctx, m)
	if err != nil {
		return nil, err
	}
	if err := d.write(task, m, rec); err != nil {
		return nil, err
	}
	return towers.Load(d.out)
}

// matches refuses flags that say otherwise than the towers that are there.
func (d *demo) matches(t *towers.Trained) error {
	for _, f := range []struct {
		flag       string
		says, have any
	}{{"share", d.share, t.Model.Shared}, {"steps", d.steps, t.Steps}, {"seed", d.seed, t.Seed}} {
		if d.given(f.flag) && f.says != f.have {
			return misuse("leave the flag out, or name another --out", "--%s=%v, but the towers in %s were trained with %v", f.flag, f.says, d.out, f.have)
		}
	}
	return nil
}

// shortened cuts a line to so many characters, the last of which then is "…".
func shortened(line string, width int) string {
	if runes := []rune(line); len(runes) > width {
		return strings.TrimRight(string(runes[:width-1]), " ,;") + "…"
	}
	return line
}

// grouped is a number with its thousands apart: "3,966".
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
