package main

import (
	"fmt"

	_ "github.com/backsweep/backsweep/bench/movable"
	G "gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"
)

// gorgonia builds a graph, differentiates and compiles it, and then runs it.
// Only the runs are measured.
func gorgonia() map[string]maker {
	jobs := map[string]maker{}
	for name, k := range map[string]int{"scalar": 1, "4-element": 4} {
		jobs[fmt.Sprintf("%s tanh x%d, both ways", name, chain)] = func() *job {
			g := G.NewGraph()
			x := gorgoniaInput(g, k)
			y := x
			for range chain {
				y = must(G.Tanh(y))
			}
			if !y.IsScalar() {
				y = must(G.Sum(y))
			}
			must(G.Grad(y, x))
			return gorgoniaRuns(G.NewTapeMachine(g, G.BindDualValues(x)), nil)
		}
	}
	for op, f := range map[string]func(x *G.Node) (*G.Node, error){"exp": G.Exp, "tanh": G.Tanh} {
		jobs[op+" 1M"] = func() *job {
			g := G.NewGraph()
			must(f(gorgoniaInput(g, 1<<20)))
			return gorgoniaRuns(G.NewTapeMachine(g), nil)
		}
	}
	jobs["MLP 784-256-256-10 b64 step"] = func() *job {
		return gorgoniaMLP([]int{784, 256, 256, 10}, 64, G.Rectify, func(g *G.ExprGraph, h *G.Node) *G.Node {
			oneHot := make([]float32, 640)
			for i := range 64 {
				oneHot[i*10+i%10] = 1
			}
			y := gorgoniaMatrix(g, "y", oneHot, 64, 10)
			l := must(G.HadamardProd(must(G.Log(must(G.SoftMax(h)))), y))
			return must(G.Neg(must(G.Mul(must(G.Sum(l)), G.NewConstant(float32(1.0/64))))))
		})
	}
	jobs["MLP 64-64-64-1 b16 step"] = func() *job {
		return gorgoniaMLP([]int{64, 64, 64, 1}, 16, G.Tanh, func(g *G.ExprGraph, h *G.Node) *G.Node {
			y := gorgoniaMatrix(g, "y", fill[float32](16, 2, 1), 16, 1)
			return must(G.Mean(must(G.Square(must(G.Sub(h, y))))))
		})
	}
	return jobs
}

func gorgoniaRuns(m G.VM, after func()) *job {
	return repeated(func() {
		ok(m.RunAll())
		if after != nil {
			after()
		}
		m.Reset()
	})
}

func gorgoniaInput(g *G.ExprGraph, k int) *G.Node {
	if k == 1 {
		return G.NewScalar(g, gtensor.Float32, G.WithName("x"), G.WithValue(float32(0.5)))
	}
	return G.NewVector(g, gtensor.Float32, G.WithShape(k), G.WithName("x"), G.WithValue(gtensor.New(gtensor.WithShape(k), gtensor.WithBacking(fill[float32](k, 1, 1)))))
}

func gorgoniaMatrix(g *G.ExprGraph, name string, data []float32, rows, cols int) *G.Node {
	return G.NewMatrix(g, gtensor.Float32, G.WithShape(rows, cols), G.WithName(name), G.WithValue(gtensor.New(gtensor.WithShape(rows, cols), gtensor.WithBacking(data))))
}

func gorgoniaMLP(widths []int, batch int, act func(*G.Node) (*G.Node, error), lossOf func(g *G.ExprGraph, h *G.Node) *G.Node) *job {
	g := G.NewGraph()
	h := gorgoniaMatrix(g, "x", fill[float32](batch*widths[0], 9, 1), batch, widths[0])
	var params G.Nodes
	for i := range len(widths) - 1 {
		in, out := widths[i], widths[i+1]
		w := gorgoniaMatrix(g, fmt.Sprint("w", i), fill[float32](in*out, i, 0.05), in, out)
		b := gorgoniaMatrix(g, fmt.Sprint("b", i), fill[float32](out, i, 0.05), 1, out)
		params = append(params, w, b)
		h = must(G.BroadcastAdd(must(G.Mul(h, w)), b, nil, []byte{0}))
		if i+2 < len(widths) {
			h = must(act(h))
		}
	}
	must(G.Grad(lossOf(g, h), params...))
	solver := G.NewVanillaSolver(G.WithLearnRate(0.01))
	return gorgoniaRuns(G.NewTapeMachine(g, G.BindDualValues(params...)), func() { ok(solver.Step(G.NodesToValueGrads(params))) })
}
