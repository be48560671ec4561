package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Many clients ask while the model is trained and swapped. Each answer is, bit
// for bit, that of the version it names; the versions that a client sees never
// go back; and the last ones have learned. The race detector sees it all.
func TestRequestsDuringTraining(t *testing.T) {
	var versions sync.Map // number → *version
	s := newService(func(v *version) { versions.Store(v.Number, v) })
	ctx, stop := context.WithCancel(t.Context())
	var training sync.WaitGroup
	training.Go(func() {
		if err := s.train(ctx, 1, 25); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(s)
	defer server.Close()

	const clients, enough = 16, 40 // versions
	var asking sync.WaitGroup
	for c := range clients {
		asking.Go(func() {
			last := -1
			for n := 0; last < enough; n++ {
				x := math.Sin(float64(c*1000 + n))
				a, code := ask(t, server.URL, x)
				if code == http.StatusServiceUnavailable {
					continue
				}
				v, ok := versions.Load(a.Version)
				if code != http.StatusOK || !ok || a.Version < last {
					t.Errorf("client %d: status %d, version %d after %d", c, code, a.Version, last)
					return
				}
				if want := v.(*version).predict(x); a.Y != want {
					t.Errorf("client %d: version %d says %v of %v, and by itself %v", c, a.Version, a.Y, x, want)
					return
				}
				last = a.Version
			}
		})
	}
	asking.Wait()
	stop()
	training.Wait()
	for _, x := range []float64{-0.5, 0, 0.5} {
		if y := s.newest.Load().predict(x); math.Abs(y-math.Sin(math.Pi*x)) > 0.15 {
			t.Errorf("sin(π·%v) is %v", x, y)
		}
	}
}

func ask(t *testing.T, url string, x float64) (a Answer, code int) {
	r, err := http.Get(fmt.Sprintf("%s/predict?x=%v", url, x))
	if err != nil {
		t.Error(err)
		return a, 0
	}
	defer r.Body.Close()
	if r.StatusCode == http.StatusOK {
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Error(err)
		}
	}
	return a, r.StatusCode
}

func TestRequestsThatAreNone(t *testing.T) {
	s := newService(func(*version) {})
	for query, want := range map[string]int{"?x=a": http.StatusBadRequest, "": http.StatusBadRequest, "?x=Inf": http.StatusBadRequest, "?x=1": http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/predict"+query, nil))
		if w.Code != want {
			t.Errorf("%q: status %d, want %d", query, w.Code, want)
		}
	}
}
