package backsweep

// The rules of normalization rows in plain ops. For groups of elements along
// some axes, x̂ = (x - mean)·r with r = 1/√(variance + eps); uncentered, the
// mean is taken as 0. The derivative of x̂ in x is the operator
//
//	P(z) = r·(z - mean(z) - x̂·mean(z·x̂))
//
// which is symmetric, so that it serves both modes.

type normRule struct {
	r        *rule
	axes     []int
	centered bool
	gamma    []int // the shape in which gamma meets x
	around   ref   // x - mean
	hat, rr  ref   // x̂ and r
}

// lastAxisOnly and allButChannels are the axes that a row normalizes over.
func lastAxisOnly(shape []int) []int { return []int{len(shape) - 1} }

func allButChannels(shape []int) []int {
	axes := []int{0}
	for a := 2; a < len(shape); a++ {
		axes = append(axes, a)
	}
	return axes
}

func normOver(r *rule, over func(shape []int) []int, centered bool, x ref) *normRule {
	n := &normRule{r: r, axes: over(x.l.Shape), centered: centered, around: x}
	n.gamma = append([]int{}, x.l.Shape...)
	if n.axes[0] == 0 && len(x.l.Shape) > 1 {
		for _, a := range n.axes {
			n.gamma[a] = 1
		}
	} else {
		n.gamma = x.l.Shape[n.axes[0]:]
	}
	if centered {
		n.around = r.sub(x, n.mean(x))
	}
	variance := n.mean(r.do1(opSquare, nil, n.around))
	n.rr = r.div(r.full(1, x.l.DType, variance.l.Shape), r.do1(opSqrt, nil, r.plus(variance, r.at.f[0])))
	n.hat = r.mul(n.around, n.rr)
	return n
}

func (n *normRule) mean(z ref) ref {
	return n.r.do1(opMean, &attrs{ints: [3][]int{n.axes}, b: true}, z)
}

// wide gives a vector like gamma the shape in which it meets x.
func (n *normRule) wide(v ref) ref { return n.r.reshape(v, n.gamma) }

// narrow sums over everything that gamma is broadcast along.
func (n *normRule) narrow(z ref, shape []int) ref {
	return n.r.reshape(n.r.sumTo(z, n.gamma), shape)
}

// moments are mean(z·x̂) and mean(z); the latter only where rows are centered.
func (n *normRule) moments(z ref) (slope, mean ref) {
	slope = n.mean(n.r.mul(z, n.hat))
	if n.centered {
		mean = n.mean(z)
	}
	return slope, mean
}

// through is P(z).
func (n *normRule) through(z ref) ref {
	slope, mean := n.moments(z)
	return n.reduced(z, slope, mean)
}

// reduced is r·(z - mean - x̂·slope).
func (n *normRule) reduced(z, slope, mean ref) ref {
	w := n.r.sub(z, n.r.mul(n.hat, slope))
	if n.centered {
		w = n.r.sub(w, mean)
	}
	return n.r.mul(n.rr, w)
}

// sumOf adds what there is.
func (r *rule) sumOf(terms ...ref) (sum ref) {
	for _, t := range terms {
		switch {
		case t.l == nil:
		case sum.l == nil:
			sum = t
		default:
			sum = r.add(sum, t)
		}
	}
	return sum
}

// tangentOfNorm makes output 0's tangent, gamma·P(ẋ) + ġ·x̂ + ḃ.
func (n *normRule) tangentOfNorm(gamma ref) {
	r := n.r
	var x, g, b ref
	if r.hasTan(0) {
		x = r.mul(n.wide(gamma), n.through(r.tan(0)))
	}
	if r.hasTan(1) {
		g = r.mul(n.wide(r.tan(1)), n.hat)
	}
	if r.nIn == 3 && r.hasTan(2) {
		b = r.spread(n.wide(r.tan(2)), r.shapeOut(0))
	}
	r.makes(0, r.sumOf(x, g, b))
}

// gradOfGrad is the rule of a gradient row (dy, x, gamma) → (dx, dgamma). With
// the cotangents u and v of its outputs, a = dy·gamma, c1 = mean(a·x̂),
// c2 = mean(u·x̂), c3 the mean of u·a about the means and h the cotangent of x̂,
//
//	d(dy) = gamma·P(u) + v·x̂,  d(gamma) = Σ dy·P(u),
//	d(x) = P(h) - r²·x̂·(c3 - c1·c2),  h = v·dy - r·(a·c2 + u·c1).
func (n *normRule) gradOfGrad() {
	r := n.r
	dy, gamma := r.in(0), n.wide(r.in(2))
	var pu, h, bend ref
	if r.has(0) {
		u := r.dout(0)
		c2, mu := n.moments(u)
		if r.want(0) || r.want(2) {
			pu = n.reduced(u, c2, mu)
		}
		if r.want(1) {
			a := r.mul(dy, gamma)
			c1, ma := n.moments(a)
			c3 := n.mean(r.mul(u, a))
			if n.centered {
				c3 = r.sub(c3, r.mul(mu, ma))
			}
			h = r.neg(r.mul(n.rr, r.add(r.mul(a, c2), r.mul(u, c1))))
			bend = r.mul(n.rr, r.sub(c3, r.mul(c1, c2)))
		}
	}
	var vHat ref
	if r.has(1) {
		v := n.wide(r.dout(1))
		if r.want(0) {
			vHat = r.mul(v, n.hat)
		}
		if r.want(1) {
			h = r.sumOf(h, r.mul(v, dy))
		}
	}
	if r.want(0) {
		if pu.l != nil {
			vHat = r.sumOf(r.mul(gamma, pu), vHat)
		}
		r.give(0, vHat)
	}
	if r.want(1) {
		slope, mean := n.moments(h)
		r.give(1, n.reduced(h, r.sumOf(slope, bend), mean))
	}
	if r.want(2) {
		if pu.l != nil {
			r.give(2, n.narrow(r.mul(dy, pu), r.shapeIn(2)))
		} else {
			r.give(2, r.full(0, dy.l.DType, r.shapeIn(2)))
		}
	}
}

// tangentOfGrad is the tangent rule of a gradient row.
func (n *normRule) tangentOfGrad() {
	r := n.r
	dy, gamma := r.in(0), n.wide(r.in(2))
	var da, dgamma, dx ref
	if r.hasTan(0) {
		da = r.mul(r.tan(0), gamma)
		dgamma = r.mul(r.tan(0), n.hat)
	}
	if r.hasTan(2) {
		da = r.sumOf(da, r.mul(dy, n.wide(r.tan(2))))
	}
	if da.l != nil {
		dx = n.through(da)
	}
	if r.hasTan(1) {
		a, tx := r.mul(dy, gamma), r.tan(1)
		hat := n.through(tx) // x̂'s tangent
		c1 := n.mean(r.mul(a, n.hat))
		bend := r.add(r.mul(hat, c1), r.mul(n.hat, n.mean(r.mul(a, hat))))
		slope := r.mul(n.rr, n.mean(r.mul(n.hat, tx))) // -ṙ/r
		dx = r.sumOf(dx, r.neg(r.add(r.mul(n.rr, bend), r.mul(slope, n.through(a)))))
		dgamma = r.sumOf(dgamma, r.mul(dy, hat))
	}
	r.makes(0, dx)
	if dgamma.l != nil {
		r.makes(1, n.narrow(dgamma, r.shapeOut(1)))
	}
}
