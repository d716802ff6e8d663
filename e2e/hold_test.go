package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// TestHolds: what can wait waits, in order; what would wait too long is refused
// at once, with the time.
func TestHolds(t *testing.T) {
	for _, client := range drivers {
		t.Run(client, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{
				"/": html(`<button id=b onclick="document.title = 'clicked ' + event.detail">b</button>`),
			})
			p := testPolicy()
			p.Interactions = governor.Bucket{Rate: 1, Burst: 1}
			p.Hosts = []governor.HostRule{{Match: "slow.test", Interactions: &governor.Bucket{Rate: 1.0 / 60, Burst: 1}}}
			w := newWorld(t, s, p)
			got := drive(t, client, w.endpoint(),
				step{"do": "goto", "url": "http://a.test/"},
				step{"do": "click", "selector": "#b"},
				step{"do": "goto", "url": "http://a.test/2"},
				step{"do": "goto", "url": "http://slow.test/1"},
				step{"do": "goto", "url": "http://slow.test/2"},
			)
			allOK(t, got[:5])
			if got[2].Title != "clicked 1" {
				t.Errorf("after the held click the title is %q: press and release came in the wrong order", got[2].Title)
			}
			last := got[5]
			if last.OK || !strings.Contains(last.Error, "retry after") || last.MS > 2000 {
				t.Errorf("a navigation a minute too early: ok %v after %v ms, %q", last.OK, last.MS, last.Error)
			}
			kinds := map[actions.Kind]int{}
			var page time.Time
			for _, ev := range w.events() {
				if ev.Type != governor.EventAction || !ev.Sent {
					continue
				}
				kinds[ev.Kind]++
				if ev.Kind == actions.Navigation && page.IsZero() {
					page = ev.Time
				}
				if ev.Kind == actions.Click && ev.Time.Sub(page) < 990*time.Millisecond {
					t.Errorf("the click came %v after the page; one interaction a second was allowed", ev.Time.Sub(page))
				}
			}
			if kinds[actions.Click] != 1 || kinds[actions.Navigation] != 3 {
				t.Errorf("counted %v; want 1 click and 3 navigations", kinds)
			}
			w.agree()
		})
	}
}

// TestClickDebt: a click that would have to wait longer than its client bears
// passes, and the next navigation pays for it.
func TestClickDebt(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html(`<button id=b onclick="document.title = 'clicked'">b</button>`),
	})
	p := testPolicy()
	p.Interactions = governor.Bucket{Rate: 0.25, Burst: 1} // one in 4 s
	p.Hold.Click = 200 * time.Millisecond
	w := newWorld(t, s, p)
	got := drive(t, "playwright", w.endpoint(),
		step{"do": "goto", "url": "http://a.test/"},
		step{"do": "click", "selector": "#b"},
		step{"do": "goto", "url": "http://a.test/2"},
	)
	allOK(t, got)
	if got[2].Title != "clicked" || got[2].MS > 2500 {
		t.Errorf("the click: title %q after %v ms", got[2].Title, got[2].MS)
	}
	hits := s.received()
	if len(hits) != 2 {
		t.Fatalf("received %v", hits)
	}
	// Two tokens are owed when the second page is asked for, its own and the click's:
	// 8 s, and 4 s without the debt.
	if gap := hits[1].at.Sub(hits[0].at); gap < 7*time.Second {
		t.Errorf("the second page came %v after the first; the click's debt was not paid", gap)
	}
	w.agree()
}
