package e2e

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"browsergovernor/audit"
	"browsergovernor/governor"
)

// TestKillNine: kill -9 at any moment. Chrome is gone within a second, nothing
// reached the server without a line, the log verifies, and the next start does
// not exceed the cap.
func TestKillNine(t *testing.T) {
	const rounds, limit = 6, 40
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	for round := range rounds {
		v := startServe(t, s, log, "--set", "caps.interactions=40")
		client := startLoop(t, v.endpoint)
		before := len(s.received())
		waitFor(t, "the client to be under way", func() bool { return len(s.received()) > before || round == rounds-1 })
		// Any moment: the spread covers several navigations.
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		v.cmd.Process.Signal(syscall.SIGKILL)
		killed := time.Now()
		<-v.waited
		waitFor(t, "Chrome to be gone", func() bool { return len(chromes(v.tmp)) == 0 })
		if d := time.Since(killed); d > time.Second {
			t.Errorf("round %d: Chrome lived %v longer than its governor", round, d)
		}
		client.Process.Kill()
		client.Wait()
		checkLedger(t, s, log)
	}
	if n := len(s.received()); n > limit {
		t.Errorf("the server received %d pages over all rounds, the cap is %d", n, limit)
	}
}

// startLoop is a client that goes from page to page without end.
func startLoop(t *testing.T, endpoint string) *exec.Cmd {
	t.Helper()
	var steps []step
	for i := range 500 {
		steps = append(steps, step{"do": "goto", "url": "http://a.test/" + strings.Repeat("x", i%7), "timeout": 5000})
	}
	script, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "clients/driver-puppeteer.mjs")
	cmd.Env = append(cmd.Environ(), "BROWSER_GOVERNOR_CDP_URL="+endpoint)
	cmd.Stdin = strings.NewReader(string(script))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// checkLedger: every request that the site received has its line. Lines without
// a request may be there: counted before they are released.
func checkLedger(t *testing.T, s *site, dir string) {
	t.Helper()
	lines := map[string]int{}
	for ev, err := range audit.Replay(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == governor.EventAction && ev.Sent {
			url := ev.URL
			if rest, ok := strings.CutPrefix(url, "ws://"); ok { // which a server sees as what it upgrades
				url = "http://" + rest
			}
			lines[ev.Method+" "+url]++
		}
	}
	for _, h := range s.all() {
		if lines[h.String()]--; lines[h.String()] < 0 {
			t.Errorf("reached the server without a line in the log: %s", h)
		}
	}
	if _, err := audit.Verify(dir, ""); err != nil {
		t.Errorf("audit verify: %v", err)
	}
}

// TestChromeCrash: clients' sockets close at once, the log notes it, and a new
// Chrome answers at the same endpoint.
func TestChromeCrash(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log)
	_, before := httpGet(t, v.endpoint+"/json/version")
	allOK(t, drive(t, "puppeteer", v.endpoint, step{"do": "goto", "url": "http://a.test/1"}))
	pids := chromes(v.tmp)
	if len(pids) == 0 {
		t.Fatal("no Chrome found")
	}
	syscall.Kill(pids[0], syscall.SIGKILL)
	waitFor(t, "a new Chrome", func() bool {
		now := chromes(v.tmp)
		return len(now) > 0 && now[0] != pids[0]
	})
	allOK(t, drive(t, "puppeteer", v.endpoint, step{"do": "goto", "url": "http://a.test/2"}))
	if _, after := httpGet(t, v.endpoint+"/json/version"); after != before {
		t.Errorf("the endpoint changed: %s\n%s", before, after)
	}
	notes := map[string]bool{}
	for ev, err := range audit.Replay(log) {
		if err != nil {
			t.Fatal(err)
		}
		notes[ev.Note] = true
	}
	if !notes["chrome_ended"] || !notes["chrome_restarted"] {
		t.Errorf("the log notes %v", notes)
	}
}
