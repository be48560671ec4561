package state_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

var formats = []string{"d.safetensors", "d.npz"}

// bits are the elements of a tensor as they are, NaN and all.
func bits(x *backsweep.Tensor) (out []uint64) {
	if x.DType() == backsweep.Int64 {
		for _, v := range backsweep.Data[int64](x) {
			out = append(out, uint64(v))
		}
		return out
	}
	if x.DType() == backsweep.Float32 {
		for _, v := range backsweep.Data[float32](x) {
			out = append(out, uint64(math.Float32bits(v)))
		}
		return out
	}
	for _, v := range x.Float64s() {
		out = append(out, math.Float64bits(v))
	}
	return out
}

func same(a, b *backsweep.Tensor) bool {
	return a != nil && b != nil && a.DType() == b.DType() && slices.Equal(a.Shape(), b.Shape()) && slices.Equal(bits(a), bits(b))
}

// through saves and loads.
func through(t testing.TB, name string, d state.Dict) state.Dict {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := state.Save(path, d); err != nil {
		t.Fatal(err)
	}
	got, err := state.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// save-transposed: a transposed view is written as its own elements, and NaN and
// infinities survive bit for bit.
func TestSaveTransposed(t *testing.T) {
	odd := []uint64{math.Float64bits(math.Inf(1)), math.Float64bits(math.Inf(-1)), 0x7ff8000000000123, 0xfff8000000000001, 1 << 63, 1}
	values := make([]float64, len(odd))
	for i, b := range odd {
		values[i] = math.Float64frombits(b)
	}
	for _, name := range formats {
		w := backsweep.NewParam("w", backsweep.New([]float64{1, 2, 3, 4}, 2, 2))
		got := through(t, name, state.Dict{"w": w.T(), "odd": backsweep.New(values)})
		if x := got["w"]; !slices.Equal(x.Shape(), []int{2, 2}) || !slices.Equal(x.Float64s(), []float64{1, 3, 2, 4}) {
			t.Errorf("%s: the transpose came back as %v", name, x)
		}
		if b := bits(got["odd"]); !slices.Equal(b, odd) {
			t.Errorf("%s: %x came back as %x", name, odd, b)
		}
	}
}

func TestWhatIsSavedComesBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := state.Dict{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(0, 10, 30), 0, 5, rapid.ID).Draw(r, "names") {
			shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 4).Draw(r, "shape")
			x := backsweep.Zeros(backsweep.Float64, shape...)
			values := rapid.SliceOfN(rapid.Float64(), x.Len(), x.Len()).Draw(r, "values")
			x = backsweep.New(values, append([]int{}, shape...)...)
			d[name] = x.Cast(rapid.SampledFrom([]backsweep.DType{backsweep.Float32, backsweep.Float64, backsweep.Int64, backsweep.Bool}).Draw(r, "type"))
		}
		for i, write := range []func(io.Writer, state.Dict) error{state.WriteSafetensors, state.WriteNPZ} {
			var b bytes.Buffer
			if err := write(&b, d); err != nil {
				r.Fatal(err)
			}
			got, err := []func([]byte) (state.Dict, error){state.ReadSafetensors, state.ReadNPZ}[i](b.Bytes())
			if err != nil || !slices.Equal(got.Names(), d.Names()) {
				r.Fatalf("%s: %q came back as %q, %v", formats[i], d.Names(), got.Names(), err)
			}
			for n, x := range d {
				if !same(x, got[n]) {
					r.Fatalf("%s: %q: %v came back as %v", formats[i], n, x, got[n])
				}
			}
		}
	})
}

func TestTheSameTensorsMakeTheSameBytes(t *testing.T) {
	for _, name := range formats {
		var first []byte
		for range 5 {
			path := filepath.Join(t.TempDir(), name)
			d := state.Dict{}
			for _, n := range []string{"c", "a", "b", "d", "e"} {
				d[n] = backsweep.Arange(3)
			}
			if err := state.Save(path, d); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if first != nil && !slices.Equal(first, b) {
				t.Errorf("%s: two files differ", name)
			}
			first = b
		}
	}
}

func TestRestore(t *testing.T) {
	w := backsweep.NewParam("w", backsweep.New([]float32{1, 2}))
	count := backsweep.Scalar(int64(7))
	into := state.Dict{}
	into.Add("model/", map[string]*backsweep.Tensor{"w": w, "count": count})
	from := state.Dict{"model/w": backsweep.New([]float32{3, 4}), "model/count": backsweep.Scalar(int64(9))}
	if err := state.Restore(into.Under("model/"), from.Under("model/")); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.Float64s(), []float64{3, 4}) || count.Item() != 9 || w.Version() != 1 {
		t.Errorf("w is %v, count %v", w, count)
	}
}

func TestRestoreListsWhatDoesNotFit(t *testing.T) {
	a, b, c := backsweep.NewParam("a", backsweep.Zeros(backsweep.Float32, 2, 3)), backsweep.NewParam("b", backsweep.Scalar(1.0)), backsweep.NewParam("c", backsweep.Scalar(1.0))
	into := state.Dict{"a": a, "b": b, "c": c}
	from := state.Dict{"a": backsweep.Zeros(backsweep.Float32, 3, 2), "b": backsweep.Scalar(2.0), "y": b, "x": c}
	err := state.Restore(into, from)
	want := `state: Restore: the tensors do not fit: missing: "c"; unexpected: "x", "y"; "a" is [3 2], not [2 3]`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var m *state.Mismatch
	if !errors.As(err, &m) || !slices.Equal(m.Missing, []string{"c"}) || b.Item() != 1 {
		t.Errorf("%+v; b is %v", m, b)
	}
	delete(into, "a")
	delete(from, "a")
	if err := state.Restore(into, from, state.AllowMissing()); err == nil {
		t.Error("what is unexpected was taken")
	}
	if err := state.Restore(into, from, state.AllowMissing(), state.AllowUnexpected()); err != nil || b.Item() != 2 || c.Item() != 1 {
		t.Errorf("%v; b is %v, c is %v", err, b, c)
	}
}

func TestNamesThatAreTaken(t *testing.T) {
	defer func() {
		if e, ok := recover().(*backsweep.Error); !ok || e.What != `the name "m/w" is taken` {
			t.Errorf("%v", e)
		}
	}()
	d := state.Dict{"m/w": backsweep.Scalar(1.0)}
	d.Add("m/", map[string]*backsweep.Tensor{"w": backsweep.Scalar(1.0)})
}

func TestNamesThatNoFileHolds(t *testing.T) {
	for _, name := range formats {
		path := filepath.Join(t.TempDir(), name)
		var e *state.FormatError
		if err := state.Save(path, state.Dict{"\xff": backsweep.Scalar(1.0)}); !errors.As(err, &e) || e.Tensor != "\xff" {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
			t.Errorf("%s: a save that failed left %v", name, left)
		}
	}
	if err := state.Save("d.txt", nil); err == nil {
		t.Error("a text file was written")
	}
	if _, err := state.Load("d.npy"); err == nil {
		t.Error("a file of another kind was read")
	}
}

func TestSaveFollowsLinksAndKeepsModes(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.npz"), filepath.Join(dir, "link.npz")
	if err := os.WriteFile(real, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := state.Save(link, state.Dict{"a": backsweep.Scalar(1.0)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file became %v, %v", info.Mode(), err)
	}
	if d, err := state.Load(real); err != nil || d["a"].Item() != 1 {
		t.Error(d, err)
	}
}
