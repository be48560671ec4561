package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Write validates the record and writes it to a file, compressed with gzip
// when the name ends in ".gz". The file appears whole or not at all.
func (r *Record) Write(path string) (err error) {
	if err := r.Validate(); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".record-*")
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := r.pack(f, strings.HasSuffix(path, ".gz")); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

func (r *Record) pack(w io.Writer, compressed bool) error {
	if !compressed {
		_, err := r.WriteTo(w)
		return err
	}
	z := gzip.NewWriter(w)
	if _, err := r.WriteTo(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return nil
}

// WriteTo writes the record as JSON, one tensor, node, step or event a line.
// Equal records give equal bytes. It does not validate.
func (r *Record) WriteTo(w io.Writer) (int64, error) {
	out := &textWriter{w: bufio.NewWriterSize(w, 1<<16)}
	out.enc = json.NewEncoder(&out.line)
	out.enc.SetEscapeHTML(false)
	out.object(func() {
		out.field("format", r.Format)
		out.field("version", r.Version)
		if r.Title != "" {
			out.field("title", r.Title)
		}
		list(out, "tensors", r.Tensors, func(t Tensor) any { t.Shape = present(t.Shape); return t })
		list(out, "nodes", r.Nodes, func(n Node) any {
			n.Inputs, n.Outputs = present(n.Inputs), present(n.Outputs)
			return n
		})
		list(out, "scopes", r.Scopes, func(s Scope) any { return s })
		list(out, "storages", r.Storages, func(s Storage) any { return s })
		if len(r.Sites) > 0 {
			list(out, "sites", r.Sites, func(s Site) any { return s })
		}
		if r.Sweep != nil {
			out.key("sweep")
			out.object(func() { out.sweep(r.Sweep) })
		}
	})
	out.text("\n")
	if out.err == nil {
		out.err = out.w.Flush()
	}
	if out.err != nil {
		return out.n, fmt.Errorf("record: %w", out.err)
	}
	return out.n, nil
}

func (out *textWriter) sweep(s *Sweep) {
	out.field("roots", present(s.Roots))
	out.field("order", s.Order)
	if s.Seed != 0 {
		out.field("seed", s.Seed)
	}
	out.field("workers", s.Workers)
	if s.Retain {
		out.field("retain", true)
	}
	out.field("sequence", present(s.Sequence))
	list(out, "steps", s.Steps, func(s Step) any { return s })
	if len(s.Before) > 0 {
		out.field("before", s.Before)
	}
	if len(s.Events) > 0 {
		list(out, "events", s.Events, func(e Event) any { return e })
	}
}

// present makes an absent list an empty one, which JSON writes as [].
func present(list []int) []int {
	if list == nil {
		return []int{}
	}
	return list
}

// textWriter writes JSON piece by piece and remembers the first error.
type textWriter struct {
	w    *bufio.Writer
	n    int64
	err  error
	line bytes.Buffer
	enc  *json.Encoder
	some bool // the innermost open object has a field already
}

func (out *textWriter) text(s string) {
	if out.err == nil {
		var n int
		n, out.err = out.w.WriteString(s)
		out.n += int64(n)
	}
}

func (out *textWriter) value(v any) {
	if out.err != nil {
		return
	}
	out.line.Reset()
	if out.err = out.enc.Encode(v); out.err == nil {
		out.text(strings.TrimSuffix(out.line.String(), "\n"))
	}
}

func (out *textWriter) object(fields func()) {
	out.text("{")
	out.some = false
	fields()
	out.text("\n}")
	out.some = true
}

func (out *textWriter) key(name string) {
	if out.some {
		out.text(",")
	}
	out.text("\n\"" + name + "\":")
	out.some = true
}

func (out *textWriter) field(name string, v any) {
	out.key(name)
	out.value(v)
}

// list writes a field whose value is a list, one element a line.
func list[T any](out *textWriter, name string, items []T, as func(T) any) {
	out.key(name)
	out.text("[")
	for i := range items {
		if i > 0 {
			out.text(",")
		}
		out.text("\n")
		out.value(as(items[i]))
	}
	out.text("]")
}
