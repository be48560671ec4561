package kernel

import "math"

// Normalization: x̂ = (x - mean)·r over groups of n elements, with
// r = 1/√(mean of (x - mean)² + eps); uncentered, the mean is taken as 0.

// rowNorm writes x̂ of one row and returns r.
func rowNorm[T Float](dst, x []T, eps T, centered bool) T {
	n := T(len(x))
	if centered {
		AddC(dst, x, -sumRun(x)/n)
		x = dst[:len(x)]
	}
	r := 1 / T(math.Sqrt(float64(dotRun(x, x)/n+eps)))
	MulC(dst, x, r)
	return r
}

// NormRows normalizes each of rows rows of n elements, multiplies it by gamma
// and adds beta, both of n elements; beta may be nil.
func NormRows[T Float](dst, x, gamma, beta []T, rows, n int, eps T, centered bool) {
	if n == 0 {
		return
	}
	gamma = gamma[:n]
	for i := range rows {
		y := dst[i*n : (i+1)*n]
		rowNorm(y, x[i*n:(i+1)*n], eps, centered)
		Mul(y, y, gamma)
		if beta != nil {
			AccAdd(y, beta[:n])
		}
	}
}

// NormRowsGrad writes the gradients of NormRows in x and gamma:
// dx = r·(a - mean(a) - x̂·mean(a·x̂)) with a = dy·gamma, and dgamma = Σ dy·x̂
// over rows, which are added in order in halves of at most block rows. work
// holds 2n elements and n more for each halving.
func NormRowsGrad[T Float](dx, dgamma, dy, x, gamma []T, rows, n int, eps T, centered bool, work []T) {
	if rows == 0 || n == 0 {
		clear(dgamma[:n])
		return
	}
	if rows > block {
		h := half(rows)
		NormRowsGrad(dx, dgamma, dy, x, gamma, h, n, eps, centered, work)
		rest := work[:n]
		NormRowsGrad(dx[h*n:], rest, dy[h*n:], x[h*n:], gamma, rows-h, n, eps, centered, work[n:])
		AccAdd(dgamma, rest)
		return
	}
	hat, a := work[:n], work[n:2*n]
	clear(dgamma[:n])
	for i := range rows {
		g, d := dy[i*n:(i+1)*n], dx[i*n:(i+1)*n]
		r := rowNorm(hat, x[i*n:(i+1)*n], eps, centered)
		Mul(d, g, hat)
		AccAdd(dgamma, d)
		Mul(a, g, gamma[:n])
		var mean T
		if centered {
			mean = sumRun(a) / T(n)
		}
		MulC(d, hat, dotRun(a, hat)/T(n))
		Sub(d, a, d)
		if centered {
			AddC(d, d, -mean)
		}
		MulC(d, d, r)
	}
}

// NormRowsWork is how many elements NormRowsGrad needs to work.
func NormRowsWork(rows, n int) int {
	w := 2 * n
	for rows > block {
		rows = half(rows)
		w += n
	}
	return w
}

// NormChannels normalizes each channel of x, [images, channels, n], over images
// and places, multiplies by its gamma and adds its beta. It writes each
// channel's mean and biased variance too. work holds images·channels elements.
func NormChannels[T Float](dst, mean, variance, x, gamma, beta []T, images, channels, n int, eps T, work []T) {
	count := T(images * n)
	channelSum(mean, x, images, channels, n, work)
	divideBy(mean, count)
	center(dst, x, mean, images, channels, n)
	for i := range images * channels {
		run := dst[i*n : (i+1)*n]
		work[i] = Dot(run, run, n, 1, 1)
	}
	Sum(variance, work, 1, images, channels)
	divideBy(variance, count)
	for i := range images * channels {
		c := i % channels
		scale := gamma[c] / T(math.Sqrt(float64(variance[c]+eps)))
		run := dst[i*n : (i+1)*n]
		MulC(run, run, scale)
		AddC(run, run, beta[c])
	}
}

func channelSum[T Float](dst, x []T, images, channels, n int, work []T) {
	Sum(work[:images*channels], x, images*channels, n, 1)
	Sum(dst, work, 1, images, channels)
}

func center[T Float](dst, x, mean []T, images, channels, n int) {
	for i := range images * channels {
		AddC(dst[i*n:(i+1)*n], x[i*n:(i+1)*n], -mean[i%channels])
	}
}

// NormChannelsGrad writes the gradients of NormChannels in x and gamma, given
// those of its first output, as NormRowsGrad does. work holds images·channels
// elements and three a channel.
func NormChannelsGrad[T Float](dx, dgamma, dy, x, gamma []T, images, channels, n int, eps T, work []T) {
	count := T(images * n)
	parts, mean, r, shift := work[:images*channels], work[images*channels:][:channels], work[(images+1)*channels:][:channels], work[(images+2)*channels:][:channels]
	channelSum(mean, x, images, channels, n, parts)
	divideBy(mean, count)
	center(dx, x, mean, images, channels, n)
	for i := range parts {
		run := dx[i*n : (i+1)*n]
		parts[i] = Dot(run, run, n, 1, 1)
	}
	Sum(r, parts, 1, images, channels)
	for c, v := range r {
		r[c] = 1 / T(math.Sqrt(float64(v/count+eps)))
	}
	for i := range parts {
		parts[i] = Dot(dx[i*n:(i+1)*n], dy[i*n:(i+1)*n], n, 1, 1)
	}
	Sum(dgamma, parts, 1, images, channels)
	Mul(dgamma, dgamma, r)
	channelSum(shift, dy, images, channels, n, parts)
	divideBy(shift, count)
	for i := range parts {
		c := i % channels
		scale := T(gamma[c] * r[c])
		slope, s := T(dgamma[c]/count)*r[c], shift[c]
		run, g := dx[i*n:(i+1)*n], dy[i*n:(i+1)*n]
		for j, v := range run {
			run[j] = scale * (g[j] - s - T(v*slope))
		}
	}
}

func divideBy[T Float](x []T, n T) {
	for i := range x {
		x[i] /= n
	}
}
