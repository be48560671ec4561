package backsweep

// The rules of the gates' gradients in plain ops. Names: for a gate a with
// pre-activation p, a1 is da/dp and a2 is d²a/dp²; tangents begin with t.

// gate is an activated gate and its derivatives.
type gate struct{ a, a1, a2 ref }

// sigma is σ(p): a1 = a·(1-a), a2 = a1·(1-2a).
func (r *rule) sigma(p ref) gate {
	a := r.do1(opSigmoid, nil, p)
	a1 := r.sub(a, r.do1(opSquare, nil, a))
	return gate{a, a1, r.sub(a1, r.scale(r.mul(a1, a), 2))}
}

// bend is tanh(p): a1 = 1-a², a2 = -2·a·a1.
func (r *rule) bend(p ref) gate {
	a := r.do1(opTanh, nil, p)
	a1 := r.plus(r.neg(r.do1(opSquare, nil, a)), 1)
	return gate{a, a1, r.scale(r.mul(a, a1), -2)}
}

// share is the k-th of n equal parts of the last axis.
func (r *rule) share(x ref, k, n int) ref {
	axis := len(x.l.Shape) - 1
	w := x.l.Shape[axis] / n
	return r.part(x, axis, k*w, w)
}

func (r *rule) beside(parts ...ref) ref {
	return r.doN(opConcat, &attrs{i: len(parts[0].l.Shape) - 1}, parts)
}

// product multiplies what is there: nothing where a factor is missing.
func (r *rule) product(factors ...ref) (p ref) {
	for _, x := range factors {
		switch {
		case x.l == nil:
			return ref{}
		case p.l == nil:
			p = x
		default:
			p = r.mul(p, x)
		}
	}
	return p
}

// orZeros stands in for a sum without terms.
func (r *rule) orZeros(x, like ref) ref {
	if x.l == nil {
		return r.full(0, like.l.DType, like.l.Shape)
	}
	return x
}

// lstm is one step in plain ops.
type lstm struct {
	i, f, g, o, t gate // t is tanh of the next state
	c             ref
}

func (r *rule) lstm(gates, c ref) lstm {
	s := lstm{i: r.sigma(r.share(gates, 0, 4)), f: r.sigma(r.share(gates, 1, 4)), g: r.bend(r.share(gates, 2, 4)), o: r.sigma(r.share(gates, 3, 4)), c: c}
	s.t = r.bend(r.add(r.mul(s.f.a, c), r.mul(s.i.a, s.g.a)))
	return s
}

// pushLSTM gives the tangents of the gates' pre-activations (none of them there
// where gates has none) and of the next state.
func (r *rule) pushLSTM(s *lstm, gates, c ref) (ti, tf, tg, to, tnext ref) {
	if gates.l != nil {
		ti, tf, tg, to = r.share(gates, 0, 4), r.share(gates, 1, 4), r.share(gates, 2, 4), r.share(gates, 3, 4)
	}
	tnext = r.sumOf(r.product(s.f.a, c), r.product(s.c, s.f.a1, tf), r.product(s.i.a, s.g.a1, tg), r.product(s.g.a, s.i.a1, ti))
	return
}

// tan0 is operand i's tangent, if it has one.
func (r *rule) tan0(i int) ref {
	if r.hasTan(i) {
		return r.tan(i)
	}
	return ref{}
}

func tangentOfLSTM(r *rule) {
	s := r.lstm(r.in(0), r.in(1))
	_, _, _, to, tnext := r.pushLSTM(&s, r.tan0(0), r.tan0(1))
	r.makes(0, r.sumOf(r.product(s.t.a, s.o.a1, to), r.product(s.o.a, s.t.a1, tnext)))
	r.makes(1, tnext)
}

// gradOfLSTMGrad differentiates F = ⟨u, dgates⟩ + ⟨v, dc⟩. With the slope
// s = dy·o·t1 + dc' of the next state, F = uo·dy·t·o1 + s·S, where
// S = ui·g·i1 + uf·c·f1 + ug·i·g1 + v·f.
func gradOfLSTMGrad(r *rule) {
	dy, dn := r.in(0), r.in(1)
	s := r.lstm(r.in(2), r.in(3))
	i, f, g, o, t, c := s.i, s.f, s.g, s.o, s.t, s.c
	var ui, uf, ug, uo, v ref
	if r.has(0) {
		u := r.dout(0)
		ui, uf, ug, uo = r.share(u, 0, 4), r.share(u, 1, 4), r.share(u, 2, 4), r.share(u, 3, 4)
	}
	if r.has(1) {
		v = r.dout(1)
	}
	sum := r.sumOf(r.product(ui, g.a, i.a1), r.product(uf, c, f.a1), r.product(ug, i.a, g.a1), r.product(v, f.a))
	if r.want(0) {
		r.give(0, r.sumOf(r.product(uo, t.a, o.a1), r.product(sum, o.a, t.a1)))
	}
	if r.want(1) {
		r.give(1, sum)
	}
	if !r.want(2) && !r.want(3) {
		return
	}
	slope := r.add(r.product(dy, o.a, t.a1), dn)
	next := r.sumOf(r.product(uo, dy, o.a1, t.a1), r.product(sum, dy, o.a, t.a2)) // dF/dc'
	if r.want(2) {
		di := r.sumOf(r.product(slope, r.sumOf(r.product(ui, g.a, i.a2), r.product(ug, i.a1, g.a1))), r.product(next, g.a, i.a1))
		df := r.sumOf(r.product(slope, r.sumOf(r.product(uf, c, f.a2), r.product(v, f.a1))), r.product(next, c, f.a1))
		dg := r.sumOf(r.product(slope, r.sumOf(r.product(ui, i.a1, g.a1), r.product(ug, i.a, g.a2))), r.product(next, i.a, g.a1))
		do := r.sumOf(r.product(uo, dy, t.a, o.a2), r.product(sum, dy, t.a1, o.a1))
		r.give(2, r.beside(di, df, dg, do))
	}
	if r.want(3) {
		r.give(3, r.sumOf(r.product(slope, uf, f.a1), r.product(next, f.a)))
	}
}

func tangentOfLSTMGrad(r *rule) {
	dy, dn := r.in(0), r.in(1)
	s := r.lstm(r.in(2), r.in(3))
	i, f, g, o, t, c := s.i, s.f, s.g, s.o, s.t, s.c
	tdy, tc := r.tan0(0), r.tan0(3)
	ti, tf, tg, to, tnext := r.pushLSTM(&s, r.tan0(2), tc)
	slope := r.add(r.product(dy, o.a, t.a1), dn)
	tslope := r.sumOf(r.product(tdy, o.a, t.a1), r.product(dy, o.a1, to, t.a1), r.product(dy, o.a, t.a2, tnext), r.tan0(1))
	parts := []ref{
		r.sumOf(r.product(tslope, g.a, i.a1), r.product(slope, g.a1, tg, i.a1), r.product(slope, g.a, i.a2, ti)),
		r.sumOf(r.product(tslope, c, f.a1), r.product(slope, tc, f.a1), r.product(slope, c, f.a2, tf)),
		r.sumOf(r.product(tslope, i.a, g.a1), r.product(slope, i.a1, ti, g.a1), r.product(slope, i.a, g.a2, tg)),
		r.sumOf(r.product(tdy, t.a, o.a1), r.product(dy, t.a1, tnext, o.a1), r.product(dy, t.a, o.a2, to)),
	}
	for k := range parts {
		parts[k] = r.orZeros(parts[k], dy)
	}
	r.makes(0, r.beside(parts...))
	r.makes(1, r.sumOf(r.product(tslope, f.a), r.product(slope, f.a1, tf)))
}

// gru is one step in plain ops.
type gru struct {
	r, z, n gate
	un, far ref // the state's product in n; h - n
}

func (r *rule) gru(x, u, h ref) gru {
	s := gru{r: r.sigma(r.add(r.share(x, 0, 3), r.share(u, 0, 3))), z: r.sigma(r.add(r.share(x, 1, 3), r.share(u, 1, 3))), un: r.share(u, 2, 3)}
	s.n = r.bend(r.add(r.share(x, 2, 3), r.mul(s.r.a, s.un)))
	s.far = r.sub(h, s.n.a)
	return s
}

// pushGRU gives the tangents of the three pre-activations and of un.
func (r *rule) pushGRU(s *gru, x, u ref) (tr, tz, tn, tun ref) {
	var xr, xz, xn, ur, uz ref
	if x.l != nil {
		xr, xz, xn = r.share(x, 0, 3), r.share(x, 1, 3), r.share(x, 2, 3)
	}
	if u.l != nil {
		ur, uz, tun = r.share(u, 0, 3), r.share(u, 1, 3), r.share(u, 2, 3)
	}
	tr, tz = r.sumOf(xr, ur), r.sumOf(xz, uz)
	tn = r.sumOf(xn, r.product(s.r.a1, tr, s.un), r.product(s.r.a, tun))
	return
}

func tangentOfGRU(r *rule) {
	s := r.gru(r.in(0), r.in(1), r.in(2))
	_, tz, tn, _ := r.pushGRU(&s, r.tan0(0), r.tan0(1))
	keep := r.plus(r.neg(s.z.a), 1)
	r.makes(0, r.sumOf(r.product(keep, s.n.a1, tn), r.product(s.z.a1, tz, s.far), r.product(s.z.a, r.tan0(2))))
}

// gradOfGRUGrad differentiates F = ⟨ux, dx⟩ + ⟨uu, du⟩ + ⟨v, dh⟩. With dn the
// slope of n's pre-activation, A and B what meets dr and dz, and
// q = A·un·r1 + ux_n + uu_n·r, F = q·dn + B·dy·(h-n)·z1 + v·dy·z.
func gradOfGRUGrad(r *rule) {
	dy := r.in(0)
	s := r.gru(r.in(1), r.in(2), r.in(3))
	rr, z, n := s.r, s.z, s.n
	var xr, xz, xn, ur, uz, un, v ref
	if r.has(0) {
		g := r.dout(0)
		xr, xz, xn = r.share(g, 0, 3), r.share(g, 1, 3), r.share(g, 2, 3)
	}
	if r.has(1) {
		g := r.dout(1)
		ur, uz, un = r.share(g, 0, 3), r.share(g, 1, 3), r.share(g, 2, 3)
	}
	if r.has(2) {
		v = r.dout(2)
	}
	a, b := r.sumOf(xr, ur), r.sumOf(xz, uz)
	q := r.sumOf(r.product(a, s.un, rr.a1), xn, r.product(un, rr.a))
	keep := r.plus(r.neg(z.a), 1)
	if r.want(0) {
		r.give(0, r.sumOf(r.product(q, keep, n.a1), r.product(b, s.far, z.a1), r.product(v, z.a)))
	}
	if r.want(1) || r.want(2) {
		dn := r.product(dy, keep, n.a1)
		kn := r.product(q, dy, keep, n.a2)
		if b.l != nil {
			kn = r.sub(r.orZeros(kn, dy), r.product(b, dy, z.a1, n.a1))
		}
		kn = r.orZeros(kn, dy)
		kr := r.sumOf(r.product(dn, r.sumOf(r.product(a, s.un, rr.a2), r.product(un, rr.a1))), r.product(kn, s.un, rr.a1))
		var kz ref
		if q.l != nil {
			kz = r.neg(r.product(q, dy, n.a1, z.a1))
		}
		kz = r.orZeros(r.sumOf(kz, r.product(b, dy, s.far, z.a2), r.product(v, dy, z.a1)), dy)
		if r.want(1) {
			r.give(1, r.beside(kr, kz, kn))
		}
		if r.want(2) {
			r.give(2, r.beside(kr, kz, r.sumOf(r.product(kn, rr.a), r.product(dn, a, rr.a1))))
		}
	}
	if r.want(3) {
		r.give(3, r.orZeros(r.product(b, dy, z.a1), dy))
	}
}

func tangentOfGRUGrad(r *rule) {
	dy := r.in(0)
	s := r.gru(r.in(1), r.in(2), r.in(3))
	rr, z, n := s.r, s.z, s.n
	te, th := r.tan0(0), r.tan0(3)
	tr, tz, tn, tun := r.pushGRU(&s, r.tan0(1), r.tan0(2))
	keep := r.plus(r.neg(z.a), 1)
	dn := r.product(dy, keep, n.a1)
	tfar := th
	if tn.l != nil {
		tfar = r.sub(r.orZeros(th, dy), r.mul(n.a1, tn))
	}
	var less ref
	if tz.l != nil {
		less = r.neg(r.product(dy, z.a1, tz, n.a1))
	}
	tdn := r.orZeros(r.sumOf(r.product(te, keep, n.a1), less, r.product(dy, keep, n.a2, tn)), dy)
	tdr := r.sumOf(r.product(tdn, s.un, rr.a1), r.product(dn, tun, rr.a1), r.product(dn, s.un, rr.a2, tr))
	tdz := r.orZeros(r.sumOf(r.product(te, s.far, z.a1), r.product(dy, tfar, z.a1), r.product(dy, s.far, z.a2, tz)), dy)
	r.makes(0, r.beside(tdr, tdz, tdn))
	r.makes(1, r.beside(tdr, tdz, r.sumOf(r.mul(tdn, rr.a), r.product(dn, rr.a1, tr))))
	r.makes(2, r.sumOf(r.product(te, z.a), r.product(dy, z.a1, tz)))
}
