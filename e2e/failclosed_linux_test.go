package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"browsergovernor/governor"
)

// policyFile writes a policy for a program under test.
func policyFile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// since returns what the site received after a moment.
func (s *site) since(at time.Time) []hit {
	var out []hit
	for _, h := range s.all() {
		if h.at.After(at) {
			out = append(out, h)
		}
	}
	return out
}

// TestGovernorStopped: while the governor is stopped nothing leaves Chrome, which
// goes on living; when it goes on, so do the pages, and what a client had given up
// meanwhile does not happen.
func TestGovernorStopped(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log, "--policy", policyFile(t, `version: 1
agent: {name: ResearchBot/1.0, contact: "https://example.com/bot"}
hosts:
  - match: slow.test
    interactions: {rate: 20/minute, burst: 1}
`))
	ghost, c := dialRaw(t, v.endpoint), dialRaw(t, v.endpoint)
	_, slow := ghost.page()
	ghost.visit(slow, "http://slow.test/1")
	_, page := c.page()
	c.visit(page, "http://a.test/")
	// Every way out that a page has, again and again: kept and new connections,
	// sockets, frames, popups, and beacons that outlive it.
	c.eval(page, `let n = 0; setInterval(() => { n++;
		fetch("/tick" + n).catch(() => 0);
		fetch("http://b" + n % 7 + ".test/tick" + n, {mode: "no-cors"}).catch(() => 0);
		navigator.sendBeacon("/beacon" + n, "x");
		if (n % 10 == 0) try { new WebSocket("ws://c.test/ws" + n) } catch (e) {}
		if (n == 40) window.open("/popup", "", "noopener");
		if (n == 50) { const f = document.createElement("iframe"); f.src = "/frame"; document.body.append(f) }
	}, 50); 0`)
	waitFor(t, "the page to be busy", func() bool { return s.count("/beacon20") == 1 })
	ghost.send(slow, "Page.navigate", args{"url": "http://slow.test/ghost"})
	waitFor(t, "the navigation to be held", func() bool {
		_, body := httpGet(t, v.endpoint+"/governor/status")
		return strings.Contains(strings.ReplaceAll(body, " ", ""), `"waiting":1`)
	})

	v.cmd.Process.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	ghost.ws.CloseNow()
	time.Sleep(10 * time.Second) // what is tested: ten seconds without a governor
	if len(chromes(v.tmp)) == 0 {
		t.Error("Chrome is gone")
	}
	// What was on its way through the kernel arrives within moments.
	if late := s.since(stopped.Add(time.Second)); len(late) > 0 {
		t.Errorf("%d requests reached the server while the governor was stopped, the first %s", len(late), late[0])
	}
	v.cmd.Process.Signal(syscall.SIGCONT)
	going := time.Now()
	waitFor(t, "the page to go on", func() bool { return len(s.since(going)) > 20 })
	c.visit(page, "http://a.test/after")
	_, again := c.page()
	c.visit(again, "http://slow.test/2") // behind the ghost's turn
	if s.count("/ghost") > 0 {
		t.Error("a client went away while the governor was stopped, and what it had asked for was done all the same")
	}
	v.cmd.Process.Signal(os.Interrupt)
	v.end(15 * time.Second)
	checkLedger(t, s, log)
}

// limitDescriptors sets how many files and connections another process may open.
func limitDescriptors(t testing.TB, pid int, n uint64) (old uint64) {
	t.Helper()
	var was syscall.Rlimit
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&was)), 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	limit := syscall.Rlimit{Cur: n, Max: was.Max}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	return was.Cur
}

// TestOutOfDescriptors: a governor that can open nothing lets nothing through that
// has no line, and works again when it can.
func TestOutOfDescriptors(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log)
	c := dialRaw(t, v.endpoint)
	_, page := c.page()
	c.visit(page, "http://a.test/before")

	old := limitDescriptors(t, v.cmd.Process.Pid, 1) // what is open stays open
	if r := c.ask(page, "Page.navigate", args{"url": "http://new.test/"}).reason(t); r != governor.RobotsUnavailable {
		t.Errorf("a site whose robots.txt cannot be fetched is refused for %s", r)
	}
	before := len(s.all())
	got := c.eval(page, `Promise.all(Array.from({length: 50}, (_, i) => fetch("http://b" + i + ".test/x", {mode: "no-cors", signal: AbortSignal.timeout(3000)}).then(() => "answered", () => "failed")))
		.then(all => all.filter(a => a == "answered").length)`)
	if got != 0.0 || len(s.all()) != before {
		t.Errorf("without a descriptor left %v requests to new hosts were answered; the server received %v", got, s.all()[before:])
	}
	if got := c.eval(page, `new Promise(r => { const ws = new WebSocket("ws://new.test/ws"); ws.onopen = () => r("open"); ws.onerror = () => r("failed"); setTimeout(r, 3000, "failed") })`); got != "failed" {
		t.Errorf("a WebSocket: %v", got)
	}
	limitDescriptors(t, v.cmd.Process.Pid, old)

	c.visit(page, "http://after.test/")
	other := dialRaw(t, v.endpoint)
	_, fresh := other.page()
	other.visit(fresh, "http://a.test/after")
	v.cmd.Process.Signal(os.Interrupt)
	v.end(15 * time.Second)
	checkLedger(t, s, log)
}

// TestRobotsServerHangs: a site that never answers for its robots.txt is not
// visited, whoever starts the navigation; it is said within the time that clients
// have, and others are not held up.
func TestRobotsServerHangs(t *testing.T) {
	gone := make(chan struct{})
	s := newSite(t, map[string]http.HandlerFunc{"hang.test/robots.txt": func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	}, "drip.test/robots.txt": func(w http.ResponseWriter, r *http.Request) {
		for {
			fmt.Fprint(w, "#")
			http.NewResponseController(w).Flush()
			select {
			case <-gone:
				return
			case <-r.Context().Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}})
	t.Cleanup(func() { close(gone) })
	p := testPolicy()
	p.Hold.Navigation = 2 * time.Second
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://a.test/")
	for _, host := range []string{"hang.test", "drip.test"} {
		start := time.Now()
		id := c.send(page, "Page.navigate", args{"url": "http://" + host + "/page"})
		_, other := c.page()
		c.visit(other, "http://a.test/meanwhile")
		if r := c.answer(page, id).reason(t); r != governor.RobotsUnavailable {
			t.Errorf("%s is refused for %s", host, r)
		}
		// The fetch itself may take ten seconds.
		if d := time.Since(start); d > 8*time.Second {
			t.Errorf("%s was refused after %v, the hold is 2 s", host, d)
		}
		c.eval(other, `location = "http://`+host+`/script"; 0`)
		waitFor(t, "the page's own navigation to show the refusal", func() bool {
			title, _ := c.eval(other, "document.title").(string)
			return strings.HasPrefix(title, "refused by browser-governor")
		})
	}
	if n := s.count("/page") + s.count("/script"); n > 0 {
		t.Errorf("%d pages of sites without a robots.txt were asked for", n)
	}
	w.agree()
}
