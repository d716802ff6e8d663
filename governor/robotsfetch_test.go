package governor

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func strict() Policy {
	p := plainPolicy()
	p.Robots.Mode = RobotsStrict
	p.Interactions = Bucket{Rate: 1, Burst: 10}
	return p
}

func TestRobotsFetchIsAnAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		agent := make(chan string, 10)
		g, m := open(t, strict(), func(c *Config) {
			c.UserAgent = "TestBot/1.0 (+bot@example.com)"
			c.RobotsTransport = site(func(r *http.Request) (int, http.Header, string) {
				fetches.Add(1)
				agent <- r.UserAgent()
				time.Sleep(time.Second)
				return 200, nil, "User-agent: testbot\nDisallow: /no\n"
			})
		})
		defer g.Close()
		done := make(chan Decision)
		for _, path := range []string{"/1", "/2", "/no"} { // a new host, all at once
			go func() { done <- g.Admit(t.Context(), nav("http://a.example"+path)) }()
		}
		allowed := 0
		for range 3 {
			if d := <-done; d.Allowed() {
				allowed++
			}
		}
		if n := fetches.Load(); n != 1 || allowed != 2 {
			t.Errorf("%d fetches, %d allowed; want 1 and 2", n, allowed)
		}
		if a := <-agent; a != "TestBot/1.0 (+bot@example.com)" {
			t.Errorf("User-Agent %q", a)
		}
		evs := m.all()
		if e := evs[0]; !e.Sent || e.Kind != "subresource" || e.Cause != "robots" || e.Resource != "robots" || e.URL != "http://a.example/robots.txt" || e.Method != "GET" {
			t.Errorf("first line: %+v", e)
		}
		if e := evs[1]; e.Type != EventOutcome || e.ID != evs[0].ID || e.Status != 200 || e.Latency != time.Second {
			t.Errorf("second line: %+v", e)
		}
		s := g.Status()
		if s.Total != 3 || s.Interactions != 2 {
			t.Errorf("%d counted, %d of them interactions; want 3 and 2", s.Total, s.Interactions)
		}
		// Sub-resources and clicks ask for none.
		allow(t, g, sub("http://b.example/i"))
		allow(t, g, click("http://b.example/"))
		if fetches.Load() != 1 {
			t.Error("robots.txt was fetched for something that is no navigation")
		}
	})
}

func TestRobotsRedirectsAreActionsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := open(t, strict(), func(c *Config) {
			c.RobotsTransport = site(func(r *http.Request) (int, http.Header, string) {
				if r.URL.Host == "a.example" {
					return 301, http.Header{"Location": {"http://www.a.example/robots.txt"}}, ""
				}
				return 404, nil, ""
			})
		})
		defer g.Close()
		allow(t, g, nav("http://a.example/"))
		if evs := m.sent(); len(evs) != 3 || evs[1].Host != "www.a.example" || evs[1].Cause != "robots" {
			t.Errorf("%+v", evs)
		}
	})
}

func TestRobotsSaysTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, strict(), func(c *Config) {
			c.RobotsTransport = site(func(*http.Request) (int, http.Header, string) {
				return 503, http.Header{"Retry-After": {"120"}}, ""
			})
		})
		defer g.Close()
		a := nav("http://a.example/")
		a.Hold = time.Second
		near(t, "retry after", refused(t, g, a, RobotsUnavailable).RetryAfter, 2*time.Minute)
		refused(t, g, sub("http://a.example/i"), RetryAfter) // the host is closed
	})
}

// A closed host, a spent budget: robots.txt is not fetched, and the reason is
// the true one.
func TestNoRobotsFetchInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int32
		p := strict()
		p.Caps.Interactions = 1
		g, _ := open(t, p, func(c *Config) {
			c.RobotsTransport = site(func(*http.Request) (int, http.Header, string) {
				fetches.Add(1)
				return 200, nil, ""
			})
		})
		defer g.Close()
		d := allow(t, g, sub("http://a.example/i"))
		g.Settle(d.ID, Outcome{Status: 429, Header: http.Header{"Retry-After": {"60"}}})
		a := nav("http://a.example/")
		a.Hold = time.Second
		refused(t, g, a, RetryAfter)
		allow(t, g, click("http://b.example/"))
		refused(t, g, nav("http://b.example/"), DailyCap)
		if n := fetches.Load(); n != 0 {
			t.Errorf("%d fetches", n)
		}
	})
}

// What refuses the fetch refuses the navigation.
func TestRefusedRobotsFetchNamesItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := strict()
		p.Subresources = Bucket{Rate: 0.01, Burst: 1}
		g, m := open(t, p, func(c *Config) { c.RobotsTransport = serving("") })
		defer g.Close()
		allow(t, g, sub("http://a.example/i"))
		r := refused(t, g, nav("http://a.example/"), Rate)
		near(t, "retry after", r.RetryAfter, 100*time.Second)
		lawful(t, r.Sentence)
		time.Sleep(r.RetryAfter)
		allow(t, g, nav("http://a.example/"))
		m.breakDown(true)
		refused(t, g, nav("http://b.example/"), AuditUnavailable)
	})
}

func TestSkippedHostsAreNotAsked(t *testing.T) {
	p := strict()
	p.Robots.SkipHosts = []string{"127.0.0.1", "[::1]:8080"}
	g, _ := open(t, p, func(c *Config) { c.RobotsTransport = serving("User-agent: *\nDisallow: /\n") })
	defer g.Close()
	allow(t, g, nav("http://127.0.0.1:8765/"))
	allow(t, g, nav("http://[::1]:8080/"))
	refused(t, g, nav("http://[::1]:8081/"), RobotsDisallowed)
}

func TestCloseEndsARobotsFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, strict(), func(c *Config) {
			c.RobotsTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
		})
		c := make(chan Decision)
		go func() { c <- g.Admit(t.Context(), nav("http://a.example/")) }()
		synctest.Wait()
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
		if d := <-c; d.Allowed() {
			t.Error("allowed")
		}
	})
}

// A server that hangs on robots.txt holds a navigation no longer than a full
// bucket may, and what it took is taken off what is left for the bucket.
func TestHangingRobotsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		g, _ := open(t, strict(), func(c *Config) {
			c.RobotsTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
				select {
				case <-hang:
					return serving("").RoundTrip(r)
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			})
		})
		defer g.Close()
		start := time.Now()
		a := nav("http://a.example/")
		a.Hold = 3 * time.Second
		lawful(t, refused(t, g, a, RobotsUnavailable).Sentence)
		near(t, "refused after", time.Since(start), 3*time.Second)
		refused(t, g, nav("http://a.example/"), RobotsUnavailable) // 8 s is more than the fetch has left
		near(t, "refused after", time.Since(start), 10*time.Second)

		close(hang)
		time.Sleep(time.Hour) // however long the failure is kept
		for range 10 {
			allow(t, g, nav("http://a.example/"))
		}
		a.Hold = 2 * time.Second
		d := allow(t, g, a)
		near(t, "held", d.Waited, time.Second)
	})
}

// What a slow robots.txt took is not given a second time to the bucket.
func TestSlowRobotsServerUsesTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := strict()
		p.Interactions = Bucket{Rate: 0.25, Burst: 1}
		g, _ := open(t, p, func(c *Config) {
			c.RobotsTransport = site(func(*http.Request) (int, http.Header, string) {
				time.Sleep(3 * time.Second)
				return 200, nil, ""
			})
		})
		defer g.Close()
		start := time.Now()
		allow(t, g, click("http://a.example/")) // the token that the page would have had
		a := nav("http://a.example/")
		a.Hold = 3500 * time.Millisecond
		refused(t, g, a, Rate) // due at 4 s
		near(t, "refused after", time.Since(start), 3*time.Second)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
