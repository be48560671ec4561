package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/record"
)

func TestGrad(t *testing.T) {
	golden(t, "grad",
		[]string{"grad", "-e", "x*x + exp(x)", "--in", "x=2.5", "--dtype", "float64"},
		[]string{"grad", "-e", "sum(x*w)", "--in", "x=[[1,2],[3,4]]", "--in", "w:2x2", "--seed", "7"},
		[]string{"grad", "-e", cut, "--in", "x:3", "--in", "w:3", "--all"},
		[]string{"grad", "-e", pass, "--in", "x=0.5", "--in", "w=2", "--all", "--dtype", "float64"},
		[]string{"grad", "-e", "y := detach(x); y * w", "--in", "x=1"},
		[]string{"grad", "-e", "cross_entropy(x, i)", "--in", "x:2x3", "--in", "i:int64=[0, 2]"},
		[]string{"grad", "-e", "y := s; if s > 0 { y = s*a } else { y = s*b }; y", "--in", "s=2"},
		[]string{"grad", "-e", "sum(tanh(x))", "--in", "x:40", "--lines", "4"},
		[]string{"grad", "-e", "sum(tanh(x))", "--in", "x=[1, 2]", "--mode", "forward"},
		[]string{"grad", "-e", "sum(tanh(x))", "--in", "x:5000", "--mode", "forward"},
		[]string{"grad", "-e", "y := x*w; sum(y*y)", "--in", "x=[1,2,3]", "--in", "w=2", "--mode", "both"},
		[]string{"grad", "-e", "y := tanh(x*w); sum(y*y)", "--in", "x=[1, 2]", "--in", "w=0.5", "--wrt", "x[1]"},
		[]string{"grad", "-e", "sum(x)", "--in", "x:2x2", "--wrt", "x[1,2]"},
		[]string{"grad", "-e", "sum(x)", "--in", "x:2x2", "--wrt", "y"},
		[]string{"grad", "-e", wide, "--order", "all", "--workers", "3"},
		[]string{"grad", "-e", joined, "--order", "all", "--json"},
		[]string{"grad", "-e", joined, "--order", "0,1,2"},
		[]string{"grad", "-e", joined, "--order", "2,0,1"},
		[]string{"grad", "-e", "sum(x/y)", "--in", `x=[1,0,-1,"nan"]`, "--in", "y=0", "--json", "--all"},
		[]string{"grad", "-e", "y := detach(x); y*w", "--json", "--in", "x=1", "--in", "w=0.1"},
	)
}

type answerJSON struct {
	Loss  struct{ Data []record.Number }
	Grads map[string]struct {
		State string
		Shape []int
		Data  []record.Number
	}
}

func gradJSON(t *testing.T, args ...string) answerJSON {
	t.Helper()
	var a answerJSON
	if err := json.Unmarshal([]byte(must(t, append([]string{"grad", "--json"}, args...)...)), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// The same bits under every order and worker count, as JSON carries them.
func TestGradHasTheSameBitsUnderEveryOrder(t *testing.T) {
	base := gradJSON(t, "-e", wide, "--in", "x:17")
	for _, args := range [][]string{{"--order", "depth"}, {"--order", "breadth"}, {"--order", "leanest"}, {"--order", "random"}, {"--workers", "4"}, {"--workers", "2", "--order", "random", "--seed", "1"}} {
		other := gradJSON(t, append([]string{"-e", wide, "--in", "x:17"}, args...)...)
		for i, v := range base.Grads["x"].Data {
			if math.Float64bits(float64(v)) != math.Float64bits(float64(other.Grads["x"].Data[i])) {
				t.Errorf("%v: entry %d is %v, not %v", args, i, other.Grads["x"].Data[i], v)
			}
		}
	}
}

func TestModesAgree(t *testing.T) {
	for _, p := range []string{wide, cut, pass, "logsumexp(x*w)", "sum(softmax(x)*w)", "mean(x[1:]) * max(w)"} {
		in := []string{"-e", p, "--in", "x:5", "--dtype", "float64"}
		if strings.Contains(p, "w") {
			in = append(in, "--in", "w:5")
		}
		reverse, forward := gradJSON(t, in...), gradJSON(t, append(in, "--mode", "forward")...)
		for name, g := range reverse.Grads {
			f := forward.Grads[name]
			if f.State != g.State || len(f.Data) != len(g.Data) {
				t.Errorf("%s: %s is %s and %s", p, name, g.State, f.State)
				continue
			}
			for i, v := range g.Data {
				if d := math.Abs(float64(v - f.Data[i])); d > 1e-12*(1+math.Abs(float64(v))) {
					t.Errorf("%s: d%s[%d] is %v in reverse and %v in forward mode", p, name, i, v, f.Data[i])
				}
			}
		}
	}
}

// Numbers of float32 read back to the same bits, as float64 and as float32.
func TestGradNumbersReadBack(t *testing.T) {
	a := gradJSON(t, "-e", "sum(tanh(x))", "--in", "x:50")
	for _, v := range a.Grads["x"].Data {
		text := v.String()
		wide, err := strconv.ParseFloat(text, 64)
		if err != nil || wide != float64(v) || float64(float32(wide)) != wide {
			t.Errorf("%s reads back to %v", text, wide)
		}
	}
}
