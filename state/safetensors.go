package state

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/nlpodyssey/safetensors"

	"github.com/backsweep/backsweep"
)

var safetensorKinds = map[string]kind{
	"F64": {8, backsweep.Float64, 'f'}, "F32": {4, backsweep.Float32, 'f'}, "F16": {2, backsweep.Float32, 'f'}, "BF16": {2, backsweep.Float32, 'g'},
	"I64": {8, backsweep.Int64, 'i'}, "I32": {4, backsweep.Int64, 'i'}, "I16": {2, backsweep.Int64, 'i'}, "I8": {1, backsweep.Int64, 'i'},
	"U64": {8, backsweep.Int64, 'u'}, "U32": {4, backsweep.Int64, 'u'}, "U16": {2, backsweep.Int64, 'u'}, "U8": {1, backsweep.Int64, 'u'},
	"BOOL": {1, backsweep.Bool, 'b'},
}

// ReadSafetensors reads a whole safetensors file. Small integers become int64,
// half-precision numbers float32.
func ReadSafetensors(file []byte) (d Dict, err error) {
	defer backsweep.Catch(&err)
	entries, err := safetensorsHeader(file)
	if err != nil {
		return nil, err
	}
	parsed, err := safetensors.Deserialize(file)
	if err != nil {
		return nil, &FormatError{Format: "safetensors", At: -1, What: err.Error(), err: err}
	}
	d = Dict{}
	for _, e := range entries {
		view, ok := parsed.Tensor(e.name)
		if !ok || len(view.Data()) != e.end-e.begin {
			return nil, &FormatError{Format: "safetensors", Tensor: e.name, At: -1, What: "its name can be read in two ways"}
		}
		x, err := e.kind.tensor(view.Data(), binary.LittleEndian, e.shape)
		if err != nil {
			return nil, &FormatError{Format: "safetensors", Tensor: e.name, At: int64(e.at + e.begin), What: err.Error()}
		}
		d[e.name] = x
	}
	return d, nil
}

// safetensorsEntry is one tensor as the header has it.
type safetensorsEntry struct {
	name       string
	kind       kind
	shape      []int
	begin, end int // of its bytes, after the header
	at         int // where the bytes of all begin
}

// safetensorsHeader checks everything that a header says, before anything is
// made by it. The reader behind it takes a name that is there twice, and sizes
// that no int holds.
func safetensorsHeader(file []byte) ([]safetensorsEntry, error) {
	fail := func(at int64, name, format string, args ...any) error {
		return &FormatError{Format: "safetensors", At: at, Tensor: name, What: fmt.Sprintf(format, args...)}
	}
	if len(file) < 8 {
		return nil, fail(0, "", "the file has %d bytes, and the length of the header takes 8", len(file))
	}
	n := binary.LittleEndian.Uint64(file)
	if n > uint64(len(file)-8) {
		return nil, fail(0, "", "the header has %d bytes, but only %d follow", n, len(file)-8)
	}
	head := file[8 : 8+n]
	if !utf8.Valid(head) {
		return nil, fail(8, "", "the header is not UTF-8")
	}
	if len(head) == 0 || head[0] != '{' {
		return nil, fail(8, "", "the header does not begin with {")
	}
	h := &headerReader{dec: json.NewDecoder(bytes.NewReader(head))}
	h.dec.UseNumber()
	var entries []safetensorsEntry
	at := 8 + int(n)
	err := h.object("the header", func(name string) error {
		if name == "__metadata__" {
			return h.object(name, func(key string) error { _, err := h.text(key); return err })
		}
		e := safetensorsEntry{name: name, at: at}
		if err := h.entry(&e); err != nil {
			return fail(8+h.dec.InputOffset(), name, "%v", err)
		}
		entries = append(entries, e)
		return nil
	})
	if err == nil {
		if rest := bytes.TrimLeft(head[h.dec.InputOffset():], " "); len(rest) > 0 {
			err = fail(int64(at-len(rest)), "", "%q follows the header's end", clip(string(rest)))
		}
	}
	if _, ok := err.(*FormatError); err != nil && !ok {
		err = fail(8+h.dec.InputOffset(), "", "%v", err)
	}
	if err != nil {
		return nil, err
	}
	sort.SliceStable(entries, func(i, j int) bool {
		a, b := &entries[i], &entries[j]
		return a.begin < b.begin || a.begin == b.begin && a.end < b.end
	})
	next := 0
	for _, e := range entries {
		_, size, ok := e.kind.sizeOf(e.shape, int64(len(file)))
		switch {
		case e.end < e.begin || e.end > len(file)-at:
			return nil, fail(-1, e.name, "it is said to be at bytes %d to %d of %d", e.begin, e.end, len(file)-at)
		case !ok || size != e.end-e.begin:
			return nil, fail(-1, e.name, "shape %v does not take the %d bytes that it has", e.shape, e.end-e.begin)
		case e.begin != next:
			return nil, fail(int64(at+next), e.name, "it begins at %d, but the tensor before it ends at %d", e.begin, next)
		}
		next = e.end
	}
	if next != len(file)-at {
		return nil, fail(int64(at+next), "", "%d bytes belong to no tensor", len(file)-at-next)
	}
	return entries, nil
}

func clip(s string) string {
	if len(s) > 20 {
		return s[:20] + "…"
	}
	return s
}

// headerReader walks a JSON text without making more of it than is asked for.
type headerReader struct{ dec *json.Decoder }

func (h *headerReader) delim(want json.Delim, what string) error {
	tok, err := h.dec.Token()
	if err != nil {
		return err
	}
	if tok != want {
		return fmt.Errorf("%s: found %v, not %v", what, tok, want)
	}
	return nil
}

// object calls each with the keys, which differ.
func (h *headerReader) object(what string, each func(key string) error) error {
	if err := h.delim('{', what); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for h.dec.More() {
		tok, err := h.dec.Token()
		if err != nil {
			return err
		}
		key := tok.(string) // the decoder takes nothing else for a key
		if seen[key] {
			return fmt.Errorf("%s has %q twice", what, key)
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	return h.delim('}', what)
}

func (h *headerReader) text(what string) (string, error) {
	tok, err := h.dec.Token()
	if err != nil {
		return "", err
	}
	s, ok := tok.(string)
	if !ok {
		return "", fmt.Errorf("%s is %v, not a text", what, tok)
	}
	return s, nil
}

// numbers reads an array of at most limit natural numbers that an int holds.
func (h *headerReader) numbers(what string, limit int) ([]int, error) {
	if err := h.delim('[', what); err != nil {
		return nil, err
	}
	out := []int{}
	for h.dec.More() {
		tok, err := h.dec.Token()
		if err != nil {
			return nil, err
		}
		s, ok := tok.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%s has %v, not a natural number", what, tok)
		}
		v, err := strconv.ParseUint(s.String(), 10, 64)
		if err != nil || v > math.MaxInt {
			return nil, fmt.Errorf("%s has %s, not a natural number of 63 bits", what, clip(s.String()))
		}
		if len(out) == limit {
			return nil, fmt.Errorf("%s has more than %d numbers", what, limit)
		}
		out = append(out, int(v))
	}
	return out, h.delim(']', what)
}

func (h *headerReader) entry(e *safetensorsEntry) error {
	var dtype string
	var offsets []int
	err := h.object("the entry", func(key string) (err error) {
		switch key {
		case "dtype":
			dtype, err = h.text(key)
		case "shape":
			e.shape, err = h.numbers(key, maxRank)
		case "data_offsets":
			offsets, err = h.numbers(key, 2)
		default:
			err = fmt.Errorf("it has a key %q", clip(key))
		}
		return err
	})
	if err != nil {
		return err
	}
	var ok bool
	switch e.kind, ok = safetensorKinds[dtype]; {
	case dtype == "":
		return fmt.Errorf("it has no dtype")
	case !ok:
		return fmt.Errorf("elements of type %q cannot be read", clip(dtype))
	case e.shape == nil:
		return fmt.Errorf("it has no shape")
	case len(offsets) != 2:
		return fmt.Errorf("data_offsets are not two numbers")
	}
	e.begin, e.end = offsets[0], offsets[1]
	return nil
}

// WriteSafetensors writes tensors as a safetensors file: the larger elements
// first, then by name.
func WriteSafetensors(w io.Writer, d Dict) (err error) {
	defer backsweep.Catch(&err)
	views := make(map[string]safetensorsView, len(d))
	for _, name := range d.Names() {
		if name == "__metadata__" || !utf8.ValidString(name) {
			return &FormatError{Format: "safetensors", Tensor: name, At: -1, What: "a tensor cannot have this name there"}
		}
		views[name] = safetensorsView{d[name]}
	}
	return safetensors.SerializeToWriter(views, nil, w)
}

// safetensorsView makes a tensor's bytes when they are written.
type safetensorsView struct{ x *backsweep.Tensor }

func (v safetensorsView) DType() safetensors.DType {
	switch v.x.DType() {
	case backsweep.Float32:
		return safetensors.F32
	case backsweep.Float64:
		return safetensors.F64
	case backsweep.Int64:
		return safetensors.I64
	}
	return safetensors.BOOL
}

func (v safetensorsView) Shape() []uint64 {
	shape := []uint64{} // of a 0-d tensor too: nil would be written as null
	for _, d := range v.x.Shape() {
		shape = append(shape, uint64(d))
	}
	return shape
}

func (v safetensorsView) Data() []byte { return bytesOf(v.x) }

func (v safetensorsView) DataLen() uint64 { return uint64(v.x.Len() * v.x.DType().Size()) }
