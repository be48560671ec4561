package backsweep

import "github.com/backsweep/backsweep/record"

// Plan returns the sweep that Backward would run with the same options, without
// running it: the sequence, and for each visit what it hands out, what parks
// and what is let go. What Backward runs is exactly this plan. [Tape.Record]
// has it from then on.
func (t *Tape) Plan(loss *Tensor, opts ...SweepOption) (sweep *record.Sweep, err error) {
	defer Catch(&err)
	defer locate(&err)
	o, err := gatherOptions("Plan", opts)
	if err != nil {
		return nil, err
	}
	t.enter("Plan")
	defer t.leave()
	o.trace = true
	p, err := t.newPlan("Plan", []Root{{loss, o.cotangent}}, o)
	if err != nil {
		return nil, err
	}
	t.last = p.export(nil)
	return t.last.sweep, nil
}
