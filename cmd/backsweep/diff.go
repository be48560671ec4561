package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/record"
)

func diffCommand() *cobra.Command {
	var asJSON bool
	var lines int
	c := &cobra.Command{
		Use:     "diff RECORD RECORD",
		Short:   "Say what appeared, went and changed between two records",
		Long:    wrap("diff aligns two records by scope path, then by op and operands. It exits with 1 when they differ.", columns, ""),
		Example: "  backsweep diff before.json after.json.gz",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return misuse("backsweep record writes them", "diff takes two records, and %d are given", len(args))
			}
			a, err := readRecord(args[0])
			if err != nil {
				return err
			}
			b, err := readRecord(args[1])
			if err != nil {
				return err
			}
			d := record.Compare(a, b)
			if asJSON {
				if d.Differences == nil {
					d.Differences = []record.Difference{}
				}
				err = writeJSON(c.OutOrStdout(), d)
			} else {
				err = printTo(c.OutOrStdout(), lines, func(w io.Writer) error {
					_, err := d.WriteTo(w)
					return err
				})
			}
			if err == nil && len(d.Differences) > 0 {
				return errNo
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addLines(c, &lines)
	return c
}
