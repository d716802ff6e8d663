package governor

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"browsergovernor/actions"
)

func TestRetryAfterForms(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	const date = "Mon, 30 Nov 2026 11:00:00 GMT" // an hour slow
	for _, c := range []struct {
		values []string
		date   string
		want   time.Duration
		ok     bool
	}{
		{[]string{"2"}, "", 2 * time.Second, true},
		{[]string{" 120 "}, "", 2 * time.Minute, true},
		{[]string{"0"}, "", 0, true},
		{[]string{"2.5"}, "", 2500 * time.Millisecond, true},
		{[]string{"99999999999999999999"}, "", maxRetryAfter, true},
		{[]string{"Mon, 30 Nov 2026 12:00:30 GMT"}, "", 30 * time.Second, true},
		{[]string{"Monday, 30-Nov-26 12:00:30 GMT"}, "", 30 * time.Second, true},
		{[]string{"Mon Nov 30 12:00:30 2026"}, "", 30 * time.Second, true},
		{[]string{"Mon, 30 Nov 2026 11:00:30 GMT"}, date, 30 * time.Second, true},
		{[]string{"Monday, 30-Nov-26 11:00:30 GMT"}, date, 30 * time.Second, true},
		{[]string{"Mon Nov 30 11:00:30 2026"}, date, 30 * time.Second, true},
		{[]string{"Mon, 30 Nov 2026 11:00:30 GMT"}, "yesterday", 0, true}, // past
		{[]string{"Fri, 31 Dec 9999 23:59:59 GMT"}, "", maxRetryAfter, true},
		{[]string{"1", "30", "x"}, "", 30 * time.Second, true},
		{[]string{""}, "", 0, false},
		{[]string{"-5"}, "", 0, false},
		{[]string{"1e3"}, "", 0, false},
		{[]string{"1.2.3"}, "", 0, false},
		{[]string{"."}, "", 0, false},
		{[]string{"soon"}, "", 0, false},
		{nil, "", 0, false},
	} {
		h := http.Header{"Retry-After": c.values}
		if c.date != "" {
			h.Set("Date", c.date)
		}
		if got, ok := retryAfter(h, now); got != c.want || ok != c.ok {
			t.Errorf("%q with Date %q: %v, %t; want %v, %t", c.values, c.date, got, ok, c.want, c.ok)
		}
	}
}

func TestNothingIsSentBeforeRetryAfterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Interactions = Bucket{Rate: 10, Burst: 5}
		g, m := open(t, p)
		d := allow(t, g, nav("http://a.example/"))
		r := g.Settle(d.ID, Outcome{Status: 429, Header: http.Header{"Retry-After": {"7"}}})
		if !r.OK || r.After != 7*time.Second {
			t.Errorf("retry: %+v", r)
		}
		start := time.Now()
		hurried := nav("http://a.example/")
		hurried.Hold = 3 * time.Second
		near(t, "told to wait", refused(t, g, hurried, RetryAfter).RetryAfter, 7*time.Second)
		s := sub("http://a.example/i")
		s.Hold = time.Second
		refused(t, g, s, RetryAfter)
		allow(t, g, click("http://a.example/")) // what it causes is judged
		allow(t, g, nav("http://b.example/"))   // another host
		near(t, "so far", time.Since(start), 0)
		for range 3 {
			go g.Admit(t.Context(), nav("http://a.example/"))
		}
		time.Sleep(time.Minute)
		evs := m.sent()
		for i, ev := range evs[3:] {
			// One at the end, the others at the bucket's pace: the burst that
			// gathered while the host was closed is gone.
			near(t, ev.ID, ev.Time.Sub(start), 7*time.Second+time.Duration(i)*100*time.Millisecond)
		}
		if len(evs) != 6 {
			t.Errorf("%d sent, want 6", len(evs))
		}
	})
}

// A cool-down that comes while others wait is longer than some can bear.
func TestCoolDownReachesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy())
		d := allow(t, g, nav("http://a.example/"))
		allow(t, g, nav("http://a.example/"))
		c := make(chan Decision)
		a := nav("http://a.example/")
		a.Hold = 8 * time.Second
		go func() { c <- g.Admit(t.Context(), a) }()
		synctest.Wait()
		g.Settle(d.ID, Outcome{Status: 503, Header: http.Header{"Retry-After": {"60"}}})
		if d := <-c; d.Allowed() || d.Refusal.Reason != RetryAfter || d.Refusal.RetryAfter != time.Minute {
			t.Errorf("%+v", d.Refusal)
		}
	})
}

func TestRetryAdvice(t *testing.T) {
	for _, c := range []struct {
		name    string
		a       actions.Action
		attempt int
		o       Outcome
		ok      bool
		after   time.Duration
		closed  time.Duration
	}{
		{"429, 2 s", nav(""), 0, Outcome{Status: 429, Header: http.Header{"Retry-After": {"2"}}}, true, 2 * time.Second, 2 * time.Second},
		{"503, none", nav(""), 0, Outcome{Status: 503}, true, 2 * time.Second, 2 * time.Second},
		{"second try", nav(""), 1, Outcome{Status: 503}, true, 4 * time.Second, 4 * time.Second},
		{"fourth try", nav(""), 3, Outcome{Status: 503}, true, 16 * time.Second, 16 * time.Second},
		{"last try", nav(""), 4, Outcome{Status: 503}, false, 0, 32 * time.Second},
		{"backoff has an end", nav(""), 12, Outcome{Status: 503}, false, 0, 2 * time.Minute},
		{"longer than the longest", nav(""), 0, Outcome{Status: 429, Header: http.Header{"Retry-After": {"121"}}}, false, 0, 121 * time.Second},
		{"0 is no invitation", nav(""), 0, Outcome{Status: 429, Header: http.Header{"Retry-After": {"0"}}}, true, 2 * time.Second, 2 * time.Second},
		{"POST", actions.Action{Kind: actions.Navigation, Method: "POST", Hold: -1}, 0, Outcome{Status: 503}, false, 0, 2 * time.Second},
		{"HEAD", actions.Action{Kind: actions.Navigation, Method: "HEAD", Hold: -1}, 0, Outcome{Status: 503}, true, 2 * time.Second, 2 * time.Second},
		{"200", nav(""), 0, Outcome{Status: 200}, false, 0, 0},
		{"403", nav(""), 0, Outcome{Status: 403}, false, 0, 0},
		{"403 that asks to wait", nav(""), 0, Outcome{Status: 403, Header: http.Header{"Retry-After": {"60"}}}, false, 0, time.Minute},
		{"redirect", nav(""), 0, Outcome{Status: 302, Header: http.Header{"Retry-After": {"60"}}}, false, 0, 0},
		{"no answer", nav(""), 0, Outcome{Err: "reset"}, false, 0, 0},
		{"sub-resource, 5 s", sub(""), 0, Outcome{Status: 429, Header: http.Header{"Retry-After": {"5"}}}, false, 0, 5 * time.Second},
		{"sub-resource, none", sub(""), 0, Outcome{Status: 429}, false, 0, 0},
		{"a cached 503 says nothing", nav(""), 0, Outcome{Status: 503, FromCache: true}, false, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, m := open(t, plainPolicy())
			c.a.URL, c.a.Attempt = "http://a.example/", c.attempt
			d := allow(t, g, c.a)
			if r := g.Settle(d.ID, c.o); r.OK != c.ok || r.After != c.after {
				t.Errorf("%s: %+v, want %t after %v", c.name, r, c.ok, c.after)
			}
			s := g.Status()
			closed := time.Duration(0)
			for _, h := range s.Hosts {
				if h.ClosedUntil != nil {
					closed = time.Until(*h.ClosedUntil)
				}
			}
			if closed != c.closed {
				t.Errorf("%s: closed for %v, want %v", c.name, closed, c.closed)
			}
			ev := m.all()[1]
			if ev.Type != EventOutcome || ev.ID != d.ID || ev.Status != c.o.Status || ev.HoldUntil.IsZero() != (c.closed == 0) {
				t.Errorf("%s: logged as %+v", c.name, ev)
			}
			if g.Settle(d.ID, c.o) != (Retry{}) || len(m.all()) != 2 {
				t.Errorf("%s: settled twice", c.name)
			}
		})
	}
}

func TestSubresourcesCloseTheHostOnlyTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy())
		for _, status := range []int{429, 503, 200, 429, 429} {
			g.Settle(allow(t, g, sub("http://a.example/i")).ID, Outcome{Status: status})
		}
		if h := g.Status().Hosts[0]; h.ClosedUntil != nil {
			t.Fatal("closed after two in a row")
		}
		g.Settle(allow(t, g, sub("http://a.example/i")).ID, Outcome{Status: 429})
		if h := g.Status().Hosts[0]; h.ClosedUntil == nil {
			t.Fatal("open after three in a row")
		}
	})
}

func TestBackoffGrowsWithEachRefusalInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Interactions = Bucket{Rate: 1000, Burst: 1000}
		g, _ := open(t, p)
		// Three under way at once are one episode.
		ids := []string{allow(t, g, nav("http://a.example/1")).ID, allow(t, g, nav("http://a.example/2")).ID, allow(t, g, nav("http://a.example/3")).ID}
		time.Sleep(time.Millisecond)
		for _, id := range ids {
			near(t, id, g.Settle(id, Outcome{Status: 503}).After, 2*time.Second)
		}
		for _, want := range []int{4, 8, 16, 32, 64} {
			d := allow(t, g, nav("http://a.example/x")) // waits for the host
			time.Sleep(time.Millisecond)
			near(t, "next", g.Settle(d.ID, Outcome{Status: 503}).After, time.Duration(want)*time.Second)
		}
		g.Settle(allow(t, g, nav("http://a.example/x")).ID, Outcome{Status: 200})
		near(t, "after a success", g.Settle(allow(t, g, nav("http://a.example/x")).ID, Outcome{Status: 503}).After, 2*time.Second)
	})
}

func TestCreditGivesBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := open(t, plainPolicy())
		d := allow(t, g, nav("http://a.example/"))
		g.Settle(d.ID, Outcome{Credit: true})
		g.Settle(d.ID, Outcome{Credit: true})
		s := g.Status()
		if s.Interactions != 0 || s.Total != 0 || len(s.Hosts) > 0 {
			t.Errorf("%+v", s)
		}
		if evs := m.all(); len(evs) != 2 || !evs[1].Credited || evs[1].FromCache {
			t.Errorf("%+v", evs)
		}
		start := time.Now()
		for range 2 {
			allow(t, g, nav("http://a.example/"))
		}
		near(t, "burst", time.Since(start), 0)
	})
}

func TestUnknownIDsAreIgnored(t *testing.T) {
	g, m := open(t, plainPolicy())
	for _, id := range []string{"", "a", "a0", "a1", "a01", "a+1", "a-1", "b1", "a99999999999999999999999", "robots"} {
		if r := g.Settle(id, Outcome{Status: 429}); r != (Retry{}) {
			t.Errorf("%q: %+v", id, r)
		}
	}
	if len(m.all()) != 0 {
		t.Errorf("logged: %+v", m.all())
	}
}

func TestPendingIsForgottenAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy())
		old := allow(t, g, click("http://a.example/"))
		time.Sleep(5 * time.Minute)
		young := allow(t, g, sub("http://a.example/"))
		if g.Pending() != 2 {
			t.Errorf("%d pending, want 2", g.Pending())
		}
		time.Sleep(5 * time.Minute)
		if g.Pending() != 1 {
			t.Errorf("%d pending, want 1", g.Pending())
		}
		g.Settle(old.ID, Outcome{Credit: true})
		g.Settle(young.ID, Outcome{Credit: true})
		if s := g.Status(); s.Total != 1 || s.Pending != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestFailedLogRefusesAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := open(t, plainPolicy())
		start := time.Now()
		m.breakDown(true)
		for range 5 {
			r := refused(t, g, nav("http://a.example/"), AuditUnavailable)
			if !r.Retryable || r.RetryAfter <= 0 {
				t.Errorf("%+v", r)
			}
		}
		if err := g.Note("start", "text"); err == nil {
			t.Error("a note that was not written is not reported")
		}
		m.breakDown(false)
		s := g.Status()
		if s.Interactions != 0 || s.Total != 0 || s.Pending != 0 || s.Refusals[AuditUnavailable] != 5 {
			t.Errorf("%+v", s)
		}
		allow(t, g, nav("http://a.example/"))
		allow(t, g, nav("http://a.example/"))
		near(t, "the burst is whole", time.Since(start), 0)
	})
}

func TestCheckLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := open(t, plainPolicy())
		a := nav("http://a.example/")
		for range 5 {
			if d := g.Check(context.Background(), a); !d.Allowed() || d.Waited != 0 || d.ID != "" || d.Left.Day != 500 {
				t.Errorf("%+v", d)
			}
		}
		if s := g.Status(); s.KnownHosts != 0 || len(m.all()) != 0 {
			t.Errorf("%+v", s)
		}
		allow(t, g, a)
		allow(t, g, a)
		if d := g.Check(context.Background(), a); d.Waited != 5*time.Second {
			t.Errorf("would wait %v, want 5s", d.Waited)
		}
		a.Hold = time.Second
		if d := g.Check(context.Background(), a); d.Allowed() || d.Refusal.Reason != Rate || d.Refusal.RetryAfter != 5*time.Second {
			t.Errorf("%+v", d)
		}
	})
}
