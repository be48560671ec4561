package backsweep_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	bs "github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/gradcheck"
)

// Elementwise rows on operands of every combination of these shapes, which
// broadcast against each other: 0-d, empty, and with extents of 1 on either
// side.
func TestElementwiseRowsBroadcast(t *testing.T) {
	shapes := [][][]int{
		{{}, {3}, {2, 1}, {1, 3}},
		{{}, {1}, {2, 0}, {0}},
		{{4, 1, 2}, {3, 1}, {1, 1, 1, 2}, {3, 2}},
	}
	rng := source(t)
	for _, o := range bs.Ops() {
		if !bs.Elementwise(o.Name) || o.Constant {
			continue
		}
		s := bs.Samples(o.Name, rng, bs.Float64)[0]
		for k, set := range shapes {
			eachTuple(len(set), len(s.In), func(pick []int) {
				in := make([]*bs.Tensor, len(pick))
				for i, p := range pick {
					in[i] = resample(rng, s.In[i], set[p])
				}
				if err := gradcheck.Op(o.Name, in, s.At, gradcheck.Seed(*seed), gradcheck.Twice()); err != nil {
					t.Errorf("%s on shapes %d %v: %v", o.Name, k, pick, err)
				}
			})
		}
	}
}

// eachTuple calls f with every n-tuple of numbers below m.
func eachTuple(m, n int, f func(pick []int)) {
	pick := make([]int, n)
	for {
		f(pick)
		i := n - 1
		for ; i >= 0; i-- {
			if pick[i]++; pick[i] < m {
				break
			}
			pick[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// resample draws elements of x into another shape.
func resample(rng *rand.Rand, x *bs.Tensor, shape []int) *bs.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	index := make([]int64, n)
	for i := range index {
		index[i] = rng.Int64N(int64(x.Len()))
	}
	return x.Reshape(-1).Take(bs.New(index), 0).Reshape(shape...)
}

// In float32 every row computes what it does in float64, but for rounding:
// values, gradients and tangents.
func TestFloat32AgreesWithFloat64(t *testing.T) {
	eachSample(t, func(t *testing.T, o bs.OpInfo, s bs.Sample) {
		want, wantT := derivatives(t, o, s, bs.Float64)
		got, gotT := derivatives(t, o, s, bs.Float32)
		for i := range want {
			mustBeClose(t, fmt.Sprint("gradient or value ", i), got[i].Cast(want[i].DType()), want[i], 2e-5)
		}
		for i := range wantT {
			mustBeClose(t, fmt.Sprint("tangent ", i), gotT[i].Cast(bs.Float64), wantT[i], 2e-5)
		}
	})
}

// derivatives evaluates a sample in an element type: the outputs and the
// gradients of its float operands, and the outputs' tangents.
func derivatives(t *testing.T, o bs.OpInfo, s bs.Sample, dt bs.DType) (values, tangents []*bs.Tensor) {
	tape := bs.NewTape()
	in := make([]*bs.Tensor, len(s.In))
	var seeds []bs.Seed
	rng := rand.New(rand.NewPCG(*seed, 3))
	for i, x := range s.In {
		in[i] = x
		if x.DType().IsFloat() {
			// Both types start from the same numbers.
			in[i] = tape.Watch(x.Cast(bs.Float32).Cast(dt))
			seeds = append(seeds, bs.Seed{Tensor: in[i], Tangent: bs.Rand(rng, -1, 1, x.Shape()...).Cast(dt)})
		}
	}
	out, err := bs.Call(o.Name, in, s.At)
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range out {
		values = append(values, y.Clone())
	}
	pushed, err := tape.Forward(seeds)
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range out {
		if d, ok := pushed.Lookup(y); ok {
			tangents = append(tangents, d)
		}
	}
	roots := rootsOf(out, rng)
	if len(roots) == 0 {
		return values, tangents
	}
	grads, err := tape.BackwardFrom(roots)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range in {
		if x.DType().IsFloat() {
			if d, _ := grads.Lookup(x); d != nil {
				values = append(values, d)
			}
		}
	}
	return values, tangents
}

func TestEveryRowSaysWhatItIs(t *testing.T) {
	for _, o := range bs.Ops() {
		if o.Doc == "" || strings.HasSuffix(o.Doc, ".") {
			t.Errorf("%s: doc %q", o.Name, o.Doc)
		}
		if !o.Constant && o.Formula == "" {
			t.Errorf("%s has no formula", o.Name)
		}
		if len(bs.Samples(o.Name, source(t), bs.Float64)) == 0 {
			t.Errorf("%s has no samples", o.Name)
		}
		for k, a := range o.Attrs {
			if a.Name == "" || a.Type == "" {
				t.Errorf("%s: attribute %d is %+v", o.Name, k, a)
			}
		}
	}
}

// Rows and methods: a row that is not the engine's own has a method named after
// it, and every method that records a node has a row.
func TestEveryRowHasAMethod(t *testing.T) {
	functions := map[string]string{"where": "Where", "concat": "Concat", "stack": "Stack", "einsum": "Einsum"}
	// Rows whose method is not simply the row's name, and methods that are
	// other forms of a row.
	named := map[string]string{"matmul": "MatMul", "logsumexp": "LogSumExp", "rms_norm": "RMSNorm", "lstm_gates": "LSTMGates", "gru_gates": "GRUGates", "slogdet": "SlogDet", "logaddexp": "LogAddExp", "xlogy": "XLogY", "isnan": "IsNaN",
		"mse": "MSE", "bce_with_logits": "BCEWithLogits", "kl_div": "KLDiv", "cumsum": "CumSum", "cumprod": "CumProd", "logcumsumexp": "LogCumSumExp"}
	forms := map[string]string{
		"T": "transpose", "Index": "slice", "CrossEntropySum": "cross_entropy", "CrossEntropyEach": "cross_entropy",
		"EmbeddingBagSum": "embedding_bag", "EmbeddingPadded": "embedding", "SoftplusBeta": "softplus", "SortDescending": "sort",
		"MSEWith": "mse", "HuberWith": "huber", "BCEWithLogitsWith": "bce_with_logits", "KLDivWith": "kl_div", "CrossEntropyWith": "cross_entropy", "PadReflect": "pad", "PadReplicate": "pad", "VarOf": "var", "StdOf": "std", "MaxPoolPlaces": "max_pool", "BatchNormWith": "batch_norm",
	}
	for _, name := range []string{"sum", "mean", "max", "min", "logsumexp", "prod", "var", "std", "norm"} {
		forms[camel(name, named)+"Keep"] = name
	}
	notOps := []string{"At", "Clone", "DType", "Dim", "Fill", "Float64s", "ID", "IsParam", "Item", "Keep", "Len", "Name", "Named",
		"Node", "Rank", "SetAt", "Shape", "SameShape", "Strides", "String", "Tape", "Version"}
	rows := map[string]bool{}
	methods := reflect.TypeFor[*bs.Tensor]()
	for _, o := range bs.Ops() {
		name := camel(o.Name, named)
		_, has := methods.MethodByName(name)
		switch {
		case o.Engine && has:
			t.Errorf("row %s is the engine's own, but there is a method %s", o.Name, name)
		case !o.Engine && !has && functions[o.Name] == "":
			t.Errorf("row %s has no method %s", o.Name, name)
		}
		rows[name] = true
	}
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !rows[name] && forms[name] == "" && !slices.Contains(notOps, name) {
			t.Errorf("method %s has no row, and is not known to be no op", name)
		}
	}
}

func camel(row string, named map[string]string) string {
	if n, ok := named[row]; ok {
		return n
	}
	var b strings.Builder
	for _, part := range strings.Split(row, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
