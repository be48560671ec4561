package kernel

import "golang.org/x/sys/cpu"

// paths lists what this processor runs, from the fastest.
func paths() []string {
	x := &cpu.X86
	have := []string{pathGo}
	if x.HasAVX2 && x.HasFMA && x.HasBMI2 {
		have = append([]string{pathAVX2}, have...)
		if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL {
			have = append([]string{pathAVX512}, have...)
		}
	}
	return have
}

// use takes a path that the processor runs.
func use(p string) {
	path = p
	switch p {
	case pathAVX512:
		vector32, vector64 = &vectorAVX512F32, &vectorAVX512F64
	case pathAVX2:
		vector32, vector64 = &vectorAVX2F32, &vectorAVX2F64
	default:
		vector32, vector64 = new(vector[float32]), new(vector[float64])
	}
}
