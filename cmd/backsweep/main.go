// Command backsweep shows, explains and runs the backward sweeps of small
// programs, and answers questions about records of larger ones.
//
//	backsweep draw -e 'h := tanh(x*w); sum(h)' --in x:3
//	backsweep grad -e 'x*x + exp(x)' --in x=2.5
//	backsweep order -e 'a := exp(x); b := tanh(x); a*b' --all
//	backsweep why towers.record.json.gz n3 n9
//	backsweep view towers.record.json.gz --open
//
// It exits with 1 when the answer is no (an illegal order, two records that
// differ, bits that disagree, a graph beyond a limit), and with 2 when it was
// used wrongly.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/internal/expr"
	"github.com/backsweep/backsweep/order"
	"github.com/backsweep/backsweep/view"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	done := make(chan int, 1)
	go func() { done <- run(ctx, os.Args[1:], os.Stdout, os.Stderr) }()
	code := 0
	select {
	case code = <-done:
	case <-ctx.Done():
		// Sweeps and loops end by themselves. A count or a layout may not.
		select {
		case code = <-done:
		case <-time.After(grace):
			fmt.Fprintln(os.Stderr, "backsweep: interrupted")
			code = exitInterrupted
		}
	}
	stop()
	os.Exit(code)
}

// grace is how long an interrupted command may take to end by itself.
const grace = 2 * time.Second

// Exit codes.
const (
	exitNo          = 1   // the answer is no
	exitUsage       = 2   // wrong use
	exitInterrupted = 130 // ended by a signal, as a shell reports it
)

// usageError is wrong use of the command.
type usageError struct{ what, hint string }

func (e *usageError) Error() string {
	if e.hint == "" {
		return e.what
	}
	return e.what + "; " + e.hint
}

func misuse(hint, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), hint}
}

// noError is an answer of no: what was asked was understood.
type noError struct{ what string }

func (e *noError) Error() string { return e.what }

// errNo is a no that has been printed already.
var errNo = &noError{}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "backsweep: interrupted")
		return exitInterrupted
	}
	report(stderr, err)
	return exitCode(err)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "backsweep",
		Short: "Show, explain and run backward sweeps",
		Long: wrap(`backsweep runs small programs on a tape and shows what the backward sweep does with them: what was recorded, in which orders the sweep may go, what it keeps and why, and the gradients.

A SOURCE is -e 'PROGRAM' or the file of a record (.json, .json.gz). A program has Go's syntax: statements name := expr, separated by ; or new lines, the last of which is the loss. Names that no statement produces are inputs.`, columns, ""),
		Example: `  backsweep draw -e 'h := tanh(x*w); sum(h)' --in x:3
  backsweep grad -e 'x*x + exp(x)' --in x=2.5
  backsweep order -e 'a := exp(x); b := tanh(x); a*b' --all`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse("backsweep --help lists the commands", "there is no command %q", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return misuse(c.CommandPath()+" --help says what there is", "%v", err)
	})
	root.AddCommand(drawCommand(), gradCommand(), orderCommand(), whyCommand(), payloadCommand(), diffCommand(), viewCommand(), recordCommand(), opsCommand(), demoCommand())
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", columns)))
	return root
}

// report prints an error in a line or two, with the place in the program where
// it has one.
func report(w io.Writer, err error) {
	if err == error(errNo) {
		return
	}
	text := strings.TrimPrefix(err.Error(), "backsweep: ")
	var place *expr.Error
	var lib *backsweep.Error
	switch {
	case errors.As(err, &place):
		fmt.Fprintln(w, wrap("backsweep: "+place.Error(), columns, "  "))
		if strings.TrimSpace(place.Text) == "" {
			return
		}
		fmt.Fprintln(w, "  "+strings.ReplaceAll(place.Snippet(columns-4), "\n", "\n  "))
		return
	case errors.As(err, &lib):
		text = lib.What
		if lib.Do != "" {
			text += "; " + lib.Do
		}
	}
	for _, package_ := range []string{"record: ", "order: ", "draw: ", "view: "} {
		text = strings.TrimPrefix(text, package_)
	}
	fmt.Fprintln(w, wrap("backsweep: "+text, columns, "  "))
}

func exitCode(err error) int {
	var no *noError
	var large *order.TooLargeError
	var picture *draw.TooLargeError
	var page *view.TooLargeError
	var lib *backsweep.Error
	switch {
	case errors.As(err, &no), errors.As(err, &large), errors.As(err, &picture), errors.As(err, &page):
		return exitNo
	case errors.As(err, &lib) && errors.Is(lib, backsweep.ErrOrder):
		return exitNo
	}
	return exitUsage
}
