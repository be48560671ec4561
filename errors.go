package backsweep

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/backsweep/backsweep/internal/array"
)

// The kinds of errors. Every error of this package is an [*Error] of one of
// these kinds, so errors.Is(err, backsweep.ErrShape) tells them apart.
var (
	ErrShape       = errors.New("shapes do not fit")
	ErrDType       = errors.New("element types do not fit")
	ErrIndex       = errors.New("index out of range")
	ErrValue       = errors.New("value not allowed")
	ErrTwoTapes    = errors.New("tensors of two tapes")
	ErrReset       = errors.New("tensor of a reset tape")
	ErrReleased    = errors.New("value let go by a sweep")
	ErrSwept       = errors.New("tape already swept")
	ErrChanged     = errors.New("saved value changed")
	ErrOffTape     = errors.New("computed from a parameter off the tape")
	ErrNotOnTape   = errors.New("not on this tape")
	ErrCotangent   = errors.New("cotangent missing or unfit")
	ErrOrder       = errors.New("illegal order")
	ErrGoroutine   = errors.New("tape used from two goroutines at once")
	ErrNoGradient  = errors.New("no gradient to give")
	ErrNotALeaf    = errors.New("only leaves can be changed")
	ErrUnsupported = errors.New("not supported")
	ErrRule        = errors.New("gradient rule failed")
	ErrTape        = errors.New("tape breaks an invariant")
)

// Error is what went wrong, where, and what to do about it. Op methods panic
// with one (see [Catch]); everything that sweeps or does I/O returns one.
type Error struct {
	Kind   error   // one of the Err… values
	Op     string  // the op or method, "" when there is none
	What   string  // what is wrong
	Do     string  // what to do
	Shapes [][]int // of the operands, when shapes are the matter
	Site   string  // file:line of the call, when known

	Node     int    // the node concerned, or -1
	Consumer int    // ErrOrder: the consumer that had not been visited, or -1
	Tensor   string // the tensor concerned, "" when there is none

	cause  error
	thrown bool // panicked with by this package, so that Catch may take it
}

// Error returns the whole text on one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("backsweep: ")
	if e.Op != "" {
		b.WriteString(e.Op)
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	if e.Site != "" {
		b.WriteString(" (at ")
		b.WriteString(e.Site)
		b.WriteString(")")
	}
	if e.Do != "" {
		b.WriteString("; ")
		b.WriteString(e.Do)
	}
	return b.String()
}

// Unwrap makes errors.Is and errors.As see the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// Catch turns a panic by which an op method reports a misuse into an error.
// Use it at a boundary of your choice:
//
//	func step() (err error) {
//		defer backsweep.Catch(&err)
//		...
//	}
//
// Any other panic, such as a nil dereference or one of the caller's own, goes
// on unchanged.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		if !r.thrown {
			panic(r)
		}
		r.thrown = false
		*err = r
	default:
		panic(r)
	}
}

// throw panics with e as a misuse that Catch takes, at the caller's place.
func throw(e *Error) {
	e.thrown = true
	if e.Site == "" {
		e.Site = callSite()
	}
	panic(e)
}

// locate adds the caller's place to an error that is returned, not thrown.
func locate(err *error) {
	if e, ok := (*err).(*Error); ok && e.Site == "" {
		e.Site = callSite()
	}
}

func fail(kind error, op, do, format string, args ...any) *Error {
	return &Error{Kind: kind, Op: op, What: fmt.Sprintf(format, args...), Do: do, Node: -1, Consumer: -1}
}

const rootPath = "github.com/backsweep/backsweep."

// inside reports whether a function belongs to this package, its tests
// excepted.
func inside(function, file string) bool {
	return strings.HasPrefix(function, rootPath) && !strings.HasSuffix(file, "_test.go")
}

// callSite names the innermost place outside this package.
func callSite() string {
	var pcs [32]uintptr
	return siteOf(pcs[:runtime.Callers(2, pcs[:])])
}

// siteOf names the innermost place outside this package among callers, as
// file:line with the file's last two path elements. What an error may have to
// name later keeps its callers only: naming one takes ten times longer.
func siteOf(callers []uintptr) string {
	if len(callers) == 0 {
		return ""
	}
	frames := runtime.CallersFrames(callers)
	for {
		f, more := frames.Next()
		if !inside(f.Function, f.File) && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", shortPath(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// callers puts the callers of its caller into a slice that it may reuse.
func callers(into []uintptr) []uintptr {
	if cap(into) == 0 {
		into = make([]uintptr, 16)
	}
	into = into[:cap(into)]
	return into[:runtime.Callers(3, into)]
}

func shortPath(file string) string {
	i := strings.LastIndexByte(file, '/')
	if i < 0 {
		return file
	}
	return file[strings.LastIndexByte(file[:i], '/')+1:]
}

func shapesText(shapes ...[]int) string {
	var b strings.Builder
	for i, s := range shapes {
		switch {
		case i == 0:
		case i == len(shapes)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(array.ShapeString(s))
	}
	return b.String()
}
