package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// DefaultLimit is how many bytes of JSON, unpacked, a reader takes.
const DefaultLimit int64 = 1 << 30

// elementLimit bounds the text of one tensor, node, step or event: it is
// decoded at once, and into several times its size.
const elementLimit int64 = 16 << 20

// ReadOption changes how a record is read.
type ReadOption func(*reader)

// Limit sets how many bytes of JSON, unpacked, the reader takes. What it builds
// in memory from a record takes up to a few times as much.
func Limit(bytes int64) ReadOption { return func(r *reader) { r.limit = bytes } }

// Read reads and validates a record from a file, unpacking it when the name
// ends in ".gz". Errors are a *PlaceError, *VersionError, *LimitError or one of
// the file system.
func Read(path string, options ...ReadOption) (*Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("record: %s is not a gzip file: %w", path, err)
		}
		defer z.Close()
		in = z
	}
	r, err := ReadFrom(in, options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// ReadFrom reads and validates a record from JSON. Fields that this version
// does not know are passed over.
func ReadFrom(in io.Reader, options ...ReadOption) (*Record, error) {
	r := &reader{in: in, limit: DefaultLimit, index: -1}
	for _, o := range options {
		o(r)
	}
	r.stop = r.limit
	r.dec = json.NewDecoder(r)
	var rec Record
	if err := r.record(&rec); err != nil {
		return nil, err
	}
	if err := rec.Validate(); err != nil {
		return nil, err
	}
	return &rec, nil
}

// reader decodes a record element by element, so that a faulty or hostile text
// is refused before much memory is taken for it.
type reader struct {
	in    io.Reader
	dec   *json.Decoder
	limit int64
	pos   int64  // bytes handed to the decoder
	stop  int64  // the decoder may not ask beyond this position
	part  string // what is being decoded
	index int    // its element, or -1
	err   error  // the first failure of in, or the limit that was hit
}

// Read hands text to the decoder, up to the limits.
func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.pos >= r.stop {
		// At the very limit only the end of the text is welcome.
		var one [1]byte
		n, err := r.in.Read(one[:])
		if n == 0 && err == io.EOF {
			return 0, io.EOF
		}
		if r.stop == r.limit {
			r.err = &LimitError{Limit: r.limit, Part: "the record"}
		} else {
			r.err = &PlaceError{Place: r.place(), What: fmt.Sprintf("one element of a record has at most %s of text", BytesText(elementLimit))}
		}
		return 0, r.err
	}
	if room := r.stop - r.pos; int64(len(p)) > room {
		p = p[:room]
	}
	n, err := r.in.Read(p)
	r.pos += int64(n)
	if err != nil && err != io.EOF {
		r.err = fmt.Errorf("record: %w", err)
		err = r.err
	}
	return n, err
}

// failure turns a decoder's error into one with a place.
func (r *reader) failure(place string, err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case r.err != nil:
		return r.err
	case errors.As(err, &wrong):
		if wrong.Field != "" {
			place += "." + wrong.Field
		}
		return bad(place, "a JSON %s does not belong here", wrong.Value)
	case errors.As(err, &syntax):
		return bad(place, "not JSON near byte %d: %s", r.dec.InputOffset(), strings.TrimPrefix(err.Error(), "json: "))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return bad(place, "the text ends in the middle")
	default:
		return bad(place, "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// decode reads the next value as one element.
func (r *reader) decode(place string, into any) error {
	r.part = place
	r.stop = min(r.limit, r.dec.InputOffset()+elementLimit)
	err := r.dec.Decode(into)
	r.stop = r.limit
	if err != nil {
		return r.failure(r.place(), err)
	}
	return nil
}

// place is where the reader is.
func (r *reader) place() string {
	if r.index < 0 {
		return r.part
	}
	return fmt.Sprintf("%s[%d]", r.part, r.index)
}

// open expects a delimiter.
func (r *reader) open(place string, want json.Delim) error {
	tok, err := r.dec.Token()
	if err != nil {
		return r.failure(place, err)
	}
	if tok != want {
		kind := "an object"
		if want == '[' {
			kind = "a list"
		}
		return bad(place, "%s belongs here", kind)
	}
	return nil
}

// object reads an object, one field at a time; no field may come twice.
func (r *reader) object(place string, field func(name, place string) error) error {
	if err := r.open(place, '{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return r.failure(place, err)
		}
		name, ok := tok.(string)
		if !ok {
			return bad(place, "a field's name belongs here")
		}
		if seen[name] {
			return bad(place, "the field %.40q comes twice", name)
		}
		if len(seen) >= 1000 {
			return bad(place, "there are more than 1000 fields")
		}
		seen[name] = true
		inner := name
		if place != "" {
			inner = place + "." + name
		}
		if err := field(name, inner); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.failure(place, err)
	}
	return nil
}

// items reads a list element by element. check looks at an element as soon as
// it is there; a list of a million empty objects fails at its second.
func items[T any](r *reader, place string, into *[]T, check func(i int, x *T) error) error {
	if err := r.open(place, '['); err != nil {
		return err
	}
	*into = []T{}
	for i := 0; r.dec.More(); i++ {
		*into = append(*into, *new(T))
		x := &(*into)[i]
		r.index = i
		if err := r.decode(place, x); err != nil {
			return err
		}
		if check != nil {
			if err := check(i, x); err != nil {
				return err
			}
		}
	}
	r.index = -1
	if _, err := r.dec.Token(); err != nil {
		return r.failure(place, err)
	}
	return nil
}

// dense refuses an element whose id is not its place.
func dense(place string, i, id int) error {
	if id != i {
		return bad(fmt.Sprintf("%s[%d].id", place, i), "it is %d; ids are dense, so it must be %d", id, i)
	}
	return nil
}

func (r *reader) record(rec *Record) error {
	err := r.object("", func(name, place string) error {
		switch name {
		case "format":
			if err := r.decode(place, &rec.Format); err != nil {
				return err
			}
			if rec.Format != Format {
				return (&validator{r: rec}).header()
			}
			return nil
		case "version":
			if err := r.decode(place, &rec.Version); err != nil {
				return err
			}
			if rec.Version != Version {
				return &VersionError{Version: rec.Version}
			}
			return nil
		case "title":
			return r.decode(place, &rec.Title)
		case "tensors":
			return items(r, place, &rec.Tensors, func(i int, t *Tensor) error { return dense(place, i, t.ID) })
		case "nodes":
			return items(r, place, &rec.Nodes, func(i int, n *Node) error { return dense(place, i, n.ID) })
		case "scopes":
			return items(r, place, &rec.Scopes, func(i int, s *Scope) error { return dense(place, i, s.ID) })
		case "storages":
			return items(r, place, &rec.Storages, func(i int, s *Storage) error { return dense(place, i, s.ID) })
		case "sites":
			return items(r, place, &rec.Sites, func(i int, s *Site) error {
				if s.File == "" {
					return bad(fmt.Sprintf("%s[%d].file", place, i), "it is missing")
				}
				return nil
			})
		case "sweep":
			rec.Sweep = &Sweep{}
			return r.sweep(place, rec.Sweep)
		default:
			return r.skip(place)
		}
	})
	if err != nil {
		return err
	}
	tail := io.MultiReader(r.dec.Buffered(), r)
	rest := make([]byte, 4096)
	for {
		n, err := tail.Read(rest)
		if len(bytes.Trim(rest[:n], " \t\r\n")) > 0 {
			return bad("", "more text follows the record")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return r.failure("", err)
		}
	}
}

func (r *reader) sweep(place string, s *Sweep) error {
	return r.object(place, func(name, place string) error {
		switch name {
		case "roots":
			return items(r, place, &s.Roots, nil)
		case "order":
			return r.decode(place, &s.Order)
		case "seed":
			return r.decode(place, &s.Seed)
		case "workers":
			return r.decode(place, &s.Workers)
		case "retain":
			return r.decode(place, &s.Retain)
		case "sequence":
			return items(r, place, &s.Sequence, nil)
		case "steps":
			return items(r, place, &s.Steps, func(i int, step *Step) error {
				if i >= len(s.Sequence) || s.Sequence[i] != step.Node {
					return bad(fmt.Sprintf("%s[%d].node", place, i), "node %d does not stand there in the sequence, which comes before the steps", step.Node)
				}
				return nil
			})
		case "before":
			return items(r, place, &s.Before, nil)
		case "events":
			return items(r, place, &s.Events, func(i int, e *Event) error {
				if e.Kind == "" {
					return bad(fmt.Sprintf("%s[%d].kind", place, i), "it is missing")
				}
				return nil
			})
		default:
			return r.skip(place)
		}
	})
}

// skip passes over a value that this version does not know.
func (r *reader) skip(place string) error {
	var unknown json.RawMessage
	return r.decode(place, &unknown)
}
