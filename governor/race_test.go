package governor

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Sixty-four at once: the caps hold to the last action, whatever is given back,
// fails to be logged, is paused or looked at meanwhile.
func TestCapsAreExact(t *testing.T) {
	p := plainPolicy()
	p.Interactions = Bucket{Rate: 1e6, Burst: 1e6}
	p.Subresources = p.Interactions
	p.Caps = Caps{Interactions: 500, Total: 900, HostInteractions: 200}
	g, m := open(t, p)
	var navs, subs [4]atomic.Int32
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for n := range 100 {
				host := (i + n) % 4
				a := nav(fmt.Sprintf("http://h%d.example/", host))
				count := &navs[host]
				if i%4 == 3 {
					a = sub(a.URL)
					count = &subs[host]
				}
				d := g.Admit(t.Context(), a)
				if !d.Allowed() {
					continue
				}
				switch n % 5 {
				case 0:
					g.Settle(d.ID, Outcome{Credit: true})
				case 1:
					g.Settle(d.ID, Outcome{Status: 200})
					fallthrough
				default:
					count.Add(1)
				}
				if n == 50 {
					g.Status()
					g.Check(t.Context(), a)
				}
			}
		})
	}
	wg.Wait()
	all, interactions := 0, 0
	for h := range navs {
		n := int(navs[h].Load())
		if n > 200 {
			t.Errorf("host %d: %d interactions, cap 200", h, n)
		}
		interactions += n
		all += n + int(subs[h].Load())
	}
	s := g.Status()
	if s.Interactions != interactions || s.Total != all {
		t.Errorf("status says %d of %d, the askers %d of %d", s.Interactions, s.Total, interactions, all)
	}
	if interactions > 500 || all > 900 || all < 880 {
		t.Errorf("%d interactions, %d in all; caps are 500 and 900", interactions, all)
	}
	if got := again(t, p, m).Status(); got.Interactions != interactions || got.Total != all {
		t.Errorf("restored %d of %d, want %d of %d", got.Interactions, got.Total, interactions, all)
	}
	ids := map[string]bool{}
	for _, ev := range m.all() {
		if ev.Type == EventAction {
			if ids[ev.ID] {
				t.Fatalf("%s twice", ev.ID)
			}
			ids[ev.ID] = true
		}
	}
}

// The cap is reached while others wait in line.
func TestCapIsExactForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Caps.Interactions = 7
		p.MaxQueue = 100
		g, m := open(t, p)
		var allowed, capped atomic.Int32
		for range 64 {
			go func() {
				if d := g.Admit(t.Context(), nav("http://a.example/")); d.Allowed() {
					allowed.Add(1)
				} else if d.Refusal.Reason == DailyCap {
					capped.Add(1)
				}
			}()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if allowed.Load() != 7 || capped.Load() != 57 || len(m.sent()) != 7 {
			t.Errorf("%d allowed, %d capped, %d logged; want 7, 57, 7", allowed.Load(), capped.Load(), len(m.sent()))
		}
	})
}
