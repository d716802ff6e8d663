package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// hit is one request as the server received it.
type hit struct {
	at     time.Time
	method string
	path   string
	agent  string
	status int
}

// site is the server that pushes back. It writes down every request.
type site struct {
	url string
	srv *httptest.Server

	mu       sync.Mutex
	hits     []hit
	profiles int
	busy     int
}

func newSite() *site {
	s := &site{}
	s.srv = httptest.NewServer(s)
	s.url = s.srv.URL
	return s
}

func (s *site) close() { s.srv.Close() }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.answer(w, r)
	s.hits = append(s.hits, hit{time.Now(), r.Method, r.URL.Path, r.UserAgent(), status})
}

func (s *site) answer(w http.ResponseWriter, r *http.Request) int {
	switch {
	case r.URL.Path == "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\nCrawl-delay: 1\n")
		return http.StatusOK
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNotFound)
		return http.StatusNotFound
	case strings.HasPrefix(r.URL.Path, "/profile/"):
		if s.profiles++; s.profiles%3 == 0 {
			w.Header().Set("Retry-After", "2")
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return http.StatusTooManyRequests
		}
	case r.URL.Path == "/busy":
		if s.busy++; s.busy == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><title>%s</title><link rel=icon href=data:,><body>ok %s</body>", r.URL.Path, r.URL.Path)
	return http.StatusOK
}

func (s *site) received() []hit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]hit(nil), s.hits...)
}
