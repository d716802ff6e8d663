package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"browsergovernor/governor"
)

// failing answers code the first n times.
func failing(n int32, code int, header map[string]string) http.HandlerFunc {
	var seen atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if seen.Add(1) <= n {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
			status(code, header)(w, r)
			return
		}
		html("<p id=ok>cookie "+r.Header.Get("Cookie")+"</p>")(w, r)
	}
}

// TestRetryInsideTheBrowser: a 429 or 503 is asked again for the client, not
// before the server said, and the page that ends the navigation is the good one.
func TestRetryInsideTheBrowser(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/wait":  failing(1, 429, map[string]string{"Retry-After": "1"}),
		"/busy":  failing(2, 503, nil),
		"/never": status(429, map[string]string{"Retry-After": "3600"}),
		"/link":  html(`<a id=x href=/wait2>x</a>`),
		"/wait2": failing(1, 503, map[string]string{"Retry-After": "1"}),
	})
	w := newWorld(t, s, testPolicy())
	ctx := w.tab()
	gap := func(path string) time.Duration {
		var at []time.Time
		for _, h := range s.received() {
			if h.path == path {
				at = append(at, h.at)
			}
		}
		if len(at) < 2 {
			t.Fatalf("%s was asked for %d times", path, len(at))
		}
		return at[1].Sub(at[0])
	}
	t.Run("Retry-After", func(t *testing.T) {
		resp, err := chromedp.Run(ctx, chromedp.NavigateResponse("http://a.test/wait"))
		if err != nil || resp.Status != 200 {
			t.Fatalf("%+v, %v", resp, err)
		}
		if d := gap("/wait"); d < time.Second-20*time.Millisecond {
			t.Errorf("asked again after %v, the server said 1 s", d)
		}
		if text := evaluate[string](t, ctx, "document.body.innerText"); !strings.Contains(text, "seen=yes") {
			t.Errorf("the cookie of the 429 was lost: %q", text)
		}
	})
	t.Run("back-off", func(t *testing.T) {
		if r := visit(t, ctx, "http://a.test/busy"); r != nil {
			t.Fatal(r)
		}
		if d := gap("/busy"); d < 160*time.Millisecond-20*time.Millisecond {
			t.Errorf("asked again after %v, the back-off is 200 ms ± 20 %%", d)
		}
		if n := s.count("/busy"); n != 3 {
			t.Errorf("asked %d times, want 3", n)
		}
	})
	t.Run("after a click", func(t *testing.T) {
		visit(t, ctx, "http://a.test/link")
		if err := chromedp.Do(ctx, chromedp.Click(chromedp.ID("x"))); err != nil {
			t.Fatal(err)
		}
		waitTitle(t, ctx, "/wait2")
		if d := gap("/wait2"); d < time.Second-20*time.Millisecond {
			t.Errorf("asked again after %v, the server said 1 s", d)
		}
	})
	t.Run("give up", func(t *testing.T) {
		resp, err := chromedp.Run(ctx, chromedp.NavigateResponse("http://b.test/never"))
		if err != nil || resp.Status != 429 {
			t.Fatalf("the server's own answer should be shown: %+v, %v", resp, err)
		}
		// The host stays closed for as long as it asked.
		r := visit(t, ctx, "http://b.test/other")
		if r == nil || r.Reason != governor.RetryAfter || r.RetryAfter < 3500*time.Second {
			t.Errorf("got %+v", r)
		}
		if n := s.count("/never"); n != 1 {
			t.Errorf("asked %d times, want 1", n)
		}
	})
	w.agree()
}
