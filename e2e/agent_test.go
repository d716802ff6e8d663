package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func script(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, body)
	}
}

// TestHonestAgentEverywhere: every request carries the agent's name and contact,
// also when a client puts another User-Agent there.
func TestHonestAgentEverywhere(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/": html(`<img src=/img><script src=/app.js></script>
			<script>
			const w = new Worker("/worker.js");
			w.onmessage = () => document.title = "worker done";
			fetch("/fetch");
			</script>`),
		"/worker.js": script(`fetch("/from-worker").then(() => postMessage(1))`),
		"/app.js":    script(`1`),
	})
	w := newWorld(t, s, testPolicy())
	ctx := w.tab()
	visit(t, ctx, "http://a.test/")
	waitTitle(t, ctx, "worker done")

	if _, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: "Mozilla/5.0 Someone Else"}); err != nil {
		t.Fatal(err)
	}
	visit(t, ctx, "http://a.test/forged")
	waitTitle(t, ctx, "/forged")

	const want = "ResearchBot/1.0 (+https://example.com/bot)"
	seen := map[string]bool{}
	for _, h := range s.all() {
		seen[h.path] = true
		if got := h.header.Get("User-Agent"); !strings.Contains(got, want) {
			t.Errorf("%s: User-Agent %q", h, got)
		}
		if ch := h.header.Get("Sec-Ch-Ua"); strings.Contains(ch, "Headless") {
			t.Errorf("%s: Sec-CH-UA %q", h, ch)
		}
	}
	for _, path := range []string{"/robots.txt", "/", "/img", "/app.js", "/worker.js", "/fetch", "/from-worker", "/forged"} {
		if !seen[path] {
			t.Errorf("%s was never asked for: the test proves nothing about it", path)
		}
	}
	w.agree()
}
