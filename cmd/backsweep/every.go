package main

import (
	"fmt"
	"math/big"

	"github.com/backsweep/backsweep"
)

// maxRuns is how many legal orders --order all runs.
const maxRuns = 5040

// ordersRun is what came of running every order.
type ordersRun struct {
	Run     int    `json:"run"`
	Every   bool   `json:"every"` // there are no others
	Same    bool   `json:"same_bits"`
	Differs string `json:"differs,omitempty"` // the first tensor whose gradient differs
	Order   []int  `json:"order,omitempty"`   // under this order
}

// everyOrder runs the sweep under every legal order and compares all bits.
func (f *gradFlags) everyOrder(s *source) (*gradAnswer, error) {
	opts, err := f.options(s)
	if err != nil {
		return nil, err
	}
	first, err := s.sweep(backsweep.NewTape(), opts...)
	if err != nil {
		return nil, err
	}
	a, err := f.answer(s, first)
	if err != nil {
		return nil, err
	}
	rec, err := s.plan(orderSpec{kind: "tape"})
	if err != nil {
		return nil, err
	}
	g, nodes, err := rec.Graph()
	if err != nil {
		return nil, err
	}
	a.orders = &ordersRun{Every: true, Same: true}
	tape := backsweep.NewTape()
	for seq := range g.All() {
		if a.orders.Run == maxRuns {
			a.orders.Every = false
			break
		}
		ids := nodeIDs(nodes, seq)
		tape.Reset()
		sw, err := s.sweep(tape, append(opts[:len(opts):len(opts)], backsweep.WithOrder(backsweep.GivenOrder(ids...)))...)
		if err != nil {
			return nil, err
		}
		a.orders.Run++
		if name := differing(first, sw); name != "" {
			a.orders.Same, a.orders.Differs, a.orders.Order = false, name, ids
			break
		}
	}
	a.no = !a.orders.Same
	a.notes = append(a.notes, a.orders.words(func() (*big.Int, error) { return g.Count(0) }))
	return a, nil
}

func (o *ordersRun) words(count func() (*big.Int, error)) string {
	switch {
	case !o.Same:
		return fmt.Sprintf("Order %d, %s, gives other bits for the gradient of %s than reverse tape order.", o.Run, sequenceText(o.Order, 16), o.Differs)
	case o.Run == 1 && o.Every:
		return "There is 1 legal order; it ran."
	case o.Every:
		return fmt.Sprintf("All %d legal orders ran, and every gradient has the same bits under each.", o.Run)
	}
	of := ""
	if n, err := count(); err == nil {
		of = " of " + countText(n)
	}
	return fmt.Sprintf("The first %d%s ran (that is the limit), and every gradient has the same bits under each.", o.Run, of)
}
