package draw_test

import (
	"fmt"
	"strings"

	"github.com/backsweep/backsweep/record"
	"github.com/backsweep/backsweep/record/sketch"
)

// The pictures that the tests look at.

func expression() *record.Record {
	r := sketch.Swept(`
		input x 128x64
		param w 128x64
		param b 64
		p:128x64 mul x w
		h tanh p
		s add h b
		loss: sum s
	`)
	r.Title = "loss = sum(tanh(x*w) + b)"
	return r
}

func diamond() *record.Record {
	r := sketch.Swept(`
		param x 32
		h tanh x
		a exp h
		b square h
		c mul h b
		d add a b
		e add d c
		loss: sum e
	`)
	r.Title = "a diamond with fan-out"
	return r
}

func towers() *record.Record {
	var b strings.Builder
	for _, side := range []string{"query", "document"} {
		q := side[:1]
		fmt.Fprintf(&b, `
			scope %[1]s tower
			param %[2]s.table 9000x64
			input %[2]s.words 700
			input %[2]s.starts 128
			%[2]s.bag:128x64 embedding_bag %[2]s.table %[2]s.words %[2]s.starts
			param %[2]s.w1 64x64
			param %[2]s.b1 64
			%[2]s.h1 linear %[2]s.bag %[2]s.w1 %[2]s.b1
			%[2]s.h tanh %[2]s.h1
			param %[2]s.w2 64x64
			param %[2]s.b2 64
			%[2]s.h2 linear %[2]s.h %[2]s.w2 %[2]s.b2
			%[2]s.unit unit %[2]s.h2
		`, side, q)
	}
	b.WriteString(`
		scope
		dots:128x128 matmul q.unit d.unit
		scaled mul_scalar dots @14.286
		input targets 128
		loss: cross_entropy scaled targets
	`)
	r := sketch.Swept(b.String())
	r.Title = "two towers"
	return r
}

func recurrence(steps int) *record.Record {
	var b strings.Builder
	b.WriteString("param W 64x64\nparam U 64x64\nparam b 64\ninput h0 8x64\nh:8x64 identity h0\n")
	for i := range steps {
		fmt.Fprintf(&b, "input x%d 8x64\na%d:8x64 matmul x%d W\nr%d:8x64 matmul h U\ns%d add a%d r%d\nz%d add s%d b\nh tanh z%d\n", i, i, i, i, i, i, i, i, i, i)
	}
	b.WriteString("loss: sum h")
	r := sketch.Swept(b.String())
	r.Title = fmt.Sprintf("a recurrence of %d steps", steps)
	return r
}

// chain is n ops one after the other.
func chain(n int) *record.Record {
	var b strings.Builder
	b.WriteString("param x 4\n_ tanh x\n")
	for range n - 2 {
		b.WriteString("_ tanh _\n")
	}
	b.WriteString("loss: sum _")
	return sketch.Swept(b.String())
}
