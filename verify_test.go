package backsweep

import (
	"errors"
	"strings"
	"testing"
)

// spoilt says how a tape can be spoilt, and what Verify then says.
var spoilt = []struct {
	name, says string
	how        func(t *Tape)
}{
	{"an operand from the future", "not older", func(t *Tape) { t.operands[0][1] = t.nValues - 1 }},
	{"a lost producer", "no leaf", func(t *Tape) { t.value(t.nValues - 1).prod = -1 }},
	{"a foreign storage", "does not fit", func(t *Tape) { t.value(0).sto = t.storeOf(t.nValues - 1) }},
	{"a hold too many", "holds", func(t *Tape) { t.store(0).holds++ }},
	{"a hold too few", "holds", func(t *Tape) { t.store(0).holds-- }},
	{"let go without a sweep", "no sweep did", func(t *Tape) { t.store(t.nStores - 1).set(letGo) }},
	{"a leaf that was not joined", "cannot be found", func(t *Tape) { delete(t.joined, t.leaves[0].val) }},
	{"a leaf that changed its memory", "not what joined", func(t *Tape) { t.leaves[0].val.st = newStorage(64) }},
	{"two owners", "of its own", func(t *Tape) { t.addStore(0, 0, inBuf) }},
	{"a node of too many outputs", "outputs", func(t *Tape) { t.node(0).outs = 2 }},
	{"a node without its operand", "operands", func(t *Tape) { t.node(1).in++ }},
	{"a missing call site", "call sites", func(t *Tape) { t.siteIDs = t.siteIDs[1:] }},
	{"a scope inside itself", "younger", func(t *Tape) { t.scopes[1].parent = 1 }},
}

func TestVerifyNamesWhatIsSpoilt(t *testing.T) {
	for _, c := range spoilt {
		tape := NewTape(Sites())
		end := tape.Scope("here")
		x := tape.Input("x", Zeros(Float32, 40, 2))
		w := NewParam("w", Zeros(Float32, 2, 3))
		x.MatMul(w).Tanh().Sum()
		end()
		if err := tape.Verify(); err != nil {
			t.Fatal(err)
		}
		c.how(tape)
		err := tape.Verify()
		if !errors.Is(err, ErrTape) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: Verify says %v, not something of %q", c.name, err, c.says)
		}
	}
}
