package governor

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// again is a Governor after a crash: a new one from the log of the old.
func again(t *testing.T, p Policy, m *memory) *Governor {
	t.Helper()
	g, err := New(Config{Policy: p, Recorder: m, Rand: half})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Restore(m.replay); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCrashLoopGainsNoBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Caps.Interactions = 8
		m := new(memory)
		start := time.Now()
		for i := range 8 {
			g := again(t, p, m)
			allow(t, g, nav("http://a.example/"))
			near(t, "release", time.Since(start), time.Duration(max(0, i-1))*5*time.Second)
		}
		g := again(t, p, m)
		refused(t, g, nav("http://a.example/"), DailyCap)
		refused(t, g, click("http://b.example/"), DailyCap)
		if d := allow(t, g, sub("http://b.example/i")); d.ID != "a11" {
			t.Errorf("the next action is %s, want a11", d.ID)
		}
	})
}

func TestRestoreKeepsCoolDowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		m := new(memory)
		g := again(t, p, m)
		d := allow(t, g, nav("http://a.example/"))
		g.Settle(d.ID, Outcome{Status: 429, Header: http.Header{"Retry-After": {"300"}}})
		time.Sleep(100 * time.Second)
		g = again(t, p, m)
		a := nav("http://a.example/")
		a.Hold = time.Second
		near(t, "retry after", refused(t, g, a, RetryAfter).RetryAfter, 200*time.Second)
		time.Sleep(200 * time.Second)
		// Closed for five minutes, the bucket has not filled up to its burst.
		for _, g := range []*Governor{g, again(t, p, m)} {
			if l := g.Status().Hosts[0].Level; l > 1.01 {
				t.Errorf("level %g when the host opens, want 1", l)
			}
		}
	})
}

func TestRestoreGivesCreditsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		m := new(memory)
		g := again(t, p, m)
		for range 2 {
			d := allow(t, g, sub("http://a.example/i"))
			g.Settle(d.ID, Outcome{Status: 200, FromCache: true})
			g.Settle(d.ID, Outcome{Status: 200, FromCache: true}) // once only
		}
		d := allow(t, g, nav("http://a.example/"))
		g.Settle(d.ID, Outcome{Credit: true})
		allow(t, g, nav("http://a.example/"))
		for i, g := range []*Governor{g, again(t, p, m)} {
			s := g.Status()
			if s.Total != 1 || s.Interactions != 1 || s.Hosts[0].Level < 0.99 {
				t.Errorf("%d: %d interactions, %d in all, level %g; want 1, 1, 1", i, s.Interactions, s.Total, s.Hosts[0].Level)
			}
		}
	})
}

func TestRestoreKeepsChallengesUntilResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		m := new(memory)
		g := again(t, p, m)
		d := allow(t, g, nav("http://a.example/"))
		if r := g.Settle(d.ID, Outcome{Status: 503, Header: http.Header{"Cf-Mitigated": {"challenge"}}}); r.OK {
			t.Error("a challenge is not tried again")
		}
		for range 2 {
			if r := refused(t, g, nav("http://a.example/"), Challenge); r.Retryable {
				t.Error("retryable")
			}
			g = again(t, p, m)
		}
		g.Resume("a.example")
		allow(t, g, nav("http://a.example/"))
		allow(t, again(t, p, m), nav("http://a.example/"))
	})
}

func TestRestoreCountsOnlyToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // starts 2000-01-01 00:00 UTC
		p := plainPolicy()
		m := new(memory)
		g := again(t, p, m)
		for range 3 {
			allow(t, g, nav("http://a.example/"))
		}
		time.Sleep(24*time.Hour - 4*time.Second)
		allow(t, g, nav("http://a.example/"))
		time.Sleep(2 * time.Second)
		s := again(t, p, m).Status()
		if s.Interactions != 1 || s.Day != "2000-01-02" {
			t.Errorf("%d on %s, want 1 on 2000-01-02", s.Interactions, s.Day)
		}
	})
}

func TestRestoreReportsABrokenLog(t *testing.T) {
	g, _ := open(t, plainPolicy())
	bad := errors.New("line 7: no JSON")
	err := g.Restore(func(yield func(Event, error) bool) { yield(Event{}, bad) })
	if !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
	allow(t, g, nav("http://a.example/"))
	if err := g.Restore(new(memory).replay); err == nil {
		t.Error("a Restore after the first action is not refused")
	}
}
