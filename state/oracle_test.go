package state_test

import (
	"archive/zip"
	"bytes"
	"math"
	"slices"
	"testing"

	sbinet "codeberg.org/sbinet/npyio/npy"
	"github.com/nlpodyssey/safetensors"
	"gonum.org/v1/gonum/mat"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

// Another reader and writer of NumPy's format agree with ours.
func TestNPYBesideNpyio(t *testing.T) {
	var theirs bytes.Buffer
	if err := sbinet.Write(&theirs, mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})); err != nil {
		t.Fatal(err)
	}
	x, err := state.ReadNPY(theirs.Bytes())
	if err != nil || !same(x, backsweep.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3)) {
		t.Errorf("%v, %v", x, err)
	}
	for _, v := range []any{[]float32{1.5, -2}, []int64{-7}, []bool{true, false, true}, []uint16{1, 65535}, []int8{-1, 2}} {
		theirs.Reset()
		if err := sbinet.Write(&theirs, v); err != nil {
			t.Fatal(err)
		}
		if x, err := state.ReadNPY(theirs.Bytes()); err != nil {
			t.Errorf("%v: %v, %v", v, x, err)
		}
	}
	var ours bytes.Buffer
	if err := state.WriteNPY(&ours, backsweep.New([]float64{1, 2, 3, 4}, 2, 2).T()); err != nil {
		t.Fatal(err)
	}
	var m mat.Dense
	if err := sbinet.Read(&ours, &m); err != nil || !mat.Equal(&m, mat.NewDense(2, 2, []float64{1, 3, 2, 4})) {
		t.Errorf("%v, %v", m, err)
	}
}

func TestNPYKinds(t *testing.T) {
	read := func(descr, fortran, shape, data string) *backsweep.Tensor {
		t.Helper()
		x, err := state.ReadNPY(npyFile("{'shape': "+shape+", 'descr': '"+descr+"', 'fortran_order': "+fortran+"}", data))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, c := range []struct {
		got  *backsweep.Tensor
		want *backsweep.Tensor
	}{
		{read(">f8", "False", "(1,)", "\x3f\xf8\x00\x00\x00\x00\x00\x00"), backsweep.New([]float64{1.5})},
		{read(">i2", "False", "(2,)", "\xff\xfe\x00\x01"), backsweep.New([]int64{-2, 1})},
		{read("<u4", "False", "()", "\xff\xff\xff\xff"), backsweep.Scalar(int64(math.MaxUint32))},
		{read("|i1", "False", "(2,)", "\xff\x01"), backsweep.New([]int64{-1, 1})},
		{read("|u1", "True", "(2, 3)", "\x01\x04\x02\x05\x03\x06"), backsweep.New([]int64{1, 2, 3, 4, 5, 6}, 2, 3)},
		{read("|u1", "True", "(2, 1, 2)", "\x01\x03\x02\x04"), backsweep.New([]int64{1, 2, 3, 4}, 2, 1, 2)},
		{read("<f2", "False", "(8,)", "\x00\x3c\x00\xc0\x01\x00\xff\x7b\x00\x7c\x00\x80\xff\x03\x00\x04"),
			backsweep.New([]float32{1, -2, 1.0 / (1 << 24), 65504, float32(math.Inf(1)), float32(math.Copysign(0, -1)), 1023.0 / (1 << 24), 1.0 / (1 << 14)})},
	} {
		if !same(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if x := read("<f2", "False", "(1,)", "\x01\xfe"); !math.IsNaN(x.Float64s()[0]) {
		t.Errorf("a NaN became %v", x)
	}
}

func TestSafetensorsKinds(t *testing.T) {
	d, err := state.ReadSafetensors(safetensorsFile(`{"__metadata__":{"by":"hand"},"bf":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"i":{"data_offsets":[4,5],"dtype":"I8","shape":[]},"none":{"dtype":"F64","shape":[3,0],"data_offsets":[5,5]}}  `, "\x80\x3f\x00\xc0\xfe"))
	if err != nil {
		t.Fatal(err)
	}
	if !same(d["bf"], backsweep.New([]float32{1, -2})) || !same(d["i"], backsweep.Scalar(int64(-2))) || !same(d["none"], backsweep.Zeros(backsweep.Float64, 3, 0)) || len(d) != 3 {
		t.Errorf("%v", d)
	}
}

// What the module writes by itself is read, and what is written the module reads.
func TestSafetensorsBesideTheModule(t *testing.T) {
	view, err := safetensors.NewTensorView(safetensors.I64, []uint64{1}, []byte{5, 0, 0, 0, 0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Serialize(map[string]safetensors.TensorView{"x": view}, map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := state.ReadSafetensors(file); err != nil || !same(d["x"], backsweep.New([]int64{5})) {
		t.Errorf("%v, %v", d, err)
	}
	var ours bytes.Buffer
	if err := state.WriteSafetensors(&ours, state.Dict{"s": backsweep.Scalar(float32(2))}); err != nil {
		t.Fatal(err)
	}
	read, err := safetensors.Deserialize(ours.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := read.Tensor("s"); !ok || len(s.Shape()) != 0 || !slices.Equal(s.Data(), []byte{0, 0, 0, 64}) {
		t.Errorf("%+v", s)
	}
}

func TestCompressedMembers(t *testing.T) {
	var one bytes.Buffer
	x := backsweep.Full(backsweep.Float64, 1.5, 4000)
	if err := state.WriteNPY(&one, x); err != nil {
		t.Fatal(err)
	}
	d, err := state.ReadNPZ(npzFile(zip.Deflate, "w/mean.npy", one.String(), ".npy", one.String()))
	if err != nil || !same(d["w/mean"], x) || !same(d[""], x) || len(d) != 2 {
		t.Errorf("%v, %v", d.Names(), err)
	}
}
