package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
)

type gradFlags struct {
	source      sourceFlags
	all         bool
	mode, wrt   string
	order       string
	workers     int
	json        bool
	lines       int
	modeChanged bool
}

func gradCommand() *cobra.Command {
	f := &gradFlags{}
	c := &cobra.Command{
		Use:   "grad -e 'PROGRAM'",
		Short: "Compute the loss and its gradients",
		Long: wrap(`grad runs the program, sweeps it, and prints the loss and each input's gradient with its state: computed, unconnected (zero, because no path leads from it to the loss), released or not asked for. Nothing stands in for a gradient that was not computed.

--mode forward gets the same gradients by pushing one tangent for each entry of each input; --wrt 'x[0]' shows one such sweep.`, columns, ""),
		Example: `  backsweep grad -e 'x*x + exp(x)' --in x=2.5
  backsweep grad -e 'h := tanh(x); sum(h*h)' --in x='[1,2]' --all
  backsweep grad -e 'sum(tanh(x*w))' --in x:3 --in w:3 --mode both
  backsweep grad -e 'a := exp(x); b := tanh(x); a*b' --order all`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.source.open(c, args)
			if err != nil {
				return err
			}
			if err := s.needProgram("grad"); err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("inputs are given with --in", "grad takes a program alone, not %q", rest[0])
			}
			f.modeChanged = c.Flags().Changed("mode")
			return f.run(c.OutOrStdout(), s)
		},
	}
	f.source.add(c)
	fl := c.Flags()
	fl.BoolVar(&f.all, "all", false, "each tensor's gradient, the loss's 1 first")
	fl.StringVar(&f.mode, "mode", "reverse", "reverse, forward or both")
	fl.StringVar(&f.wrt, "wrt", "", "one forward sweep: everything's derivative for one entry, 'x[0]'")
	fl.StringVar(&f.order, "order", "tape", fmt.Sprintf("tape, depth, breadth, random, leanest, 'id,id,…', or all: every legal order, up to %d", maxRuns))
	fl.IntVar(&f.workers, "workers", 1, "how many workers sweep")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	addLines(c, &f.lines)
	return c
}

func (f *gradFlags) run(w io.Writer, s *source) error {
	switch {
	case f.wrt != "" && f.modeChanged && f.mode != "forward":
		return misuse("leave --mode out", "--wrt is a forward sweep, not --mode %s", f.mode)
	case f.wrt != "":
		return f.printAll(w, s, f.oneTangent)
	}
	switch f.mode {
	case "reverse":
		if f.order == "all" {
			return f.printAll(w, s, f.everyOrder)
		}
		return f.printAll(w, s, f.reverse)
	case "forward", "both":
		if f.all || f.order != "tape" {
			return misuse("leave --all and --order out", "--mode %s gives the gradients of inputs, in tape order", f.mode)
		}
		if f.mode == "forward" {
			return f.printAll(w, s, f.forward)
		}
		return f.printAll(w, s, f.both)
	}
	return misuse("say reverse, forward or both", "there is no --mode %s", f.mode)
}

func (f *gradFlags) printAll(w io.Writer, s *source, answer func(*source) (*gradAnswer, error)) error {
	a, err := answer(s)
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(w, a)
	} else {
		err = printTo(w, f.lines, func(w io.Writer) error {
			a.print(w)
			return nil
		})
	}
	if err == nil && a.no {
		return errNo
	}
	return err
}

// options are those of the sweep, but for the order all.
func (f *gradFlags) options(s *source) ([]backsweep.SweepOption, error) {
	opts := []backsweep.SweepOption{backsweep.Workers(f.workers)}
	if f.all {
		opts = append(opts, backsweep.KeepGrads())
	}
	if f.order == "tape" || f.order == "all" {
		return opts, nil
	}
	spec, err := parseOrder(f.order)
	if err != nil {
		return nil, err
	}
	tape := backsweep.NewTape()
	if _, err := s.run(tape); err != nil {
		return nil, err
	}
	rec, err := tape.Record()
	if err != nil {
		return nil, err
	}
	order, err := s.sweepOrder(spec, rec)
	return append(opts, order), err
}

func (f *gradFlags) reverse(s *source) (*gradAnswer, error) {
	opts, err := f.options(s)
	if err != nil {
		return nil, err
	}
	sw, err := s.sweep(backsweep.NewTape(), opts...)
	if err != nil {
		return nil, illegal(err)
	}
	return f.answer(s, sw)
}

// answer gathers what a sweep computed.
func (f *gradFlags) answer(s *source, sw *swept) (*gradAnswer, error) {
	rec, err := sw.run.Tape.Record()
	if err != nil {
		return nil, err
	}
	a := newAnswer(sw.run, sw.loss)
	if !f.all {
		for _, name := range s.program.Inputs() {
			x := sw.run.Inputs[name]
			if x == nil {
				a.entries = append(a.entries, gradEntry{key: name, state: backsweep.Unconnected, note: "this run did not meet it"})
				continue
			}
			g, state := sw.grads.Lookup(x)
			a.entries = append(a.entries, newEntry(name, x, g, state))
		}
		return a, nil
	}
	keys := tensorKeys(sw.run, rec)
	add := func(id int) {
		x := sw.run.Tensors[id]
		g, state := sw.grads.Lookup(x)
		a.entries = append(a.entries, newEntry(keys[id], x, g, state))
	}
	loss := sw.run.Loss.ID()
	add(loss)
	for id := len(sw.run.Tensors) - 1; id >= 0; id-- {
		if id != loss {
			add(id)
		}
	}
	return a, nil
}
