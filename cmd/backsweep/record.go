package main

import (
	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

func recordCommand() *cobra.Command {
	var f sourceFlags
	var out, order string
	var workers int
	c := &cobra.Command{
		Use:   "record SOURCE -o FILE",
		Short: "Run a program and write its record",
		Long:  wrap("record runs a program, sweeps it, and writes what happened: nodes, edges, payload and its reasons, the plan, the events of the sweep, and a summary of each value. The file is compressed when its name ends in .gz. The record of a record is its plan under another order.", columns, ""),
		Example: `  backsweep record -e 'h := tanh(x*w); sum(h)' --in x:3 -o h.record.json
  backsweep record h.record.json --order depth -o deep.record.json.gz`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("", "record takes a SOURCE alone, not %q", rest[0])
			}
			spec, err := parseOrder(order)
			if err != nil {
				return err
			}
			var rec *record.Record
			if s.program == nil {
				rec, err = s.plan(spec)
			} else {
				rec, err = s.record(spec, workers)
			}
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				_, err := rec.WriteTo(c.OutOrStdout())
				return err
			}
			return writing(out, rec.Write(out))
		},
	}
	f.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE` (.json or .json.gz)")
	c.Flags().StringVar(&order, "order", "tape", "tape, depth, breadth, random, leanest, or 'id,id,…'")
	c.Flags().IntVar(&workers, "workers", 1, "how many workers sweep")
	return c
}

// record runs and sweeps the program, and returns the record with the sweep's
// events. Values are summarised before the sweep lets them go.
func (s *source) record(spec orderSpec, workers int) (*record.Record, error) {
	tape := backsweep.NewTape()
	run, err := s.run(tape)
	if err != nil {
		return nil, err
	}
	values, err := tape.Record(backsweep.Stats())
	if err != nil {
		return nil, err
	}
	opt, err := s.sweepOrder(spec, values)
	if err != nil {
		return nil, err
	}
	if _, err := tape.Backward(run.Loss, opt, backsweep.Workers(workers), backsweep.Trace(), backsweep.Context(s.ctx)); err != nil {
		return nil, illegal(err)
	}
	rec, err := tape.Record(backsweep.Title(s.title()))
	if err != nil {
		return nil, err
	}
	for i := range values.Tensors {
		rec.Tensors[i].Stats = values.Tensors[i].Stats
	}
	return rec, nil
}
