package cases

import (
	"encoding/json"
	"fmt"
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
func (c *File) Run() error { return fmt.Errorf("%w: reading %s", ErrSkipped, c.Format) }
