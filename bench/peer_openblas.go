package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// openBLAS has the matrix products of OpenBLAS, loaded while running. Its
// Fortran entry is called, which takes every argument by reference; row-major
// c = a·b is column-major cᵀ = bᵀ·aᵀ.
func openBLAS() map[string]maker {
	jobs := map[string]maker{}
	for _, p := range products() {
		jobs[p.String()] = func() *job {
			lib := must(loadOpenBLAS())
			if p.double {
				return blasGemm[float64](lib, "dgemm_", p)
			}
			return blasGemm[float32](lib, "sgemm_", p)
		}
	}
	return jobs
}

func loadOpenBLAS() (uintptr, error) {
	var err error
	for _, name := range []string{"libopenblas.so.0", "libopenblas.so", "libopenblas.0.dylib"} {
		var lib uintptr
		if lib, err = purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL); err == nil {
			return lib, nil
		}
	}
	return 0, fmt.Errorf("OpenBLAS is not installed: %w", err)
}

// openBLASVersion describes the library and the kernel that it chose.
func openBLASVersion() string {
	lib, err := loadOpenBLAS()
	if err != nil {
		return err.Error()
	}
	var config, core func() string
	purego.RegisterLibFunc(&config, lib, "openblas_get_config")
	purego.RegisterLibFunc(&core, lib, "openblas_get_corename")
	version, _, _ := strings.Cut(config(), " NO_")
	return version + ", kernel " + core()
}

func blasGemm[T float32 | float64](lib uintptr, entry string, p product) *job {
	symbol := must(purego.Dlsym(lib, entry))
	a, b, c := fill[T](p.m*p.k, 1, 1), fill[T](p.k*p.n, 2, 1), make([]T, p.m*p.n)
	// In column-major terms b is the left operand, stored as [n,k] unless its
	// rows are columns here.
	left, right := []byte("N"), []byte("N")
	args := struct {
		m, n, k, lda, ldb, ldc int32
		alpha, beta            T
	}{int32(p.n), int32(p.m), int32(p.k), int32(p.n), int32(p.k), int32(p.n), 1, 0}
	if p.form == "NT" {
		left[0], args.lda = 'T', int32(p.k)
	}
	if p.form == "TN" {
		right[0], args.ldb = 'T', int32(p.m)
	}
	at := func(x unsafe.Pointer) uintptr { return uintptr(x) }
	argsOf := []uintptr{
		at(unsafe.Pointer(&left[0])), at(unsafe.Pointer(&right[0])), at(unsafe.Pointer(&args.m)), at(unsafe.Pointer(&args.n)), at(unsafe.Pointer(&args.k)),
		at(unsafe.Pointer(&args.alpha)), at(unsafe.Pointer(&b[0])), at(unsafe.Pointer(&args.lda)), at(unsafe.Pointer(&a[0])), at(unsafe.Pointer(&args.ldb)),
		at(unsafe.Pointer(&args.beta)), at(unsafe.Pointer(&c[0])), at(unsafe.Pointer(&args.ldc)),
	}
	var pin runtime.Pinner // the job holds them as numbers
	for _, x := range []any{&left[0], &right[0], &args, &a[0], &b[0], &c[0]} {
		pin.Pin(x)
	}
	call := func(symbol uintptr, n int) {
		for range n {
			purego.SyscallN(symbol, argsOf...)
		}
	}
	call(symbol, 1)
	j := &job{values: sums(c), run: func(n int) { call(symbol, n) }, done: pin.Unpin}
	// A function that does next to nothing shows what the call itself costs.
	nothing := must(purego.Dlsym(lib, "openblas_get_num_threads"))
	const calls = 2_000
	j.overhead = math.Inf(1)
	for range 20 {
		before, _ := clock()
		call(nothing, calls)
		after, _ := clock()
		j.overhead = min(j.overhead, float64(after-before)/calls)
	}
	return j
}
