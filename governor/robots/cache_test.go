package robots

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// host is a round tripper that counts what it is asked and answers what it is
// told to.
type host struct {
	mu     sync.Mutex
	asked  int
	answer func(*http.Request) (*http.Response, error)
}

func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	h.asked++
	f := h.answer
	h.mu.Unlock()
	return f(r)
}

func (h *host) now(f func(*http.Request) (*http.Response, error)) {
	h.mu.Lock()
	h.answer = f
	h.mu.Unlock()
}

func (h *host) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

// TestLife asks once a minute and counts the fetches.
func TestLife(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		over   time.Duration
		want   int // fetches, the first at 0
	}{
		{"no Cache-Control: 24 h", answer(200, "", testFile), 49 * time.Hour, 3},
		{"404: 24 h", answer(404, "", ""), 49 * time.Hour, 3},
		{"max-age of an hour", answer(200, "Cache-Control: public, max-age=3600", testFile), 150 * time.Minute, 3},
		{"max-age of a second: 5 min", answer(200, "Cache-Control: max-age=1", testFile), 16 * time.Minute, 4},
		{"no-store: 5 min", answer(200, "Cache-Control: no-store", testFile), 16 * time.Minute, 4},
		{"max-age of a year: 24 h", answer(200, "Cache-Control: max-age=31536000", testFile), 49 * time.Hour, 3},
		{"max-age beyond numbers: as without", answer(200, "Cache-Control: max-age=99999999999999999999999", testFile), 49 * time.Hour, 3},
		{"403: an hour", answer(403, "", ""), 150 * time.Minute, 3},
		// 0, 1, 3, 7, 15, 31, 63, 123, 183 minutes
		{"failures: 1 min, doubling to an hour", answer(500, "", ""), 190 * time.Minute, 9},
		{"429 alike", answer(429, "", ""), 190 * time.Minute, 9},
		{"Retry-After", answer(429, "Retry-After: 7200", ""), 239 * time.Minute, 2},
		{"Retry-After of a year: 24 h", answer(503, "Retry-After: 31536000", ""), 47 * time.Hour, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{answer: test.answer}
				c := newCache(t, Config{RoundTripper: h})
				for start := time.Now(); time.Since(start) < test.over; time.Sleep(time.Minute) {
					v := c.Check(t.Context(), "http://h.example/x")
					kept, ok := c.Cached("http://h.example/x")
					if !ok || kept.Allow != v.Allow {
						t.Fatalf("Cached: %t %+v, Check: %+v", ok, kept, v)
					}
				}
				if h.count() != test.want {
					t.Errorf("%d fetches in %v, want %d", h.count(), test.over, test.want)
				}
			})
		})
	}
}

// TestLastGoodCopy lets a server go down and come back.
func TestLastGoodCopy(t *testing.T) {
	short := answer(200, "Cache-Control: max-age=300", testFile)
	for _, test := range []struct {
		name  string
		mode  Mode
		then  func(*http.Request) (*http.Response, error)
		after time.Duration
		want  string
	}{
		{"down an hour", Strict, answer(503, "", ""), time.Hour, "allow"},
		{"no connection for an hour", Strict, func(*http.Request) (*http.Response, error) { return nil, fmt.Errorf("reset") }, time.Hour, "allow"},
		{"down for 23 h", Strict, answer(503, "", ""), 23 * time.Hour, "allow"},
		{"down for 25 h", Strict, answer(503, "", ""), 25 * time.Hour, "unavailable"},
		{"down for 40 days", Strict, answer(503, "", ""), 40 * 24 * time.Hour, "unavailable"},
		{"down for 25 h", RFC, answer(503, "", ""), 25 * time.Hour, "allow"},
		{"down for 40 days", RFC, answer(503, "", ""), 40 * 24 * time.Hour, "allow all"},
		{"busy", Strict, answer(429, "", ""), time.Hour, "unavailable"},
		{"refused", Strict, answer(403, "", ""), time.Hour, "unavailable"},
		{"gone", Strict, answer(404, "", ""), time.Hour, "allow all"},
	} {
		t.Run(test.name+" "+string(test.mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &host{answer: short}
				c := newCache(t, Config{RoundTripper: h, Mode: test.mode})
				check := func() string {
					open, private := c.Check(t.Context(), "http://h.example/x"), c.Check(t.Context(), "http://h.example/private")
					switch {
					case open.Unavailable:
						return "unavailable"
					case open.Allow && private.Allow:
						return "allow all"
					case open.Allow:
						return "allow"
					}
					return "deny"
				}
				if got := check(); got != "allow" {
					t.Fatalf("before: %s", got)
				}
				h.now(test.then)
				for start := time.Now(); time.Since(start) < test.after; time.Sleep(10 * time.Minute) {
					check()
				}
				if got := check(); got != test.want {
					t.Errorf("%v later: %s, want %s", test.after, got, test.want)
				}
				h.now(short)
				time.Sleep(25 * time.Hour)
				if got := check(); got != "allow" {
					t.Errorf("after it came back: %s", got)
				}
			})
		})
	}
}

// TestRefusedForgetsTheGoodCopy: what a site allowed before it sent us away
// does not count when it then goes down.
func TestRefusedForgetsTheGoodCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{answer: answer(200, "Cache-Control: max-age=300", testFile)}
		c := newCache(t, Config{RoundTripper: h})
		for _, status := range []int{200, 403, 503} {
			if status != 200 {
				h.now(answer(status, "", ""))
			}
			v := c.Check(t.Context(), "http://h.example/x")
			if v.Allow != (status == 200) {
				t.Errorf("%d: allow = %t", status, v.Allow)
			}
			time.Sleep(61 * time.Minute)
		}
	})
}

func TestOneFetchAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.now(func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(3 * time.Second):
				return answer(200, "", testFile)(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		c := newCache(t, Config{RoundTripper: h})
		var wg sync.WaitGroup
		// The caller that starts the fetch goes away after a second.
		first, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wg.Go(func() {
			start := time.Now()
			v := c.Check(first, "http://h.example/x")
			if v.Allow || !v.Unavailable || time.Since(start) != time.Second {
				t.Errorf("first: %+v after %v", v, time.Since(start))
			}
		})
		synctest.Wait()
		for range 50 {
			wg.Go(func() {
				if v := c.Check(t.Context(), "http://h.example/x"); !v.Allow {
					t.Errorf("other: %+v", v)
				}
			})
		}
		if _, ok := c.Cached("http://h.example/x"); ok {
			t.Error("Cached knows before the answer is there")
		}
		wg.Wait()
		if h.count() != 1 {
			t.Errorf("%d fetches, want 1", h.count())
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{answer: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		c := newCache(t, Config{RoundTripper: h})
		start := time.Now()
		done := make(chan Verdict)
		go func() { done <- c.Check(context.Background(), "http://h.example/x") }()
		synctest.Wait()
		c.Close()
		for range 2 {
			if v := <-done; v.Allow || !strings.Contains(v.Cause, "closed") {
				t.Errorf("%+v", v)
			}
			go func() { done <- c.Check(context.Background(), "http://o.example/x") }()
		}
		<-done
		if time.Since(start) != 0 {
			t.Errorf("took %v", time.Since(start))
		}
	})
}

func TestKeys(t *testing.T) {
	h := &host{answer: answer(404, "", "")}
	c := newCache(t, Config{RoundTripper: h})
	for i, group := range [][]string{
		{"http://h.example/a", "http://H.EXAMPLE:80/b", "HTTP://u:p@h.example", "http:\\\\h.example\\c", "view-source:http://h.example/d"},
		{"https://h.example/a", "https://h.example:443/", "https://h.example:0443?x"},
		{"http://h.example:8080/", "http://h.example:8080#f"},
		{"http://bücher.example/", "http://xn--bcher-kva.example/", "http://B%C3%BCCHER.example/"},
		{"http://[2001:DB8::1]/", "http://[2001:db8::1]:80/"},
	} {
		for _, u := range group {
			if v := c.Check(t.Context(), u); !v.Allow {
				t.Errorf("%s: %+v", u, v)
			}
		}
		if h.count() != i+1 {
			t.Errorf("%d fetches after %q, want %d", h.count(), group, i+1)
		}
	}
}

func TestURLsWithoutAFile(t *testing.T) {
	h := &host{answer: answer(500, "", "")}
	c := newCache(t, Config{RoundTripper: h})
	for u, allow := range map[string]bool{
		"about:blank": true, "data:text/html,x": true, "blob:https://h.example/1": true, "file:///etc/hosts": true,
		"chrome://version": true, "http://h.example/robots.txt": true, "https://h.example/robots.txt?x#y": true,
		"": false, "h.example/x": false, "/x": false, "http://": false, "http:///": false, "http://h.example:99999/": false, "http://a b/": false,
	} {
		if v := c.Check(t.Context(), u); v.Allow != allow || v.Unavailable || (v.Cause == "") != allow {
			t.Errorf("%q: %+v, want allow %t", u, v, allow)
		}
		if v, ok := c.Cached(u); !ok || v.Allow != allow {
			t.Errorf("Cached %q: %t %+v", u, ok, v)
		}
	}
	if h.count() != 0 {
		t.Errorf("%d fetches, want none", h.count())
	}
}

func TestEntriesAreBounded(t *testing.T) {
	h := &host{answer: answer(200, "", testFile)}
	c := newCache(t, Config{RoundTripper: h, MaxEntries: 3})
	check := func(i int) { c.Check(t.Context(), fmt.Sprintf("http://h%d.example/", i)) }
	for _, i := range []int{1, 2, 3, 1, 4, 1, 3, 4} { // 4 drives out 2
		check(i)
	}
	if h.count() != 4 {
		t.Errorf("%d fetches, want 4", h.count())
	}
	check(2)
	if h.count() != 5 || c.store.used.Len() != 3 || len(c.store.byKey) != 3 {
		t.Errorf("%d fetches, %d kept", h.count(), c.store.used.Len())
	}
}

// TestBytesAreBounded keeps files of 500 KiB until they push each other out.
func TestBytesAreBounded(t *testing.T) {
	body := fill("User-agent: *\n", func(i int) string { return fmt.Sprintf("Disallow: /p%d\n", i) })
	r := Parse(body).For("")
	s := newStore(1000)
	for i := range 200 {
		s.put(&entry{origin: fmt.Sprint("http://h", i), good: r})
	}
	if s.bytes > maxStored || s.used.Len() > 100 || s.used.Len() < 10 {
		t.Errorf("%d entries with %d bytes", s.used.Len(), s.bytes)
	}
	for s.used.Len() > 0 {
		s.drop(s.used.Back())
	}
	if s.bytes != 0 {
		t.Errorf("%d bytes left of nothing", s.bytes)
	}
}

func TestNew(t *testing.T) {
	for want, cfg := range map[string]Config{
		"UserAgent is empty": {},
		"Research Bot":       {UserAgent: testUA, Token: "Research Bot"},
		"neither":            {UserAgent: testUA, Mode: "off"},
		"MaxEntries is -1":   {UserAgent: testUA, MaxEntries: -1},
	} {
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
	if c := newCache(t, Config{}); c.Token() != "ResearchBot" {
		t.Errorf("token %q", c.Token())
	}
}
