package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/backsweep/backsweep"
)

// maxElements is how many elements an input may have.
const maxElements = 1 << 26

// inputs are the values of a program's inputs.
type inputs struct {
	dtype  backsweep.DType
	seed   uint64
	given  map[string]*backsweep.Tensor
	random []string // names of those that were filled at random, as "x 2×3"
}

// readInputs reads --in and fills the rest at random.
func readInputs(specs []string, dt backsweep.DType, seed uint64, names []string) (*inputs, error) {
	in := &inputs{dtype: dt, seed: seed, given: map[string]*backsweep.Tensor{}}
	for _, spec := range specs {
		name, x, err := in.read(spec)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			return nil, misuse("its inputs are "+inputNames(names), "--in %s: the program has no input %s", spec, name)
		}
		if _, twice := in.given[name]; twice {
			return nil, misuse("", "--in gives %s twice", name)
		}
		in.given[name] = x
	}
	for _, name := range names {
		if _, ok := in.given[name]; !ok {
			in.given[name] = in.fill(name, dt, []int{})
		}
	}
	return in, nil
}

func inputNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return listing(names, 12)
}

func (in *inputs) value(name string) (*backsweep.Tensor, error) {
	x, ok := in.given[name]
	if !ok {
		return nil, errors.New("it has no value")
	}
	return x, nil
}

// announce says which inputs are random, and the seed that gives them again.
func (in *inputs) announce(w io.Writer) {
	if len(in.random) > 0 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("random: %s (--seed %d)", listing(in.random, 12), in.seed), columns, "  "))
	}
}

// read reads one --in: name[:type]=value, name[:type]=file.npy, or
// name[:type]:shape.
func (in *inputs) read(spec string) (string, *backsweep.Tensor, error) {
	bad := func(hint, format string, args ...any) (string, *backsweep.Tensor, error) {
		return "", nil, misuse(hint, "--in %s: %s", spec, fmt.Sprintf(format, args...))
	}
	head, value, hasValue := strings.Cut(spec, "=")
	parts := strings.Split(head, ":")
	name, parts := strings.TrimSpace(parts[0]), parts[1:]
	if name == "" {
		return bad("write --in x=2.5 or --in x:2x3", "it has no name")
	}
	dt, typed := in.dtype, false
	if len(parts) > 0 {
		if d, ok := backsweep.ParseDType(parts[0]); ok {
			dt, typed, parts = d, true, parts[1:]
		}
	}
	switch {
	case hasValue && len(parts) > 0:
		return bad("a value has its own shape; write --in x='[[1,2],[3,4]]'", "it has a shape and a value")
	case !hasValue && len(parts) != 1:
		return bad("write --in x=2.5, --in x='[[1,2],[3,4]]', --in x=FILE.npy or --in x:2x3", "it has no value and no shape")
	case !hasValue:
		shape, err := parseShape(parts[0])
		if err != nil {
			return bad("write --in x:3 or --in x:2x3", "%v", err)
		}
		if dt == backsweep.Bool || dt == backsweep.Int64 {
			return bad("give values: --in "+name+":int64='[0, 1]'", "only numbers of a float type are filled at random")
		}
		return name, in.fill(name, dt, shape), nil
	}
	value = strings.TrimSpace(value)
	if strings.HasSuffix(value, ".npy") {
		x, err := readNPY(value)
		if err != nil {
			return bad("", "%v", err)
		}
		if typed || x.DType().IsFloat() {
			x = x.Cast(dt)
		}
		return name, x, nil
	}
	x, err := parseValue(value, dt, typed)
	if err != nil {
		return bad("values are numbers and lists of them, all rows alike: [[1,2],[3,4]]", "%v", err)
	}
	return name, x, nil
}

func parseShape(text string) ([]int, error) {
	shape := []int{}
	n := 1
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == 'x' || r == '×' || r == ',' }) {
		d, err := strconv.Atoi(part)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q is no shape", text)
		}
		if d > 0 && n > maxElements/d {
			return nil, fmt.Errorf("shape %s has more than %d elements", text, maxElements)
		}
		shape, n = append(shape, d), n*d
	}
	if len(shape) == 0 {
		return nil, fmt.Errorf("%q is no shape", text)
	}
	return shape, nil
}

// fill draws values from the standard normal distribution. They depend on the
// seed and the name alone, so that another input does not change them.
func (in *inputs) fill(name string, dt backsweep.DType, shape []int) *backsweep.Tensor {
	h := fnv.New64a()
	h.Write([]byte(name))
	rng := rand.New(rand.NewPCG(in.seed, h.Sum64()))
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	text := name
	for i, d := range shape {
		text += map[bool]string{true: " ", false: "×"}[i == 0] + strconv.Itoa(d)
	}
	in.random = append(in.random, text)
	return backsweep.New(data, shape...).Cast(dt)
}

// parseValue reads a JSON number or nested lists of numbers or truth values.
// "nan", "inf" and "-inf" may stand for numbers, with or without quotes.
func parseValue(text string, dt backsweep.DType, typed bool) (*backsweep.Tensor, error) {
	switch strings.ToLower(text) {
	case "":
		return nil, errors.New("it has no value")
	case "nan", "inf", "-inf", "+inf":
		text = `"` + text + `"`
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	v := &nested{}
	if err := v.read(dec); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("%.40q has more after its value", text)
	}
	if v.isBool && !typed {
		dt = backsweep.Bool
	}
	if dt == backsweep.Int64 {
		return backsweep.New(v.ints, v.shape...), nil
	}
	return backsweep.New(v.data, v.shape...).Cast(dt), nil
}

// nested gathers the values of nested lists.
type nested struct {
	shape  []int
	data   []float64
	ints   []int64
	isBool bool
}

// maxRank bounds how deep lists nest.
const maxRank = 16

// read reads one value. Open lists are a stack of counts.
func (v *nested) read(dec *json.Decoder) error {
	var counts []int
	leaf := -1 // the depth at which numbers stand
	v.shape = []int{}
	for {
		tok, err := dec.Token()
		switch {
		case err == io.EOF:
			return errors.New("a list is not closed")
		case err != nil:
			return fmt.Errorf("it is no number and no list: %v", err)
		}
		switch tok {
		case json.Delim('['):
			if leaf >= 0 && len(counts) >= leaf {
				return errors.New("a list stands where a number should")
			}
			if len(counts) == maxRank {
				return fmt.Errorf("lists nest more than %d deep", maxRank)
			}
			counts = append(counts, 0)
			continue
		case json.Delim(']'):
			depth := len(counts)
			n := counts[depth-1]
			for len(v.shape) < depth {
				v.shape = append(v.shape, -1)
			}
			if v.shape[depth-1] >= 0 && v.shape[depth-1] != n {
				return fmt.Errorf("rows have %d and %d entries", v.shape[depth-1], n)
			}
			v.shape[depth-1] = n
			if leaf < 0 {
				leaf = depth
			}
			counts = counts[:depth-1]
		default:
			if leaf < 0 {
				leaf = len(counts)
			}
			if len(counts) != leaf {
				return errors.New("a number stands where a list should")
			}
			if err := v.add(tok); err != nil {
				return err
			}
		}
		if len(counts) == 0 {
			return nil
		}
		counts[len(counts)-1]++
	}
}

func (v *nested) add(tok json.Token) error {
	if len(v.data) == maxElements {
		return fmt.Errorf("there are more than %d values", maxElements)
	}
	switch x := tok.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(x.String(), 64)
		if err != nil {
			return fmt.Errorf("%s is too large for a number", x)
		}
		n, err := strconv.ParseInt(x.String(), 10, 64)
		if err != nil {
			n = int64(f)
		}
		v.data, v.ints = append(v.data, f), append(v.ints, n)
		return nil
	case bool:
		v.isBool = true
		f := 0.
		if x {
			f = 1
		}
		v.data, v.ints = append(v.data, f), append(v.ints, int64(f))
		return nil
	case string:
		switch strings.ToLower(x) {
		case "nan":
			v.data = append(v.data, math.NaN())
		case "inf", "+inf":
			v.data = append(v.data, math.Inf(1))
		case "-inf":
			v.data = append(v.data, math.Inf(-1))
		default:
			return fmt.Errorf("%q is no number", x)
		}
		v.ints = append(v.ints, 0)
		return nil
	}
	return fmt.Errorf("%v is no number", tok)
}
