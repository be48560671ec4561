package kernel

import "math"

// Optimizer steps change the weights w in place in one pass; g is the gradient.
// All slices have the same length and share no memory. Arithmetic is that of T.

// SGD says how SGDStep goes.
type SGD struct {
	Rate      float64
	Momentum  float64
	Dampening float64 // of what a gradient adds to the momentum, after the first step
	Decay     float64 // this times w is added to the gradient
	Nesterov  bool
	First     bool // the momentum begins as the gradient
}

// SGDStep is w -= rate·d, where d is g + decay·w or, with a momentum, what that
// has become: momentum·b + (1-dampening)·d, kept in b. b may be nil when
// Momentum is 0. (Sutskever et al., "On the importance of initialization and
// momentum in deep learning", 2013, in PyTorch's form.)
func SGDStep[T Float](w, g, b []T, s SGD) {
	rate, decay := T(s.Rate), T(s.Decay)
	mu, fresh := T(s.Momentum), T(1-s.Dampening)
	g = g[:len(w)]
	if f := vectorOf[T](); f.descend != nil && s.Momentum == 0 {
		step := f.descend
		if s.Decay != 0 {
			step = f.descendDecay
		}
		factors := [2]T{rate, decay}
		for ; len(w) > 0; w, g = w[min(chunk, len(w)):], g[min(chunk, len(w)):] {
			step(head(w), head(g), min(chunk, len(w)), head(factors[:]))
		}
		return
	}
	if s.Momentum != 0 {
		b = b[:len(w)]
	}
	for i, x := range w {
		d := g[i]
		if s.Decay != 0 {
			d += T(decay * x)
		}
		if s.Momentum != 0 {
			v := d
			if !s.First {
				v = T(mu*b[i]) + T(fresh*d)
			}
			b[i] = v
			if s.Nesterov {
				d += T(mu * v)
			} else {
				d = v
			}
		}
		w[i] = x - T(rate*d)
	}
}

// Adam says how AdamStep goes.
type Adam struct {
	Rate         float64
	Beta1, Beta2 float64
	Eps          float64
	Decay        float64 // weight decay
	Decoupled    bool    // decay shrinks w by rate·decay (AdamW) instead of joining the gradient
	Step         int     // 1 at the first step; the averages are corrected for having begun at 0
}

// AdamStep moves m and v, the averages of g and of g², and takes w by rate·m̂ /
// (√v̂ + eps) against the gradient (Kingma and Ba, "Adam: a method for
// stochastic optimization", 2015; Loshchilov and Hutter, "Decoupled weight
// decay regularization", 2019).
func AdamStep[T Float](w, g, m, v []T, a Adam) { adam(w, g, m, v, a.scales()) }

// AdamRows is AdamStep on those rows of w, m and v that rows names, each width
// wide; row i of g is the gradient of row rows[i]. Other rows are left as they
// are, their averages too.
func AdamRows[T Float](w, g, m, v []T, rows []int64, width int, a Adam) {
	s := a.scales()
	for i, r := range rows {
		lo, hi := int(r)*width, (int(r)+1)*width
		adam(w[lo:hi], g[i*width:(i+1)*width], m[lo:hi], v[lo:hi], s)
	}
}

// adamScales are the factors of a step that no element changes.
type adamScales struct {
	keep1, add1, keep2, add2 float64 // of the averages
	rate, root, eps          float64 // w -= rate·m/(√v·root + eps)
	decay, shrink            float64
}

func (a Adam) scales() adamScales {
	t := float64(a.Step)
	s := adamScales{
		keep1: a.Beta1, add1: 1 - a.Beta1, keep2: a.Beta2, add2: 1 - a.Beta2,
		rate: a.Rate / (1 - math.Pow(a.Beta1, t)), root: 1 / math.Sqrt(1-math.Pow(a.Beta2, t)), eps: a.Eps,
		shrink: 1,
	}
	if a.Decoupled {
		s.shrink = 1 - float64(a.Rate*a.Decay)
	} else {
		s.decay = a.Decay
	}
	return s
}

func adam[T Float](w, g, m, v []T, s adamScales) {
	keep1, add1, keep2, add2 := T(s.keep1), T(s.add1), T(s.keep2), T(s.add2)
	rate, root, eps := T(s.rate), T(s.root), T(s.eps)
	decay, shrink := T(s.decay), T(s.shrink)
	g, m, v = g[:len(w)], m[:len(w)], v[:len(w)]
	if f := vectorOf[T](); f.adam != nil {
		step := f.adam
		if s.decay != 0 {
			step = f.adamDecay
		}
		factors := [9]T{keep1, add1, keep2, add2, rate, root, eps, shrink, decay}
		for ; len(w) > 0; w, g, m, v = w[min(chunk, len(w)):], g[min(chunk, len(w)):], m[min(chunk, len(w)):], v[min(chunk, len(w)):] {
			step(head(w), head(g), head(m), head(v), min(chunk, len(w)), head(factors[:]))
		}
		return
	}
	for i, x := range w {
		d := g[i]
		if s.decay != 0 {
			d += T(decay * x)
		}
		x = T(x * shrink)
		p := T(keep1*m[i]) + T(add1*d)
		q := T(keep2*v[i]) + T(add2*T(d*d))
		m[i], v[i] = p, q
		w[i] = x - T(rate*p)/(T(T(math.Sqrt(float64(q)))*root)+eps)
	}
}
