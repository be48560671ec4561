package kernel

import "math"

// The functions of softmax.go by vectors, on rows that lie side by side.
// Exponents are rounded differences to the largest element.

// stageRow is how many elements a row's intermediate values are kept for.
const stageRow = 8 * block

func softmaxRow[T Float](v *vector[T], dst, x []T) {
	v.expSub.run(dst, x, largest(x))
	v.divC.run(dst, dst, sumRun(dst))
}

// sumExpRow is sumExp of a row.
func sumExpRow[T Float](v *vector[T], x []T, top T) T {
	if len(x) > stageRow {
		h := half(len(x))
		return sumExpRow(v, x[:h], top) + sumExpRow(v, x[h:], top)
	}
	if len(x) > block {
		return sumExpStage(v, x, top)
	}
	var terms [block]T
	v.expSub.run(terms[:len(x)], x, top)
	return sumRun(terms[:len(x)])
}

// sumExpStage has a frame of its own, which is cleared at every call.
//
//go:noinline
func sumExpStage[T Float](v *vector[T], x []T, top T) T {
	var terms [stageRow]T
	v.expSub.run(terms[:len(x)], x, top)
	return sumRun(terms[:len(x)])
}

func logSumExpRow[T Float](v *vector[T], x []T) T {
	top := largest(x)
	if math.IsInf(float64(top), 0) || math.IsNaN(float64(top)) {
		return top
	}
	return T(float64(top) + math.Log(float64(sumExpRow(v, x, top))))
}

func logSoftmaxRow[T Float](v *vector[T], dst, x []T) {
	top := largest(x)
	log := T(math.Log(float64(sumExpRow(v, x, top))))
	v.addC.run(dst, x, -top)
	v.addC.run(dst, dst, -log)
}

func softmaxGradRow[T Float](v *vector[T], dst, dy, y []T) {
	s := dotRun(dy, y)
	var rest [block]T
	for len(dy) > 0 {
		n := min(block, len(dy))
		v.addC.run(rest[:n], dy[:n], -s)
		v.mul.run(dst[:n], y[:n], rest[:n])
		dst, dy, y = dst[n:], dy[n:], y[n:]
	}
}

func logSoftmaxGradRow[T Float](v *vector[T], dst, dy, y []T) {
	s := sumRun(dy)
	var part [block]T
	for len(dy) > 0 {
		n := min(block, len(dy))
		v.exp.run(part[:n], y[:n])
		v.mulC.run(part[:n], part[:n], s)
		v.sub.run(dst[:n], dy[:n], part[:n])
		dst, dy, y = dst[n:], dy[n:], y[n:]
	}
}
