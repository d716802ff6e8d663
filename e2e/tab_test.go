package e2e

import (
	"context"
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

// title waits until the tab shows a page with the title.
func waitTitle(t testing.TB, ctx context.Context, want string) {
	t.Helper()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.readyState == "complete" && document.title.includes(`+quote(want)+`)`,
		chromedp.WithPollingTimeout(20*time.Second)))
	if err != nil {
		got, _ := chromedp.Run(ctx, chromedp.Title())
		t.Fatalf("title is %q, waited for %q: %v", got, want, err)
	}
}

func evaluate[T any](t testing.TB, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}
