package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"browsergovernor/governor"
)

// TestRobotsStopsEveryWayToNavigate: a disallowed page is not asked for,
// whatever leads there, and the agent can read why.
func TestRobotsStopsEveryWayToNavigate(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/links": html(`<a id=link href=/private/link>l</a>
			<form id=get action=/private/get><input name=q value=1><button id=getb>g</button></form>
			<form id=post method=post action=/private/post><input name=q value=1><button id=postb>p</button></form>
			<a id=blank target=_blank href=/private/blank>b</a>`),
		"/meta": html(`<meta http-equiv=refresh content="0;url=/private/meta">`),
		"/hop":  redirect("/private/hop", http.StatusFound),
		"/hops": redirect("http://b.test/hop", http.StatusMovedPermanently),
	})
	for _, host := range []string{"a.test", "b.test"} {
		s.setRobots(host, "User-agent: *\nDisallow: /private\n")
	}
	w := newWorld(t, s, testPolicy())
	ctx := w.tab()

	sentence := "refused by browser-governor: "
	t.Run("typed", func(t *testing.T) {
		r := visit(t, ctx, "http://a.test/private/typed")
		if r == nil || r.Reason != governor.RobotsDisallowed {
			t.Fatalf("got %+v", r)
		}
		if !strings.HasPrefix(r.Sentence, sentence) || !strings.Contains(r.Sentence, "do not retry") {
			t.Errorf("sentence: %q", r.Sentence)
		}
	})
	pageShows := func(t *testing.T) {
		t.Helper()
		waitTitle(t, ctx, sentence)
		h1, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("h1")))
		if err != nil || !strings.HasPrefix(h1, sentence) {
			t.Errorf("h1 %q, %v", h1, err)
		}
	}
	for _, way := range []struct {
		name  string
		steps []chromedp.Action[chromedp.Void]
	}{
		{"click", []chromedp.Action[chromedp.Void]{chromedp.Click(chromedp.ID("link"))}},
		{"form get", []chromedp.Action[chromedp.Void]{chromedp.Click(chromedp.ID("getb"))}},
		{"form post", []chromedp.Action[chromedp.Void]{chromedp.Click(chromedp.ID("postb"))}},
		{"location", []chromedp.Action[chromedp.Void]{chromedp.Evaluate[chromedp.Void](`location = "/private/location"`)}},
		{"script click", []chromedp.Action[chromedp.Void]{chromedp.Evaluate[chromedp.Void](`document.getElementById("link").click()`)}},
	} {
		t.Run(way.name, func(t *testing.T) {
			if r := visit(t, ctx, "http://a.test/links"); r != nil {
				t.Fatal(r)
			}
			if err := chromedp.Do(ctx, way.steps...); err != nil {
				t.Fatal(err)
			}
			pageShows(t)
		})
	}
	for _, url := range []string{"http://a.test/hop", "http://a.test/hops", "http://a.test/meta"} {
		t.Run("redirect "+url, func(t *testing.T) {
			visit(t, ctx, url)
			pageShows(t)
		})
	}
	for _, js := range []string{
		`void window.open("/private/popup")`,
		`void window.open("/private/noopener", "", "noopener")`,
		`document.getElementById("blank").click()`,
	} {
		t.Run("popup "+js, func(t *testing.T) {
			visit(t, ctx, "http://a.test/links")
			before := len(w.refusals())
			if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](js)); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the popup's refusal in the log", func() bool { return len(w.refusals()) > before })
		})
	}
	for _, h := range s.all() {
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
	}
	w.agree()
}

// TestRobotsUnavailable: what cannot be read allows nothing, and says so.
func TestRobotsUnavailable(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"forbidden.test/robots.txt": status(403, nil),
		"broken.test/robots.txt":    status(500, nil),
	})
	w := newWorld(t, s, testPolicy())
	ctx := w.tab()
	for _, host := range []string{"forbidden.test", "broken.test"} {
		r := visit(t, ctx, "http://"+host+"/")
		if r == nil || r.Reason != governor.RobotsUnavailable {
			t.Errorf("%s: got %+v", host, r)
		}
		for _, h := range s.received() {
			if h.host == host {
				t.Errorf("reached the server: %s", h)
			}
		}
	}
	if r := visit(t, ctx, "http://none.test/"); r != nil {
		t.Errorf("a host without robots.txt (404) was refused: %v", r)
	}
	w.agree()
}
