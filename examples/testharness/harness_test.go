// Package testharness shows the governor inside a Go test: one Chrome for the
// test, a tab per agent, decisions and refusals as Go values, and no network
// beyond a server that the test itself started.
package testharness

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"browsergovernor/browser"
	"browsergovernor/governor"
)

// shop is a site that writes down what it is asked for.
type shop struct {
	*httptest.Server

	mu    sync.Mutex
	asked []string
}

func openShop(t *testing.T) *shop {
	s := &shop{}
	pages := map[string]string{
		"/robots.txt":  "User-agent: *\nDisallow: /checkout\n",
		"/":            `<title>Shop</title><a id=item href=/item>An item</a>`,
		"/item":        `<title>An item</title><a id=buy href=/checkout>Buy</a>`,
		"/checkout":    `<title>Thank you</title><h1>You bought it</h1>`,
		"/favicon.ico": "",
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path != "/robots.txt" {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write([]byte(page)) // a browser that went away is no failure of the test
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// ledger keeps every event in memory. A program would give the governor an
// audit.Log instead.
type ledger struct {
	mu     sync.Mutex
	events []governor.Event
}

func (l *ledger) Record(ev *governor.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, *ev)
	return nil
}

// refused returns the reasons of all refused actions, in order.
func (l *ledger) refused() []governor.Reason {
	l.mu.Lock()
	defer l.mu.Unlock()
	var reasons []governor.Reason
	for _, ev := range l.events {
		if ev.Type == governor.EventAction && !ev.Sent {
			reasons = append(reasons, ev.Reason)
		}
	}
	return reasons
}

// launch starts a governed Chrome that lives as long as the test.
func launch(t *testing.T, p governor.Policy) (*browser.Browser, *ledger) {
	t.Helper()
	log := &ledger{}
	gov, err := governor.New(governor.Config{Policy: p, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gov.Close() })
	b, err := browser.Launch(t.Context(), gov, browser.Options{
		NoSandbox: os.Getuid() == 0, // Chrome has no sandbox as root
		TempDir:   t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, log
}

// quick is the default policy at a test's pace.
func quick() governor.Policy {
	p := governor.DefaultPolicy()
	p.Agent.Name = "ShopTest/1.0"
	p.Interactions = governor.Bucket{Rate: 100, Burst: 100}
	p.Jitter = governor.Jitter{}
	return p
}

func tab(t *testing.T, b *browser.Browser) context.Context {
	ctx, cancelTime := context.WithTimeout(context.Background(), time.Minute)
	ctx, cancel := b.NewContext(ctx)
	t.Cleanup(func() { cancel(); cancelTime() })
	return ctx
}

// TestAgentCannotBuy lets an agent loose on a shop whose robots.txt keeps robots
// out of the checkout. Typing the address and clicking the button are refused
// alike, and the shop never hears of either.
func TestAgentCannotBuy(t *testing.T) {
	s := openShop(t)
	b, log := launch(t, quick())
	ctx := tab(t, b)

	if err := chromedp.Do(ctx, chromedp.Navigate(s.URL+"/"), chromedp.Click(chromedp.ID("item")), chromedp.WaitVisible(chromedp.ID("buy"))); err != nil {
		t.Fatal(err)
	}

	err := chromedp.Do(ctx, chromedp.Navigate(s.URL+"/checkout"))
	refusal, ok := browser.Refused(ctx, err)
	if !ok {
		t.Fatalf("the checkout's address: got %v, want a refusal", err)
	}
	if refusal.Reason != governor.RobotsDisallowed || refusal.Retryable {
		t.Errorf("the checkout's address: %+v", refusal)
	}

	// The click itself succeeds; what the tab shows then is the refusal.
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.ID("buy")), chromedp.WaitVisible(chromedp.CSS("h1"))); err != nil {
		t.Fatal(err)
	}
	if refusal, ok := browser.Refused(ctx, nil); !ok || refusal.Reason != governor.RobotsDisallowed {
		t.Errorf("the buy button: %+v, %v", refusal, ok)
	}

	for _, path := range s.requests() {
		if strings.HasPrefix(path, "/checkout") {
			t.Errorf("the shop was asked for %s", path)
		}
	}
	want := []governor.Reason{governor.RobotsDisallowed, governor.RobotsDisallowed}
	if got := log.refused(); !slices.Equal(got, want) {
		t.Errorf("refused: %v, want %v", got, want)
	}
}

// TestAgentsShareOneBudget gives two agents in two tabs a budget of three
// interactions a day: the fourth is refused, whoever asks.
func TestAgentsShareOneBudget(t *testing.T) {
	s := openShop(t)
	p := quick()
	p.Caps.Interactions = 3
	b, _ := launch(t, p)
	agents := []context.Context{tab(t, b), tab(t, b)}

	for n := range 5 {
		ctx := agents[n%2]
		err := chromedp.Do(ctx, chromedp.Navigate(s.URL+"/item"))
		refusal, refused := browser.Refused(ctx, err)
		switch {
		case n < 3 && err != nil:
			t.Errorf("visit %d: %v", n+1, err)
		case n >= 3 && (!refused || refusal.Reason != governor.DailyCap):
			t.Errorf("visit %d: got %v, want a refusal for the daily cap", n+1, err)
		}
	}

	visits := 0
	for _, path := range s.requests() {
		if path == "/item" {
			visits++
		}
	}
	if visits != 3 {
		t.Errorf("the shop counted %d visits, want 3", visits)
	}
}
