package main

import "fmt"

// kind says how a workload is measured.
type kind uint8

const (
	timed  kind = iota // repetitions in batches, by turns
	figure             // a figure that each side measures itself
	growth             // peak growth of resident memory, each in a process of its own
)

// unit of a workload's figure. A rate is better the higher it is, anything
// else the lower.
type unit struct {
	name string
	rate bool
}

var (
	nanoseconds  = unit{name: "ns"}
	microseconds = unit{name: "us"}
	milliseconds = unit{name: "ms"}
	gigaflops    = unit{name: "GFLOP/s", rate: true}
	mebibytes    = unit{name: "MiB"}
	bytesEach    = unit{name: "B"}
	times        = unit{name: "x"}
)

// workload is one piece of work and whom it is compared with.
type workload struct {
	name    string // of the jobs, too
	kind    kind
	unit    unit
	per     float64 // what a repetition's nanoseconds, or a growth's bytes, are divided by; of a rate, its operations
	threads int     // with one, CPU time is measured; with more, wall-clock time
	job     string  // whose growth it is
	repeat  int     // repetitions for a growth
	peers   []peer
}

// peer is whom a workload is compared with: another library; another job of
// ours; a bar, a figure to stay under; or nobody ("alone").
type peer struct {
	side    string
	job     string  // unless it bears the workload's name
	label   string  // unless it is the side's name
	threads int     // unless they are the workload's
	bar     float64 // of the side "bar"
	least   float64 // the ratio to reach; 0 for none
}

func (p *peer) jobOf(w *workload) string {
	if p.job != "" {
		return p.job
	}
	return w.name
}

func (p *peer) name() string {
	if p.label != "" {
		return p.label
	}
	return p.side
}

func torch(least float64) peer { return peer{side: "torch", least: least} }
func bar(limit float64) peer   { return peer{side: "bar", bar: limit, least: 1} }

// others are peers without a ratio to reach.
func others(sides ...string) []peer {
	var p []peer
	for _, s := range sides {
		p = append(p, peer{side: s})
	}
	return p
}

// product is the shape of a matrix product [m,k]·[k,n]; form says which
// operands are stored transposed.
type product struct {
	m, k, n int
	form    string // NN, TN (a is [k,m]) or NT (b is [n,k])
	double  bool
}

func (p product) String() string {
	name := "gemm"
	if p.double {
		name = "dgemm"
	}
	if p.m == p.k && p.k == p.n {
		return fmt.Sprintf("%s %d", name, p.m)
	}
	return fmt.Sprintf("%s %s %dx%dx%d", name, p.form, p.m, p.k, p.n)
}

// products are squares, and the products of a training step of the models
// below: forward (NN), for the weights (TN), for the input (NT).
func products() []product {
	var list []product
	for _, n := range []int{32, 64, 128, 256, 512, 1024, 2048} {
		list = append(list, product{n, n, n, "NN", false})
	}
	for _, l := range [][3]int{{64, 784, 256}, {64, 256, 256}, {64, 256, 10}, {16, 64, 64}, {512, 128, 512}} {
		rows, in, out := l[0], l[1], l[2]
		list = append(list, product{rows, in, out, "NN", false}, product{in, rows, out, "TN", false}, product{rows, out, in, "NT", false})
	}
	return append(list, product{512, 512, 512, "NN", true}, product{1024, 1024, 1024, "NN", true})
}

// sizes of the elementwise workloads.
var sizes = []struct {
	name string
	n    int
}{{"4K", 1 << 12}, {"1M", 1 << 20}}

const chain = 1000 // ops of a tiny-op chain

var goPeers = []string{"spago", "gorgonia", "gomlx"}

func workloads() []workload {
	var list []workload
	add := func(w workload) {
		if w.threads == 0 {
			w.threads = 1
		}
		if w.per == 0 {
			w.per = 1
		}
		list = append(list, w)
	}
	for _, p := range products() {
		add(workload{name: p.String(), unit: gigaflops, per: 2 * float64(p.m) * float64(p.k) * float64(p.n), peers: []peer{{side: "openblas", least: 0.8}}})
	}
	add(workload{name: "gemm 1024, 2 threads", unit: gigaflops, per: 2 << 30, threads: 2,
		peers: []peer{{side: "ours", job: "gemm 1024", label: "1 thread", threads: 1, least: 1.6}, {side: "openblas", job: "gemm 1024"}}})

	for _, k := range []string{"scalar", "4-element"} {
		for _, op := range []string{"add", "mul", "tanh"} {
			name := fmt.Sprintf("%s %s x%d, both ways", k, op, chain)
			w := workload{name: name, unit: nanoseconds, per: chain, peers: []peer{torch(45), {side: "spago"}}}
			if op == "tanh" {
				w.peers = append(w.peers, others("gorgonia", "gomlx")...)
				if k == "4-element" {
					w.peers = append(w.peers, bar(250))
				}
			}
			add(w)
		}
	}
	for _, size := range sizes {
		for _, op := range []string{"exp", "tanh", "add", "mul", "sum", "sigmoid", "softmax"} {
			name := op + " " + size.name
			w := workload{name: name, unit: nanoseconds, per: float64(size.n), peers: []peer{torch(0)}}
			both := workload{name: name + ", both ways", unit: nanoseconds, per: float64(size.n), peers: []peer{torch(0)}}
			if size.name == "1M" && (op == "exp" || op == "tanh" || op == "softmax") {
				w.peers[0].least = 1.5
				if op != "softmax" {
					w.peers = append(w.peers, others(goPeers...)...)
				}
			}
			add(w)
			add(both)
		}
	}

	model := func(name string, u unit, per, least float64, peers ...peer) {
		add(workload{name: name, unit: u, per: per, peers: append([]peer{torch(least)}, peers...)})
	}
	model("MLP 784-256-256-10 b64 step", milliseconds, 1e6, 1.5, others(goPeers...)...)
	model("MLP 64-64-64-1 b16 step", microseconds, 1e3, 8, others(goPeers...)...)
	model("two-tower dense Adam step", milliseconds, 1e6, 2)
	model("two-tower sparse Adam step", milliseconds, 1e6, 4)
	model("transformer step", milliseconds, 1e6, 1.5)
	model("LSTM step", milliseconds, 1e6, 2)
	model("LeNet-5 b32 step", milliseconds, 1e6, 1)

	for _, n := range []int{1_000, 100_000, 1_000_000} {
		for _, tape := range []string{"reused", "fresh"} {
			w := workload{name: fmt.Sprintf("scalar chain %d, %s tape", n, tape), unit: nanoseconds, per: float64(n)}
			w.peers = append(w.peers, peer{side: "torch", job: fmt.Sprintf("scalar chain %d", n)}, peer{side: "spago", job: fmt.Sprintf("scalar chain %d", n)})
			if n == 1_000_000 {
				w.peers = append(w.peers, bar(map[string]float64{"reused": 200, "fresh": 350}[tape]))
			}
			add(w)
		}
	}
	add(workload{name: "live bytes a node", kind: figure, unit: bytesEach, peers: []peer{bar(64)}})
	add(workload{name: "growth a node, chain of 10^6", kind: growth, unit: bytesEach, per: 1e6, job: "scalar chain 1000000", repeat: 1, peers: []peer{bar(150), {side: "torch", least: 1}}})

	add(workload{name: "infer MLP 64-64-64-1 b1", unit: nanoseconds, peers: []peer{torch(0)}})
	add(workload{name: "infer MLP 784-256-256-10 b64", unit: microseconds, per: 1e3, peers: []peer{torch(0)}})
	add(workload{name: "infer MLP 64-64-64-1 b1, 8 goroutines", unit: nanoseconds, threads: 2, peers: []peer{{side: "ours", job: "infer MLP 64-64-64-1 b1", label: "1 at once"}}})
	add(workload{name: "infer MLP 64-64-64-1 b1, garbage", kind: figure, unit: bytesEach, peers: others("alone")})
	add(workload{name: "infer MLP on a tape b1, garbage", kind: figure, unit: bytesEach, peers: others("alone")})

	add(workload{name: "two wide towers, 2 workers", kind: figure, unit: milliseconds, threads: 2,
		peers: []peer{
			{side: "ours", job: "two wide towers, 1 worker", label: "1 thread", threads: 1, least: 1.5},
			{side: "ours", job: "two wide towers, 1 worker", label: "1 worker"}, // whose products may still use both threads
		}})
	add(workload{name: "transformer, backward/forward", kind: figure, unit: times, peers: []peer{bar(2.2), {side: "torch"}}})

	for _, m := range []string{"MLP 784-256-256-10 b64 step", "MLP 64-64-64-1 b16 step", "two-tower dense Adam step", "two-tower sparse Adam step", "transformer step", "LSTM step", "LeNet-5 b32 step"} {
		add(workload{name: "growth, " + m[:len(m)-len(" step")], kind: growth, unit: mebibytes, per: 1 << 20, job: m, repeat: 20, peers: []peer{torch(1)}})
	}
	return list
}
