package kernel_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

const bigBits = 400

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(x) }

// bigExp is e to the power x to bigBits bits: the series at x/2^k, squared k
// times.
func bigExp(x float64) *big.Float {
	const k = 20
	r := new(big.Float).SetMantExp(bigOf(x), -k)
	sum, term := bigOf(1), bigOf(1)
	for i := 1; i < 50; i++ {
		term.Mul(term, r)
		term.Quo(term, bigOf(float64(i)))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog is log x by one step of Newton's method, of third order, from
// math.Log.
func bigLog(x float64) *big.Float {
	frac, exp := math.Frexp(x)
	y := math.Log(frac)
	fix := new(big.Float).Quo(bigOf(frac), bigExp(y))
	fix.Sub(fix, bigOf(1))
	square := new(big.Float).Mul(fix, fix)
	fix.Sub(fix, square.Quo(square, bigOf(2)))
	ln2, _ := new(big.Float).SetPrec(bigBits).SetString("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754")
	return fix.Add(fix, bigOf(y)).Add(fix, ln2.Mul(ln2, bigOf(float64(exp))))
}

func bigTanh(x float64) *big.Float {
	e := bigExp(2 * x)
	return new(big.Float).Quo(new(big.Float).Sub(e, bigOf(1)), new(big.Float).Add(e, bigOf(1)))
}

func bigSigmoid(x float64) *big.Float {
	e := bigExp(x)
	return new(big.Float).Quo(e, new(big.Float).Add(e, bigOf(1)))
}

// off is |got - want| in units in the last place of want in T.
func off[T kernel.Float](got T, want *big.Float) float64 {
	mantissa, least := 24, -149
	if !isFloat32[T]() {
		mantissa, least = 53, -1074
	}
	ulp := max(want.MantExp(nil)-mantissa, least)
	d := new(big.Float).Sub(bigOf(float64(got)), want)
	f, _ := d.SetMantExp(d, -ulp).Float64()
	return math.Abs(f)
}

func checkAccuracy[T kernel.Float](t *testing.T, name string, f func(dst, x []T), want func(float64) *big.Float, draw func(rng *rand.Rand) float64, most float64) {
	const seed, n = 5, 3000
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]T, n), make([]T, n)
	for i := range x {
		x[i] = T(draw(rng))
	}
	f(y, x)
	worst := 0.0
	for i, v := range x {
		if d := off(y[i], want(float64(v))); d > most {
			t.Fatalf("seed %d: %s: %s(%v) is %v, %v ulp off", seed, kernel.Path(), name, v, y[i], d)
		} else {
			worst = max(worst, d)
		}
	}
	t.Logf("%s: %s of %T is at most %.2f ulp off", kernel.Path(), name, x[0], worst)
}

// TestUlps holds the functions of which assembly has versions to 2 units in the
// last place, over all magnitudes that do not overflow.
func TestUlps(t *testing.T) {
	spread := func(low, high float64) func(rng *rand.Rand) float64 {
		return func(rng *rand.Rand) float64 {
			switch rng.IntN(3) {
			case 0: // magnitudes down to denormals of float32
				return math.Copysign(math.Ldexp(1+rng.Float64(), -rng.IntN(148)), rng.Float64()-0.5)
			case 1:
				return 4*rng.Float64() - 2
			}
			return low + (high-low)*rng.Float64()
		}
	}
	positive := func(least int) func(rng *rand.Rand) float64 {
		return func(rng *rand.Rand) float64 {
			if rng.IntN(2) == 0 {
				return 0.5 + rng.Float64()
			}
			return math.Ldexp(1+rng.Float64(), -least+rng.IntN(least+100))
		}
	}
	checkAccuracy(t, "Exp", kernel.Exp[float32], bigExp, spread(-103, 88.5), 1.5)
	checkAccuracy(t, "Exp", kernel.Exp[float64], bigExp, spread(-744, 709.7), 2)
	checkAccuracy(t, "Log", kernel.Log[float32], bigLog, positive(148), 1.5)
	checkAccuracy(t, "Log", kernel.Log[float64], bigLog, positive(1073), 1.5)
	checkAccuracy(t, "Tanh", kernel.Tanh[float32], bigTanh, spread(-12, 12), 2)
	checkAccuracy(t, "Tanh", kernel.Tanh[float64], bigTanh, spread(-25, 25), 2)
	checkAccuracy(t, "Sigmoid", kernel.Sigmoid[float32], bigSigmoid, spread(-103, 40), 2)
	checkAccuracy(t, "Sigmoid", kernel.Sigmoid[float64], bigSigmoid, spread(-740, 50), 2)
}
