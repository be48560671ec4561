package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/backsweep/backsweep"
)

// The format is NumPy's (NEP 1). It is read and written here, and not by a
// module, since a header may have its keys in any order and a tensor any number
// of axes, and since a header that claims too much has to be refused before
// anything is made by it.

const npyMagic = "\x93NUMPY"

// maxNPYHeader is far above what any shape takes.
const maxNPYHeader = 1 << 16

// npyHeader is what a header says.
type npyHeader struct {
	kind    kind
	order   binary.ByteOrder
	fortran bool
	shape   []int
	size    int // of the data, in bytes
	length  int // of all before the data
}

// ReadNPY reads a whole npy file. Small integers become int64, float16 becomes
// float32; bytes after the array are an error.
func ReadNPY(file []byte) (*backsweep.Tensor, error) {
	h, err := readNPYHeader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	return h.tensor(file[h.length:])
}

// readNPYHeader reads from the beginning of a file of the given size, and checks
// that the data are what follows.
func readNPYHeader(r io.Reader, size int64) (*npyHeader, error) {
	fail := func(at int, format string, args ...any) error {
		return &FormatError{Format: "npy", At: int64(at), What: fmt.Sprintf(format, args...)}
	}
	var start [12]byte
	if _, err := io.ReadFull(r, start[:10]); err != nil {
		return nil, fail(0, "the file ends within the first 10 bytes: %v", err)
	}
	if string(start[:6]) != npyMagic {
		return nil, fail(0, "it begins with %q, not with %q", start[:6], npyMagic)
	}
	length, at := int64(binary.LittleEndian.Uint16(start[8:])), 10
	switch version := start[6]; version {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, start[10:12]); err != nil {
			return nil, fail(10, "the file ends within the header's length: %v", err)
		}
		length, at = int64(binary.LittleEndian.Uint32(start[8:])), 12
	default:
		return nil, fail(6, "version %d.%d of the format is unknown", version, start[7])
	}
	if length > maxNPYHeader || length > size-int64(at) {
		return nil, fail(8, "a header of %d bytes is not in a file of %d", length, size)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, fail(at, "the file ends within the header: %v", err)
	}
	h, where, err := parseNPYHeader(string(text))
	if err != nil {
		return nil, fail(at+where, "%v", err)
	}
	h.length = at + int(length)
	rest := size - int64(h.length)
	_, n, ok := h.kind.sizeOf(h.shape, rest)
	if !ok || int64(n) != rest {
		return nil, fail(h.length, "shape %v of %d bytes an element does not take the %d bytes that follow", h.shape, h.kind.size, rest)
	}
	h.size = n
	return h, nil
}

// tensor makes the tensor of the data.
func (h *npyHeader) tensor(data []byte) (x *backsweep.Tensor, err error) {
	defer backsweep.Catch(&err)
	shape := append([]int{}, h.shape...)
	if h.fortran {
		for i, d := range h.shape {
			shape[len(shape)-1-i] = d
		}
	}
	if x, err = h.kind.tensor(data, h.order, shape); err != nil {
		return nil, &FormatError{Format: "npy", At: int64(h.length), What: err.Error()}
	}
	if h.fortran && len(shape) > 1 {
		x = x.Transpose().Clone()
	}
	return x, nil
}

// parseNPYHeader reads the literal of a Python dictionary with the keys descr,
// fortran_order and shape, in any order. at is where it went wrong.
func parseNPYHeader(text string) (h *npyHeader, at int, err error) {
	p := &literal{text: text}
	h = &npyHeader{}
	seen := map[string]bool{}
	err = p.dict(func(key string) error {
		if seen[key] {
			return fmt.Errorf("the key %q is there twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			s, err := p.string()
			if err != nil {
				return err
			}
			h.kind, h.order, err = npyKind(s)
			return err
		case "fortran_order":
			h.fortran, err = p.bool()
			return err
		case "shape":
			h.shape, err = p.tuple()
			return err
		}
		return fmt.Errorf("the key %q is unknown", clip(key))
	})
	if err != nil {
		return nil, p.at, err
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return nil, p.at, fmt.Errorf("there is no key %q", key)
		}
	}
	return h, 0, nil
}

// npyKind reads an array-protocol type string, such as "<f8".
func npyKind(s string) (k kind, order binary.ByteOrder, err error) {
	code, big := s, false
	if code != "" && strings.ContainsRune("<>=|", rune(code[0])) {
		big = code[0] == '>'
		code = code[1:]
	}
	switch code {
	case "f8":
		k = kind{8, backsweep.Float64, 'f'}
	case "f4":
		k = kind{4, backsweep.Float32, 'f'}
	case "f2":
		k = kind{2, backsweep.Float32, 'f'}
	case "b1", "?":
		k = kind{1, backsweep.Bool, 'b'}
	case "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1":
		k = kind{int(code[1] - '0'), backsweep.Int64, code[0]}
	case "O":
		return k, nil, fmt.Errorf("the elements are Python objects, which would have to be run to be read")
	default:
		return k, nil, fmt.Errorf("elements of type %q cannot be read", clip(s))
	}
	if big {
		return k, binary.BigEndian, nil
	}
	return k, binary.LittleEndian, nil
}

// literal reads the few of Python's literals that a header has.
type literal struct {
	text string
	at   int
}

func (p *literal) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next takes the character c, if it comes next.
func (p *literal) next(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *literal) expect(c byte) error {
	if !p.next(c) {
		return fmt.Errorf("the header has %q where a %q should be", clip(p.text[p.at:]), c)
	}
	return nil
}

func (p *literal) dict(each func(key string) error) error {
	if err := p.expect('{'); err != nil {
		return err
	}
	for !p.next('}') {
		key, err := p.string()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		if err := each(key); err != nil {
			return err
		}
		if !p.next(',') {
			if err := p.expect('}'); err != nil {
				return err
			}
			break
		}
	}
	if p.space(); p.at < len(p.text) {
		return fmt.Errorf("%q follows the header's end", clip(p.text[p.at:]))
	}
	return nil
}

func (p *literal) string() (string, error) {
	p.space()
	if p.at == len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		return "", fmt.Errorf("the header has %q where a text should be", clip(p.text[p.at:]))
	}
	rest := p.text[p.at+1:]
	n := strings.IndexByte(rest, p.text[p.at])
	if n < 0 || strings.IndexByte(rest[:n], '\\') >= 0 || !utf8.ValidString(rest[:n]) {
		return "", fmt.Errorf("the header has a text that does not end, or is escaped: %q", clip(rest))
	}
	p.at += n + 2
	return rest[:n], nil
}

func (p *literal) bool() (bool, error) {
	p.space()
	for _, v := range []bool{false, true} {
		if word := map[bool]string{false: "False", true: "True"}[v]; strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v, nil
		}
	}
	return false, fmt.Errorf("the header has %q where True or False should be", clip(p.text[p.at:]))
}

// tuple reads natural numbers; a tuple of one has a comma.
func (p *literal) tuple() ([]int, error) {
	if err := p.expect('('); err != nil {
		return nil, err
	}
	shape := []int{}
	for !p.next(')') {
		p.space()
		end := p.at
		for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
			end++
		}
		v, err := strconv.ParseUint(p.text[p.at:end], 10, 64)
		if err != nil || v > math.MaxInt {
			return nil, fmt.Errorf("the shape has %q where a natural number of 63 bits should be", clip(p.text[p.at:]))
		}
		if len(shape) == maxRank {
			return nil, fmt.Errorf("the shape has more than %d axes", maxRank)
		}
		p.at = end
		shape = append(shape, int(v))
		if !p.next(',') {
			if len(shape) == 1 {
				return nil, fmt.Errorf("the shape is a number in brackets, not a tuple")
			}
			if err := p.expect(')'); err != nil {
				return nil, err
			}
			break
		}
	}
	return shape, nil
}

// WriteNPY writes a tensor as an npy file of version 1, in row-major order.
func WriteNPY(w io.Writer, x *backsweep.Tensor) (err error) {
	defer backsweep.Catch(&err)
	descr := map[backsweep.DType]string{backsweep.Float32: "<f4", backsweep.Float64: "<f8", backsweep.Int64: "<i8", backsweep.Bool: "|b1"}[x.DType()]
	var shape strings.Builder
	for _, d := range x.Shape() {
		fmt.Fprintf(&shape, "%d, ", d)
	}
	extents := shape.String()
	if x.Rank() == 1 {
		extents = strings.TrimSuffix(extents, " ")
	} else {
		extents = strings.TrimSuffix(extents, ", ")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, extents)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n" // so that the data are aligned to 64 bytes
	if len(text) > math.MaxUint16 {
		return &FormatError{Format: "npy", At: -1, What: fmt.Sprintf("a shape of %d axes does not fit a header", x.Rank())}
	}
	head := append([]byte(npyMagic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	if _, err := w.Write(append(head, text...)); err != nil {
		return err
	}
	_, err = w.Write(bytesOf(x))
	return err
}
