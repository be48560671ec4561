package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
)

func opsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "ops [NAME…]",
		Short: "List the op table",
		Long:  wrap("ops lists what a program can call: the tensors and attributes that each op takes, what it computes, its gradient rule, and what the rule reads back.", columns, ""),
		RunE: func(c *cobra.Command, args []string) error {
			rows, err := chosen(args)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), rows)
			}
			printOps(c.OutOrStdout(), rows)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func chosen(names []string) ([]backsweep.OpInfo, error) {
	all := backsweep.Ops()
	if len(names) == 0 {
		return all, nil
	}
	var rows []backsweep.OpInfo
	for _, name := range names {
		n := len(rows)
		for _, o := range all {
			if o.Name == name {
				rows = append(rows, o)
			}
		}
		if len(rows) == n {
			return nil, misuse("backsweep ops lists them all", "there is no op %s", name)
		}
	}
	return rows, nil
}

func printOps(w io.Writer, rows []backsweep.OpInfo) {
	for _, o := range rows {
		fmt.Fprintln(w, wrap(callText(o), columns, "    "))
		doc := o.Doc
		if o.Engine {
			doc += " (gradient rules are written in it)"
		}
		fmt.Fprintln(w, wrap("    "+doc, columns, "    "))
		switch {
		case o.Constant:
			fmt.Fprintln(w, "    no gradient flows through it")
		case len(o.Reads) > 0:
			fmt.Fprintln(w, wrap("    "+o.Formula+"; keeps "+strings.Join(o.Reads, ", "), columns, "    "))
		default:
			fmt.Fprintln(w, wrap("    "+o.Formula+"; keeps nothing", columns, "    "))
		}
	}
}

// callText is an op as a call: "sum(x, axes ints = all, keepdims bool = false)".
func callText(o backsweep.OpInfo) string {
	var args []string
	switch {
	case o.Tensors < 0:
		args = append(args, "x, y, …")
	default:
		for i := range o.Tensors {
			args = append(args, string([]rune("xyzuvw")[i%6]))
		}
	}
	for _, a := range o.Attrs {
		kind := a.Type
		if len(a.Words) > 0 {
			kind = strings.Join(a.Words, "|")
		}
		text := a.Name + " " + kind
		if a.Optional && a.Default != "" {
			text += " = " + a.Default
		}
		args = append(args, text)
	}
	s := o.Name + "(" + strings.Join(args, ", ") + ")"
	if o.Outputs != 1 {
		s += " → several"
	}
	return s
}
