// Command gen writes the assembly of package kernel. Run it by go generate in
// the package's folder.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// units are the files for one instruction set and element size.
var units = []struct {
	name  string
	write func(*emitter)
}{
	{"gemm", (*emitter).gemm},
	{"arithmetic", (*emitter).arithmetic},
	{"transcendental", (*emitter).transcendental},
	{"normal", (*emitter).normalUnit},
	{"reduce", (*emitter).reductions},
	{"step", (*emitter).steps},
}

func main() {
	log.SetFlags(0)
	out := flag.String("dir", "..", "the folder to write to")
	flag.Parse()
	var all tables
	for _, s := range []isa{avx2, avx512} {
		for _, bits := range []int{32, 64} {
			all.begin(newEmitter(s, bits))
			for _, u := range units {
				e := newEmitter(s, bits)
				e.ConstraintExpr("amd64")
				u.write(e)
				if len(e.names) == 0 {
					continue
				}
				base := filepath.Join(*out, fmt.Sprintf("%s%d_%s_amd64", u.name, bits, strings.ToLower(s.String())))
				if err := e.print(base); err != nil {
					log.Fatalf("%s: %v", base, err)
				}
				all.list(e)
			}
			all.end()
		}
	}
	if err := all.write(filepath.Join(*out, "vectors_amd64.go")); err != nil {
		log.Fatal(err)
	}
}

// print assigns registers and writes base.s and its declarations, base.go.
func (e *emitter) print(base string) error {
	var text, stubs bytes.Buffer
	cfg := printer.Config{Name: "internal/kernel/gen", Pkg: "kernel"}
	status := build.Main(&build.Config{
		ErrOut: os.Stderr,
		Passes: []pass.Interface{
			pass.Compile,
			&pass.Output{Writer: nopCloser{&text}, Printer: printer.NewGoAsm(cfg)},
			&pass.Output{Writer: nopCloser{&stubs}, Printer: printer.NewStubs(cfg)},
		},
	}, e.Context)
	if status != 0 {
		return errors.New("not written")
	}
	if r := regexp.MustCompile(`Y(1[6-9]|2\d|3[01])`).Find(text.Bytes()); e.isa == avx2 && r != nil {
		return fmt.Errorf("AVX2 has no %s", r)
	}
	if err := os.WriteFile(base+".s", text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".go", stubs.Bytes(), 0o644)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
