package backsweep

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// These tests look at the tape's pool, so they are inside the package. Several
// are named after a case of the behaviour list, and say so.

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// layers is a forward pass that saves width·width·4 bytes a layer.
func layers(tape *Tape, w *Tensor, x *Tensor, depth int) *Tensor {
	h := tape.Input("x", x)
	for range depth {
		h = h.MatMul(w).Tanh()
	}
	return h.Square().Mean()
}

func held(t *Tape) int64 { return t.pool.Made() - t.pool.Held() }

// Case activations-released: a loop holds no old activations, takes nothing
// from the Go heap once it is warm, and at its peak no more than one step.
func TestActivationsReleased(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, x := NewParam("w", Randn(rng, 64, 64).MulScalar(0.1)), Randn(rng, 64, 64)
	const depth = 32
	for _, workers := range []int{1, 3} {
		tape := NewTape()
		var warm, heap int64
		for step := range 40 {
			tape.Reset()
			g, err := tape.Backward(layers(tape, w, x, depth), Workers(workers))
			if err != nil {
				t.Fatal(err)
			}
			Update(w, func(d []float32) {
				Read(g.Of(w), func(dw []float32) {
					for i, v := range dw {
						d[i] -= float32(0.01 * v)
					}
				})
			})
			if step == 10 {
				warm, heap = tape.pool.Made(), int64(liveHeap())
			}
		}
		// Which worker meets which node is chance, so the buffers of several
		// workers settle later than those of one.
		if made := tape.pool.Made(); workers == 1 && made != warm {
			t.Errorf("the pool took %d bytes from the heap after step 10", made-warm)
		}
		if grown := int64(liveHeap()) - heap; grown > 1<<20 {
			t.Errorf("%d workers: the live heap grew by %d bytes after step 10", workers, grown)
		}
		if peak, saved := tape.pool.Made(), int64(2*depth*64*64*4); workers == 1 && peak > 2*saved {
			t.Errorf("the pool holds %d bytes, but a step makes %d", peak, saved)
		}
	}
}

// What no rule reads goes back before the first visit, payload as the sweep
// passes: after the sweep the tape holds no value but what it must.
func TestSweepsLetGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, x := NewParam("w", Randn(rng, 64, 64)), Randn(rng, 64, 64)
	tape := NewTape()
	loss := layers(tape, w, x, 20)
	before := held(tape)
	if _, err := tape.Backward(loss); err != nil {
		t.Fatal(err)
	}
	if after, one := held(tape), int64(64*64*4); after > one {
		t.Errorf("%d bytes are held after the sweep, %d before; the one gradient has %d", after, before, one)
	}
	tape.Reset()
	if left := held(tape); left != 0 {
		t.Errorf("%d bytes are held after Reset", left)
	}
}

// Case adjoints-freed-early: beyond what the forward pass saved, the sweep
// never holds more than a few matrices.
func TestAdjointsFreedEarly(t *testing.T) {
	const n = 32
	rng := rand.New(rand.NewPCG(1, 1))
	a := Randn(rng, n, n).MulScalar(0.1)
	for _, retain := range []bool{false, true} {
		tape := NewTape()
		z := tape.Watch(Randn(rng, n, n))
		m := tape.Input("a", a)
		for range 100 {
			z = m.MatMul(z)
		}
		loss := z.Sum()
		start, peak := held(tape), int64(0)
		opts := []SweepOption{Observe(func(Event) { peak = max(peak, held(tape)) })}
		if retain {
			opts = append(opts, Retain())
		}
		if _, err := tape.Backward(loss, opts...); err != nil {
			t.Fatal(err)
		}
		if extra := peak - start; extra > 6*n*n*4 {
			t.Errorf("retain %v: the sweep held %d matrices at once", retain, extra/(n*n*4))
		}
	}
}

// Case create-graph-no-leak: gradients of gradients, again and again.
func TestCreateGraphNoLeak(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, x := NewParam("w", Randn(rng, 64, 64).MulScalar(0.1)), Randn(rng, 64, 64)
	tape := NewTape()
	var warm, heap int64
	for step := range 30 {
		tape.Reset()
		h := tape.Watch(x)
		g, err := tape.Backward(h.MatMul(w).Tanh().Sum(), Recorded())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tape.Backward(g.Of(h).Square().Sum()); err != nil {
			t.Fatal(err)
		}
		if err := tape.Verify(); err != nil {
			t.Fatal(err)
		}
		if step == 5 {
			warm, heap = tape.pool.Made(), int64(liveHeap())
		}
	}
	if made, grown := tape.pool.Made(), int64(liveHeap())-heap; made != warm || grown > 1<<20 {
		t.Errorf("after step 5 the pool took %d bytes and the live heap grew by %d", made-warm, grown)
	}
}

// Case detached-loss-history: what is kept of each step is the number, not the
// graph.
func TestDetachedLossHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	w, x := NewParam("w", Randn(rng, 64, 64).MulScalar(0.1)), Randn(rng, 64, 64)
	var history []*Tensor
	var heap uint64
	for step := range 40 {
		tape := NewTape() // a new one each step is only slower
		loss := layers(tape, w, x, 32)
		if _, err := tape.Backward(loss); err != nil {
			t.Fatal(err)
		}
		history = append(history, loss.Clone())
		if step == 10 {
			heap = liveHeap()
		}
	}
	if grown := int64(liveHeap()) - int64(heap); grown > 1<<20 {
		t.Errorf("the live heap grew by %d bytes after step 10", grown)
	}
	runtime.KeepAlive(history)
}

// Case gradients-do-not-share: no two gradients, and no gradient and its seed
// or value, lie in one buffer.
func TestGradientsDoNotShare(t *testing.T) {
	for name, f := range map[string]func(x, y *Tensor) *Tensor{
		"add":       (*Tensor).Add,
		"sub":       (*Tensor).Sub,
		"reshape":   func(x, y *Tensor) *Tensor { return x.Add(y.Reshape(4).Reshape(2, 2)) },
		"transpose": func(x, y *Tensor) *Tensor { return x.T().Add(y) },
		"broadcast": func(x, y *Tensor) *Tensor { return x.BroadcastTo(2, 2).Add(y) },
		"squeeze":   func(x, y *Tensor) *Tensor { return x.Unsqueeze(0).Squeeze(0).Add(y) },
		"identity":  func(x, y *Tensor) *Tensor { return x },
		"twice":     func(x, y *Tensor) *Tensor { return x.Add(x).Add(y) },
	} {
		tape := NewTape()
		x, y := tape.Watch(Full(Float32, 1, 2, 2)), tape.Watch(Full(Float32, 2, 2, 2))
		z := f(x, y)
		seed := Full(Float32, 3, 2, 2)
		g, err := tape.Backward(z, Cotangent(seed), KeepGrads(), Retain())
		if err != nil {
			t.Fatal(err)
		}
		at := map[any]string{seed.val.st.p: "the seed"}
		for v := range tape.nValues {
			h := &Tensor{tape: tape, id: v, epoch: tape.epoch}
			at[tape.refOf(v).p] = "a value"
			if d, state := g.Lookup(h); state == Computed {
				if other := at[d.val.st.p]; other != "" {
					t.Errorf("%s: the gradient of %s shares a buffer with %s", name, h.label(), other)
				}
				at[d.val.st.p] = "the gradient of " + h.label()
			}
		}
	}
}

// Case optimizer-step-not-recorded: a parameter that is updated stays a leaf,
// and the graph is that of one step.
func TestOptimizerStepNotRecorded(t *testing.T) {
	w := NewParam("w", Full(Float32, 0.5, 3))
	tape := NewTape()
	for step := range 1000 {
		tape.Reset()
		g, err := tape.Backward(tape.Input("x", Full(Float32, 1, 3)).Mul(w).Sum())
		if err != nil {
			t.Fatal(err)
		}
		d := Data[float32](g.Of(w))
		Update(w, func(x []float32) {
			for i := range x {
				x[i] -= float32(0.001 * d[i])
			}
		})
		if w.Tape() != nil || w.Node() != -1 || w.Version() != uint64(step+1) || tape.Len() != 2 {
			t.Fatalf("step %d: node %d, version %d, tape of %d nodes", step, w.Node(), w.Version(), tape.Len())
		}
	}
}
