package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"browsergovernor/governor"
)

// reason is the reason in a refusal's data.
func (m rawMessage) reason(t testing.TB) governor.Reason {
	t.Helper()
	if !m.Error.refused() {
		t.Fatalf("not refused: %s %v", m.Result, m.Error)
	}
	var data struct{ Reason governor.Reason }
	if err := json.Unmarshal([]byte(m.Error.Data), &data); err != nil {
		t.Fatal(err)
	}
	return data.Reason
}

const noLimit = ^uint64(0)

// limitFiles sets how large the files of another process may become, which looks
// to it like a full disk.
func limitFiles(t testing.TB, pid int, bytes uint64) {
	t.Helper()
	limit := syscall.Rlimit{Cur: bytes, Max: noLimit}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
}

// TestDiskFull: without a log nothing is done; with room again everything is.
func TestDiskFull(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log, "--set", "log.fsync=always")
	c := dialRaw(t, v.endpoint)
	_, page := c.page()
	c.visit(page, "http://a.test/before")

	day := filepath.Join(log, time.Now().UTC().Format(time.DateOnly)+".jsonl")
	written, err := os.Stat(day)
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t, v.cmd.Process.Pid, uint64(written.Size())+40) // not even a line's worth
	before := len(s.all())
	if r := c.ask(page, "Page.navigate", args{"url": "http://a.test/full"}).reason(t); r != governor.AuditUnavailable {
		t.Errorf("a navigation on a full disk is refused for %s", r)
	}
	if r := c.ask("", "Target.createTarget", args{"url": "http://b.test/full"}).reason(t); r != governor.AuditUnavailable {
		t.Errorf("a tab on a full disk is refused for %s", r)
	}
	if r := c.ask(page, "Input.dispatchMouseEvent", args{"type": "mousePressed", "x": 5, "y": 5, "button": "left", "clickCount": 1}).reason(t); r != governor.AuditUnavailable {
		t.Errorf("a click on a full disk is refused for %s", r)
	}
	if got := c.eval(page, `fetch("/sub").then(r => r.status + " " + r.headers.get("X-Governor-Reason"))`); got != "403 audit_unavailable" {
		t.Errorf("a sub-resource on a full disk: %v", got)
	}
	if m := c.ask("", "Fetch.enable", nil); m.Error == nil {
		t.Error("a denied command on a full disk")
	}
	if got := s.all()[before:]; len(got) > 0 {
		t.Errorf("reached the server without a line: %v", got)
	}

	limitFiles(t, v.cmd.Process.Pid, noLimit)
	c.visit(page, "http://a.test/after")
	v.cmd.Process.Signal(os.Interrupt)
	v.end(15 * time.Second)
	checkLedger(t, s, log)
}

// TestLogFolderRemoved: a log that is pulled away from under the governor stops
// everything.
func TestLogFolderRemoved(t *testing.T) {
	s := newSite(t, nil)
	log := filepath.Join(t.TempDir(), "log")
	v := startServe(t, s, log, "--set", "log.fsync=always")
	c := dialRaw(t, v.endpoint)
	_, page := c.page()
	c.visit(page, "http://a.test/before")
	if err := os.RemoveAll(log); err != nil {
		t.Fatal(err)
	}
	// The log looks for its file once a second, not before each line.
	removed := time.Now()
	waitFor(t, "navigations to be refused", func() bool {
		return c.ask(page, "Page.navigate", args{"url": "http://a.test/removed"}).Error.refused()
	})
	if d := time.Since(removed); d > 5*time.Second {
		t.Errorf("the log's folder was gone for %v before anything was refused", d)
	}
	if r := c.ask(page, "Page.navigate", args{"url": "http://a.test/gone"}).reason(t); r != governor.AuditUnavailable {
		t.Errorf("refused for %s", r)
	}
	if got := c.eval(page, `fetch("/sub").then(r => r.status)`); got != 403.0 || s.count("/gone")+s.count("/sub") > 0 {
		t.Errorf("without a log a sub-resource is answered %v; the server received %v", got, s.received())
	}
}
