package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/expr"
	"github.com/backsweep/backsweep/record"
)

// gradAnswer is what grad prints: the loss, gradients (or tangents) by name,
// and what else there is to say.
type gradAnswer struct {
	loss    *gradEntry
	entries []gradEntry
	wrt     string // of a forward sweep for one entry
	notes   []string
	table   []modeCost
	orders  *ordersRun
	no      bool // exit with 1
}

// gradEntry is the gradient of one tensor, or its tangent.
type gradEntry struct {
	key   string
	state backsweep.State
	dtype backsweep.DType
	shape []int
	data  []float64 // nil unless computed
	note  string
}

func newEntry(key string, x, g *backsweep.Tensor, state backsweep.State) gradEntry {
	e := gradEntry{key: key, state: state, dtype: x.DType(), shape: x.Shape()}
	switch {
	case g != nil:
		e.data = g.Float64s()
	case !x.DType().IsFloat():
		e.note = x.DType().String() + " carries no gradient"
	case state == backsweep.Unconnected:
		e.note = "no path leads from it to the loss, so it is zero"
	}
	return e
}

func newAnswer(run *expr.Run, loss []float64) *gradAnswer {
	return &gradAnswer{loss: &gradEntry{key: "loss", state: backsweep.Computed, dtype: run.Loss.DType(), shape: run.Loss.Shape(), data: loss}}
}

// tensorKeys gives each tensor of a run a name of its own: that of the
// statement, with the scope path before it where several share it, or its id.
func tensorKeys(run *expr.Run, rec *record.Record) []string {
	keys := make([]string, len(run.Tensors))
	taken := map[string]bool{}
	claim := func(id int, key string) {
		if keys[id] == "" && key != "" && !taken[key] {
			keys[id], taken[key] = key, true
		}
	}
	for id := range keys {
		if rec.Tensors[id].Kind == record.Input {
			claim(id, rec.Tensors[id].Name)
		}
	}
	claim(run.Loss.ID(), run.Loss.Name())
	count := map[string]int{}
	for id := range keys {
		count[rec.Tensors[id].Name]++
	}
	for id := range keys {
		if name := rec.Tensors[id].Name; count[name] == 1 {
			claim(id, name)
		} else if name != "" {
			if path := rec.ScopePath(rec.Tensors[id].Scope); path != "" {
				claim(id, path+"/"+name)
			}
		}
	}
	for id := range keys {
		claim(id, "t"+strconv.Itoa(id))
		claim(id, "tensor "+strconv.Itoa(id))
	}
	return keys
}

// MarshalJSON writes entries in their order.
func (a *gradAnswer) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"loss":`)
	if err := a.loss.writeJSON(&b, false); err != nil {
		return nil, err
	}
	if a.wrt != "" {
		name, err := json.Marshal(a.wrt)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `,"wrt":%s,"tangents":{`, name)
	} else {
		b.WriteString(`,"grads":{`)
	}
	for i := range a.entries {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(a.entries[i].key)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		if err := a.entries[i].writeJSON(&b, true); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	for _, extra := range []struct {
		key string
		is  bool
		v   any
	}{{"modes", a.table != nil, a.table}, {"orders", a.orders != nil, a.orders}} {
		if !extra.is {
			continue
		}
		text, err := json.Marshal(extra.v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `,%q:%s`, extra.key, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (e *gradEntry) writeJSON(b *bytes.Buffer, state bool) error {
	b.WriteByte('{')
	if state {
		fmt.Fprintf(b, `"state":%q`, string(e.state))
	}
	if e.data != nil {
		shape, err := json.Marshal(append([]int{}, e.shape...))
		if err != nil {
			return err
		}
		numbers := make([]record.Number, len(e.data))
		for i, v := range e.data {
			numbers[i] = record.Number(v)
		}
		data, err := json.Marshal(numbers)
		if err != nil {
			return err
		}
		if state {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"shape":%s,"data":%s`, shape, data)
	}
	b.WriteByte('}')
	return nil
}

func (a *gradAnswer) print(w io.Writer) {
	wide := 4
	for i := range a.entries {
		wide = max(wide, min(len([]rune(a.entries[i].key)), 24))
	}
	fmt.Fprintln(w, a.loss.line("loss", wide, ""))
	if len(a.entries) > 0 {
		head := "gradients"
		if a.wrt != "" {
			head = "derivatives with respect to " + a.wrt
		}
		fmt.Fprintln(w, "\n"+head)
	}
	for i := range a.entries {
		e := &a.entries[i]
		fmt.Fprintln(w, e.line(e.key, wide, e.words(a.wrt != "")))
	}
	if len(a.table) > 0 {
		fmt.Fprintln(w)
		printCosts(w, a.table)
	}
	for _, n := range a.notes {
		fmt.Fprintln(w, "\n"+wrap(n, columns, ""))
	}
}

// words is the state in words, with the reason where there is one.
func (e *gradEntry) words(tangent bool) string {
	words := e.state.Words()
	if tangent {
		words = "no tangent"
	}
	if e.note != "" {
		words += ": " + e.note
	}
	return words
}

// line prints a name, an element type and shape, and values, or what stands in
// their place.
func (e *gradEntry) line(name string, wide int, words string) string {
	indent := strings.Repeat(" ", wide+2)
	head := fmt.Sprintf("%-*s  ", wide, name)
	if e.data == nil {
		return wrap(head+words, columns, indent)
	}
	what := e.dtype.String()
	if len(e.shape) > 0 {
		what += " " + record.ShapeText(e.shape)
	}
	text := head + what + "  " + valuesText(e.data, e.shape, e.dtype)
	if len([]rune(text)) <= columns {
		return text
	}
	return head + what + "\n" + indent + strings.ReplaceAll(wrap(valuesText(e.data, e.shape, e.dtype), columns-len(indent), " "), "\n", "\n"+indent)
}

// shown is how many entries of a long axis are printed at either end.
const shown = 4

// valuesText prints nested lists; the middle of long axes is left out.
func valuesText(data []float64, shape []int, dt backsweep.DType) string {
	if len(shape) == 0 {
		return numberText(data[0], dt)
	}
	n := 1
	for _, d := range shape[1:] {
		n *= d
	}
	var parts []string
	for i := 0; i < shape[0]; i++ {
		if shape[0] > 2*shown+1 && i == shown {
			parts = append(parts, fmt.Sprintf("…%d…", shape[0]-2*shown))
			i = shape[0] - shown - 1
			continue
		}
		parts = append(parts, valuesText(data[i*n:(i+1)*n], shape[1:], dt))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func numberText(v float64, dt backsweep.DType) string {
	bits := 64
	if dt == backsweep.Float32 {
		bits = 32
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}
