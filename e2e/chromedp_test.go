package e2e

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

func chromedpSite(t *testing.T) *site {
	s := newSite(t, map[string]http.HandlerFunc{
		"/":     html(`<a id=next href=/next>n</a><a id=private href=/private/x>p</a>`),
		"/next": html(`<p id=there>there</p>`),
	})
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	return s
}

// TestOldChromedpScript: a script for chromedp 0.14 runs unmodified through the
// endpoint and prints the sentence.
func TestOldChromedpScript(t *testing.T) {
	s := chromedpSite(t)
	w := newWorld(t, s, testPolicy())
	cmd := exec.CommandContext(testContext(t, 3*time.Minute), "go", "run", ".", w.endpoint())
	cmd.Dir = "oldchromedp"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const sentence = "refused by browser-governor: robots.txt"
	for _, want := range []string{"goto /\n", "click /next\n", "back /\n", "refused error: " + sentence, "clicked " + sentence} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	w.agree()
}

// TestNewChromedpThroughEndpoint: so does one for the current API, by its remote
// allocator.
func TestNewChromedpThroughEndpoint(t *testing.T) {
	s := chromedpSite(t)
	w := newWorld(t, s, testPolicy())
	alloc, cancelAlloc := remote.NewAllocator(testContext(t, time.Minute), w.endpoint())
	defer cancelAlloc()
	ctx, cancel := chromedp.NewContext(alloc)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("http://a.test/"), chromedp.Click(chromedp.ID("next"))); err != nil {
		t.Fatal(err)
	}
	waitTitle(t, ctx, "/next")
	err := chromedp.Do(ctx, chromedp.Navigate("http://a.test/private/y"))
	if err == nil || !strings.HasPrefix(err.Error(), "refused by browser-governor: robots.txt") {
		t.Errorf("got %v", err)
	}
	w.agree()
}
