package main

import (
	"slices"
	"strings"

	"golang.org/x/sys/cpu"
)

// openBLASCore is the kernel that OpenBLAS is told to use, in its own process
// and in PyTorch's; "" lets it choose.
var openBLASCore string

// helpOpenBLAS makes up for a release of OpenBLAS that is older than the
// processor: one that it does not know it takes for a Prescott of 2004, with a
// fifth of the speed. It is then told the nearest one that it does know.
func (b *bench) helpOpenBLAS() {
	v := b.version("openblas")
	old := false
	for _, name := range []string{"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Sandybridge"} {
		old = old || strings.HasSuffix(v, "kernel "+name)
	}
	switch x := &cpu.X86; {
	case !old:
		return
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL:
		openBLASCore = "SkylakeX"
	case x.HasAVX2 && x.HasFMA:
		openBLASCore = "Haswell"
	default:
		return
	}
	for key, s := range b.sides {
		delete(b.sides, key)
		s.stop()
	}
}

// version describes a side, or says why it is not there.
func (b *bench) version(name string) string {
	s, err := b.side(name, 1)
	if err != nil {
		return err.Error()
	}
	f, err := s.ask("version")
	if err != nil {
		return err.Error()
	}
	return strings.Join(f, " ")
}

// versions describe ours and the libraries that the workloads are compared
// with.
func (b *bench) versions(chosen []workload) []string {
	lines := []string{b.version("ours")}
	for _, name := range []string{"openblas", "torch", "spago", "gorgonia", "gomlx"} {
		for _, w := range chosen {
			if hasSide(w.peers, name) {
				v := b.version(name)
				if name == "openblas" && openBLASCore != "" {
					v += " (told to: it does not know this processor)"
				}
				lines = append(lines, v)
				break
			}
		}
	}
	return lines
}

func hasSide(peers []peer, side string) bool {
	return slices.ContainsFunc(peers, func(p peer) bool { return p.side == side })
}
