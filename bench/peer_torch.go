package main

import (
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"sync"
)

//go:embed peer_torch.py
var torchScript string

// findTorch returns a Python interpreter that has PyTorch: the one that the
// environment variable PYTHON names, or the first of the usual ones.
var findTorch = sync.OnceValues(func() (string, error) {
	tries := []string{"python3", "/usr/bin/python3"}
	if p := os.Getenv("PYTHON"); p != "" {
		tries = []string{p}
	}
	for _, p := range tries {
		if exec.Command(p, "-c", "import torch").Run() == nil {
			return p, nil
		}
	}
	return "", errors.New("no Python with torch (set PYTHON)")
})
