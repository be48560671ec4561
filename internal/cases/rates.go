package cases

import "fmt"

// Schedule is a case of type schedule: learning rates by update.
type Schedule struct {
	Head
	Schedule string         `json:"schedule"` // step, multistep, cosine, cosine_restarts or one_cycle
	Hyper    map[string]any `json:"hyper"`
	LR       []Number       `json:"lr"`
}

// Run asks for the rate of each update.
func (c *Schedule) Run() error { return fmt.Errorf("%w: schedules", ErrSkipped) }

// Clip is a case of type clip: gradients before and after, and their norm.
type Clip struct {
	Head
	Grads map[string]*Tensor `json:"grads"`
	Hyper struct {
		MaxNorm Number `json:"max_norm"`
		P       Number `json:"p"`
	} `json:"hyper"`
	Expect struct {
		Norm  Number            `json:"norm"` // before clipping
		Grads map[string]Tensor `json:"grads"`
	} `json:"expect"`
}

// Run clips.
func (c *Clip) Run() error { return fmt.Errorf("%w: clipping", ErrSkipped) }
