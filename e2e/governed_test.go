package e2e

import (
	"context"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/audit"
	"browsergovernor/browser"
	"browsergovernor/governor"
)

// testPolicy is quick, and names an agent that may visit invented hosts.
func testPolicy() governor.Policy {
	p := governor.DefaultPolicy()
	p.Agent = governor.Agent{Name: "ResearchBot/1.0", Contact: "https://example.com/bot"}
	p.Interactions = governor.Bucket{Rate: 100, Burst: 100}
	p.Subresources = governor.Bucket{Rate: 1000, Burst: 1000}
	p.Jitter = governor.Jitter{}
	p.Backoff.Base = 200 * time.Millisecond
	p.MaxDenials = 0
	return p
}

// world is a governor with its log in front of a site.
type world struct {
	t    testing.TB
	site *site
	dir  string
	log  *audit.Log
	gov  *governor.Governor
}

func newWorld(t testing.TB, s *site, p governor.Policy) *world {
	t.Helper()
	w := &world{t: t, site: s, dir: t.TempDir()}
	w.open(p)
	t.Cleanup(w.close)
	return w
}

// open opens the log and rebuilds the governor's state from it, as the program
// does at its start.
func (w *world) open(p governor.Policy) {
	w.t.Helper()
	log, err := audit.Open(audit.Config{Dir: w.dir, Fsync: audit.FsyncInterval})
	if err != nil {
		w.t.Fatal(err)
	}
	gov, err := governor.New(governor.Config{Policy: p, Recorder: log, RobotsTransport: w.site.transport()})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := gov.Restore(audit.Replay(w.dir)); err != nil {
		w.t.Fatal(err)
	}
	w.log, w.gov = log, gov
}

func (w *world) close() {
	if w.gov == nil {
		return
	}
	w.gov.Close()
	if err := w.log.Close(); err != nil {
		w.t.Error(err)
	}
	w.gov = nil
}

// transport reaches the site under its invented names, as Chrome does.
func (s *site) transport() http.RoundTripper {
	d := &net.Dialer{}
	return &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return s.rules.DialWith(ctx, d, network, addr)
		},
	}
}

// options are Chrome's for tests: as root it has no sandbox.
func (w *world) options() browser.Options {
	return browser.Options{NoSandbox: os.Getuid() == 0, HostRules: w.site.rules, TempDir: w.t.TempDir()}
}

// events returns the log so far.
func (w *world) events() []governor.Event {
	w.t.Helper()
	var out []governor.Event
	for ev, err := range audit.Replay(w.dir) {
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, ev)
	}
	return out
}

// sent returns the requests that the log has as sent, credited ones left out,
// in the form in which the site lists what it received.
func (w *world) sent() []string {
	credited := map[string]bool{}
	var out []string
	events := w.events()
	for _, ev := range events {
		if ev.Type == governor.EventOutcome && ev.Credited {
			credited[ev.ID] = true
		}
	}
	for _, ev := range events {
		if ev.Type == governor.EventAction && ev.Sent && ev.Method != "" && !credited[ev.ID] {
			url, _, _, _ := actions.CutCredentials(ev.URL) // no server sees those in the URL
			out = append(out, ev.Method+" "+url)
		}
	}
	return out
}

// refusals returns the refused actions.
func (w *world) refusals() []governor.Event {
	var out []governor.Event
	for _, ev := range w.events() {
		if ev.Type == governor.EventAction && !ev.Sent {
			out = append(out, ev)
		}
	}
	return out
}

// agree fails unless the site received exactly what the log has as sent. A request
// may be on its way still: its line comes first.
func (w *world) agree() {
	w.t.Helper()
	deadline := time.Now().Add(2 * time.Second)
	for {
		log := multiset(w.sent())
		var got []string
		for _, h := range w.site.all() {
			got = append(got, h.String())
		}
		site := multiset(got)
		if log == site {
			return
		}
		if time.Now().After(deadline) {
			w.t.Errorf("the log and the site disagree\nlog says sent:\n%s\n\nsite received:\n%s", log, site)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func testContext(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
