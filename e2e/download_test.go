package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// TestDownloadsAreDenied: what a tab or frame would save is answered with the refusal.
func TestDownloadsAreDenied(t *testing.T) {
	file := func(name, value string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(name, value)
			w.Write([]byte("contents of a file"))
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{
		"/attached": file("Content-Disposition", "attachment; filename=a.txt"),
		"/zip":      file("Content-Type", "application/zip"),
		"/text":     html(`<title>text</title>contents of a file`),
		"/links":    html(`<title>links</title><a id=link href=/attached?link>l</a>`),
		"/frame":    html(`<title>frame</title><iframe src=/zip?frame></iframe>`),
	})
	p := testPolicy()
	p.Deny = []string{"download"}
	w := newWorld(t, s, p)
	ctx := w.tab()
	for _, path := range []string{"/attached", "/zip"} {
		visit(t, ctx, "http://a.test"+path)
		waitTitle(t, ctx, `deny "download"`)
	}
	visit(t, ctx, "http://a.test/links")
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`document.getElementById("link").click()`)); err != nil {
		t.Fatal(err)
	}
	waitTitle(t, ctx, `deny "download"`)
	visit(t, ctx, "http://a.test/frame")
	w.waitRefused(t, "http://a.test/zip?frame")
	visit(t, ctx, "http://a.test/text")
	if got := evaluate[string](t, ctx, `document.body.innerText`); !strings.Contains(got, "contents of a file") {
		t.Errorf("text reads %q", got)
	}
	n := 0
	for _, ev := range w.refusals() {
		if ev.Kind == actions.Download && ev.Reason == governor.PolicyDenied {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d refusals, want 4", n)
	}
	w.agree()
}
