package kernel

// Gates of recurrent cells. A step of batch items of width h reads
// pre-activations side by side: [i f g o] of 4h elements an item for the LSTM
// and [r z n] of 3h for the GRU. work holds as many elements as the gates of one
// item.

// LSTMGates writes the next state of an LSTM: c' = σ(f)·c + σ(i)·tanh(g) and
// y = σ(o)·tanh(c').
func LSTMGates[T Float](y, next, gates, c []T, items, h int, work []T) {
	for b := range items {
		i, f, g, o := lstmActivate(work, gates[b*4*h:], h)
		c, n, y := c[b*h:][:h], next[b*h:][:h], y[b*h:][:h]
		for k := range n {
			n[k] = T(f[k]*c[k]) + T(i[k]*g[k])
		}
		Tanh(y, n)
		Mul(y, y, o)
	}
}

// lstmActivate applies σ to the gates i, f and o and tanh to g.
func lstmActivate[T Float](work, gates []T, h int) (i, f, g, o []T) {
	Sigmoid(work[:2*h], gates[:2*h])
	Tanh(work[2*h:3*h], gates[2*h:3*h])
	Sigmoid(work[3*h:4*h], gates[3*h:4*h])
	return work[:h], work[h : 2*h], work[2*h : 3*h], work[3*h : 4*h]
}

// LSTMGatesGrad writes the gradients of LSTMGates in gates and c, given those of
// y and c'. work holds 5h elements.
func LSTMGatesGrad[T Float](dgates, dc, dy, dnext, gates, c []T, items, h int, work []T) {
	for b := range items {
		i, f, g, o := lstmActivate(work, gates[b*4*h:], h)
		t := work[4*h : 5*h]
		c, dc, dy, dn := c[b*h:][:h], dc[b*h:][:h], dy[b*h:][:h], dnext[b*h:][:h]
		for k := range t {
			t[k] = T(f[k]*c[k]) + T(i[k]*g[k])
		}
		Tanh(t, t)
		d := dgates[b*4*h:][:4*h]
		di, df, dg, do := d[:h], d[h:2*h], d[2*h:3*h], d[3*h:]
		for k, tk := range t {
			ik, fk, gk, ok := i[k], f[k], g[k], o[k]
			slope := T(T(dy[k]*ok)*(1-T(tk*tk))) + dn[k]
			di[k] = slope * gk * ik * (1 - ik)
			df[k] = slope * c[k] * fk * (1 - fk)
			dg[k] = slope * ik * (1 - T(gk*gk))
			do[k] = dy[k] * tk * ok * (1 - ok)
			dc[k] = slope * fk
		}
	}
}

// GRUGates writes the next state of a GRU from the products of its input, x, and
// of its state, u, with their weights: r = σ(xr + ur), z = σ(xz + uz),
// n = tanh(xn + r·un) and y = n + z·(state - n).
func GRUGates[T Float](y, x, u, state []T, items, h int, work []T) {
	for b := range items {
		_, z, n := gruActivate(work, x[b*3*h:], u[b*3*h:], h)
		s, y := state[b*h:][:h], y[b*h:][:h]
		for k, v := range n {
			y[k] = v + T(z[k]*(s[k]-v))
		}
	}
}

func gruActivate[T Float](work, x, u []T, h int) (r, z, n []T) {
	r, z, n = work[:h], work[h:2*h], work[2*h:3*h]
	Add(work[:2*h], x[:2*h], u[:2*h])
	Sigmoid(work[:2*h], work[:2*h])
	x, u = x[2*h:3*h], u[2*h:3*h]
	for k := range n {
		n[k] = x[k] + T(r[k]*u[k])
	}
	Tanh(n, n)
	return r, z, n
}

// GRUGatesGrad writes the gradients of GRUGates in x, u and state.
func GRUGatesGrad[T Float](dx, du, dstate, dy, x, u, state []T, items, h int, work []T) {
	for b := range items {
		r, z, n := gruActivate(work, x[b*3*h:], u[b*3*h:], h)
		un, s := u[b*3*h+2*h:][:h], state[b*h:][:h]
		dx, du, ds, dy := dx[b*3*h:][:3*h], du[b*3*h:][:3*h], dstate[b*h:][:h], dy[b*h:][:h]
		for k, e := range dy {
			rk, zk, nk := r[k], z[k], n[k]
			dn := e * (1 - zk) * (1 - T(nk*nk))
			dr := dn * un[k] * rk * (1 - rk)
			dz := e * (s[k] - nk) * zk * (1 - zk)
			dx[k], dx[h+k], dx[2*h+k] = dr, dz, dn
			du[k], du[h+k], du[2*h+k] = dr, dz, T(dn*rk)
			ds[k] = e * zk
		}
	}
}
