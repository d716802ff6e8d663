package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"browsergovernor/browser"
)

// hit is one request as a site received it.
type hit struct {
	at     time.Time
	method string
	host   string
	path   string
	header http.Header
	status int
}

func (h hit) String() string { return h.method + " http://" + h.host + h.path }

// site is one server on loopback that answers for every invented host name
// under .test and writes down each request: its list is the truth that the log
// is held against.
type site struct {
	srv   *httptest.Server
	rules browser.HostRules

	mu     sync.Mutex
	hits   []hit
	robots map[string]string // host → body; a host without one answers 404
	pages  map[string]http.HandlerFunc
}

// newSite starts a site. Pages are keyed by path, or by host and path
// ("b.test/x"); what is not there is a small page that names itself.
func newSite(t testing.TB, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{robots: map[string]string{}, pages: pages}
	s.srv = httptest.NewServer(s)
	t.Cleanup(s.srv.Close)
	rules, err := browser.ParseHostRules("MAP *.test " + s.addr())
	if err != nil {
		t.Fatal(err)
	}
	s.rules = rules
	return s
}

func (s *site) addr() string { return s.srv.Listener.Addr().String() }

// hostRules is the rule in the form of the command line.
func (s *site) hostRules() string { return "MAP *.test " + s.addr() }

func (s *site) setRobots(host, body string) {
	s.mu.Lock()
	s.robots[host] = body
	s.mu.Unlock()
}

// ServeHTTP answers and then writes the request down.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	rec := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	at := time.Now()
	s.mu.Lock()
	page := s.pages[host+r.URL.Path]
	if page == nil {
		page = s.pages[r.URL.Path]
	}
	robots, hasRobots := s.robots[host]
	i := len(s.hits)
	s.hits = append(s.hits, hit{at: at, method: r.Method, host: host, path: r.URL.RequestURI(), header: r.Header.Clone()})
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/robots.txt" && page == nil:
		if !hasRobots {
			http.NotFound(rec, r)
			break
		}
		fmt.Fprint(rec, robots)
	case page != nil:
		page(rec, r)
	case r.URL.Path == "/favicon.ico":
		http.NotFound(rec, r)
	default:
		html(`<h1>`+r.URL.Path+`</h1>`)(rec, r)
	}
	s.mu.Lock()
	s.hits[i].status = rec.status
	s.mu.Unlock()
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(code int) {
	w.status = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// received returns the requests so far, robots.txt and icons left out.
func (s *site) received() []hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []hit
	for _, h := range s.hits {
		if h.path != "/robots.txt" && h.path != "/favicon.ico" {
			out = append(out, h)
		}
	}
	return out
}

func (s *site) all() []hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]hit(nil), s.hits...)
}

// count returns how often the path was asked for, on any host.
func (s *site) count(path string) int {
	n := 0
	for _, h := range s.all() {
		if h.path == path {
			n++
		}
	}
	return n
}

// html is a page whose body is the given markup. Its icon asks nobody.
func html(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprintf(w, "<!doctype html><title>%s</title><link rel=icon href=data:,>%s", r.URL.Path, body)
	}
}

func status(code int, header map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for k, v := range header {
			w.Header().Set(k, v)
		}
		http.Error(w, http.StatusText(code), code)
	}
}

func redirect(to string, code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) }
}

// multiset is a list with its order taken away, for comparing.
func multiset(list []string) string {
	sorted := append([]string(nil), list...)
	sort.Strings(sorted)
	return strings.Join(sorted, "\n")
}
