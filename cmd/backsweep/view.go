package main

import (
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/view"
)

func viewCommand() *cobra.Command {
	var f sourceFlags
	var addr, order, against string
	var open bool
	c := &cobra.Command{
		Use:   "view SOURCE",
		Short: "Open a page that shows the graph and plays the sweep",
		Long: wrap("view serves a page on this machine until it is interrupted: the graph, the sweep as a film in any order, why one node must wait for another, what keeps memory, and how the record differs from an older one. "+
			"draw -o FILE.html writes the same page into one file, to be sent to somebody.", columns, ""),
		Example: `  backsweep view -e 'h := tanh(x*w); sum(h*h)' --in x:3 --open
  backsweep view towers.record.json.gz
  backsweep view new.record.json.gz --against old.record.json.gz`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("", "view takes a SOURCE alone, not %q", rest[0])
			}
			spec, err := parseOrder(order)
			if err != nil {
				return err
			}
			rec := s.file
			if rec == nil || rec.Sweep != nil && c.Flags().Changed("order") {
				if rec, err = s.plan(spec); err != nil {
					return err
				}
			}
			var old *record.Record
			if against != "" {
				if old, err = readRecord(against); err != nil {
					return err
				}
			}
			ready := func(url string) {
				fmt.Fprintf(c.OutOrStdout(), "%s\nInterrupt it (Ctrl-C) to end.\n", url)
				if open {
					browse(url)
				}
			}
			opts := []view.Option{view.Ready(ready)}
			if old != nil {
				opts = append(opts, view.Against(old))
			}
			return view.Serve(c.Context(), addr, rec, opts...)
		},
	}
	f.add(c)
	c.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "the `ADDRESS` to serve on; port 0 is any that is free")
	c.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	c.Flags().StringVar(&against, "against", "", "compare with this older record, a `FILE`")
	c.Flags().StringVar(&order, "order", "tape", "the order to begin with: tape, depth, breadth, random, leanest, or 'id,id,…'")
	return c
}

// browse opens a page in the person's browser. Where there is none, the address
// has been printed.
func browse(url string) {
	switch runtime.GOOS {
	case "darwin":
		_ = exec.Command("open", url).Start()
	case "windows":
		_ = exec.Command("rundll32", "url.dll,FileProtocolHandler", url).Start()
	default:
		_ = exec.Command("xdg-open", url).Start()
	}
}
