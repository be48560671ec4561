package backsweep

import "math/rand/v2"

// Sample is a sample of a row of the table, drawn, for tests outside the
// package.
type Sample struct {
	In []*Tensor
	At Attrs
}

// Samples draws every sample of a row; floats get the type dt.
func Samples(name string, rng *rand.Rand, dt DType) []Sample {
	o := &table[byName[name]]
	out := make([]Sample, len(o.samples))
	for k, s := range o.samples {
		for _, d := range s.in {
			out[k].In = append(out[k].In, d.draw(rng, dt))
		}
		out[k].At = o.byName(&s.at)
	}
	return out
}

// byName is the inverse of Attrs.fill.
func (o *op) byName(a *attrs) Attrs {
	at := Attrs{}
	for i := range o.params {
		p := &o.params[i]
		switch p.kind {
		case pInts:
			if v := a.ints[p.slot]; v != nil {
				at[p.name] = v
			}
		case pInt:
			at[p.name] = a.i
		case pFloat:
			at[p.name] = a.f[p.slot]
		case pBool:
			at[p.name] = a.b
		case pDType:
			at[p.name] = a.dtype
		case pWord:
			at[p.name] = p.words[a.i]
		case pCustom:
			at[p.name] = a.custom
		case pText:
			at[p.name] = string(runesOf(a.ints[p.slot]))
		}
	}
	return at
}

// Elementwise reports whether a row is elementwise.
func Elementwise(name string) bool { return table[byName[name]].is(elementwise) }

// Reads lists what a row declares that its rules read back, each as a function
// that takes the declaration away until restore is called.
func Reads(name string) (what []string, hide []func() (restore func())) {
	o := &table[byName[name]]
	for _, r := range o.info().Reads {
		var bit mask
		if r[0] == 'i' {
			bit = readsIn(int(r[len(r)-1] - '0'))
		} else {
			bit = readsOut(int(r[len(r)-1] - '0'))
		}
		what = append(what, r)
		hide = append(hide, func() func() {
			o.reads &^= bit
			return func() { o.reads |= bit }
		})
	}
	return what, hide
}
