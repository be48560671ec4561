package cases

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

// File is a case of type format: a whole file, and the tensors in it or that it
// must be refused.
type File struct {
	Head
	Format string          `json:"format"` // safetensors, npy, npz or onnx
	Hex    string          `json:"hex"`
	Expect json.RawMessage `json:"expect"` // tensors by name
	Error  bool            `json:"error"`
}

// Run reads the file.
func (c *File) Run() error {
	file, err := hex.DecodeString(c.Hex)
	if err != nil {
		return err
	}
	read := map[string]func([]byte) (state.Dict, error){
		"safetensors": state.ReadSafetensors, "npz": state.ReadNPZ,
		"npy": func(b []byte) (state.Dict, error) {
			x, err := state.ReadNPY(b)
			return state.Dict{"": x}, err
		},
	}[c.Format]
	if read == nil {
		return fmt.Errorf("%w: reading %s", ErrSkipped, c.Format)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := read(file)
	runtime.ReadMemStats(&after)
	if c.Error {
		if err == nil {
			return fmt.Errorf("the file was read: %v", got)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > uint64(len(file))+1<<20 {
			return fmt.Errorf("refusing a file of %d bytes took %d", len(file), made)
		}
		return nil
	}
	if err != nil {
		return err
	}
	var want map[string]Tensor
	if err := json.Unmarshal(c.Expect, &want); err != nil {
		return err
	}
	if !slices.Equal(got.Names(), slices.Sorted(maps.Keys(want))) {
		return fmt.Errorf("the file has the tensors %q", got.Names())
	}
	for _, name := range got.Names() {
		x, w := got[name], want[name]
		if x.DType().String() != w.DType {
			return fmt.Errorf("tensor %q is %s, want %s", name, x.DType(), w.DType)
		}
		if err := c.exact(name, x, w); err != nil {
			return err
		}
	}
	return nil
}

// exact compares without tolerance.
func (c *File) exact(name string, got *backsweep.Tensor, want Tensor) error {
	return Tolerance{}.matchAll(fmt.Sprintf("tensor %q", name), got, want)
}
