package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/view"
)

// pictures are the formats of draw, and the endings of files that imply them.
var pictures = map[string]func(io.Writer, *record.Record, draw.Options) error{
	"text": draw.Text, "svg": draw.SVG, "dot": draw.DOT, "mermaid": draw.Mermaid,
	"html": func(w io.Writer, rec *record.Record, _ draw.Options) error { return view.HTML(w, rec) },
}

var endings = map[string]string{".svg": "svg", ".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".txt": "text", ".html": "html"}

func drawCommand() *cobra.Command {
	var f sourceFlags
	var format, out, style, order string
	var lines int
	c := &cobra.Command{
		Use:   "draw SOURCE",
		Short: "Draw what was recorded and how the sweep goes",
		Long:  wrap("draw prints the graph as text, or as SVG, DOT, Mermaid or a page of its own (html). The forward pass runs down, the sweep runs up and numbers the nodes; each node says what it keeps.", columns, ""),
		Example: `  backsweep draw -e 'h := tanh(x*w); sum(h)' --in x:3
  backsweep draw towers.record.json.gz -o towers.svg`,
		RunE: func(c *cobra.Command, args []string) error {
			s, rest, err := f.open(c, args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return misuse("", "draw takes a SOURCE alone, not %q", rest[0])
			}
			if !c.Flags().Changed("format") {
				if byName := endings[strings.ToLower(filepath.Ext(out))]; byName != "" {
					format = byName
				}
			}
			picture, ok := pictures[format]
			if !ok {
				return misuse("say text, svg, dot, mermaid or html", "there is no --format %s", format)
			}
			if style != string(draw.Ops) && style != string(draw.Bipartite) {
				return misuse("say ops or bipartite", "there is no --style %s", style)
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
			o := draw.Options{Style: draw.Style(style)}
			if format == "text" {
				o.Lines = lines
			}
			return deliver(c.OutOrStdout(), out, func(w io.Writer) error { return picture(w, rec, o) })
		},
	}
	f.add(c)
	c.Flags().StringVar(&format, "format", "text", "text, svg, dot, mermaid or html; without it, by the name of -o")
	c.Flags().StringVarP(&out, "output", "o", "", "write to this `FILE`")
	c.Flags().StringVar(&style, "style", "ops", "ops (tensors are edges) or bipartite")
	c.Flags().StringVar(&order, "order", "tape", "number the nodes by this order: tape, depth, breadth, random, leanest, or 'id,id,…'")
	addLines(c, &lines)
	return c
}

// deliver writes to a file, whole or not at all, or to w when there is no name.
func deliver(w io.Writer, path string, f func(io.Writer) error) error {
	var b bytes.Buffer
	if err := f(&b); err != nil {
		return err
	}
	if path == "" || path == "-" {
		_, err := b.WriteTo(w)
		return err
	}
	return writing(path, os.WriteFile(path, b.Bytes(), 0o644))
}

// writing names the file in an error of writing it.
func writing(path string, err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if err == nil {
		return nil
	}
	return misuse("", "%s cannot be written: %s", path, strings.TrimPrefix(err.Error(), "record: "))
}
