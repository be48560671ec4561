package state

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	Format string // safetensors, npy or npz
	Tensor string // the tensor concerned, "" for none
	At     int64  // byte of the file or of the npz member, or -1
	What   string
	err    error
}

// Error returns the whole text on one line.
func (e *FormatError) Error() string {
	s := "state: " + e.Format
	if e.Tensor != "" {
		s += fmt.Sprintf(": tensor %q", e.Tensor)
	}
	if e.At >= 0 {
		s += fmt.Sprintf(": byte %d", e.At)
	}
	return s + ": " + e.What
}

// Unwrap returns the error of a reader below, if there was one.
func (e *FormatError) Unwrap() error { return e.err }

// Save writes tensors to a file: safetensors where its name ends in
// .safetensors, NumPy's where it ends in .npz. Views are written in the order of
// their elements. The file is written beside the old one, brought to the disk
// and then put into its place, so that whoever reads sees the old or the new one
// whole, also after a crash. The same tensors make the same bytes.
func Save(path string, d Dict) error {
	write := WriteSafetensors
	switch filepath.Ext(path) {
	case ".safetensors":
	case ".npz":
		write = WriteNPZ
	default:
		return fmt.Errorf("state: Save: %s: the name ends in neither .safetensors nor .npz", path)
	}
	return replace(path, func(w io.Writer) error { return write(w, d) })
}

// Load reads what Save wrote, or others did: the format goes by the end of the
// name, as of [Save].
func Load(path string) (Dict, error) {
	read := ReadSafetensors
	switch filepath.Ext(path) {
	case ".safetensors":
	case ".npz":
		read = ReadNPZ
	default:
		return nil, fmt.Errorf("state: Load: %s: the name ends in neither .safetensors nor .npz", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("state: Load: %w", err)
	}
	d, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// replace writes a new file and renames it to path. A link is followed, so that
// it stays one. What an earlier process that was killed has left beside it stays
// there, hidden, as NAME.tmp-NUMBER.
func replace(path string, write func(w io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := os.FileMode(0o666)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	dir, base := filepath.Split(path)
	var f *os.File
	for range 100 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%d", strings.TrimPrefix(base, "."), rand.Uint64()))
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); !os.IsExist(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("state: Save: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("state: Save: %s: %w", path, err)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir brings a rename to the disk, where the system does that for folders.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
