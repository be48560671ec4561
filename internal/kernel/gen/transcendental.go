package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The polynomials are Chebyshev fits, which are within a few per cent of the
// best (Trefethen, "Approximation Theory and Approximation Practice", 2013).

// exponent are the coefficients of (e^r - 1 - r)/r² for |r| ≤ log(2)/2, by the
// element size that they are good to.
var exponent = map[int][]float64{
	32: {0.00139262508314976117, 0.0083632328836826182, 0.0416665542129841503, 0.166665766661199283, 0.5},
	64: {2.09147553258932022e-9, 2.51053127296221018e-8, 2.75572734787185805e-7, 2.75572551700008874e-6,
		0.0000248015873256774619, 0.000198412698750022788, 0.00138888888888837112, 0.00833333333332608312,
		0.0416666666666666698, 0.16666666666666671, 0.5},
}

// exponentNarrow is good to 2^-32, for results that are rounded to float32.
var exponentNarrow = []float64{
	0.00019891080463998842, 0.00139337307157920825, 0.00833331084464786256, 0.0416664641974056923,
	0.16666666681704215, 0.500000001353872989,
}

// ln2 is log(2) as a number of the element type and what that lacks.
func (e *emitter) ln2() (hi, lo float64) {
	if e.bits == 32 {
		hi = float64(float32(math.Ln2))
		return hi, math.Ln2 - hi
	}
	return math.Ln2, 2.319046813846299558e-17
}

// round is the nearest integer, halves to even.
func (e *emitter) round(x operand.Op) reg.VecVirtual {
	d := e.vec()
	if e.isa == avx512 {
		e.op("VRNDSCALE", operand.U8(8), x, d)
	} else {
		e.op("VROUND", operand.U8(8), x, d)
	}
	return d
}

// expm1Parts is n, an integer, and e^r - 1 with x = n·log(2) + r.
func (e *emitter) expm1Parts(x operand.Op, coefs []float64) (n, p reg.VecVirtual) {
	hi, lo := e.ln2()
	n = e.round(e.mul(x, e.c(math.Log2E)))
	r := e.copy(x)
	e.deplete(r, n, e.c(hi))
	e.deplete(r, n, e.c(lo))
	p = e.poly(r, coefs...)
	e.fma(p, e.mul(r, r), r)
	return n, p
}

// powerOfTwo is 2^n for an integer n within the range of normal exponents. The
// sum has n in its low bits, from where it moves to the exponent.
func (e *emitter) powerOfTwo(n operand.Op) reg.VecVirtual {
	mantissa, bias := 23, 127.0
	if e.bits == 64 {
		mantissa, bias = 52, 1023
	}
	d := e.add(n, e.c(1.5*math.Ldexp(1, mantissa)+bias))
	e.integer("VPSLL", operand.U8(uint8(mantissa)), d, d)
	return d
}

// scale is p·2^n, rounded once.
func (e *emitter) scale(p, n reg.VecVirtual) reg.VecVirtual {
	if e.isa == avx512 {
		return e.two("VSCALEF", p, n)
	}
	h := e.round(e.mul(n, e.c(0.5)))
	return e.mul(e.mul(p, e.powerOfTwo(h)), e.powerOfTwo(e.sub(n, h)))
}

// expWithin computes the exponential function by within, for an x that is
// limited to where it is finite and above nothing. Below, where masks of -Inf
// lie, it is 0 by choice: to underflow there costs ten times the whole. The
// bounds come first in a comparison, so that NaN passes.
func (e *emitter) expWithin(within func(x reg.VecVirtual) reg.VecVirtual) func(x reg.VecVirtual) reg.VecVirtual {
	low, high, zero := e.load(e.c(-746)), e.load(e.c(711)), e.zero()
	if e.bits == 32 {
		low, high = e.load(e.c(-104)), e.load(e.c(89))
	}
	return func(x reg.VecVirtual) reg.VecVirtual {
		nothing := e.compare(less, x, low)
		return e.choose(nothing, zero, within(e.choose(nothing, zero, e.smaller(high, x))))
	}
}

// expOf makes the exponential function, within an ulp.
func (e *emitter) expOf(coefs []float64) func(x reg.VecVirtual) reg.VecVirtual {
	return e.expWithin(func(x reg.VecVirtual) reg.VecVirtual {
		n, p := e.expm1Parts(x, coefs)
		return e.scale(e.add(p, e.c(1)), n)
	})
}

func expBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	exp := e.exponential()
	return func(x []reg.VecVirtual) reg.VecVirtual { return exp(x[0]) }
}

// exponential is expOf with the rounding errors of r and of 1 + r carried along,
// and so nearly rounded once.
func (e *emitter) exponential() func(x reg.VecVirtual) reg.VecVirtual {
	one := e.load(e.c(1))
	hi, lo := e.ln2()
	return e.expWithin(func(v reg.VecVirtual) reg.VecVirtual {
		n := e.round(e.mul(v, e.c(math.Log2E)))
		e.deplete(v, n, e.c(hi)) // exactly
		r := e.copy(v)
		e.deplete(r, n, e.c(lo))
		rest := e.sub(v, r)
		e.deplete(rest, n, e.c(lo))
		sum := e.add(r, one)
		rest = e.add(rest, e.sub(r, e.sub(sum, one)))
		p := e.poly(r, exponent[e.bits]...)
		e.fma(p, e.mul(r, r), rest)
		return e.scale(e.add(sum, p), n)
	})
}

// reciprocal is 1/d for a d far from the ends of the range, good to 2^-14 or
// better: what it serves is corrected once.
func (e *emitter) reciprocal(one, d reg.VecVirtual) reg.VecVirtual {
	if e.isa == avx512 && e.bits == 32 {
		r := e.vec()
		e.VRCP14PS(d, r)
		return r
	}
	return e.div(one, d)
}

// quotient is (t + rest)/(d + wrong) rounded nearly once: a first quotient is
// corrected by what it leaves of t.
func (e *emitter) quotient(t, rest, d, wrong, one reg.VecVirtual) reg.VecVirtual {
	r := e.reciprocal(one, d)
	y := e.mul(t, r)
	left := e.copy(t)
	e.deplete(left, y, d)
	e.deplete(left, y, wrong)
	if rest != nil {
		left = e.add(left, rest)
	}
	e.accumulate(y, left, r)
	return y
}

// tanhBody is t/(t + 2) with t = e^2|x| - 1, which cancels nothing; beyond the
// bound it is 1. t and t + 2 are carried with their rounding errors.
func tanhBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	high := e.load(e.c(map[int]float64{32: 20, 64: 44}[e.bits]))
	one, two := e.load(e.c(1)), e.load(e.c(2))
	return func(x []reg.VecVirtual) reg.VecVirtual {
		a := e.abs(x[0])
		n, p := e.expm1Parts(e.smaller(high, e.add(a, a)), exponent[e.bits])
		s := e.powerOfTwo(n)
		below := e.sub(s, one)
		t := e.copy(p)
		e.fma(t, s, below)
		rest := e.sub(below, t)
		e.accumulate(rest, p, s)
		d := e.add(t, two)
		// The smaller of t and 2 came second.
		wrong := e.sub(e.smaller(t, two), e.sub(d, e.larger(t, two)))
		y := e.quotient(t, rest, d, wrong, one)
		return e.or(y, e.and(x[0], e.signBit()))
	}
}

// sigmoidBody is 1/(1 + e^-|x|), or e^-|x| times that below 0.
func sigmoidBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	exp := e.exponential()
	one, zero := e.load(e.c(1)), e.zero()
	return func(x []reg.VecVirtual) reg.VecVirtual {
		p := exp(e.or(x[0], e.signBit()))
		top := e.choose(e.compare(less, x[0], zero), p, one)
		d := e.add(p, one)
		wrong := e.sub(p, e.sub(d, one))
		return e.quotient(top, nil, d, wrong, one)
	}
}

// logarithm are the coefficients for float32 of (log(1+f) - f + f²/2)/f³ for
// -1/4 ≤ f ≤ 1/2, and for float64 of (log((1+s)/(1-s)) - 2s)/s³ in s² for
// |s| ≤ 1/5.
var logarithm = map[int][]float64{
	32: {0.0428719780382937, -0.095613400136036772, 0.11680681790547841, -0.12639311138337617, 0.14268305970332556,
		-0.16660817530625114, 0.2000014089619763, -0.25000056714357636, 0.33333333147292225},
	64: {0.136090302628584986, 0.132097082420594633, 0.153888678056137166, 0.181817376263029372, 0.222222230483515881,
		0.285714285672759346, 0.40000000000007941, 0.666666666666666642},
}

// logParts writes x as 2^n·m with 3/4 ≤ m < 3/2. What it makes of zeros,
// negative numbers, infinities and NaN does not count.
func (e *emitter) logParts(x reg.VecVirtual) (n, m reg.VecVirtual) {
	if e.isa == avx512 {
		m, n = e.vec(), e.vec()
		below := e.vec()
		e.op("VGETMANT", operand.U8(3), x, m)
		e.op("VGETEXP", x, n)
		e.op("VGETEXP", m, below)
		return e.sub(n, below), m
	}
	mantissa, bias, least := 23, 127.0, math.Ldexp(1, -126)
	if e.bits == 64 {
		mantissa, bias, least = 52, 1023, math.Ldexp(1, -1022)
	}
	zero := e.zero()
	tiny := e.compare(less, x, e.c(least))
	x = e.choose(tiny, e.mul(x, e.c(math.Ldexp(1, mantissa+2))), x)
	lowered := e.choose(tiny, e.load(e.c(float64(mantissa+2))), zero)

	// With the bits of 3/4 taken off, the exponent counts from there.
	from := math.Float64bits(0.75)
	one := math.Float64bits(1)
	if e.bits == 32 {
		from, one = uint64(math.Float32bits(0.75)), uint64(math.Float32bits(1))
	}
	i := e.vec()
	e.integer("VPADD", e.cbits(one-from), x, i)
	exponent := e.vec()
	e.integer("VPSRL", operand.U8(uint8(mantissa)), i, exponent)
	n = e.sub(e.or(exponent, e.c(math.Ldexp(1, mantissa))), e.c(math.Ldexp(1, mantissa)+bias))
	m = e.vec()
	e.integer("VPADD", e.cbits(from), e.and(i, e.cbits(1<<mantissa-1)), m)
	return e.sub(n, lowered), m
}

func logBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	hi, lo := e.ln2()
	zero := e.zero()
	infinity := e.c(math.Inf(1))
	return func(x []reg.VecVirtual) reg.VecVirtual {
		n, m := e.logParts(x[0])
		f := e.sub(m, e.c(1))
		var y reg.VecVirtual
		if e.bits == 32 {
			p := e.poly(f, logarithm[32]...)
			f2 := e.mul(f, f)
			p = e.mul(p, e.mul(f2, f))
			e.accumulate(p, n, e.c(lo))
			e.deplete(p, f2, e.c(0.5))
			y = e.add(p, f)
		} else {
			// As fdlibm arranges it: f - (f²/2 - s·(f²/2 + R)).
			s := e.div(f, e.add(f, e.c(2)))
			z := e.mul(s, s)
			r := e.poly(z, logarithm[64]...)
			half := e.mul(e.mul(f, f), e.c(0.5))
			e.fma(r, z, half)
			r = e.mul(r, s)
			e.accumulate(r, n, e.c(lo))
			y = e.sub(f, e.sub(half, r))
		}
		e.accumulate(y, n, e.c(hi))

		// +Inf and NaN stay; a zero gives -Inf; below 0 there is NaN.
		in := x[0]
		y = e.choose(e.compare(less, in, infinity), y, in)
		y = e.choose(e.compare(equal, in, zero), e.load(e.c(math.Inf(-1))), y)
		return e.choose(e.compare(less, in, zero), e.load(e.c(math.NaN())), y)
	}
}

// mills are the coefficients of e^(a²/2)·Φ(-a)·(a + 4) in t = (a-4)/(a+4) for
// 0 ≤ a ≤ 40, good to 2^-29.
var mills = []float64{
	0.0000218022546878455972, -1.41887027824618407e-6, -0.000217138602881061113, 0.000132918452715377747,
	0.0016234341754790836, -0.00347937654944497903, -0.00753824821386126864, 0.060396469230165157,
	-0.186522078796803237, 0.387137412651519384, -0.607896634771436591, 0.75528513021150977,
}

// normal makes E = e^(-x²/2) and Φ(x), good to float32, for an x that is at
// least -40, where Φ(x) is nothing.
func (e *emitter) normal() func(x reg.VecVirtual) (density, below reg.VecVirtual) {
	exp := e.expOf(exponentNarrow)
	forty, one, zero := e.load(e.c(40)), e.load(e.c(1)), e.zero()
	return func(x reg.VecVirtual) (density, below reg.VecVirtual) {
		a := e.smaller(forty, e.abs(x))
		density = exp(e.mul(e.mul(a, a), e.c(-0.5)))
		sum := e.add(a, e.c(4))
		r := e.reciprocalNarrow(one, sum)
		p := e.poly(e.mul(e.sub(a, e.c(4)), r), mills...)
		q := e.mul(e.mul(density, r), p)
		return density, e.choose(e.compare(less, x, zero), q, e.sub(one, q))
	}
}

// reciprocalNarrow is 1/d, good to 2^-27.
func (e *emitter) reciprocalNarrow(one, d reg.VecVirtual) reg.VecVirtual {
	if e.isa != avx512 {
		return e.div(one, d)
	}
	r := e.vec()
	e.VRCP14PD(d, r)
	left := e.copy(one)
	e.deplete(left, d, r)
	e.accumulate(r, left, r)
	return r
}

func geluBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	normal := e.normal()
	bound := e.load(e.c(-40))
	return func(x []reg.VecVirtual) reg.VecVirtual {
		v := e.larger(bound, x[0])
		_, below := normal(v)
		return e.mul(v, below)
	}
}

func geluGradBody(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
	normal := e.normal()
	low, high := e.load(e.c(-40)), e.load(e.c(40))
	return func(x []reg.VecVirtual) reg.VecVirtual {
		v := e.smaller(high, e.larger(low, x[1]))
		density, below := normal(v)
		e.accumulate(below, e.mul(density, e.c(1/math.Sqrt(2*math.Pi))), v)
		return e.mul(x[0], below)
	}
}

func (e *emitter) transcendental() {
	e.scalar("expSub", "e to the power x - c", 1, func(e *emitter) func([]reg.VecVirtual) reg.VecVirtual {
		exp, c := e.expOf(exponent[e.bits]), e.number("c")
		return func(x []reg.VecVirtual) reg.VecVirtual { return exp(e.sub(x[0], c)) }
	})
	e.unary("exp", "e to the power x, within an ulp", 1, expBody)
	e.unary("log", "the natural logarithm, within 2 ulp", 1, logBody)
	e.unary("tanh", "the hyperbolic tangent, within 2 ulp", 1, tanhBody)
	e.unary("sigmoid", "1/(1 + e^-x), within 2 ulp", 1, sigmoidBody)
}

// normalUnit writes gelu and its gradient for float32, computed in float64.
func (e *emitter) normalUnit() {
	if e.bits == 64 {
		return
	}
	e.bits, e.memory = 64, 32
	e.unary("gelu", "x·Φ(x), rounded once", 1, geluBody)
	e.binary("geluGrad", "a·(Φ(b) + b·φ(b)), rounded once", 1, geluGradBody)
}
