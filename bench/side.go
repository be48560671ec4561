package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// side is a process that runs jobs for one library; see [serve] for how it is
// spoken to. Every library has a process of its own, ours included, so that no
// side's collector, memory or threads weigh on another's figures.
type side struct {
	command *exec.Cmd
	to      io.WriteCloser
	from    *bufio.Scanner
	ended   bool // it failed
}

// Environment that would make a peer slower or faster than it comes.
var unset = []string{"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "ATEN_CPU_CAPABILITY", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG"}

// startSide starts the process of a library with so many threads.
func startSide(name string, threads int) (*side, error) {
	var c *exec.Cmd
	if name == "torch" {
		python, err := findTorch()
		if err != nil {
			return nil, err
		}
		c = exec.Command(python, "-u", "-c", torchScript, strconv.Itoa(threads))
	} else {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c = exec.Command(self, "-serve", name)
	}
	for _, e := range os.Environ() {
		key, _, _ := strings.Cut(e, "=")
		if !slices.Contains(unset, key) {
			c.Env = append(c.Env, e)
		}
	}
	if openBLASCore != "" {
		c.Env = append(c.Env, "OPENBLAS_CORETYPE="+openBLASCore)
	}
	n := strconv.Itoa(threads)
	c.Env = append(c.Env, "GOMAXPROCS="+n, "OMP_NUM_THREADS="+n, "OPENBLAS_NUM_THREADS="+n)
	c.Stderr = os.Stderr
	to, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	return &side{command: c, to: to, from: lines}, nil
}

// ask sends a request and returns the fields of the answer.
func (s *side) ask(format string, a ...any) ([]string, error) {
	if _, err := fmt.Fprintf(s.to, format+"\n", a...); err != nil {
		s.ended = true
		return nil, err
	}
	if !s.from.Scan() {
		s.ended = true
		return nil, errors.Join(fmt.Errorf("the process ended at "+format, a...), s.from.Err())
	}
	return strings.Fields(s.from.Text()), nil
}

// prepare makes the side ready for a job and returns the values to compare.
func (s *side) prepare(name string) ([]float64, error) {
	f, err := s.ask("prepare %s", name)
	if err != nil {
		return nil, err
	}
	if f[0] != "ok" {
		return nil, errors.New(strings.Join(f[1:], " "))
	}
	return floats(f[1:])
}

// run repeats the job n times and returns the nanoseconds that they took.
func (s *side) run(n int) (cpu, wall float64, err error) {
	f, err := s.ask("run %d", n)
	if err != nil {
		return 0, 0, err
	}
	v, err := floats(f)
	if err != nil || len(v) != 2 {
		return 0, 0, fmt.Errorf("answer %q: %w", f, err)
	}
	return v[0], v[1], nil
}

// one sends a request whose answer is one number.
func (s *side) one(format string, a ...any) (float64, error) {
	f, err := s.ask(format, a...)
	if err != nil {
		return 0, err
	}
	v, err := floats(f)
	if err != nil || len(v) != 1 {
		return 0, fmt.Errorf("answer %q: %w", f, err)
	}
	return v[0], nil
}

// stop ends the process.
func (s *side) stop() {
	s.to.Close()
	s.command.Wait()
}

func floats(f []string) ([]float64, error) {
	v := make([]float64, len(f))
	for i := range f {
		x, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			return nil, err
		}
		v[i] = x
	}
	return v, nil
}
