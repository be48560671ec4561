package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// job is one workload as one side runs it.
type job struct {
	// run does the work n times.
	run func(n int)
	// values are what the work computes from its first values; where two sides
	// give some, they must agree.
	values []float64
	// figure measures something other than time, in the workload's unit.
	figure func() float64
	// overhead is what a repetition costs in nanoseconds of CPU time that is
	// not the side's: the way into a C library.
	overhead float64
	// done, if there is one, ends the job.
	done func()
}

// maker prepares a job; it is called once, in the process of the side.
type maker func() *job

// library is a side that runs in a process of this program.
type library struct {
	jobs    func() map[string]maker
	version func() string
}

// serve answers the requests of [side] until there are no more. One request or
// answer is one line:
//
//	prepare NAME         ok VALUE...            or: none WHY
//	run N                CPU-NS WALL-NS         for N repetitions
//	figure               VALUE
//	growth N NAME        BYTES                  peak growth over the start, by preparing and N repetitions
//	version              TEXT
func serve(l library, in io.Reader, out io.Writer) error {
	jobs := l.jobs()
	w := bufio.NewWriter(out)
	lines := bufio.NewScanner(in)
	var j *job
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "prepare":
			if j != nil && j.done != nil {
				j.done()
			}
			j = nil // what the job before held can go
			make, ok := jobs[rest]
			if !ok {
				fmt.Fprintln(w, "none this side does not have it")
				break
			}
			j = make()
			fmt.Fprint(w, "ok")
			for _, v := range j.values {
				fmt.Fprintf(w, " %.9g", v)
			}
			fmt.Fprintln(w)
		case "run":
			n, err := strconv.Atoi(rest)
			if err != nil {
				return err
			}
			cpu, wall := clock()
			j.run(n)
			cpu2, wall2 := clock()
			fmt.Fprintf(w, "%.0f %d\n", float64(cpu2-cpu)-j.overhead*float64(n), wall2-wall)
		case "figure":
			fmt.Fprintf(w, "%.9g\n", j.figure())
		case "growth":
			count, name, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				return err
			}
			forgetPeak()
			before, _ := resident()
			jobs[name]().run(n)
			_, peak := resident()
			fmt.Fprintf(w, "%.0f\n", peak-before)
		case "version":
			fmt.Fprintln(w, l.version())
		default:
			return fmt.Errorf("unknown request %q", lines.Text())
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}
