package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"browsergovernor/governor"
)

// TestTenClients: a Playwright, a Puppeteer and eight others on one Chrome, each
// in a context of its own, get what they ask for.
func TestTenClients(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/page": html(`<p id=p>text</p><img src=/i.png><script>document.cookie = "host=" + location.host</script>`),
	})
	w := newWorld(t, s, testPolicy())
	endpoint := w.endpoint()
	var wg sync.WaitGroup
	for _, client := range drivers {
		wg.Go(func() {
			host := "http://" + client + ".test"
			allOK(t, drive(t, client, endpoint,
				step{"do": "context", "url": host + "/page"},
				step{"do": "text", "selector": "#p"},
				step{"do": "goto", "url": host + "/2"},
				step{"do": "close"}))
		})
	}
	for i := range 8 {
		c := dialRaw(t, endpoint)
		wg.Go(func() {
			_, page := c.pageIn(c.context())
			host := fmt.Sprint("raw", i, ".test")
			for _, path := range []string{"/page", "/2", "/page"} {
				c.visit(page, "http://"+host+path)
			}
			if got := c.eval(page, "document.cookie"); got != "host="+host {
				t.Errorf("client %d has the cookies %q", i, got)
			}
		})
	}
	wg.Wait()
	w.agree()
}

// TestKilledClient: what a killed client had asked for and was held is not done
// any more, and others go on.
func TestKilledClient(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Hosts = []governor.HostRule{{Match: "slow.test", Interactions: &governor.Bucket{Rate: 1.0 / 3, Burst: 1}}}
	w := newWorld(t, s, p)
	endpoint := w.endpoint()
	script, err := json.Marshal([]step{
		{"do": "goto", "url": "http://slow.test/1"},
		{"do": "goto", "url": "http://slow.test/ghost"},
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "clients/driver-playwright.mjs")
	cmd.Env = append(cmd.Environ(), "BROWSER_GOVERNOR_CDP_URL="+endpoint)
	cmd.Stdin = strings.NewReader(string(script))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the second navigation to be held", func() bool {
		for _, h := range w.gov.Status().Hosts {
			if h.Host == "slow.test" && h.Waiting > 0 {
				return true
			}
		}
		return false
	})
	syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)
	cmd.Wait()
	other := dialRaw(t, endpoint)
	_, page := other.page()
	start := time.Now()
	other.visit(page, "http://a.test/")
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("another client's page took %v", d)
	}
	// The ghost's turn comes 3 s after the first page; this one's after it.
	other.visit(page, "http://slow.test/2")
	if s.count("/ghost") > 0 {
		t.Error("the killed client's page was asked for")
	}
	gave := 0
	for _, ev := range w.refusals() {
		if ev.Reason == governor.Abandoned {
			gave++
		}
	}
	if gave == 0 {
		t.Error("the log does not say that the navigation was abandoned")
	}
	w.agree()
}

// TestClientGoneWhilePaused: a request that a client's own interception, or the
// governor, holds when the client goes is let go or refused, never left hanging.
func TestClientGoneWhilePaused(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/go": html(`<script>setTimeout(() => location = "/held", 50)</script>`)})
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	p := testPolicy()
	p.Hosts = []governor.HostRule{{Match: "slow.test", Interactions: &governor.Bucket{Rate: 1.0 / 4, Burst: 1}}}
	w := newWorld(t, s, p)
	endpoint := w.endpoint()
	watcher := dialRaw(t, endpoint)
	target, page := watcher.page()
	watcher.visit(page, "http://a.test/")

	c := dialRaw(t, endpoint)
	mine := c.attach(target)
	c.must(mine, "Fetch.enable", args{"patterns": []any{args{"urlPattern": "*"}}}, nil)
	id := watcher.send(page, "Runtime.evaluate", args{"expression": `Promise.all(["/one", "/private/two"].map(u => fetch(u).then(r => r.status)))`, "awaitPromise": true, "returnByValue": true})
	c.event(mine, "Fetch.requestPaused")
	c.ws.CloseNow()
	if m := watcher.answer(page, id); m.Error != nil || !strings.Contains(string(m.Result), "200,200") {
		t.Errorf("after the client that held them had gone: %s %v", m.Result, m.Error)
	}

	// A navigation that the page starts by itself is held in Chrome while the
	// client goes.
	d := dialRaw(t, endpoint)
	theirs, session := d.page()
	d.visit(session, "http://slow.test/go")
	waitFor(t, "the page's own navigation to be held", func() bool {
		for _, h := range w.gov.Status().Hosts {
			if h.Host == "slow.test" && h.Waiting > 0 {
				return true
			}
		}
		return false
	})
	d.ws.CloseNow()
	waitFor(t, "the navigation to be abandoned", func() bool {
		for _, ev := range w.refusals() {
			if ev.Reason == governor.Abandoned {
				return true
			}
		}
		return false
	})
	session = watcher.attach(theirs)
	waitFor(t, "the tab to show the refusal", func() bool {
		title, _ := watcher.eval(session, "document.title").(string)
		return strings.HasPrefix(title, "refused by browser-governor")
	})
	if s.count("/held") > 0 {
		t.Error("the abandoned navigation was made")
	}
	w.agree()
}
