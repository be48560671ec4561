package state_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

// safetensorsFile is a header and what follows it.
func safetensorsFile(header, data string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+data...)
}

// npyFile is a file of version 1.
func npyFile(header, data string) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header))), header+data...)
}

// npzFile is an archive of members, compressed or not, two by two name and bytes.
func npzFile(method uint16, members ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: members[i], Method: method})
		if err == nil {
			_, err = io.WriteString(w, members[i+1])
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func npy(b []byte) (state.Dict, error) {
	x, err := state.ReadNPY(b)
	return state.Dict{"": x}, err
}

const header = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n"

var hostile = []struct {
	name string
	read func([]byte) (state.Dict, error)
	file []byte
	text string
}{
	{"safetensors", state.ReadSafetensors, nil, `state: safetensors: byte 0: the file has 0 bytes, and the length of the header takes 8`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{}`, "")[:9], `state: safetensors: byte 0: the header has 2 bytes, but only 1 follow`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{}x`, ""), `state: safetensors: byte 10: "x" follows the header's end`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{`, ""), `state: safetensors: byte 9: EOF`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{}`, "abc"), `state: safetensors: byte 10: 3 bytes belong to no tensor`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, "a"), `state: safetensors: tensor "x": shape [0 9223372036854775807] does not take the 0 bytes that it has`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"F32","dtype":"F32","shape":[],"data_offsets":[0,4]}}`, "abcd"), `state: safetensors: tensor "x": byte 35: the entry has "dtype" twice`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"F4","shape":[],"data_offsets":[0,4]}}`, "abcd"), `state: safetensors: tensor "x": byte 59: elements of type "F4" cannot be read`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"U64","shape":[],"data_offsets":[0,8]}}`, "\xff\xff\xff\xff\xff\xff\xff\xff"), `state: safetensors: tensor "x": byte 61: element 0 is 18446744073709551615, too large for an int64`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}`, "\x01\x02"), `state: safetensors: tensor "x": byte 63: element 1 is 2, which is neither false nor true`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"F32","shape":[`+strings.Repeat("1,", 64)+`1],"data_offsets":[0,4]}}`, "abcd"), `state: safetensors: tensor "x": byte 166: shape has more than 64 numbers`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(strings.Repeat("[", 1<<16), ""), `state: safetensors: byte 8: the header does not begin with {`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"__metadata__":{"a":1}}`, ""), `state: safetensors: byte 30: a is 1, not a text`},
	{"safetensors", state.ReadSafetensors, safetensorsFile(`{"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, "abcd"), `state: safetensors: tensor "x": byte 39: shape has -1, not a natural number of 63 bits`},
	{"npy", npy, nil, `state: npy: byte 0: the file ends within the first 10 bytes: EOF`},
	{"npy", npy, npyFile(header, "")[:20], `state: npy: byte 8: a header of 58 bytes is not in a file of 20`},
	{"npy", npy, npyFile(header, "1234567"), `state: npy: byte 68: shape [1] of 8 bytes an element does not take the 7 bytes that follow`},
	{"npy", npy, npyFile(header, "123456789"), `state: npy: byte 68: shape [1] of 8 bytes an element does not take the 9 bytes that follow`},
	{"npy", npy, npyFile("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", ""), `state: npy: byte 24: the elements are Python objects, which would have to be run to be read`},
	{"npy", npy, npyFile("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", ""), `state: npy: byte 20: the header has "[('a', '<f8')], 'for…" where a text should be`},
	{"npy", npy, npyFile("{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", ""), `state: npy: byte 26: elements of type "<c16" cannot be read`},
	{"npy", npy, npyFile("{'descr': '<f8', 'fortran_order': False, 'shape': (1)}", "12345678"), `state: npy: byte 62: the shape is a number in brackets, not a tuple`},
	{"npy", npy, npyFile("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", "12345678"), `state: npy: byte 44: the header has "0, 'shape': (1,)}" where True or False should be`},
	{"npy", npy, npyFile("{'descr': '<f8', 'descr': '<f8'}", ""), `state: npy: byte 35: the key "descr" is there twice`},
	{"npy", npy, []byte("\x93NUMPY\x09\x00  "), `state: npy: byte 6: version 9.0 of the format is unknown`},
	{"npy", npy, []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), `state: npy: byte 8: a header of 4294967295 bytes is not in a file of 12`},
	{"npz", state.ReadNPZ, nil, `state: npz: zip: not a valid zip file`},
	{"npz", state.ReadNPZ, npzFile(zip.Store, "a.txt", "abc"), `state: npz: tensor "a.txt": the member is no .npy file`},
	{"npz", state.ReadNPZ, npzFile(zip.Store, "a.npy", string(npyFile(header, "12345678")), "a.npy", string(npyFile(header, "12345678"))), `state: npz: tensor "a": it is there twice`},
	{"npz", state.ReadNPZ, npzFile(zip.Deflate, "a.npy", string(npyFile(header, "1234"))), `state: npz: tensor "a": byte 68: shape [1] of 8 bytes an element does not take the 4 bytes that follow`},
	{"npz", state.ReadNPZ, npzFile(zip.Deflate, "a.npy", strings.Repeat("0", 8<<20)), `state: npz: tensor "a": unpacked, the file would be more than 64 times its size; pack it without compression`},
	{"npz", state.ReadNPZ, damaged(npzFile(zip.Store, "a.npy", string(npyFile(header, "12345678"))), "12345678"), `state: npz: tensor "a": zip: checksum error`},
}

func damaged(file []byte, at string) []byte {
	file[bytes.Index(file, []byte(at))]++
	return file
}

func TestHostileFiles(t *testing.T) {
	for _, h := range hostile {
		_, err := h.read(h.file)
		var e *state.FormatError
		if !errors.As(err, &e) || e.Format != h.name || err.Error() != h.text {
			t.Errorf("%s %q:\ngot  %v\nwant %s", h.name, clip(h.file), err, h.text)
		}
	}
}

func clip(b []byte) string {
	if len(b) > 100 {
		return fmt.Sprintf("%s… (%d bytes)", b[:100], len(b))
	}
	return string(b)
}

// Every beginning of a good file is an error.
func TestFilesThatAreCutOff(t *testing.T) {
	d := state.Dict{"a": backsweep.New([]float64{1, 2, 3}), "b": backsweep.New([]bool{true, false})}
	for _, f := range []struct {
		read  func([]byte) (state.Dict, error)
		write func(io.Writer, state.Dict) error
	}{
		{state.ReadSafetensors, state.WriteSafetensors},
		{state.ReadNPZ, state.WriteNPZ},
		{npy, func(w io.Writer, d state.Dict) error { return state.WriteNPY(w, d["a"]) }},
	} {
		var b bytes.Buffer
		if err := f.write(&b, d); err != nil {
			t.Fatal(err)
		}
		for n := range b.Len() {
			if _, err := f.read(b.Bytes()[:n]); err == nil {
				t.Errorf("%d of %d bytes were read", n, b.Len())
			}
		}
		if _, err := f.read(b.Bytes()); err != nil {
			t.Error(err)
		}
	}
}

// allocated is the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func fuzz(f *testing.F, format string, read func([]byte) (state.Dict, error), write func(io.Writer, state.Dict) error) {
	for _, h := range hostile {
		if h.name == format && len(h.file) < 1<<12 {
			f.Add(h.file)
		}
	}
	var b bytes.Buffer
	good := state.Dict{"a": backsweep.New([]float64{1, 2, 3, 4, 5, 6}, 2, 3), "b": backsweep.New([]float32{1}), "c": backsweep.Arange(2), "d": backsweep.Scalar(true)}
	if format == "npy" {
		good = state.Dict{"": good["a"]}
	}
	if err := write(&b, good); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		var d state.Dict
		var err error
		made := allocated(func() { d, err = read(file) })
		if limit := uint64(len(file))*200 + 4<<20; made > limit { // of one that is read, too
			t.Fatalf("%d bytes made for a file of %d", made, len(file))
		}
		if err != nil {
			var e *state.FormatError
			if !errors.As(err, &e) {
				t.Fatalf("an error of type %T: %v", err, err)
			}
			return
		}
		// What was read is written and read again to the same bits.
		var b bytes.Buffer
		if err := write(&b, d); err != nil {
			return
		}
		again, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Names(), again.Names()) {
			t.Fatalf("%q came back as %q", d.Names(), again.Names())
		}
		for name, x := range d {
			if !same(x, again[name]) {
				t.Fatalf("%q: %v came back as %v", name, x, again[name])
			}
		}
	})
}

func FuzzReadSafetensors(f *testing.F) {
	fuzz(f, "safetensors", state.ReadSafetensors, state.WriteSafetensors)
}

func FuzzReadNPY(f *testing.F) {
	fuzz(f, "npy", npy, func(w io.Writer, d state.Dict) error { return state.WriteNPY(w, d[""]) })
}

func FuzzReadNPZ(f *testing.F) { fuzz(f, "npz", state.ReadNPZ, state.WriteNPZ) }
