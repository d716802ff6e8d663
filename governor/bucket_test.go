package governor

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// The invariant that spares a site: in any window of length t no more than
// burst + rate*t actions leave, whatever is let through, given back, cancelled,
// or put to another pace. Refunded actions did not leave.
func TestBucketNeverLetsMoreThrough(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		rate := []float64{0.01, 0.2, 1, 10, 333}[r.IntN(5)]
		burst := 1 + r.IntN(6)
		var b bucket
		b.open(Bucket{Rate: RateLimit(rate), Burst: burst})
		now := tick(1_800_000_000e9)
		type taken struct {
			at         tick
			back, kept bool
		}
		var all []taken
		out := int32(0)
		for range 300 {
			now = now.after(r.ExpFloat64() / rate * []float64{0.05, 0.5, 3}[r.IntN(3)])
			switch r.IntN(4) {
			case 0, 1, 2:
				for range 1 + r.IntN(4) {
					if enough(b.level(now)) {
						b.take(now, out)
						out++
						all = append(all, taken{at: now})
					}
				}
			case 3:
				if n := len(all); n > 0 {
					if x := &all[n-1-r.IntN(min(n, 4))]; !x.back && !x.kept {
						x.back = true
						b.refund(now, x.at, out)
						out--
					}
				}
			}
			if n := len(all); n > 0 && r.IntN(3) == 0 {
				if x := &all[r.IntN(n)]; !x.back && !x.kept {
					x.kept = true
					out--
				}
			}
			if b.level(now) > b.burst() {
				t.Fatalf("seed %d: level %g of %d", seed, b.level(now), burst)
			}
		}
		var left []tick
		for _, x := range all {
			if !x.back {
				left = append(left, x.at)
			}
		}
		for i := range left {
			for j := i; j < len(left); j++ {
				n, most := float64(j-i+1), float64(burst)+rate*left[j].seconds(left[i])
				if n > most+0.01 {
					t.Fatalf("seed %d: rate %g burst %d: %g actions in %v, at most %g", seed, rate, burst, n, left[j].sub(left[i]), most)
				}
			}
		}
	}
}

func TestRefundIsExact(t *testing.T) {
	var b bucket
	b.open(Bucket{Rate: 0.2, Burst: 5})
	now := tick(1_800_000_000e9)
	for range 4 {
		b.take(now, 0) // settled at once
	}
	b.take(now, 0)
	b.refund(now, now, 1)
	if got := b.level(now); got != 1 {
		t.Errorf("level %g after five taken and one given back at once, want 1", got)
	}
	// Never near full in between: the whole token comes back, later too.
	at := now
	now++
	b.take(now, 0)
	now = now.after(5)
	b.refund(now, at+1, 1)
	if got := b.level(now); got < 1.99 || got > 2.01 {
		t.Errorf("level %g, want 2", got)
	}
}

func TestClockBackwardsMintsNothing(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	g, _ := open(t, plainPolicy(), func(c *Config) { c.Now = func() time.Time { return now } })
	a := nav("http://a.example/")
	a.Hold = time.Millisecond
	allow(t, g, a)
	allow(t, g, a)
	for range 20 {
		now = now.Add(-10 * time.Second)
		refused(t, g, a, Rate)
		g.Settle("a1", Outcome{Status: 200, Credit: false})
	}
	now = now.Add(200 * time.Second)
	refused(t, g, a, Rate)
	now = now.Add(5 * time.Second)
	allow(t, g, a)
	refused(t, g, a, Rate)
}

// A wait ends by the timer though the clock that was configured stands still.
func TestStandingClockEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
		g, _ := open(t, plainPolicy(), func(c *Config) { c.Now = func() time.Time { return now } })
		a := nav("http://a.example/")
		a.Hold = 7 * time.Second
		allow(t, g, a)
		allow(t, g, a)
		start := time.Now()
		refused(t, g, a, Rate)
		if d := time.Since(start); d < 5*time.Second || d > 11*time.Second {
			t.Errorf("ended after %v", d)
		}
	})
}

// The same invariant through the whole Governor, with jitter, cool-downs and
// actions that are given up.
func TestGovernorKeepsTheSafeBurst(t *testing.T) {
	for seed := range uint64(15) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			p := plainPolicy()
			p.Interactions = Bucket{Rate: RateLimit(0.1 + r.Float64()), Burst: 1 + r.IntN(4)}
			p.Jitter = Jitter{0, time.Duration(r.IntN(2000)) * time.Millisecond}
			p.MaxQueue = 5
			g, m := open(t, p, func(c *Config) { c.Rand = rand.New(rand.NewPCG(seed, 3)).Float64 })
			for range 60 {
				a := nav("http://a.example/")
				a.Hold = time.Duration(r.IntN(20)) * time.Second
				go func(quick bool, status int, credit bool) {
					ctx := t.Context()
					d := g.Admit(ctx, a)
					if d.Allowed() && !quick {
						g.Settle(d.ID, Outcome{Status: status, Credit: credit})
					}
				}(r.IntN(3) > 0, []int{200, 200, 429}[r.IntN(3)], false)
				time.Sleep(time.Duration(r.ExpFloat64() * 1.5 * float64(time.Second)))
			}
			time.Sleep(time.Minute)
			evs := m.sent()
			for i := range evs {
				for j := i; j < len(evs); j++ {
					span := evs[j].Time.Sub(evs[i].Time)
					if n, most := float64(j-i+1), float64(p.Interactions.Burst)+float64(p.Interactions.Rate)*span.Seconds(); n > most+0.01 {
						t.Fatalf("seed %d: %g actions in %v, at most %g", seed, n, span, most)
					}
				}
			}
			if len(evs) < 10 {
				t.Errorf("seed %d: only %d actions were let through", seed, len(evs))
			}
		})
	}
}
