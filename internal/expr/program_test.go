package expr_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/internal/expr"
)

var update = flag.Bool("update", false, "write the golden files anew")

// run runs a program whose inputs are all 2×3 matrices 0.1, 0.2, …, but for
// scalars "s" (0.5) and "neg" (-2), and "i" (int64 1, 0).
func run(src string, anyLoss bool) (*expr.Run, error) {
	p, err := expr.Parse(src)
	if err != nil {
		return nil, err
	}
	return p.Run(backsweep.NewTape(), expr.Options{DType: backsweep.Float64, MaxOps: 10000, AnyLoss: anyLoss, Input: func(name string) (*backsweep.Tensor, error) {
		switch name {
		case "s":
			return backsweep.Scalar(0.5), nil
		case "neg":
			return backsweep.Scalar(-2.0), nil
		case "i":
			return backsweep.New([]int64{1, 0}), nil
		case "none":
			return nil, errors.New("there is no value")
		}
		return backsweep.New([]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 2, 3), nil
	}})
}

// dump prints what a program recorded, an op a line.
func dump(r *expr.Run) (string, error) {
	rec, err := r.Tape.Record()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, n := range rec.Nodes {
		var in, out []string
		for _, t := range n.Inputs {
			in = append(in, rec.TensorName(t))
		}
		if n.Attrs != "" {
			in = append(in, n.Attrs)
		}
		for _, t := range n.Outputs {
			out = append(out, rec.TensorName(t))
		}
		scope := rec.ScopePath(n.Scope)
		if scope != "" {
			scope = "  in " + scope
		}
		fmt.Fprintf(&b, "%s(%s) → %s%s\n", rec.NodeName(n.ID), strings.Join(in, ", "), strings.Join(out, ", "), scope)
	}
	// The last digits are those of one kernel path.
	loss := long.ReplaceAllStringFunc(r.Loss.String(), func(s string) string {
		v, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(v, 'g', 5, 64)
	})
	return b.String() + "loss " + loss + "\n", nil
}

var long = regexp.MustCompile(`-?[0-9]+\.[0-9]{5,}(e[-+][0-9]+)?`)

func TestPrograms(t *testing.T) {
	golden(t, "programs.golden", true, []string{
		"y := tanh(x); sum(y)",
		"y := tanh(x)\nz := sum(y)",
		"s + 2; ", "2 + s", "s - 2", "2 - s", "3 * s", "s * 3", "s / 4", "s / 10", "4 / s", "-s", "+s",
		"1/2 * s",
		"n := 3; k := -n + 1; s * k",
		"x.Tanh().Sum(0).Sum()",
		"sum(x, 0)", "sum(x, 0, 1)", "sum(x, opt{axis: 0, keepdims: true})", "sum(x, opt{axes: {0, 1}})", "sum(x, -1, true)", "x.SumKeep(1)",
		"reshape(x, 2, -1)", "x.Reshape(6)", "reshape(x, opt{shape: {3, 2}})", "x[1:1].Reshape(0)",
		"transpose(x)", "transpose(x, 1, 0)", "x.T()", "matmul(x, x.T())", "x.MatMul(x.T())",
		"x[1]", "x[-1]", "x[1][2]", "x[1:]", "x[:1]", "x[0:2]", "x.Index(0)", "slice(x, Range{1, 2, 1}, All)", "slice(x, opt{start: {0, 2}, stop: {2, 0}, step: {1, -1}})",
		"a, b := split(x, 0, 1, 1); a * b", "a, _ := x.Split(1, 1, 2); sum(a)",
		"concat(x, x, 1)", "concat(x, x)", "concat(x, x, -1)", "stack(x, x, opt{axis: 1})",
		"maximum(x, 0.3)", "where(x > 0.3, x, 0.1*x)", "where(x <= 0.3, 1, 0)",
		"cross_entropy(x, i)", "cross_entropy(x, i, sum)", "cross_entropy(x, i, opt{reduction: none})", `cross_entropy(x, i, "sum")`, "x.CrossEntropySum(i)",
		"take(x, i, 0)", "x.Take(i, 0)", "cast(x, float32)", "softmax(x)", "softmax(x, 0)", "log_softmax(x, opt{axis: 1})",
		"h := s; for i := range 3 { h = tanh(h) }; h",
		"for range 2 { s = s*s }; s",
		"h := s; for i := range 2 { for j := range 2 { h = h * (i + 2*j) } }; h",
		"h := x; for i := range 2 { h = h + x[i] }; sum(h)",
		"y := s; if s > 0 { y = exp(s) } else { y = log(s) }; y", "y := neg; if neg > 0 { y = exp(y) } else if neg < -1 { y = abs(y) } else { y = y*y }; y",
		"y := s; if !(s > 0) || neg < 0 && s == 0.5 { y = s * 2 }; y",
		"h := s; h += 1; h *= 2; h -= s; h /= 2; h",
		"(s)", "s", "u := 3; s * u", "exp(2) * s",
		"h := tanh(s); h = exp(h); h",
	})
}

func TestRefusals(t *testing.T) {
	golden(t, "refusals.golden", false, []string{
		"", " ; ; ", "x +", "sum(x", "x y", "x ** 2", "x * *y", "x ^ 2", "1; s * 1", "x @ w", "x % 2", "x << 1", "&x", "^x",
		"func f() { }", "f := func(x int) int { return x }; x", "return x", "for { x = x + 1 }; x", "for i := 0; i < 3; i++ { }; x",
		"for i := range x { }; x", "for i := range 2.5 { }; x", "for i, j := range 3 { }; x", "for i := range 3 { s = s * i }",
		"package p", "import \"os\"", "} ; func g() {", "x }", "{ x }", "var y = x; y", "y++; y", "go x; x", "switch x { }; x",
		"y := tanh(z); z := exp(y); sum(z)", "x := tanh(x); x", "y = tanh(x); y", "a := tanh(b); b = exp(a); b",
		"y := x; y := x; y", "for i := range 2 { h := s }; h", "x[0] = 1; x", "a, b := x; a", "a, b := x, x; a", "a := split(x, 0, 1, 1); a", "split(x, 0, 1, 1)", "tanh(split(x, 0, 1, 1))",
		"tanh(x); x", "3", "y := 3", "y := tanh(x)", "sum(x) > 0", "1/0 * x", "1 < 2", "x && y", "!x", "true", "nil * x", "_ * x", "'a'", "2i * x",
		"tahn(x)", "frobnicate(x)", "x.Tahn()", "x.tanh()", "x.Tanh", "x()", "f(x)(y)", "tanh()", "tanh(x, y)", "tanh(x, 3)", "add(x)", "tanh(x...)",
		"sum(x, 5)", "sum(x, 0.5)", "sum(x, opt{axs: 0})", "sum(x, opt{0})", "sum(x, opt{axis: 0, axes: 1})", "sum(x, opt{axis: x})", "sum(x, 0, opt{axis: 1})", "softmax(x, x)", "cross_entropy(x, i, most)",
		"matmul(x, x)", "reshape(x, 4)", "x[7]", "x[0.5]", "x[0, 0]", "x[y, z]", "x[0][0][0]", "x.Index()", "x[0:1:2]", "s[0]", "2[0]", "x.T(1)", "s.T()", "opt{a: 1}", "[]int{1}", "x + i", "none * 2",
		"y := s; if x > 0 { y = s }; y", "y := s; if s { y = s }; y", "y := s; if y := s; y > 0 { }; y",
		"h := s; for i := range 100000 { h = tanh(h) }; h",
		"y := x\nz := tanh(\n  sotfmax(y))\nsum(z)", "y := \"a\"; x", "é := tanh(ö); frob(é)",
		strings.Repeat("(", 2000) + "x" + strings.Repeat(")", 2000), "x" + strings.Repeat("+x", 2000), strings.Repeat("-", 2000) + "x",
		strings.Repeat("if s > 0 {", 1100) + strings.Repeat("}", 1100) + "; x", "\xff",
	})
}

func golden(t *testing.T, name string, anyLoss bool, programs []string) {
	t.Helper()
	var b strings.Builder
	for _, src := range programs {
		title := src
		if len(title) > 200 {
			title = title[:60] + " …"
		}
		fmt.Fprintf(&b, "--- %s\n", strings.ToValidUTF8(title, "�"))
		r, err := run(src, anyLoss)
		var e *expr.Error
		switch {
		case errors.As(err, &e):
			fmt.Fprintf(&b, "%v\n%s\n", e, e.Snippet(60))
		case err != nil:
			t.Errorf("%q: the error is no *expr.Error: %v", src, err)
		default:
			text, err := dump(r)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(text)
		}
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs; look, and run with -update if it is right. Got:\n%s", path, got)
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{"y := tanh(x*w); sum(y)", "for i := range 3 { s = s*i }; s", "if s > 0 { s = -s } else { s = s/3 }; s", "a, b := split(x, 0, 1, 1); sum(a, opt{axis: 0})", "x[1:2].T()", "x ** 2", "}{", "sum(x"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		r, err := run(src, true)
		var e *expr.Error
		switch {
		case err == nil && r.Loss == nil:
			t.Fatal("no loss and no error")
		case err == nil:
			for id, x := range r.Tensors {
				if x == nil || x.ID() != id {
					t.Fatalf("tensor %d is not known", id)
				}
			}
		case !errors.As(err, &e):
			t.Fatalf("the error is no *expr.Error: %v", err)
		case e.Line < 1 || e.Col < 1 || e.What == "":
			t.Fatalf("the error has no place or no text: %+v", e)
		default:
			e.Snippet(40)
		}
	})
}
