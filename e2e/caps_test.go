package e2e

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"browsergovernor/governor"
)

// TestCapSurvivesRestart: the budget of the day is rebuilt from the log.
func TestCapSurvivesRestart(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Caps.Interactions = 3
	w := newWorld(t, s, p)
	ctx := w.tab()
	for _, path := range []string{"/1", "/2"} {
		if r := visit(t, ctx, "http://a.test"+path); r != nil {
			t.Fatal(r)
		}
	}
	chromedp.Cancel(ctx)
	w.close()
	w.open(p)
	ctx = w.tab()
	if r := visit(t, ctx, "http://a.test/3"); r != nil {
		t.Fatal(r)
	}
	r := visit(t, ctx, "http://a.test/4")
	if r == nil || r.Reason != governor.DailyCap {
		t.Fatalf("the fourth of three: %+v", r)
	}
	if n := len(s.received()); n != 3 {
		t.Errorf("the server received %d pages, the cap is 3", n)
	}
	w.agree()
}

// TestCountedOnce: what asks no server costs nothing, whatever it looks like.
func TestCountedOnce(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html(`<a id=hash href=#x>h</a><img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><iframe src=/frame></iframe>
			<script>history.pushState(0, "", "/pushed")</script>`),
		"/cached.js": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=3600")
			script("1")(w, r)
		},
	})
	w := newWorld(t, s, testPolicy())
	ctx := w.tab()
	visit(t, ctx, "http://a.test/")
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.ID("hash")), chromedp.Navigate("http://a.test/pushed#y")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		evaluate[string](t, ctx, `fetch("/cached.js").then(r => r.text())`)
	}
	if n := s.count("/cached.js"); n != 1 {
		t.Fatalf("/cached.js was asked for %d times: nothing was cached, the test proves nothing", n)
	}
	waitFor(t, "two cached answers to be credited", func() bool {
		n := 0
		for _, ev := range w.events() {
			if ev.Type == governor.EventOutcome && ev.Credited && ev.FromCache {
				n++
			}
		}
		return n == 2
	})
	w.agree()
}
