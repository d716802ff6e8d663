package governor

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeline is the demo that the polite client was published with: a server
// with Crawl-delay 1 that answers every third profile with 429 and Retry-After
// 2, /busy with a 503 once, and a cap of 8 that is reached in the middle of a
// retry. Rand is 0.5 throughout: 0.4 s of jitter, backoff exactly its base.
func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := DefaultPolicy()
		p.Agent = Agent{Name: "ResearchBot/1.0", Contact: "https://example.com/bot"}
		p.Interactions = Bucket{Rate: 2, Burst: 1} // 120 a minute
		p.Jitter = Jitter{200 * time.Millisecond, 600 * time.Millisecond}
		p.Caps.Interactions = 8
		p.Backoff.Base = time.Second
		g, m := open(t, p, func(c *Config) {
			c.RobotsTransport = serving("User-agent: *\nDisallow: /private\nCrawl-delay: 1\n")
		})

		profiles, busy := 0, 0
		server := func(path string) (int, http.Header) {
			if strings.HasPrefix(path, "/profile/") {
				if profiles++; profiles%3 == 0 {
					return 429, http.Header{"Retry-After": {"2"}}
				}
			}
			if path == "/busy" {
				if busy++; busy == 1 {
					return 503, nil
				}
			}
			return 200, nil
		}

		const base = "http://127.0.0.1:8765"
		start := time.Now()
		type step struct {
			path    string
			attempt int
			at      float64 // seconds since the start
			status  int     // 0: refused
			reason  Reason
		}
		want := []step{
			{"/profile/1", 0, 0.4, 200, ""},
			{"/profile/2", 0, 1.8, 200, ""}, // 1 s of crawl-delay from release to release, then jitter
			{"/profile/3", 0, 3.2, 429, ""},
			{"/profile/3", 1, 5.6, 200, ""}, // 2 s as asked, then jitter
			{"/profile/4", 0, 7.0, 200, ""},
			{"/private/inbox", 0, 7.0, 0, RobotsDisallowed},
			{"/busy", 0, 8.4, 503, ""},
			{"/busy", 1, 9.8, 200, ""}, // backoff 1 s, then jitter
			{"/profile/5", 0, 11.2, 429, ""},
			{"/profile/5", 1, 13.2, 0, DailyCap},
		}
		var got []step
		for _, path := range []string{"/profile/1", "/profile/2", "/profile/3", "/profile/4", "/private/inbox", "/busy", "/profile/5"} {
			for attempt := 0; ; attempt++ {
				a := nav(base + path)
				a.Attempt = attempt
				d := g.Admit(t.Context(), a)
				s := step{path: path, attempt: attempt, at: time.Since(start).Seconds()}
				if !d.Allowed() {
					s.reason = d.Refusal.Reason
					got = append(got, s)
					break
				}
				var h http.Header
				s.status, h = server(path)
				got = append(got, s)
				retry := g.Settle(d.ID, Outcome{Status: s.status, Header: h})
				if !retry.OK {
					break
				}
				time.Sleep(retry.After)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d steps, want %d: %+v", len(got), len(want), got)
		}
		for i, w := range want {
			s := got[i]
			if diff := s.at - w.at; diff < -0.001 || diff > 0.001 {
				t.Errorf("%s attempt %d: at %.3f s, want %.3f", s.path, s.attempt, s.at, w.at)
			}
			s.at = w.at
			if s != w {
				t.Errorf("step %d: %+v, want %+v", i, s, w)
			}
		}

		navigations, fetches := 0, 0
		for _, ev := range m.sent() {
			if ev.Cause == robotsCause {
				fetches++
			} else {
				navigations++
			}
		}
		if navigations != 8 || fetches != 1 {
			t.Errorf("the log has %d navigations and %d robots.txt fetches sent, want 8 and 1", navigations, fetches)
		}
		last := m.all()[len(m.all())-1]
		if last.Sent || last.Reason != DailyCap || last.Attempt != 1 {
			t.Errorf("last line: %+v", last)
		}
	})
}
