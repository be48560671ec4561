package state_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/state"
)

const childFile = "BACKSWEEP_TEST_SAVE_UNTIL_KILLED"

// generation is a dictionary whose tensors all hold one number.
func generation(n int) state.Dict {
	d := state.Dict{}
	for i := range 4 {
		d[fmt.Sprint(i)] = backsweep.Full(backsweep.Float64, float64(n), 20000)
	}
	return d
}

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		for n := 1; ; n++ {
			if err := state.Save(path, generation(n)); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			if n == 1 {
				fmt.Println("saved")
			}
		}
	}
	os.Exit(m.Run())
}

// A process that is killed while it saves over a file leaves it whole: all
// tensors of one generation.
func TestAKilledSaveLeavesTheFileWhole(t *testing.T) {
	for _, name := range formats {
		path := filepath.Join(t.TempDir(), name)
		interrupted := 0
		for round := 0; round < 8 || interrupted == 0 && round < 60; round++ {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childFile+"="+path)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			var line [5]byte
			if _, err := out.Read(line[:]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(8000)) * time.Microsecond)
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := child.Wait(); err == nil {
				t.Fatal("the child ended by itself")
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp-*"))
			if err != nil {
				t.Fatal(err)
			}
			interrupted = max(interrupted, len(left))
			d, err := state.Load(path)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			n := d["0"].At(0)
			for _, tensor := range d.Names() {
				for i, v := range d[tensor].Float64s() {
					if v != n {
						t.Fatalf("round %d: tensor %s: element %d is of generation %v, the first is of %v", round, tensor, i, v, n)
					}
				}
			}
			if len(d) != 4 {
				t.Fatalf("round %d: %d tensors", round, len(d))
			}
		}
		if interrupted == 0 {
			t.Errorf("%s: no kill came in the middle of a save", name)
		}
	}
}
