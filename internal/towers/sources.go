package towers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// SourcesError says that the standard library's sources, which the demo learns from, could not be found.
type SourcesError struct {
	Dir    string // where they were looked for; empty where not even that is known
	Reason string // what is missing, and what to do about it
}

func (e *SourcesError) Error() string {
	if e.Dir == "" {
		return "the standard library's sources were not found: " + e.Reason
	}
	return fmt.Sprintf("the standard library's sources were not found in %s: %s", e.Dir, e.Reason)
}

// Sources returns the file tree of the standard library: the src folder of the toolchain that the environment's GOROOT
// or, failing that, `go env GOROOT` names. A toolchain that is missing, or that came without sources, is a *SourcesError.
func Sources(ctx context.Context) (fs.FS, error) {
	root := os.Getenv("GOROOT")
	from := "the environment's GOROOT"
	if root == "" {
		var err error
		if root, err = toolchainRoot(ctx); err != nil {
			return nil, err
		}
		from = "`go env GOROOT`"
	}
	src := filepath.Join(root, "src")
	// Some distributions ship the compiled library and an almost empty src, so a folder alone proves nothing.
	if _, err := os.Stat(filepath.Join(src, "strings", "strings.go")); err != nil {
		return nil, &SourcesError{Dir: src, Reason: from + " names a toolchain without sources; " +
			"install Go from https://go.dev/dl (or your distribution's golang-src package), or point GOROOT at a toolchain that has them"}
	}
	return os.DirFS(src), nil
}

// toolchainRoot asks the go command: what the binary itself believes is empty or another machine's path under -trimpath.
func toolchainRoot(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", &SourcesError{Reason: "there is no go command on the PATH; install Go from https://go.dev/dl, or set GOROOT to a toolchain's folder"}
	case err != nil:
		return "", &SourcesError{Reason: fmt.Sprintf("`go env GOROOT` failed (%v): %s", err, strings.TrimSpace(complaint.String()))}
	}
	root := strings.TrimSpace(string(out))
	if root == "" {
		return "", &SourcesError{Reason: "`go env GOROOT` printed nothing; set GOROOT to a toolchain's folder"}
	}
	return root, nil
}
