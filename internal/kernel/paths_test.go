package kernel_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/backsweep/backsweep/internal/kernel"
)

// TestMain runs every test on every path that the processor has. Benchmarks and
// fuzzing stay on the one in use.
func TestMain(m *testing.M) {
	flag.Parse()
	given := func(name string) bool {
		f := flag.Lookup(name)
		return f != nil && f.Value.String() != f.DefValue
	}
	if given("test.bench") || given("test.fuzz") || given("test.fuzzworker") || os.Getenv("BACKSWEEP_KERNELS") != "" {
		os.Exit(m.Run())
	}
	for _, p := range kernel.Paths() {
		kernel.Use(p)
		if code := m.Run(); code != 0 {
			fmt.Println("failed on path", p)
			os.Exit(code)
		}
	}
	os.Exit(0)
}

// TestPathIsChosenByEnvironment starts this test again under each name.
func TestPathIsChosenByEnvironment(t *testing.T) {
	if name := os.Getenv("BACKSWEEP_KERNELS"); name != "" {
		fmt.Println("path:", kernel.Path())
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	have := kernel.Paths()
	for _, name := range []string{"avx512", "avx2", "go", "sse9"} {
		want := have[0]
		for _, p := range have {
			if p == name {
				want = p
			}
		}
		cmd := exec.Command(self, "-test.run=^TestPathIsChosenByEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), "BACKSWEEP_KERNELS="+name)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "path: "+want+"\n") {
			t.Errorf("%s: want path %s: %v\n%s", name, want, err, out)
		}
	}
}
