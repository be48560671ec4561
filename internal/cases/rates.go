package cases

import (
	"fmt"
	"math"

	"github.com/backsweep/backsweep/optim"
)

// Schedule is a case of type schedule: learning rates by update.
type Schedule struct {
	Head
	Schedule string   `json:"schedule"` // step, multistep, cosine, cosine_restarts or one_cycle
	Hyper    Rates    `json:"hyper"`
	LR       []Number `json:"lr"`
}

// Rates are the numbers of a schedule; each kind has its own.
type Rates struct {
	LR         float64 `json:"lr"`
	Gamma      float64 `json:"gamma"`
	Size       int     `json:"size"`
	StepSize   int     `json:"step_size"`
	Milestones []int   `json:"milestones"`
	EtaMin     float64 `json:"eta_min"`
	TMax       int     `json:"t_max"`
	T0         int     `json:"t_0"`
	TMult      int     `json:"t_mult"`
	MaxLR      float64 `json:"max_lr"`
	TotalSteps int     `json:"total_steps"`
	PctStart   float64 `json:"pct_start"`
	Div        float64 `json:"div"`
	FinalDiv   float64 `json:"final_div"`
	At         []int   `json:"at"` // the updates that are asked for; 0, 1, 2, ... where it is empty
}

// Run asks for the rate of each update.
func (c *Schedule) Run() error {
	h := c.Hyper
	var rate optim.Schedule
	switch c.Schedule {
	case "step":
		rate = optim.StepDecay(h.LR, h.Gamma, max(h.Size, h.StepSize))
	case "multistep":
		rate = optim.MultiStep(h.LR, h.Gamma, h.Milestones...)
	case "cosine":
		rate = optim.Cosine(h.LR, h.EtaMin, h.TMax)
	case "cosine_restarts":
		rate = optim.CosineRestarts(h.LR, h.EtaMin, h.T0, max(h.TMult, 1))
	case "one_cycle":
		rate = optim.OneCycle(optim.Cycle{Max: h.MaxLR, Total: h.TotalSteps, Up: h.PctStart, Div: h.Div, FinalDiv: h.FinalDiv})
	default:
		return fmt.Errorf("%w: %s", ErrSkipped, c.Schedule)
	}
	for i, want := range c.LR {
		at := i
		if h.At != nil {
			at = h.At[i]
		}
		if got := rate(at); !c.Tol.match(got, float64(want)) {
			return fmt.Errorf("the rate of update %d is %v, want %v", at, got, float64(want))
		}
	}
	return nil
}

// Clip is a case of type clip: gradients before and after, and their norm.
type Clip struct {
	Head
	Grads map[string]*Tensor `json:"grads"` // nil for none
	Hyper struct {
		MaxNorm Number  `json:"max_norm"`
		P       *Number `json:"p"` // 2 where it is absent
	} `json:"hyper"`
	Expect struct {
		Norm  Number             `json:"norm"` // before clipping
		Grads map[string]*Tensor `json:"grads"`
	} `json:"expect"`
}

// Run clips. A norm that is not finite has to come with an error.
func (c *Clip) Run() error {
	set, grads, err := c.gradients()
	if err != nil {
		return err
	}
	p := 2.0
	if c.Hyper.P != nil {
		p = float64(*c.Hyper.P)
	}
	clipped, norm, err := optim.ClipNorm(grads, float64(c.Hyper.MaxNorm), p, set.params...)
	if want := float64(c.Expect.Norm); !c.Tol.match(norm, want) {
		return fmt.Errorf("the norm is %v, want %v", norm, want)
	}
	if math.IsInf(norm, 0) || math.IsNaN(norm) {
		if err == nil {
			return fmt.Errorf("a norm of %v is no error", norm)
		}
		return nil
	}
	if err != nil {
		return err
	}
	for i, name := range set.names {
		want := c.Expect.Grads[name]
		if want == nil {
			continue
		}
		got, state := clipped.Lookup(set.params[i])
		if got == nil {
			return fmt.Errorf("the gradient of %s: %v", name, state)
		}
		if err := c.Tol.matchAll("the gradient of "+name, got, *want); err != nil {
			return err
		}
	}
	return nil
}
