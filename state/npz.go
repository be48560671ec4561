package state

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/backsweep/backsweep"
)

// maxExpansion bounds what a compressed file may grow to: so many times its
// size, and 1 MiB.
const maxExpansion = 64

// ReadNPZ reads a whole npz file: an archive in which each member NAME.npy is a
// tensor. Compressed members are taken apart twice, first to see that they are
// whole, so that nothing is made by a broken file. One that would grow to more
// than 64 times its size is refused.
func ReadNPZ(file []byte) (d Dict, err error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, &FormatError{Format: "npz", At: -1, What: err.Error(), err: err}
	}
	budget := uint64(len(file))*maxExpansion + 1<<20
	seen := make(map[string]bool, len(archive.File))
	headers := make([]*npyHeader, len(archive.File))
	for i, f := range archive.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		fail := func(format string, args ...any) error {
			return &FormatError{Format: "npz", Tensor: name, At: -1, What: fmt.Sprintf(format, args...)}
		}
		switch {
		case !ok:
			return nil, fail("the member is no .npy file")
		case seen[name]:
			return nil, fail("it is there twice")
		case f.UncompressedSize64 > budget:
			return nil, fail("unpacked, the file would be more than %d times its size; pack it without compression", maxExpansion)
		}
		budget -= f.UncompressedSize64
		seen[name] = true
		if headers[i], err = checkMember(f); err != nil {
			return nil, inMember(name, err)
		}
	}
	d = make(Dict, len(headers))
	for i, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if d[name], err = readMember(f, headers[i]); err != nil {
			return nil, inMember(name, err)
		}
	}
	return d, nil
}

// inMember says of which member an error is.
func inMember(name string, err error) error {
	e := &FormatError{Format: "npz", Tensor: name, At: -1, What: err.Error(), err: err}
	if inner := (*FormatError)(nil); errors.As(err, &inner) {
		e.At, e.What = inner.At, inner.What
	}
	return e
}

// checkMember reads a member to its end, keeping only its header.
func checkMember(f *zip.File) (*npyHeader, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h, err := readNPYHeader(r, int64(f.UncompressedSize64))
	if err != nil {
		return nil, err
	}
	// One byte more than there should be, so that the archive's own check of its
	// sum at the end takes place.
	n, err := io.Copy(io.Discard, io.LimitReader(r, int64(h.size)+1))
	if err == nil && n != int64(h.size) {
		err = fmt.Errorf("the data have not the %d bytes that they should", h.size)
	}
	return h, err
}

func readMember(f *zip.File, h *npyHeader) (*backsweep.Tensor, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, h.size)
	if _, err := io.CopyN(io.Discard, r, int64(h.length)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return h.tensor(data)
}

// WriteNPZ writes tensors as an npz file without compression, by name.
func WriteNPZ(w io.Writer, d Dict) error {
	archive := zip.NewWriter(w)
	for _, name := range d.Names() {
		if !utf8.ValidString(name) {
			return &FormatError{Format: "npz", Tensor: name, At: -1, What: "a tensor cannot have this name there"}
		}
		member, err := archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if err := WriteNPY(member, d[name]); err != nil {
			return err
		}
	}
	return archive.Close()
}
