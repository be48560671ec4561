package main

import (
	"os"
	"path/filepath"
	"testing"

	"codeberg.org/sbinet/npyio/npy"

	"github.com/backsweep/backsweep"
)

func TestInputs(t *testing.T) {
	var commands [][]string
	for _, in := range []string{
		"x=2.5", "x=-1e3", "x=[]", "x=[[],[]]", "x=[[1,2],[3,4]]", "x=nan", `x=["inf",-1]`, "x:2x0", "x:float64=2", "x:float64:2", " x = 3 ",
		"x=[true,false]", "x=[[1],[2,3]]", "x=[1,[2]]", "x=[[1],2]", "x=[1", "x=1]", "x=one", "x=", "x", "=1", "x:", "x:-1", "x:2x3=1", "x:int64:3", "x=1e999", "y=1", "x=null", "x={}", "x=nofile.npy",
	} {
		commands = append(commands, []string{"grad", "-e", "sum(x)", "--in", in})
	}
	commands = append(commands, []string{"grad", "-e", "sum(x)", "--in", "x=1", "--in", "x=2"})
	golden(t, "inputs", commands...)
}

func TestInputsFromNumPyFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, v any) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := npy.Write(f, v); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, v := range []any{[]float64{1, 2, 3}, []float32{1, 2, 3}} {
		a := gradJSON(t, "-e", "sum(x*x)", "--in", "x="+write("x.npy", v))
		if g := a.Grads["x"]; len(g.Data) != 3 || g.Data[2] != 6 || len(g.Shape) != 1 || g.Shape[0] != 3 {
			t.Errorf("%T: %+v", v, g)
		}
	}
	for _, v := range []any{[]int64{0, 2}, []int32{0, 2}, []uint8{0, 2}} {
		a := gradJSON(t, "-e", "sum(take(w, i, 0))", "--in", "w=[1,2,3]", "--in", "i="+write("i.npy", v))
		if g := a.Grads["w"]; len(g.Data) != 3 || g.Data[1] != 0 || g.Data[2] != 1 {
			t.Errorf("%T: %+v", v, g)
		}
	}
	broken := filepath.Join(dir, "broken.npy")
	for _, text := range []string{"", "\x93NUMPY", "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999,), }\n", "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n"} {
		if err := os.WriteFile(broken, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, code := command("grad", "-e", "sum(x)", "--in", "x="+broken); code != exitUsage {
			t.Errorf("%q: exit %d", text, code)
		}
	}
}

func FuzzValue(f *testing.F) {
	for _, text := range []string{"1", "[1,2]", "[[],[]]", "[[[1]],[[2]]]", "nan", `["inf",true]`, "[[1],2]", "[", "[[],[[]]]", "{}", "null"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := parseValue(text, backsweep.Float64, false)
		if err != nil {
			return
		}
		n := 1
		for _, d := range x.Shape() {
			n *= d
		}
		if n != x.Len() || n != len(x.Float64s()) {
			t.Fatalf("shape %v has %d values", x.Shape(), x.Len())
		}
	})
}
