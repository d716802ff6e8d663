package governor

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor/robots"
)

// inOrder admits each action on its own goroutine, a millisecond apart, and
// returns the times of release since the first was asked for; -1 for a refusal.
func inOrder(t *testing.T, g *Governor, as ...actions.Action) (at []time.Duration, ds []Decision) {
	at, ds = make([]time.Duration, len(as)), make([]Decision, len(as))
	start := time.Now()
	done := make(chan struct{})
	for i, a := range as {
		go func() {
			ds[i] = g.Admit(t.Context(), a)
			at[i] = time.Since(start)
			if !ds[i].Allowed() {
				at[i] = -1
			}
			done <- struct{}{}
		}()
		synctest.Wait()
		time.Sleep(time.Millisecond)
	}
	for range as {
		<-done
	}
	return at, ds
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy()) // 12 a minute, burst 2
		var as []actions.Action
		for i := range 8 {
			as = append(as, nav(fmt.Sprintf("http://a.example/%d", i)))
		}
		at, _ := inOrder(t, g, as...)
		for i := range at {
			want := time.Duration(max(0, i-1)) * 5 * time.Second
			if i == 1 {
				want = time.Millisecond
			}
			if d := at[i] - want; d < -2*time.Millisecond || d > 2*time.Millisecond {
				t.Errorf("action %d released at %v, want %v", i, at[i], want)
			}
		}
	})
}

func TestJitterComesOnTopOfTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Interactions = Bucket{Rate: 1, Burst: 1}
		p.Jitter = Jitter{500 * time.Millisecond, 2 * time.Second}
		draws := []float64{0.9, 0, 0.5, 0, 0.99, 0}
		i := 0
		g, _ := open(t, p, func(c *Config) {
			c.Rand = func() float64 { i++; return draws[(i-1)%len(draws)] }
		})
		last := time.Now()
		for n := range 12 {
			allow(t, g, nav("http://a.example/"))
			gap := time.Since(last)
			if n > 0 && gap < 1500*time.Millisecond-time.Microsecond {
				t.Errorf("release %d came %v after the one before: less than the bucket's second and the least jitter", n, gap)
			}
			if gap > 3*time.Second {
				t.Errorf("release %d came %v after the one before: more than bucket and jitter", n, gap)
			}
			last = time.Now()
		}
	})
}

func TestWhoWillWaitTooLongIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy())
		a := nav("http://a.example/")
		a.Hold = 0 // the policy's 8 s
		allow(t, g, a)
		allow(t, g, a)
		go g.Admit(t.Context(), a) // waits 5 s
		synctest.Wait()
		start := time.Now()
		r := refused(t, g, a, Rate) // would wait 10 s
		near(t, "time until the refusal", time.Since(start), 0)
		near(t, "retry after", r.RetryAfter, 10*time.Second)
		if !r.Retryable {
			t.Error("not retryable")
		}
		for _, client := range []string{"playwright", "puppeteer", "browser-use"} {
			b := a
			b.Client = client
			if d := g.Check(t.Context(), b); !d.Allowed() || d.Waited != 10*time.Second {
				t.Errorf("%s, who waits 25 s: %+v", client, d)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		defer cancel()
		if d := g.Admit(ctx, nav("http://a.example/")); d.Allowed() || d.Refusal.Reason != Rate {
			t.Errorf("a context that ends before the turn comes: %+v", d)
		}
		near(t, "time until both refusals", time.Since(start), 0)
		time.Sleep(6 * time.Second)
	})
}

func TestLeavingTheQueueCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, m := open(t, plainPolicy())
		allow(t, g, nav("http://a.example/"))
		allow(t, g, nav("http://a.example/"))
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan Decision)
		go func() { gone <- g.Admit(ctx, nav("http://a.example/gone")) }()
		synctest.Wait()
		next := make(chan time.Duration)
		go func() {
			g.Admit(t.Context(), nav("http://a.example/next"))
			next <- time.Since(start)
		}()
		synctest.Wait()
		time.Sleep(3 * time.Second)
		cancel()
		d := <-gone
		if d.Allowed() || d.Refusal.Reason != Abandoned || d.Waited != 3*time.Second {
			t.Errorf("cancelled: %+v", d)
		}
		near(t, "the next in line is released at", <-next, 5*time.Second)
		if got := g.Status().Interactions; got != 3 {
			t.Errorf("%d interactions counted, want 3", got)
		}
		for _, ev := range m.all() {
			if ev.URL == "http://a.example/gone" && (ev.Sent || ev.Reason != Abandoned) {
				t.Errorf("logged as %+v", ev)
			}
		}
		if g.Status().Waiting != 0 {
			t.Error("somebody still waits")
		}
	})
}

func TestCancelledBeforeItBegins(t *testing.T) {
	g, _ := open(t, plainPolicy())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := g.Admit(ctx, nav("http://a.example/")); d.Allowed() || d.Refusal.Reason != Abandoned {
		t.Errorf("%+v", d)
	}
}

// A new crawl-delay counts for everybody who waits: those who can bear it go at
// the new pace, the others are told at once.
func TestNewPaceRepricesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Robots.Mode = RobotsStrict
		p.Interactions = Bucket{Rate: 1, Burst: 1}
		g, _ := open(t, p)
		rules := fixedRules{"http://a.example/slow": {Allow: true, HasDelay: true, Delay: 10 * time.Second}}
		g.robots = rules
		allow(t, g, nav("http://a.example/"))
		start := time.Now()
		type answer struct {
			at time.Duration
			d  Decision
		}
		ask := func(a actions.Action) chan answer {
			c := make(chan answer, 1)
			go func() {
				d := g.Admit(t.Context(), a)
				c <- answer{time.Since(start), d}
			}()
			synctest.Wait()
			return c
		}
		short := nav("http://a.example/1")
		short.Hold = 8 * time.Second
		first, second := ask(nav("http://a.example/0")), ask(short) // at 1 s and 2 s
		rules["http://a.example/0"] = rules["http://a.example/slow"]
		slow := ask(nav("http://a.example/slow"))
		a := <-second
		if a.d.Allowed() || a.d.Refusal.Reason != Rate {
			t.Errorf("cannot wait 20 s: %+v", a.d)
		}
		near(t, "it is told at", a.at, 0)
		near(t, "first", (<-first).at, 10*time.Second)
		near(t, "third", (<-slow).at, 20*time.Second)
	})
}

func TestCrawlDelayNeverRaisesThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Robots.Mode = RobotsStrict
		g, _ := open(t, p)
		g.robots = fixedRules{"http://a.example/": {Allow: true, HasDelay: true, Delay: 100 * time.Millisecond}}
		start := time.Now()
		for range 3 {
			allow(t, g, nav("http://a.example/"))
		}
		near(t, "third navigation", time.Since(start), 10*time.Second)
		g.robots = fixedRules{"http://b.example/": {Allow: true, HasDelay: true, Delay: 61 * time.Second}}
		r := refused(t, g, nav("http://b.example/"), CrawlDelayTooLong)
		if r.Retryable {
			t.Error("retryable")
		}
		g.robots = fixedRules{"http://a.example/": robots.Verdict{Allow: true}}
		allow(t, g, nav("http://a.example/"))
		time.Sleep(time.Minute)
		start = time.Now()
		allow(t, g, nav("http://a.example/"))
		allow(t, g, nav("http://a.example/"))
		near(t, "without the delay the burst is back", time.Since(start), 0)
	})
}

func TestClicksGoAheadAndLeaveADebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := open(t, plainPolicy())
		start := time.Now()
		var at []time.Duration
		for range 6 {
			allow(t, g, click("http://a.example/"))
			at = append(at, time.Since(start))
		}
		// Two of the burst; then each is held 2.5 s and let through.
		for i, want := range []float64{0, 0, 2.5, 5, 7.5, 10} {
			near(t, fmt.Sprint("click ", i), at[i], time.Duration(want*float64(time.Second)))
		}
		// Six taken in 10 s at 0.2 a second of two: two owed, fifteen seconds to the next.
		a := nav("http://a.example/")
		a.Hold = 0
		near(t, "the navigation is told to wait", refused(t, g, a, Rate).RetryAfter, 15*time.Second)
		a.Hold = -1
		allow(t, g, a)
		near(t, "the navigation pays", time.Since(start), 25*time.Second)
	})
}

func TestQueueFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.MaxQueue = 3
		g, _ := open(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		for range 5 {
			go g.Admit(ctx, nav("http://a.example/"))
		}
		synctest.Wait()
		r := refused(t, g, nav("http://a.example/"), QueueFull)
		near(t, "retry after", r.RetryAfter, 20*time.Second)
		allow(t, g, click("http://a.example/"))
		allow(t, g, nav("http://b.example/"))
		s := g.Status()
		if s.Waiting != 3 || s.Hosts[0].Waiting != 3 {
			t.Errorf("status: %+v", s)
		}
		cancel()
		synctest.Wait()
	})
}

func TestPauseReachesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, host := range []string{"", "a.example", "http://A.example/x"} {
			g, _ := open(t, plainPolicy())
			allow(t, g, nav("http://a.example/"))
			allow(t, g, nav("http://a.example/"))
			c := make(chan Decision)
			go func() { c <- g.Admit(t.Context(), nav("http://a.example/")) }()
			synctest.Wait()
			g.Pause(host)
			if d := <-c; d.Allowed() || d.Refusal.Reason != Paused {
				t.Errorf("%q: %+v", host, d)
			}
			refused(t, g, sub("http://a.example/i.png"), Paused)
			if host != "" {
				allow(t, g, nav("http://b.example/"))
			}
			g.Resume(host)
			allow(t, g, nav("http://a.example/"))
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
			refused(t, g, nav("http://c.example/"), Paused)
		}
	})
}

// A process that was stopped, or a computer that slept, finds what it held past
// its time: nobody waits for it any more, and it must not happen as a ghost.
func TestHeldPastItsTime(t *testing.T) {
	for _, a := range []actions.Action{nav("http://a.example/"), click("http://a.example/")} {
		for _, c := range []struct {
			slept time.Duration
			want  Reason // "": released
		}{{0, ""}, {time.Minute, Rate}} {
			synctest.Test(t, func(t *testing.T) {
				p := plainPolicy()
				p.Interactions = Bucket{Rate: 0.25, Burst: 1}
				var slept atomic.Int64
				g, _ := open(t, p, func(c *Config) {
					c.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				})
				allow(t, g, a)
				a.Hold = 5 * time.Second
				got := make(chan Decision)
				go func() { got <- g.Admit(t.Context(), a) }()
				time.Sleep(time.Second)
				slept.Store(int64(c.slept))
				d := <-got
				if c.want == "" {
					if !d.Allowed() {
						t.Errorf("%s: %v", a.Kind, d.Refusal.Sentence)
					}
				} else if d.Allowed() || d.Refusal.Reason != c.want {
					t.Errorf("%s, after a sleep of %v: %+v", a.Kind, c.slept, d)
				}
			})
		}
	}
}
