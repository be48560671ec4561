package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/backsweep/backsweep/draw"
	"github.com/backsweep/backsweep/record"
)

// Handler serves the page of a record, which must not change while it does. Its
// links are relative, so it may stand under a prefix that is stripped. The error
// is a *[TooLargeError], or *draw.TooLargeError for a record of mostly leaves.
func Handler(rec *record.Record, opts ...Option) (http.Handler, error) {
	o := gather(opts)
	f, c, err := prepare(rec, o)
	if err != nil {
		return nil, err
	}
	start, err := f.picture(f.first(), draw.Ops)
	if err != nil {
		return nil, err
	}
	c.Live, c.Pictures = true, []*Picture{start}
	data, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	head(&page, rec, "")
	page.WriteString("<link rel=\"stylesheet\" href=\"app.css\">\n</head>\n<body>\n<div id=\"app\"></div>\n<script type=\"module\" src=\"app.js\"></script>\n</body>\n</html>\n")
	s := &server{folder: f, swept: rec.Sweep != nil && c.Fixed == "", hosts: o.hosts, files: map[string]file{
		"/":             {"text/html; charset=utf-8", page.Bytes()},
		"/app.js":       {"text/javascript; charset=utf-8", script},
		"/app.css":      {"text/css; charset=utf-8", styles},
		"/content.json": {"application/json", data},
	}}
	return s, nil
}

// Serve serves the page of a record on a TCP address until the context ends,
// and returns nil then. An address without a host, such as ":8080", means the
// loopback interface; to be reached from elsewhere, say "0.0.0.0:8080".
func Serve(ctx context.Context, addr string, rec *record.Record, opts ...Option) error {
	h, err := Handler(rec, opts...)
	if err != nil {
		return err
	}
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("view: %w", err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- s.Serve(listener) }()
	if o := gather(opts); o.ready != nil {
		o.ready("http://" + listener.Addr().String() + "/")
	}
	select {
	case err = <-done:
		return fmt.Errorf("view: %w", err)
	case <-ctx.Done():
	}
	err = s.Close()
	<-done
	return err
}

type file struct {
	kind string
	body []byte
}

type server struct {
	folder *folder
	swept  bool
	hosts  []string
	files  map[string]file
	one    sync.Mutex // pictures and plans are made one at a time
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !s.known(r.Host):
		http.Error(w, "the page is not served under this name", http.StatusMisdirectedRequest)
		return
	case !sameOrigin(r):
		http.Error(w, "the page answers no other page", http.StatusForbidden)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "there is only GET", http.StatusMethodNotAllowed)
		return
	}
	switch r.URL.Path {
	case "/picture.json":
		s.answer(w, func() (any, error) { return s.picture(r.URL.Query()) })
		return
	case "/plan.json":
		s.answer(w, func() (any, error) { return s.plan(r.URL.Query()) })
		return
	}
	f, ok := s.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.Write(f.body)
}

// known reports whether a request's host is one of ours. A name that an attacker
// points at this machine is not; a number cannot be pointed anywhere.
func (s *server) known(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.EqualFold(name, "localhost") || net.ParseIP(name) != nil ||
		slices.ContainsFunc(s.hosts, func(h string) bool { return strings.EqualFold(h, host) || strings.EqualFold(h, name) })
}

// sameOrigin reports whether a request comes from the page itself or from no
// page at all.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return r.Header.Get("Sec-Fetch-Mode") == "navigate" // a link that a person follows
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// answer sends what f makes as JSON, and an error of its as text.
func (s *server) answer(w http.ResponseWriter, f func() (any, error)) {
	s.one.Lock()
	made, err := f()
	s.one.Unlock()
	if err == nil {
		var text []byte
		if text, err = json.Marshal(made); err == nil {
			w.Header().Set("Content-Type", "application/json")
			w.Write(text)
			return
		}
	}
	status := http.StatusBadRequest
	var large *draw.TooLargeError
	if errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	}
	http.Error(w, err.Error(), status)
}

// picture answers "picture.json?open=1,4&style=ops".
func (s *server) picture(q url.Values) (*Picture, error) {
	open := make([]bool, len(s.folder.regions))
	if q.Get("open") == "all" {
		return s.folder.picture(s.folder.all(), draw.Style(q.Get("style")))
	}
	for _, word := range strings.Split(q.Get("open"), ",") {
		switch r, err := strconv.Atoi(word); {
		case word == "":
		case err != nil || r < 0 || r >= len(open):
			return nil, fmt.Errorf("there is no region %.20q", word)
		default:
			open[r] = true
		}
	}
	return s.folder.picture(open, draw.Style(q.Get("style")))
}

// plan answers "plan.json?order=random&seed=9".
func (s *server) plan(q url.Values) (Plan, error) {
	if !s.swept {
		return Plan{}, errors.New("the record has no sweep that can be planned anew")
	}
	seed := uint64(0)
	if text := q.Get("seed"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return Plan{}, fmt.Errorf("%.20q is no seed", text)
		}
	}
	return plan(s.folder.rec, q.Get("order"), seed)
}
