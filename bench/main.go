// Bench measures Backsweep beside other libraries: each workload here and at its
// peer by turns, in one run, so that what else the machine does weighs on both.
//
//	go run . [-quick] [-json] [-only PATTERN] [-peer NAME] [-list] [-profile FILE]
//
// The ratio says how many times better ours is: their time (or bytes) over ours,
// or our rate over theirs. It is the median over the rounds, with the 10th and
// the 90th percentile in brackets. With one thread, CPU time of the process is
// measured; with more, wall-clock time. Peers that are not installed are said
// and left out: OpenBLAS is loaded as libopenblas, PyTorch runs in the python
// that has it, or the one that PYTHON names.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"

	"github.com/backsweep/backsweep/internal/kernel"
)

var libraries = map[string]library{
	"ours":     {ours, func() string { return "Backsweep, kernels " + kernel.Path() + ", " + runtime.Version() }},
	"openblas": {openBLAS, openBLASVersion},
	"spago":    {spago, moduleVersion("github.com/nlpodyssey/spago")},
	"gorgonia": {gorgonia, moduleVersion("gorgonia.org/gorgonia")},
	"gomlx":    {gomlx, moduleVersion("github.com/gomlx/gomlx")},
}

// moduleVersion tells which version of a module the program was built with.
func moduleVersion(path string) func() string {
	return func() string {
		info, _ := debug.ReadBuildInfo()
		for _, m := range info.Deps {
			if m.Path == path {
				return path + " " + m.Version
			}
		}
		return path
	}
}

func main() {
	var (
		short   = flag.Bool("quick", false, "fewer and shorter rounds: rough figures")
		asJSON  = flag.Bool("json", false, "print a list of objects instead of a table")
		only    = flag.String("only", "", "workloads whose name matches this regular `expression`")
		peers   = flag.String("peer", "", "peers whose name matches this regular `expression`")
		list    = flag.Bool("list", false, "list the workloads and their peers")
		profile = flag.String("profile", "", "run our side alone and write a CPU profile to `FILE`")
		serving = flag.String("serve", "", "be the process of a `library` (used by the program itself)")
	)
	flag.Parse()
	if err := run(*short, *asJSON, *only, *peers, *list, *profile, *serving); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(short, asJSON bool, only, peers string, list bool, profile, serving string) error {
	if serving != "" {
		l, ok := libraries[serving]
		if !ok {
			return fmt.Errorf("there is no library %q", serving)
		}
		return serve(l, os.Stdin, os.Stdout)
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	peerPattern, err := regexp.Compile(peers)
	if err != nil {
		return err
	}
	var chosen []workload
	for _, w := range workloads() {
		if pattern.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}
	switch {
	case list:
		for _, w := range chosen {
			for _, p := range w.peers {
				fmt.Printf("%-40s %s\n", w.name, p.name())
			}
		}
		return nil
	case profile != "":
		return profileOurs(chosen, profile)
	}
	b := &bench{effort: full, sides: map[string]*side{}}
	if short {
		b.effort = quick
	}
	defer b.stop()
	b.helpOpenBLAS()
	var rows []row
	t := table{out: os.Stdout, quiet: asJSON}
	t.head(b.versions(chosen))
	for i := range chosen {
		w := &chosen[i]
		for k := range w.peers {
			p := &w.peers[k]
			if !peerPattern.MatchString(p.name()) {
				continue
			}
			r, err := b.compare(w, p)
			if err != nil {
				fmt.Fprintf(os.Stderr, "bench: %s: %s: %v\n", w.name, p.name(), err)
				continue
			}
			t.row(w, p, r)
			rows = append(rows, row{w.name, p.name(), r.ratio, r.ours, r.theirs, w.unit.name, w.threads})
		}
	}
	if asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", " ")
		return e.Encode(rows)
	}
	t.foot()
	return nil
}

// row is a line of -json.
type row struct {
	Workload string  `json:"workload"`
	Peer     string  `json:"peer"`
	Ratio    float64 `json:"ratio"`
	Ours     float64 `json:"ours"`
	Theirs   float64 `json:"theirs"`
	Unit     string  `json:"unit"`
	Threads  int     `json:"threads"`
}

// profileOurs runs the jobs here for two seconds each.
func profileOurs(chosen []workload, file string) error {
	runtime.GOMAXPROCS(1)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	jobs := ours()
	var ready []*job
	for _, w := range chosen {
		if w.kind == timed {
			ready = append(ready, jobs[w.name]())
		}
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	for _, j := range ready {
		for begun := time.Now(); time.Since(begun) < 2*time.Second; {
			j.run(1)
		}
	}
	pprof.StopCPUProfile()
	return f.Close()
}
