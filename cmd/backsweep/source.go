package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/expr"
	"github.com/backsweep/backsweep/record"
)

// sourceFlags are the flags of every command that takes a SOURCE.
type sourceFlags struct {
	program string
	in      []string
	dtype   string
	seed    uint64
}

func (f *sourceFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVarP(&f.program, "program", "e", "", "the `PROGRAM`, for instance 'y := tanh(x); sum(y)'")
	fl.StringArrayVar(&f.in, "in", nil, "an input: x=2.5, x='[[1,2],[3,4]]', x=FILE.npy, or x:2x3, filled at random; x:int64=… for indices")
	fl.StringVar(&f.dtype, "dtype", "float32", "element type of the program's numbers: float32 or float64")
	fl.Uint64Var(&f.seed, "seed", 1, "of inputs filled at random, and of --order random")
}

// source is what a command works on: a program, which can run, or a record,
// which can be asked.
type source struct {
	flags   *sourceFlags
	ctx     context.Context
	dtype   backsweep.DType
	program *expr.Program
	values  *inputs
	file    *record.Record
}

// open reads the SOURCE and returns the arguments that follow it.
func (f *sourceFlags) open(c *cobra.Command, args []string) (*source, []string, error) {
	s := &source{flags: f, ctx: c.Context()}
	switch f.dtype {
	case "float32":
		s.dtype = backsweep.Float32
	case "float64":
		s.dtype = backsweep.Float64
	default:
		return nil, nil, misuse("say float32 or float64", "there is no --dtype %s", f.dtype)
	}
	if !c.Flags().Changed("program") {
		if len(args) == 0 {
			return nil, nil, misuse("give -e 'PROGRAM', or the file of a record", "there is no SOURCE")
		}
		if c.Flags().Changed("in") || c.Flags().Changed("dtype") {
			return nil, nil, misuse("they belong to a program, -e '…'", "a record takes no --in and no --dtype")
		}
		rec, err := readRecord(args[0])
		s.file = rec
		return s, args[1:], err
	}
	p, err := expr.Parse(f.program)
	if err != nil {
		return nil, nil, err
	}
	s.program = p
	s.values, err = readInputs(f.in, s.dtype, f.seed, p.Inputs())
	if err == nil {
		s.values.announce(c.ErrOrStderr())
	}
	return s, args, err
}

func readRecord(path string) (*record.Record, error) {
	rec, err := record.Read(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		hint := "a program is given with -e 'PROGRAM'"
		return nil, misuse(hint, "there is no file %s", path)
	case err != nil:
		what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), path+": "), "record: ")
		return nil, misuse("", "%s is no record: %s", path, what)
	}
	return rec, nil
}

// run records the program on an empty tape.
func (s *source) run(tape *backsweep.Tape) (*expr.Run, error) {
	return s.program.Run(tape, expr.Options{DType: s.dtype, Input: s.values.value, Context: s.ctx})
}

// needProgram refuses a record where values are wanted.
func (s *source) needProgram(what string) error {
	if s.program == nil {
		return misuse("give the program with -e '…'", "%s needs a program: a record has no values", what)
	}
	return nil
}

// title names the source in records and pictures.
func (s *source) title() string {
	if s.program == nil {
		return s.file.Title
	}
	return strings.Join(strings.Fields(s.program.Source()), " ")
}

// orderSpec is what --order says.
type orderSpec struct {
	kind string   // tape, depth, breadth, random, leanest, given
	ids  []string // of a given order
}

func parseOrder(text string) (orderSpec, error) {
	switch text {
	case "", "tape":
		return orderSpec{kind: "tape"}, nil
	case "depth", "breadth", "random", "leanest":
		return orderSpec{kind: text}, nil
	}
	if !strings.ContainsAny(text, ",0123456789") {
		return orderSpec{}, misuse("say tape, depth, breadth, random, leanest, or node ids: 'n4,n3,n1'", "there is no order %q", text)
	}
	return orderSpec{kind: "given", ids: strings.Split(text, ",")}, nil
}

// nodes finds the nodes of an order of one's own: 4, n4, or any other name of a
// node.
func (o orderSpec) nodes(rec *record.Record) ([]int, error) {
	var ids []int
	for _, name := range o.ids {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		if n, err := strconv.Atoi(name); err == nil {
			if n < 0 || n >= len(rec.Nodes) {
				return nil, &noError{fmt.Sprintf("the order is not legal: there is no node %d; nodes run from 0 to %d", n, len(rec.Nodes)-1)}
			}
			ids = append(ids, n)
			continue
		}
		n, err := findNode(rec, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, n)
	}
	return ids, nil
}

// sweepOrder is the option that makes a sweep take the order.
func (s *source) sweepOrder(o orderSpec, rec *record.Record) (backsweep.SweepOption, error) {
	switch o.kind {
	case "depth":
		return backsweep.WithOrder(backsweep.DepthFirst), nil
	case "breadth":
		return backsweep.WithOrder(backsweep.BreadthFirst), nil
	case "leanest":
		return backsweep.WithOrder(backsweep.Leanest), nil
	case "random":
		return backsweep.WithOrder(backsweep.RandomOrder(s.flags.seed)), nil
	case "given":
		ids, err := o.nodes(rec)
		return backsweep.WithOrder(backsweep.GivenOrder(ids...)), err
	}
	return backsweep.WithOrder(backsweep.TapeOrder), nil
}

// plan returns a record whose sweep is planned under an order. A program's is
// the tape's own plan, which is what Backward runs.
func (s *source) plan(o orderSpec) (*record.Record, error) {
	if s.program == nil {
		return s.replan(o)
	}
	tape := backsweep.NewTape()
	run, err := s.run(tape)
	if err != nil {
		return nil, err
	}
	bare, err := tape.Record()
	if err != nil {
		return nil, err
	}
	opt, err := s.sweepOrder(o, bare)
	if err != nil {
		return nil, err
	}
	if _, err := tape.Plan(run.Loss, opt); err != nil {
		return nil, illegal(err)
	}
	return tape.Record(backsweep.Title(s.title()))
}

// replan plans the sweep of a record anew.
func (s *source) replan(o orderSpec) (*record.Record, error) {
	rec := s.file
	if rec.Sweep == nil {
		return nil, &noError{"the record has no sweep, so there is no plan to show; backsweep record makes records that have one"}
	}
	g, nodes, err := rec.Graph()
	if err != nil {
		return nil, err
	}
	var seq []int32
	switch o.kind {
	case "tape":
		seq = g.Tape()
	case "depth":
		seq = g.Depth()
	case "breadth":
		seq = g.Breadth()
	case "random":
		seq = g.Random(s.flags.seed)
	case "leanest":
		sizes, err := rec.Sizes()
		if err != nil {
			return nil, err
		}
		seq = g.Leanest(sizes)
	}
	ids := nodeIDs(nodes, seq)
	if o.kind == "given" {
		if ids, err = o.nodes(rec); err != nil {
			return nil, err
		}
	}
	planned := *rec
	if planned.Sweep, err = rec.Replan(ids); err != nil {
		return nil, illegal(err)
	}
	planned.Sweep.Order = o.kind
	if o.kind == "random" {
		planned.Sweep.Seed = s.flags.seed
	}
	return &planned, nil
}

// illegal makes an order that is refused an answer of no.
func illegal(err error) error {
	var lib *backsweep.Error
	var seq *record.SequenceError
	switch {
	case errors.As(err, &lib) && errors.Is(lib, backsweep.ErrOrder):
		return &noError{"the order is not legal: " + lib.What + "; " + lib.Do}
	case errors.As(err, &seq):
		do := "list each node of the sweep once"
		if seq.Consumer >= 0 {
			do = "visit a node after all consumers of its output"
		}
		return &noError{"the order is not legal: " + seq.What + "; " + do}
	}
	return err
}

func nodeIDs(nodes []int, seq []int32) []int {
	ids := make([]int, len(seq))
	for i, v := range seq {
		ids[i] = nodes[v]
	}
	return ids
}

// findNode finds the node that a name stands for; that of a tensor stands for
// the node that produced it.
func findNode(rec *record.Record, name string) (int, error) {
	f, err := find(rec, name)
	if err != nil {
		return 0, err
	}
	if f.Node >= 0 {
		return f.Node, nil
	}
	if n := rec.Tensors[f.Tensor].Producer; n >= 0 {
		return n, nil
	}
	return 0, misuse("name a node: n0, n1, …", "%s is a leaf: no node produced it, and the sweep visits nodes", rec.TensorName(f.Tensor))
}

func find(rec *record.Record, name string) (record.Found, error) {
	f, err := rec.Find(name)
	if err != nil {
		return f, misuse("", "%s", strings.TrimPrefix(err.Error(), "record: "))
	}
	return f, nil
}

// printTo runs f with a buffered writer of at most that many lines.
func printTo(w io.Writer, lines int, f func(w io.Writer) error) error {
	e := newElision(w, lines)
	if err := f(e); err != nil {
		return err
	}
	return e.Close()
}

func addLines(c *cobra.Command, lines *int) {
	c.Flags().IntVar(lines, "lines", 200, "print at most so many lines; 0 prints all")
}
