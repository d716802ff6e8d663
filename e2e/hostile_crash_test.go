package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"browsergovernor/governor"
)

// networkServices returns the processes of a Chrome that make its connections.
func networkServices(dir string) []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		text := string(line)
		if err == nil && strings.Contains(text, "network.mojom.NetworkService") && strings.Contains(text, "--user-data-dir="+dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestNetworkServiceKilled: Chrome starts its network service again when it
// dies; what goes through the new one is governed as before.
func TestNetworkServiceKilled(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	o := w.options()
	c := dialRaw(t, w.endpointWith(o))
	_, page := c.page()
	_, other := c.page()
	c.visit(page, "http://a.test/")
	c.visit(other, "http://b.test/")
	for round := range 2 {
		old := networkServices(o.TempDir)
		if len(old) != 1 {
			t.Fatalf("found %d network services", len(old))
		}
		syscall.Kill(old[0], syscall.SIGKILL)
		waitFor(t, "a new network service", func() bool {
			now := networkServices(o.TempDir)
			return len(now) == 1 && now[0] != old[0]
		})
		path := "/again" + strconv.Itoa(round)
		// The documents that lived through it, new ones, workers and new contexts.
		for _, session := range []string{page, other} {
			waitFor(t, "an old page to reach the server again", func() bool {
				return c.eval(session, `fetch("`+path+`").then(r => r.status, () => 0)`) == 200.0
			})
			c.eval(session, `fetch("http://ungoverned.test/x", {mode: "no-cors"}).then(() => 0, () => 0)`)
			c.eval(session, `new Promise(r => { const w = new Worker(URL.createObjectURL(new Blob(["fetch('http://'+'a.test/worker').catch(()=>0).then(()=>postMessage(1))"])));
				w.onmessage = r; w.onerror = r; setTimeout(r, 2000) }).then(() => 0)`)
			c.eval(session, `location = "/private/`+strconv.Itoa(round)+`"; 0`)
		}
		waitFor(t, "the forbidden pages to be refused", func() bool {
			n := 0
			for _, ev := range w.refusals() {
				if ev.Reason == governor.RobotsDisallowed {
					n++
				}
			}
			return n > round
		})
		c.visit(page, "http://a.test/new")
		c.visit(other, "http://b.test/new")
		_, fresh := c.pageIn(c.context())
		c.visit(fresh, "http://a.test/fresh")
		if m := c.ask(page, "Page.navigate", args{"url": "http://a.test/private/x"}); !m.Error.refused() {
			t.Errorf("a forbidden page: %s %v", m.Result, m.Error)
		}
	}
	for _, h := range s.all() {
		if h.host == "a.test" && strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
		if ua := h.header.Get("User-Agent"); !strings.Contains(ua, "ResearchBot/1.0") {
			t.Errorf("%s came from %q", h, ua)
		}
	}
	w.agree()
}

// TestChromeKilledWhileHeld: clients hear of it at once, and what they had asked
// for is not done by the next Chrome.
func TestChromeKilledWhileHeld(t *testing.T) {
	s := newSite(t, nil)
	p := testPolicy()
	p.Hosts = []governor.HostRule{{Match: "slow.test", Interactions: &governor.Bucket{Rate: 1.0 / 4, Burst: 1}}}
	w := newWorld(t, s, p)
	o := w.options()
	endpoint := w.endpointWith(o)
	c, idle := dialRaw(t, endpoint), dialRaw(t, endpoint)
	_, page := c.page()
	c.visit(page, "http://slow.test/1")
	c.send(page, "Page.navigate", args{"url": "http://slow.test/ghost"})
	waitFor(t, "the navigation to be held", func() bool {
		for _, h := range w.gov.Status().Hosts {
			if h.Waiting > 0 {
				return true
			}
		}
		return false
	})
	pids := chromes(o.TempDir)
	if len(pids) == 0 {
		t.Fatal("no Chrome found")
	}
	killed := time.Now()
	syscall.Kill(pids[0], syscall.SIGKILL)
	for _, client := range []*rawClient{c, idle} {
		if err := client.gone(5 * time.Second); err == nil || err == errNothingHeard {
			t.Errorf("a client was not told: %v", err)
		}
	}
	if d := time.Since(killed); d > 2*time.Second {
		t.Errorf("clients heard of it after %v", d)
	}
	again := dialRaw(t, endpoint)
	_, page = again.page()
	again.visit(page, "http://slow.test/2")
	if s.count("/ghost") > 0 {
		t.Error("the navigation of before was made")
	}
	w.agree()
}

// TestEndWhileHeld: what is held when the program ends is not let go by the
// Chrome that ends with it.
func TestEndWhileHeld(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log, "--set", "subresources.rate=60/minute", "--set", "subresources.burst=1")
	c := dialRaw(t, v.endpoint)
	for range 5 {
		_, page := c.page()
		c.visit(page, "http://a.test/")
		c.eval(page, `for (let i = 0; i < 10; i++) fetch("/held" + i, {keepalive: true, method: "POST", body: "x"}).catch(() => 0); 0`)
	}
	waitFor(t, "one to be asked for", func() bool { return s.count("/held0") > 0 })
	v.cmd.Process.Signal(syscall.SIGTERM)
	if code := v.end(10 * time.Second); code != 0 {
		t.Errorf("exit code %d\n%s", code, v.stderr)
	}
	checkLedger(t, s, log)
	if left, _ := os.ReadDir(v.tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestProfileKept: a profile of the user's own serves twice, and keeps what the
// pages left in it.
func TestProfileKept(t *testing.T) {
	s := newSite(t, nil)
	profile := filepath.Join(t.TempDir(), "profile")
	log := filepath.Join(t.TempDir(), "log")
	for round := range 2 {
		v := startServe(t, s, log, "--profile", profile)
		c := dialRaw(t, v.endpoint)
		_, page := c.page()
		c.visit(page, "http://a.test/")
		if got := c.eval(page, `document.cookie`); round == 1 && got != "kept=yes" {
			t.Errorf("the second time the cookies are %q", got)
		}
		c.eval(page, `document.cookie = "kept=yes; max-age=86400"; 0`)
		if round == 1 {
			c.eval(page, `const s = document.createElement("script"); s.type = "speculationrules";
				s.textContent = JSON.stringify({prefetch: [{source: "list", urls: ["/prefetched"], eagerness: "immediate"}]});
				document.head.append(s); new Promise(r => setTimeout(r, 800))`)
		}
		v.cmd.Process.Signal(os.Interrupt)
		if code := v.end(15 * time.Second); code != 0 {
			t.Errorf("round %d: exit code %d\n%s", round, code, v.stderr)
		}
		if left, _ := os.ReadDir(v.tmp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if left := chromes(profile); len(left) > 0 {
			t.Errorf("Chrome is still running: %v", left)
		}
	}
	if _, err := os.Stat(filepath.Join(profile, "Default")); err != nil {
		t.Errorf("the profile is gone: %v", err)
	}
	checkLedger(t, s, log)
}
