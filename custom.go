package backsweep

import "github.com/backsweep/backsweep/internal/array"

// Custom is an op of the user's own: how to compute it, and its rules. Apply
// runs it, and records it where an operand is on a tape. It keeps its operands
// and outputs for its rules.
//
// The rules are written in ops on what they are given, and on nothing else: on
// a sweep that is recorded that is what makes the second derivative right. A
// value that Eval computed and the rule closes over is refused there, because
// the tape does not know how it depends on the operands. What Eval and the
// rules are given is theirs for the call; Clone what should last.
type Custom struct {
	Name string
	// Eval returns the outputs, as tensors on no tape.
	Eval func(in []*Tensor) []*Tensor
	// Grad returns the cotangent of each operand, of the operand's shape and
	// element type; nil for one that is not of a float type. A cotangent in
	// douts is nil where nothing consumed the output.
	Grad func(v CustomValues, douts []*Tensor) []*Tensor
	// Tangent returns the tangent of each output, nil for zero. A tangent in
	// tangents is nil where the operand does not depend on a seed. Without it
	// forward sweeps refuse the op.
	Tangent func(v CustomValues, tangents []*Tensor) []*Tensor
}

// CustomValues are the operands and outputs of a custom op that ran.
type CustomValues struct{ In, Out []*Tensor }

// Apply runs the op.
func (c *Custom) Apply(in ...*Tensor) []*Tensor {
	if c.Name == "" || c.Eval == nil || c.Grad == nil {
		throw(fail(ErrValue, "custom", "set them", "a custom op needs Name, Eval and Grad"))
	}
	mustSome(c.Name, in)
	return applyAll(opCustom, &attrs{custom: c}, in)
}

func init() {
	define(opCustom, op{name: "custom", doc: "an op of the user's own", formula: "the user's", arity: -1, outs: -1, flags: engineOnly,
		reads:   readsIn(0, 1, 2, 3, 4, 5, 6, 7) | readsOut(0, 1, 2, 3, 4, 5, 6, 7),
		params:  []param{{name: "op", kind: pCustom}},
		eval:    evalCustom,
		grad:    gradCustom,
		tangent: tangentCustom,
		samples: []sample{
			on(f(3, 4), f(3, 4)).with(attrs{custom: sampleCustom}),
			on(f(2), f(2), f(2), f(2), f(2), f(2), f(2), f(2)).with(attrs{custom: sampleRing}),
		},
	})
}

// sampleCustom is a·tanh(b), and a + b.
var sampleCustom = &Custom{
	Name: "sample",
	Eval: func(in []*Tensor) []*Tensor {
		return []*Tensor{in[0].Mul(in[1].Tanh()), in[0].Add(in[1])}
	},
	Grad: func(v CustomValues, douts []*Tensor) []*Tensor {
		a, b := v.In[0], v.In[1]
		da, db := b.MulScalar(0), b.MulScalar(0)
		if g := douts[0]; g != nil {
			t := b.Tanh()
			da = da.Add(g.Mul(t))
			db = db.Add(g.Mul(a).Mul(t.Square().Neg().AddScalar(1)))
		}
		if g := douts[1]; g != nil {
			da, db = da.Add(g), db.Add(g)
		}
		return []*Tensor{da, db}
	},
	Tangent: func(v CustomValues, tangents []*Tensor) []*Tensor {
		a, b := v.In[0], v.In[1]
		t := b.Tanh()
		product, sum := b.MulScalar(0), b.MulScalar(0)
		if ta := tangents[0]; ta != nil {
			product, sum = product.Add(ta.Mul(t)), sum.Add(ta)
		}
		if tb := tangents[1]; tb != nil {
			product = product.Add(tb.Mul(a).Mul(t.Square().Neg().AddScalar(1)))
			sum = sum.Add(tb)
		}
		return []*Tensor{product, sum}
	},
}

// sampleRing multiplies each of its operands by the next, and the last by the
// first.
var sampleRing = &Custom{
	Name: "ring",
	Eval: func(in []*Tensor) []*Tensor {
		out := make([]*Tensor, len(in))
		for i, x := range in {
			out[i] = x.Mul(in[(i+1)%len(in)])
		}
		return out
	},
	Grad: func(v CustomValues, douts []*Tensor) []*Tensor {
		out := make([]*Tensor, len(v.In))
		for i := range out {
			before := (i + len(out) - 1) % len(out)
			out[i] = v.In[i].MulScalar(0)
			if g := douts[i]; g != nil {
				out[i] = out[i].Add(g.Mul(v.In[(i+1)%len(out)]))
			}
			if g := douts[before]; g != nil {
				out[i] = out[i].Add(g.Mul(v.In[before]))
			}
		}
		return out
	},
	Tangent: func(v CustomValues, tangents []*Tensor) []*Tensor {
		out := make([]*Tensor, len(v.In))
		for i := range out {
			next := (i + 1) % len(out)
			out[i] = v.Out[i].MulScalar(0)
			if t := tangents[i]; t != nil {
				out[i] = out[i].Add(t.Mul(v.In[next]))
			}
			if t := tangents[next]; t != nil {
				out[i] = out[i].Add(t.Mul(v.In[i]))
			}
		}
		return out
	},
}

// lend makes a tensor of a value for the length of a call.
func lend(r ref, op string) *Tensor {
	if r.l == nil {
		return nil
	}
	x := plainTensor(r.l, &storage{p: r.p})
	if r.l.DType.IsFloat() {
		x.val.taint = &taint{op: op, custom: true}
	}
	return x
}

// end makes reading a lent tensor an error.
func end(xs []*Tensor, op string) {
	for _, x := range xs {
		if x != nil && x.tape == nil {
			x.val.st.ended = op
		}
	}
}

func evalCustom(m *machine) {
	c := m.at.custom
	in := make([]*Tensor, len(m.in))
	for i, r := range m.in {
		in[i] = lend(r, c.Name)
	}
	outs := c.Eval(in)
	if len(outs) == 0 || len(outs) > 8 {
		throw(fail(ErrRule, c.Name, "return one to eight tensors", "Eval returned %d tensors", len(outs)))
	}
	for j, y := range outs {
		if y == nil || y.tape != nil {
			throw(fail(ErrRule, c.Name, "compute it from what Eval is given", "output %d of Eval is nil, or on a tape", j))
		}
		r := y.ref(c.Name)
		copyDense(m.produce(m.like(r)), r)
	}
	end(in, c.Name)
}

// values are the operands and outputs for the user's rule: handles on a sweep
// that is recorded, lent otherwise.
func (r *rule) values(name string) (v CustomValues) {
	for i := range int(r.nIn) {
		v.In = append(v.In, r.tensor(r.in(i), name))
	}
	for j := range int(r.nOut) {
		v.Out = append(v.Out, r.tensor(r.out(j), name))
	}
	return v
}

func (r *rule) tensor(x ref, name string) *Tensor {
	if x.l == nil {
		return nil
	}
	if r.recording {
		return &Tensor{tape: r.t, id: x.id(), epoch: r.t.epoch}
	}
	y := lend(x, name)
	y.val.taint = nil // the rule's result is a gradient, which is marked as one
	return y
}

// customCall runs a user's rule on values and cotangents (or tangents) and
// returns what it gave, checked against the layouts that it should have.
func (r *rule) customCall(what string, f func(v CustomValues, given []*Tensor) []*Tensor, given []ref, want func(i int) *array.Layout, n int) []ref {
	name := r.at.custom.Name
	v := r.values(name)
	ds := make([]*Tensor, len(given))
	for j, d := range given {
		ds[j] = r.tensor(d, name)
	}
	var got []*Tensor
	if r.recording {
		r.t.lendTo(func() { got = f(v, ds) })
	} else {
		got = f(v, ds)
	}
	if len(got) != n {
		throw(fail(ErrRule, name, "return one for each", "%s returned %d tensors, not %d", what, len(got), n))
	}
	out := make([]ref, n)
	for i, x := range got {
		l := want(i)
		switch {
		case l == nil || x == nil:
			continue
		case !array.SameShape(x.layout().Shape, l.Shape) || x.layout().DType != l.DType:
			throw(fail(ErrRule, name, "return the shape and element type that the value has", "tensor %d of %s is %s%s, not %s%s", i, what,
				x.layout().DType, array.ShapeString(x.layout().Shape), l.DType, array.ShapeString(l.Shape)))
		case r.recording:
			out[i] = r.t.refOf(r.t.idOf(x, name))
		default:
			if x.tape != nil {
				throw(fail(ErrRule, name, "compute it from what the rule is given", "tensor %d of %s is on a tape", i, what))
			}
			src := x.ref(name)
			out[i] = r.m.alloc(r.m.like(src))
			copyDense(out[i], src)
		}
	}
	end(v.In, name)
	end(v.Out, name)
	end(ds, name)
	return out
}

// eachItem runs f for each item of a batched sweep, or once, and joins what it
// returns into batches.
func (r *rule) eachItem(given []ref, f func(given []ref) []ref) []ref {
	if r.batch == 0 {
		return f(given)
	}
	var out []ref
	items := make([]ref, len(given))
	for k := range r.batch {
		for j, x := range given {
			items[j] = x.item(k)
		}
		got := f(items)
		if out == nil {
			out = make([]ref, len(got))
			for i, x := range got {
				if x.l != nil {
					out[i] = r.m.alloc(r.m.layout(x.l.DType, r.batch*x.l.N))
					out[i].l, out[i].at = r.m.like(x), batchedAt
				}
			}
		}
		for i, x := range got {
			if x.l != nil {
				copyDense(out[i].item(k), x)
			}
		}
	}
	return out
}

func gradCustom(r *rule) {
	c := r.at.custom
	want := func(i int) *array.Layout {
		if !r.want(i) {
			return nil
		}
		return r.layoutIn(i)
	}
	got := r.eachItem(r.douts, func(douts []ref) []ref {
		return r.customCall("Grad", c.Grad, douts, want, int(r.nIn))
	})
	for i, g := range got {
		if !r.want(i) {
			continue
		}
		if g.l == nil {
			throw(fail(ErrRule, c.Name, "return zeros where it does not matter", "Grad returned no gradient for operand %d, which matters", i))
		}
		r.give(i, g)
	}
}

func tangentCustom(r *rule) {
	c := r.at.custom
	if c.Tangent == nil {
		throw(fail(ErrUnsupported, c.Name, "set Tangent", "the custom op has no tangent rule, which a forward sweep needs"))
	}
	want := func(j int) *array.Layout {
		if l := r.t.layoutOf(r.firstOut + int32(j)); l.DType.IsFloat() {
			return l
		}
		return nil
	}
	got := r.eachItem(r.tangents, func(tangents []ref) []ref {
		return r.customCall("Tangent", c.Tangent, tangents, want, int(r.nOut))
	})
	for j, x := range got {
		if x.l != nil {
			r.makes(j, x)
		}
	}
}

// lendTo lets a function of the user's record on the tape while a sweep that
// records itself holds it.
func (t *Tape) lendTo(f func()) {
	open, before := t.open, t.before
	t.open, t.busy = false, 0
	f()
	t.busy = 1
	t.open, t.before = open, before
}
