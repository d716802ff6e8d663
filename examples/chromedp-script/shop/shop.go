// Package shop is the site that the two scripts visit: one page of it is closed
// to robots.
package shop

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Shop is a site on loopback that counts what it is asked for.
type Shop struct {
	*httptest.Server

	mu    sync.Mutex
	asked map[string]int
}

// Open starts the shop. Close it.
func Open() *Shop {
	s := &Shop{asked: map[string]int{}}
	s.Server = httptest.NewServer(s)
	return s
}

// ServeHTTP answers like a shop.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	s.mu.Unlock()
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, "User-agent: *\nDisallow: /checkout\n")
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<!doctype html><title>shop %s</title><link rel=icon href=data:,>", r.URL.Path)
}

// Report prints what was asked for and returns how often the closed page was.
func (s *Shop) Report() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Println("the shop was asked for:")
	for _, path := range []string{"/robots.txt", "/", "/item", "/checkout"} {
		fmt.Printf("  %d %s\n", s.asked[path], path)
	}
	return s.asked["/checkout"]
}
