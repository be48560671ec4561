package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clock reads the process's CPU time, collector included, and the wall clock,
// in nanoseconds. CPU time leaves out the time in which the process was
// descheduled, so figures of one thread bear other work on the machine.
func clock() (cpu, wall int64) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return t.Nano(), time.Since(start).Nanoseconds()
}

var start = time.Now()

// resident returns the resident memory of the process and its peak since
// forgetPeak, in bytes.
func resident() (now, peak float64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(f[1], 64)
		switch f[0] {
		case "VmRSS:":
			now = kib * 1024
		case "VmHWM:":
			peak = kib * 1024
		}
	}
	return now, peak
}

// forgetPeak makes the kernel count the peak from here on.
func forgetPeak() {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		panic(err)
	}
}
