package optim

import (
	"fmt"
	"math"
)

// Schedule gives the learning rate of each update, counted from 0. It remembers
// nothing: asking for a rate does not move it on, and the first update has the
// first rate. Set one as a [Group]'s Schedule, or ask it oneself. It may be any
// function; those of this package panic with a *backsweep.Error where they are
// made with numbers that make no schedule.
type Schedule func(update int) float64

// StepDecay multiplies the rate by gamma after every so many updates:
//
//	lr · gamma^⌊t/every⌋
func StepDecay(lr, gamma float64, every int) Schedule {
	positive("StepDecay", "every", every)
	return func(t int) float64 { return lr * math.Pow(gamma, float64(t/every)) }
}

// MultiStep multiplies the rate by gamma from each of the milestones on. Their
// order does not matter; one that is there twice counts twice.
func MultiStep(lr, gamma float64, milestones ...int) Schedule {
	at := append([]int{}, milestones...)
	return func(t int) float64 {
		n := 0
		for _, m := range at {
			if m <= t {
				n++
			}
		}
		return lr * math.Pow(gamma, float64(n))
	}
}

// Cosine goes from lr at update 0 to low at update total along half a cosine
// (I. Loshchilov and F. Hutter, "SGDR: Stochastic Gradient Descent with Warm
// Restarts", 2017), and on along the cosine after that, as PyTorch's does.
//
//	low + (lr-low)·(1 + cos(π·t/total))/2
func Cosine(lr, low float64, total int) Schedule {
	positive("Cosine", "total", total)
	return func(t int) float64 { return halfCosine(lr, low, float64(t)/float64(total)) }
}

// halfCosine goes from a at 0 to b at 1.
func halfCosine(a, b, at float64) float64 {
	return b + float64((a-b)*(1+math.Cos(math.Pi*at))/2)
}

// CosineRestarts starts the half cosine anew after a period of first updates,
// then after one that is mult times as long as the last, and so on (Loshchilov
// and Hutter, as above).
func CosineRestarts(lr, low float64, first, mult int) Schedule {
	positive("CosineRestarts", "first", first)
	positive("CosineRestarts", "mult", mult)
	return func(t int) float64 {
		period := first
		if mult == 1 {
			t %= period
		}
		for t >= period {
			t -= period
			if period > math.MaxInt/mult {
				break
			}
			period *= mult
		}
		return halfCosine(lr, low, float64(t)/float64(period))
	}
}

// Cycle is the shape of [OneCycle]'s schedule.
type Cycle struct {
	Max      float64 // the highest rate
	Total    int     // number of updates
	Up       float64 // share of them in which the rate rises; 0 stands for 0.3
	Div      float64 // it begins at Max/Div; 0 stands for 25
	FinalDiv float64 // and ends at Max/Div/FinalDiv; 0 stands for 10,000
}

// OneCycle rises along a half cosine to the highest rate and falls along another
// to the last (L. Smith and N. Topin, "Super-Convergence: Very Fast Training of
// Neural Networks Using Large Learning Rates", 2018, in PyTorch's form). The
// highest rate is that of update Up·Total-1, the last one that of update
// Total-1 and of all after it.
func OneCycle(c Cycle) Schedule {
	positive("OneCycle", "Total", c.Total)
	for _, d := range []struct {
		x  *float64
		to float64
	}{{&c.Up, 0.3}, {&c.Div, 25}, {&c.FinalDiv, 1e4}} {
		if *d.x == 0 {
			*d.x = d.to
		}
	}
	if !(c.Up > 0 && c.Up < 1) {
		panic(misuse("OneCycle", "give a share between 0 and 1", fmt.Sprintf("a share of %v rises", c.Up)))
	}
	low, end := c.Max/c.Div, c.Max/c.Div/c.FinalDiv
	top, last := float64(c.Up*float64(c.Total))-1, float64(c.Total-1)
	return func(t int) float64 {
		switch at := float64(t); {
		case at >= last:
			return end
		case at <= top && top > 0:
			return halfCosine(low, c.Max, at/top)
		default:
			return halfCosine(c.Max, end, (at-max(top, 0))/(last-max(top, 0)))
		}
	}
}

// WarmUp rises in a line towards the first rate of another schedule for n
// updates, at rates 1/(n+1), 2/(n+1), … of it, and then follows that from its
// beginning.
func WarmUp(n int, then Schedule) Schedule {
	if n < 0 {
		panic(misuse("WarmUp", "give a number of updates, 0 for none", fmt.Sprintf("%d updates", n)))
	}
	return func(t int) float64 {
		if t < n {
			return then(0) * float64(t+1) / float64(n+1)
		}
		return then(t - n)
	}
}

// Constant is always lr.
func Constant(lr float64) Schedule { return func(int) float64 { return lr } }

func positive(op, what string, n int) {
	if n < 1 {
		panic(misuse(op, "count updates from 1 on", fmt.Sprintf("%s is %d", what, n)))
	}
}
