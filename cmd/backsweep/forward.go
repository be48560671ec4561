package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/record"
)

// maxTangents is how many forward sweeps grad runs, one for each entry of an
// input. Tangents live until the tape is reset, so it is reset after some.
const (
	maxTangents = 4096
	tangentLot  = 64
)

// modeCost is what the gradients took in one mode.
type modeCost struct {
	Mode   string  `json:"mode"`
	Sweeps int     `json:"sweeps"`
	Madds  int64   `json:"multiply_adds"`
	Bytes  int64   `json:"bytes"`
	Micros float64 `json:"microseconds"`
}

func printCosts(w io.Writer, table []modeCost) {
	fmt.Fprintf(w, "%-8s %7s %14s %10s %10s\n", "mode", "sweeps", "multiply-adds", "bytes", "time")
	for _, m := range table {
		took := time.Duration(m.Micros * float64(time.Microsecond)).Round(10 * time.Nanosecond)
		fmt.Fprintf(w, "%-8s %7d %14d %10s %10s\n", m.Mode, m.Sweeps, m.Madds, record.BytesText(m.Bytes), took)
	}
}

// forward computes the gradients of the inputs by forward sweeps.
func (f *gradFlags) forward(s *source) (*gradAnswer, error) {
	a, _, err := f.byTangents(s)
	return a, err
}

func (f *gradFlags) byTangents(s *source) (*gradAnswer, *modeCost, error) {
	tape := backsweep.NewTape()
	run, err := s.run(tape)
	if err != nil {
		return nil, nil, err
	}
	a := newAnswer(run, run.Loss.Float64s())
	if _, err := tape.Plan(run.Loss); err != nil { // refuses a loss that is no scalar
		return nil, nil, err
	}
	rec, err := tape.Record()
	if err != nil {
		return nil, nil, err
	}
	entries := 0
	for _, name := range s.program.Inputs() {
		if x := run.Inputs[name]; x != nil && rec.Tensors[x.ID()].Grad == record.Known {
			entries += x.Len()
		}
	}
	if entries > maxTangents {
		return nil, nil, &noError{fmt.Sprintf("forward mode would take %d sweeps, one for each entry of an input, and the limit is %d; reverse mode takes one", entries, maxTangents)}
	}
	cost := &modeCost{Mode: "forward"}
	for _, name := range s.program.Inputs() {
		x := run.Inputs[name]
		if x == nil {
			a.entries = append(a.entries, gradEntry{key: name, state: backsweep.Unconnected, note: "this run did not meet it"})
			continue
		}
		if state := rec.Tensors[x.ID()].Grad; state != record.Known {
			a.entries = append(a.entries, newEntry(name, x, nil, state))
			continue
		}
		e := gradEntry{key: name, state: backsweep.Computed, dtype: x.DType(), shape: x.Shape(), data: make([]float64, x.Len())}
		for i := range e.data {
			if cost.Sweeps > 0 && cost.Sweeps%tangentLot == 0 {
				tape.Reset()
				if run, err = s.run(tape); err != nil {
					return nil, nil, err
				}
			}
			start := time.Now()
			g, err := tape.Forward([]backsweep.Seed{oneHot(run.Inputs[name], i)}, backsweep.Context(s.ctx))
			cost.Micros += micros(start)
			if err != nil {
				return nil, nil, err
			}
			cost.Sweeps++
			cost.Madds += g.Cost()
			if d, ok := g.Lookup(run.Loss); ok {
				e.data[i] = d.Item()
			}
			if cost.Sweeps == 1 {
				cost.Bytes = payloadBytes(rec) + tangentBytes(run.Tensors, g)
			}
		}
		a.entries = append(a.entries, e)
	}
	a.notes = append(a.notes, fmt.Sprintf("Forward mode took %s, one for each entry of an input that leads to the loss.", counted(cost.Sweeps, "sweep")))
	return a, cost, nil
}

func micros(start time.Time) float64 { return float64(time.Since(start).Nanoseconds()) / 1000 }

// oneHot seeds one entry of an input with the tangent 1.
func oneHot(x *backsweep.Tensor, i int) backsweep.Seed {
	data := make([]float64, x.Len())
	data[i] = 1
	return backsweep.Seed{Tensor: x, Tangent: backsweep.New(data, x.Shape()...).Cast(x.DType())}
}

func tangentBytes(tensors []*backsweep.Tensor, g *backsweep.Tangents) int64 {
	var n int64
	for _, x := range tensors {
		if _, ok := g.Lookup(x); ok {
			n += int64(x.Len() * x.DType().Size())
		}
	}
	return n
}

// payloadBytes is what rules keep when the sweep starts.
func payloadBytes(rec *record.Record) int64 {
	if m := rec.Memory(); m != nil {
		return m.Moments[0].Payload
	}
	return 0
}

// both computes the gradients in both modes and compares.
func (f *gradFlags) both(s *source) (*gradAnswer, error) {
	fwd, fcost, err := f.byTangents(s)
	if err != nil {
		return nil, err
	}
	tape := backsweep.NewTape()
	run, err := s.run(tape)
	if err != nil {
		return nil, err
	}
	if _, err := tape.Plan(run.Loss); err != nil {
		return nil, err
	}
	rec, err := tape.Record()
	if err != nil {
		return nil, err
	}
	loss := run.Loss.Float64s()
	start := time.Now()
	grads, err := tape.Backward(run.Loss, backsweep.Workers(f.workers), backsweep.Context(s.ctx))
	rcost := modeCost{Mode: "reverse", Sweeps: 1, Micros: micros(start)}
	if err != nil {
		return nil, err
	}
	rcost.Madds = grads.Cost()
	for _, m := range rec.Memory().Moments {
		rcost.Bytes = max(rcost.Bytes, m.Payload+m.Grads+m.Parked)
	}
	a, err := f.answer(s, &swept{run, loss, grads})
	if err != nil {
		return nil, err
	}
	a.table = []modeCost{rcost, *fcost}
	worst, at := 0., ""
	for i := range a.entries {
		p, q := a.entries[i].data, fwd.entries[i].data
		for k := range p {
			if d := distance(p[k], q[k]); d > worst || math.IsNaN(d) {
				worst, at = d, a.entries[i].key
			}
		}
	}
	text := "Both modes give the same bits."
	if at != "" {
		text = fmt.Sprintf("The two differ by at most %.2g of the larger value, in the gradient of %s.", worst, at)
	}
	a.notes = append(a.notes, text, "bytes: payload, and gradients or tangents, at the height of one sweep.")
	return a, nil
}

// distance is the difference of two numbers relative to the larger.
func distance(a, b float64) float64 {
	if math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b) || a == b {
		return 0
	}
	return math.Abs(a-b) / max(math.Abs(a), math.Abs(b))
}

// oneTangent runs one forward sweep, for one entry of one input.
func (f *gradFlags) oneTangent(s *source) (*gradAnswer, error) {
	tape := backsweep.NewTape()
	run, err := s.run(tape)
	if err != nil {
		return nil, err
	}
	name, index, err := parseEntry(f.wrt)
	if err != nil {
		return nil, err
	}
	x := run.Inputs[name]
	switch {
	case x == nil && slices.Contains(s.program.Inputs(), name):
		return nil, misuse("", "this run does not meet input %s", name)
	case x == nil:
		return nil, misuse("the inputs are "+inputNames(s.program.Inputs()), "--wrt %s: there is no input %s", f.wrt, name)
	case !x.DType().IsFloat():
		return nil, misuse("", "--wrt %s: %s is %s, which has no derivative", f.wrt, name, x.DType())
	}
	at, err := entryOf(x.Shape(), index)
	if err != nil {
		return nil, misuse("write --wrt 'x[0]' or --wrt 'x[1,2]'", "--wrt %s: %v", f.wrt, err)
	}
	g, err := tape.Forward([]backsweep.Seed{oneHot(x, at)}, backsweep.Context(s.ctx))
	if err != nil {
		return nil, err
	}
	rec, err := tape.Record()
	if err != nil {
		return nil, err
	}
	a := newAnswer(run, run.Loss.Float64s())
	a.wrt = f.wrt
	keys := tensorKeys(run, rec)
	for id, y := range run.Tensors {
		d, ok := g.Lookup(y)
		if ok {
			a.entries = append(a.entries, newEntry(keys[id], y, d, backsweep.Computed))
			continue
		}
		e := newEntry(keys[id], y, nil, backsweep.Unconnected)
		e.note = "it does not depend on " + f.wrt
		a.entries = append(a.entries, e)
	}
	return a, nil
}

// parseEntry reads 'x', 'x[0]', 'x[1,2]' or 'x[1][2]'.
func parseEntry(text string) (name string, index []int, err error) {
	name, rest, has := strings.Cut(strings.ReplaceAll(text, " ", ""), "[")
	if !has {
		return name, nil, nil
	}
	rest, closed := strings.CutSuffix(rest, "]")
	if !closed {
		return "", nil, misuse("write --wrt 'x[0]'", "--wrt %s: the bracket is not closed", text)
	}
	for _, part := range strings.Split(strings.ReplaceAll(rest, "][", ","), ",") {
		i, err := strconv.Atoi(part)
		if err != nil {
			return "", nil, misuse("write --wrt 'x[0]'", "--wrt %s: %q is no position", text, part)
		}
		index = append(index, i)
	}
	return name, index, nil
}

// entryOf is the place of an entry in row-major order.
func entryOf(shape, index []int) (int, error) {
	if len(index) != len(shape) {
		return 0, fmt.Errorf("%s for shape %s", counted(len(index), "position"), record.ShapeText(shape))
	}
	at := 0
	for a, i := range index {
		if i < 0 {
			i += shape[a]
		}
		if i < 0 || i >= shape[a] {
			return 0, fmt.Errorf("axis %d has no position %d in shape %s", a, index[a], record.ShapeText(shape))
		}
		at = at*shape[a] + i
	}
	return at, nil
}
