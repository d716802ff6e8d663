package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"browsergovernor/governor"
)

// TestWhere: the lists of hosts hold for every way to ask, with the line of the
// policy file in the sentence, and what they refuse reaches no server.
func TestWhere(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/hop":   redirect("http://denied.test/hopped", http.StatusFound),
		"/img":   redirect("http://tracker.test/hopped.png", http.StatusFound),
		"/links": html(`<a id=link href=http://denied.test/link>l</a>`),
		"/parts": html(`<img src=http://tracker.test/i.png><img src=/img><iframe src=http://tracker.test/frame></iframe><iframe src=http://denied.test/frame></iframe>`),
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	text := "schemes: [http, https, ws, wss, about, data, blob]\nnavigations:\n  allow: [\"*.test\"]\n  deny: [denied.test]\nsubresources:\n  deny:\n    - tracker.test\n"
	p, err := governor.ParsePolicy(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plain := testPolicy()
	p.Agent, p.Interactions, p.Subresources, p.Jitter, p.MaxDenials = plain.Agent, plain.Interactions, plain.Subresources, plain.Jitter, 0
	w := newWorld(t, s, p)
	ctx := w.tab()
	const page = `navigations.deny "denied.test" (policy.yaml line 4)`
	const part = `subresources.deny "tracker.test" (policy.yaml line 7)`

	if r := visit(t, ctx, "http://denied.test/typed"); r == nil || r.Rule != page || !strings.Contains(r.Sentence, page) {
		t.Errorf("typed: %+v", r)
	}
	if r := visit(t, ctx, "http://elsewhere.example/"); r == nil || r.Rule != `navigations.allow (policy.yaml line 3)` {
		t.Errorf("not allowed: %+v", r)
	}
	visit(t, ctx, "http://a.test/hop")
	waitTitle(t, ctx, page)
	for _, js := range []string{`document.getElementById("link").click()`, `location = "http://denied.test/location"`} {
		visit(t, ctx, "http://a.test/links")
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](js)); err != nil {
			t.Fatal(err)
		}
		waitTitle(t, ctx, page)
	}
	// A tab may show what a page may not load from, and the other way round.
	if r := visit(t, ctx, "http://tracker.test/shown"); r != nil {
		t.Error(r)
	}
	if r := visit(t, ctx, "http://a.test/parts"); r != nil {
		t.Error(r)
	}
	if got := evaluate[string](t, ctx, `fetch("http://tracker.test/f").then(r => r.text())`); !strings.Contains(got, part) {
		t.Errorf("fetch reads %q", got)
	}
	evaluate[string](t, ctx, `new Promise(r => { const s = new WebSocket("ws://tracker.test/socket"); s.onerror = s.onclose = () => r("closed"); s.onopen = () => r("open") })`)
	evaluate[bool](t, ctx, `void window.open("http://denied.test/popup"), true`)
	w.waitRefused(t, "http://denied.test/popup")

	for _, h := range s.received() {
		bad := h.host == "denied.test" && h.path != "/frame" || h.host == "tracker.test" && h.path != "/shown"
		if bad {
			t.Errorf("received %s", h)
		}
	}
	if s.count("/frame") != 1 {
		t.Errorf("the frame of a host that only navigations deny was asked for %d times", s.count("/frame"))
	}
	for _, url := range []string{"http://tracker.test/i.png", "http://tracker.test/hopped.png", "http://tracker.test/frame", "http://tracker.test/f", "ws://tracker.test/socket"} {
		w.waitRefused(t, url)
	}
	w.agree()
}

// TestFilesOfTheMachineAreNotShown: file: is refused by each way to open it.
func TestFilesOfTheMachineAreNotShown(t *testing.T) {
	s := newSite(t, nil)
	w := newWorld(t, s, testPolicy())
	secret := filepath.Join(t.TempDir(), "secret.html")
	if err := os.WriteFile(secret, []byte("<title>secret of the machine</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	const want = "refused by browser-governor: schemes does not name "
	for _, url := range []string{"file://" + secret, " FILE://" + secret, "view-source:file://" + secret, "chrome://version", "devtools://devtools/bundled/inspector.html"} {
		for _, command := range []struct{ session, method string }{{page, "Page.navigate"}, {"", "Target.createTarget"}} {
			if m := c.ask(command.session, command.method, args{"url": url}); m.Error == nil || !strings.Contains(m.Error.Message, want) {
				t.Errorf("%s %s: %+v", command.method, url, m.Error)
			}
		}
	}
	for _, url := range []string{"about:blank", "data:text/html,<title>d</title>"} {
		if m := c.ask(page, "Page.navigate", args{"url": url}); m.Error != nil {
			t.Errorf("%s: %+v", url, m.Error)
		}
	}
}

// waitRefused waits until the log has the refusal of a URL.
func (w *world) waitRefused(t testing.TB, url string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		for _, ev := range w.refusals() {
			if ev.URL == url && ev.Reason == governor.PolicyDenied {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("no refusal of %s in the log", url)
}
