// Shapes trains a small convolutional network to tell circles, squares,
// triangles and crosses apart, on images that it draws itself: of any size and
// place, outlined or filled, under noise.
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/data"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
)

const side = 20 // of an image, in pixels

var classes = []string{"circle", "square", "triangle", "cross"}

// inside reports whether a point belongs to a shape around the origin, of about
// radius 1.
func inside(class int, x, y float64) bool {
	switch class {
	case 0:
		return x*x+y*y < 1
	case 1:
		return math.Max(math.Abs(x), math.Abs(y)) < 0.85
	case 2:
		return y < 0.8 && y > -1+2*math.Abs(x)
	}
	return math.Min(math.Abs(x), math.Abs(y)) < 0.25 && math.Max(math.Abs(x), math.Abs(y)) < 1
}

// draw makes images, [n, 1, side, side], and their classes, [n].
func draw(rng *rand.Rand, n int) data.Table {
	pixels := make([]float32, 0, n*side*side)
	labels := make([]int64, n)
	for i := range labels {
		class := rng.IntN(len(classes))
		labels[i] = int64(class)
		radius := 4 + 4*rng.Float64()
		cx, cy := radius+rng.Float64()*(side-2*radius), radius+rng.Float64()*(side-2*radius)
		hollow := class != 3 && rng.IntN(2) == 0
		for py := range side {
			for px := range side {
				x, y := (float64(px)+0.5-cx)/radius, (float64(py)+0.5-cy)/radius
				v := 0.3 * rng.NormFloat64()
				if inside(class, x, y) && !(hollow && inside(class, x*1.5, y*1.5)) {
					v++
				}
				pixels = append(pixels, float32(v))
			}
		}
	}
	return data.Table{backsweep.New(pixels, n, 1, side, side), backsweep.New(labels)}
}

func newModel(rng *rand.Rand) nn.Sequential {
	pad := backsweep.ConvSpec{Pad: []int{1, 1}}
	relu := nn.Func((*backsweep.Tensor).Relu)
	halve := nn.MaxPool{Kernel: []int{2, 2}}
	return nn.Sequential{
		nn.NewConv2d(rng, "edges", 1, 8, 3, pad), nn.NewBatchNorm("edges.norm", 8), relu, halve,
		nn.NewConv2d(rng, "corners", 8, 16, 3, pad), nn.NewBatchNorm("corners.norm", 16), relu, halve,
		nn.Flatten(), nn.NewLinear(rng, "hidden", 16*side/4*side/4, 32), relu,
		nn.NewLinear(rng, "classes", 32, len(classes)),
	}
}

// train shows the model every image of the table in each epoch, and calls seen
// with the mean loss of each.
func train(m nn.Sequential, images data.Table, epochs int, rng *rand.Rand, seen func(epoch int, loss float64)) error {
	const size = 32
	adam := optim.NewAdamW(0, m.Params()...)
	adam.Schedule = optim.OneCycle(optim.Cycle{Max: 5e-3, Total: epochs * images.Len() / size})
	tape := backsweep.NewTape()
	for epoch := range epochs {
		sum, batches := 0.0, 0
		for batch := range data.Prefetch(images.Batches(size, data.Shuffle(rng), data.DropLast()), 2) {
			loss := m.Train(tape.Input("images", batch[0])).CrossEntropy(batch[1])
			grads, err := tape.Backward(loss)
			if err != nil {
				return err
			}
			clipped, _, err := optim.ClipNorm(grads, 5, 2, adam.Params()...)
			if err != nil {
				return err
			}
			if err := adam.Step(clipped); err != nil {
				return err
			}
			sum, batches = sum+loss.Item(), batches+1
			tape.Reset()
		}
		seen(epoch+1, sum/float64(batches))
	}
	return nil
}

// accuracy is the share of images whose class the model says. There is no tape:
// nothing is recorded.
func accuracy(m nn.Sequential, images data.Table) float64 {
	right := 0.0
	for batch := range images.Batches(100) {
		right += m.Forward(batch[0]).Argmax(1).Eq(batch[1]).Cast(backsweep.Float32).Sum().Item()
	}
	return right / float64(images.Len())
}

func run(w io.Writer, seed uint64) (float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	images, fresh := draw(rng, 4000), draw(rng, 400)
	m := newModel(rng)
	fmt.Fprintf(w, "untrained: %.1f %% of %d fresh images\n", 100*accuracy(m, fresh), fresh.Len())
	err := train(m, images, 8, rng, func(epoch int, loss float64) {
		fmt.Fprintf(w, "epoch %d: loss %.3f, %.1f %% of fresh images\n", epoch, loss, 100*accuracy(m, fresh))
	})
	return accuracy(m, fresh), err
}

func main() {
	if _, err := run(os.Stdout, 1); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
