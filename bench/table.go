package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// table prints results as they come, in 100 columns.
type table struct {
	out    io.Writer
	quiet  bool
	ratios []float64 // of the matrix products beside OpenBLAS
	lowest float64
	missed int
	faults int
}

func (t *table) head(versions []string) {
	if !t.quiet {
		for _, v := range versions {
			fmt.Fprintln(t.out, v)
		}
		fmt.Fprintf(t.out, "%-37s %-9s %7s %7s %-7s %6s %-14s\n", "workload", "peer", "ours", "theirs", "unit", "ratio", "[p10..p90]")
	}
}

func (t *table) row(w *workload, p *peer, r result) {
	if strings.Contains(w.name, "gemm") && p.side == "openblas" && w.threads == 1 {
		t.ratios = append(t.ratios, r.ratio)
	}
	if t.quiet {
		return
	}
	spread := fmt.Sprintf("[%s..%s]", digits(r.low), digits(r.high))
	mark := ""
	if p.least > 0 && r.ratio < p.least {
		mark = "< " + digits(p.least)
		t.missed++
	}
	fmt.Fprintf(t.out, "%-37s %-9s %7s %7s %-7s %6s %-14s%s\n", w.name, p.name(), digits(r.ours), digits(r.theirs), w.unit.name, digits(r.ratio), spread, mark)
	if r.fault != "" {
		t.faults++
		fmt.Fprintf(t.out, "  the sides do not agree: %s\n", r.fault)
	}
}

// foot prints what is over all rows.
func (t *table) foot() {
	if len(t.ratios) > 1 {
		sum, low := 0.0, math.Inf(1)
		for _, r := range t.ratios {
			sum, low = sum+math.Log(r), min(low, r)
		}
		fmt.Fprintf(t.out, "matrix products beside OpenBLAS: geometric mean %.2f, lowest %.2f\n", math.Exp(sum/float64(len(t.ratios))), low)
	}
	fmt.Fprintf(t.out, "ratios that miss theirs: %d; sides that do not agree: %d\n", t.missed, t.faults)
}

// digits shows three significant digits, and no exponent.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || a == 0:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}
