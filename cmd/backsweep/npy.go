package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

// readNPY reads a NumPy file of numbers or truth values.
func readNPY(path string) (*backsweep.Tensor, error) {
	file, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	}
	x, err := state.ReadNPY(file)
	if err != nil {
		return nil, fmt.Errorf("%s: it is no NumPy file that can be read: %w", path, err)
	}
	return x, nil
}
