package main

import (
	"fmt"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	. "github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// gomlx builds and compiles a graph for its plain Go backend, and then runs it.
// Only the runs are measured.
func gomlx() map[string]maker {
	jobs := map[string]maker{}
	for name, k := range map[string]int{"scalar": 1, "4-element": 4} {
		jobs[fmt.Sprintf("%s tanh x%d, both ways", name, chain)] = func() *job {
			return gomlxRuns(func(p []*Node) []*Node {
				y := p[0]
				for range chain {
					y = Tanh(y)
				}
				y = ReduceAllSum(y)
				return append([]*Node{y}, Gradient(y, p[0])...)
			}, gomlxTensor(1, 0.5, k))
		}
	}
	for op, f := range map[string]func(x *Node) *Node{"exp": Exp, "tanh": Tanh} {
		jobs[op+" 1M"] = func() *job {
			return gomlxRuns(func(p []*Node) []*Node { return []*Node{f(p[0])} }, gomlxTensor(1, 1, 1<<20))
		}
	}
	jobs["MLP 784-256-256-10 b64 step"] = func() *job {
		args := []*tensors.Tensor{
			gomlxTensor(1, .05, 784, 256), gomlxTensor(2, .05, 1, 256), gomlxTensor(3, .05, 256, 256), gomlxTensor(4, .05, 1, 256),
			gomlxTensor(5, .05, 256, 10), gomlxTensor(6, .05, 1, 10), gomlxTensor(7, 1, 64, 784),
		}
		class := make([]int32, 64)
		for i := range class {
			class[i] = int32(i % 10)
		}
		args = append(args, tensors.FromFlatDataAndDimensions(class, 64))
		relu := func(x *Node) *Node { return Max(x, ZerosLike(x)) }
		return gomlxStep(args, relu, func(p []*Node, h *Node) *Node {
			oneHot := OneHot(p[7], 10, dtypes.Float32)
			return MulScalar(ReduceAllSum(Mul(LogSoftmax(h), oneHot)), -1.0/64)
		})
	}
	jobs["MLP 64-64-64-1 b16 step"] = func() *job {
		args := []*tensors.Tensor{
			gomlxTensor(1, .05, 64, 64), gomlxTensor(2, .05, 1, 64), gomlxTensor(3, .05, 64, 64), gomlxTensor(4, .05, 1, 64),
			gomlxTensor(5, .05, 64, 1), gomlxTensor(6, .05, 1, 1), gomlxTensor(7, 1, 16, 64), gomlxTensor(8, 1, 16, 1),
		}
		return gomlxStep(args, Tanh, func(p []*Node, h *Node) *Node {
			d := Sub(h, p[7])
			return MulScalar(ReduceAllSum(Mul(d, d)), 1.0/16)
		})
	}
	return jobs
}

func gomlxTensor(seed int, scale float64, shape ...int) *tensors.Tensor {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return tensors.FromFlatDataAndDimensions(fill[float32](n, seed, scale), shape...)
}

func gomlxRuns(f func(p []*Node) []*Node, args ...*tensors.Tensor) *job {
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = a
	}
	e := MustNewExec(simplego.GetBackend(), f)
	return repeated(func() {
		for _, t := range e.MustExec(list...) {
			t.MustFinalizeAll()
		}
	})
}

// gomlxStep is a step of three layers whose weights are the first six arguments
// and whose input is the seventh.
func gomlxStep(args []*tensors.Tensor, act func(*Node) *Node, lossOf func(p []*Node, h *Node) *Node) *job {
	return gomlxRuns(func(p []*Node) []*Node {
		h := act(Add(Dot(p[6], p[0]), p[1]))
		h = act(Add(Dot(h, p[2]), p[3]))
		l := lossOf(p, Add(Dot(h, p[4]), p[5]))
		out := []*Node{l}
		for i, g := range Gradient(l, p[:6]...) {
			out = append(out, Sub(p[i], MulScalar(g, 0.01)))
		}
		return out
	}, args...)
}
