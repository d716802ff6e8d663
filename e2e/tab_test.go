package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"browsergovernor/browser"
	"browsergovernor/governor"
)

// tab is a chromedp context on a governed Chrome.
func (w *world) tab() context.Context {
	w.t.Helper()
	ctx, cancelTime := context.WithTimeout(context.Background(), 90*time.Second)
	ctx, cancelAlloc := browser.NewAllocator(ctx, w.gov, w.options())
	ctx, cancelTab := chromedp.NewContext(ctx)
	w.t.Cleanup(func() {
		cancelTab()
		cancelAlloc()
		cancelTime()
	})
	if err := chromedp.Do(ctx); err != nil {
		w.t.Fatal(err)
	}
	return ctx
}

// visit opens url and returns the refusal, if that is how it ends.
func visit(t testing.TB, ctx context.Context, url string) *governor.Refusal {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Navigate(url))
	if r, ok := browser.Refused(ctx, err); ok {
		return r
	}
	if err != nil {
		t.Fatalf("visiting %s: %v", url, err)
	}
	return nil
}

// waitTitle waits until the tab shows a complete page with the title. Reading
// fails while one document gives way to the next.
func waitTitle(t testing.TB, ctx context.Context, want string) {
	t.Helper()
	const js = `document.readyState == "complete" ? document.title : ""`
	var got string
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if title, err := chromedp.Run(ctx, chromedp.Evaluate[string](js)); err == nil {
			if got = title; strings.Contains(got, want) {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("title is %q, waited for %q", got, want)
}

func evaluate[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}
