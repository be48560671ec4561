// Server answers requests from many goroutines while one goroutine goes on
// training: the trainer publishes a clone of its model every so often, and each
// request answers by the newest one, without a lock and without a tape.
//
//	go run ./examples/server          # then: curl 'localhost:8080/predict?x=0.5'
//
// The model learns one period of a sine from noisy measurements.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/backsweep/backsweep"
	"github.com/backsweep/backsweep/nn"
	"github.com/backsweep/backsweep/optim"
)

// version is a model that nobody changes any more.
type version struct {
	Number int
	model  nn.Sequential
}

func (v *version) predict(x float64) float64 {
	return v.model.Forward(backsweep.New([]float32{float32(x)}, 1, 1)).Item()
}

// service trains one model and answers by copies of it.
type service struct {
	newest  atomic.Pointer[version]
	publish func(*version) // sees each version before it answers
}

func newService(publish func(*version)) *service {
	return &service{publish: publish}
}

// train takes steps until ctx is done, and publishes a version after every so
// many. Only this goroutine touches the model that is trained.
func (s *service) train(ctx context.Context, seed uint64, every int) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	tanh := nn.Func((*backsweep.Tensor).Tanh)
	model := nn.Sequential{nn.NewLinear(rng, "first", 1, 32), tanh, nn.NewLinear(rng, "second", 32, 32), tanh, nn.NewLinear(rng, "last", 32, 1)}
	adam := optim.NewAdam(5e-3, model.Params()...)
	tape := backsweep.NewTape()
	for step := 0; ; step++ {
		if step%every == 0 {
			v := &version{Number: step / every, model: nn.Clone(model)}
			s.publish(v)
			s.newest.Store(v)
		}
		if ctx.Err() != nil {
			return nil
		}
		x, y := measure(rng, 64)
		loss := model.Forward(tape.Input("x", x)).Sub(y).Square().Mean()
		grads, err := tape.Backward(loss)
		if err != nil {
			return err
		}
		if err := adam.Step(grads); err != nil {
			return err
		}
		tape.Reset()
	}
}

// measure draws points of a sine and what is measured there, [n, 1] each.
func measure(rng *rand.Rand, n int) (x, y *backsweep.Tensor) {
	at, value := make([]float32, n), make([]float32, n)
	for i := range at {
		v := 2*rng.Float64() - 1
		at[i], value[i] = float32(v), float32(math.Sin(math.Pi*v)+0.05*rng.NormFloat64())
	}
	return backsweep.New(at, n, 1), backsweep.New(value, n, 1)
}

// Answer is what a request gets.
type Answer struct {
	Version int     `json:"version"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
}

// ServeHTTP answers GET /predict?x=NUMBER.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x, err := strconv.ParseFloat(r.FormValue("x"), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		http.Error(w, "give a number: /predict?x=0.5", http.StatusBadRequest)
		return
	}
	v := s.newest.Load()
	if v == nil {
		http.Error(w, "there is no model yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(Answer{Version: v.Number, X: x, Y: v.predict(x)}); err != nil {
		return // the client has gone
	}
}

func run(ctx context.Context, address string) error {
	s := newService(func(v *version) {
		if v.Number%10 == 0 {
			fmt.Printf("version %d: sin(π/2) is %.4f\n", v.Number, v.predict(0.5))
		}
	})
	mux := http.NewServeMux()
	mux.Handle("GET /predict", s)
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	trained := make(chan error, 1)
	go func() {
		trained <- s.train(ctx, 1, 200)
		server.Close()
	}()
	fmt.Printf("answering at http://%s/predict?x=0.5 until interrupted\n", address)
	err := server.ListenAndServe()
	cancel()
	if e := <-trained; e != nil {
		return e
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "localhost:8080"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
