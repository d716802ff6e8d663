package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

var noon = time.Date(2026, 11, 30, 12, 9, 22, 118_000_000, time.UTC)

// clock is a clock that stands still until it is set.
type clock struct{ ns atomic.Int64 }

func (c *clock) set(t time.Time) { c.ns.Store(t.UnixNano()) }
func (c *clock) now() time.Time  { return time.Unix(0, c.ns.Load()) }

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

func openLog(t *testing.T, c Config) *Log {
	t.Helper()
	if c.Now == nil {
		c.Now = at(noon)
	}
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func closeLog(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, l *Log, evs ...governor.Event) {
	t.Helper()
	for i := range evs {
		if err := l.Record(&evs[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func note(text string) governor.Event {
	return governor.Event{Type: governor.EventNote, Note: "test", Text: text}
}

// visit is a navigation that was sent and what came of it.
func visit(id, host string, status int) []governor.Event {
	return []governor.Event{
		{Type: governor.EventAction, ID: id, Kind: actions.Navigation, Method: "GET", URL: "http://" + host + "/" + id, Host: host, Sent: true, Waited: 900 * time.Millisecond, Client: "playwright"},
		{Type: governor.EventOutcome, ID: id, Status: status, Latency: 84 * time.Millisecond},
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func replay(t *testing.T, dir string) []governor.Event {
	t.Helper()
	var all []governor.Event
	for ev, err := range Replay(dir) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	return all
}

func verified(t *testing.T, dir string) Report {
	t.Helper()
	rep, err := Verify(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// faulty is a day's file on a disk with faults.
type faulty struct {
	file
	*faults
}

// faults are switched on by setting an error.
type faults struct {
	mu       sync.Mutex // the log syncs in the background
	write    error
	part     int // bytes that a failing write still writes
	truncate error
	sync     error
	open     error
	writes   int
	syncs    atomic.Int64
}

func (d *faults) set(change func(*faults)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *faults) openFile(path string) (file, int64, error) {
	if d.open != nil {
		return nil, 0, d.open
	}
	f, size, err := openDisk(path)
	return faulty{f, d}, size, err
}

func (f faulty) Write(b []byte) (int, error) {
	f.faults.writes++
	if f.faults.write == nil {
		return f.file.Write(b)
	}
	n, err := f.file.Write(b[:min(len(b), f.part)])
	return n, errors.Join(f.faults.write, err)
}

func (f faulty) Truncate(n int64) error {
	if f.faults.truncate != nil {
		return f.faults.truncate
	}
	return f.file.Truncate(n)
}

func (f faulty) Sync() error {
	f.syncs.Add(1)
	f.mu.Lock()
	err := f.faults.sync
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.file.Sync()
}

func openFaulty(t *testing.T, c Config, d *faults) *Log {
	t.Helper()
	if c.Now == nil {
		c.Now = at(noon)
	}
	if c.Interval == 0 {
		c.Interval = time.Hour
	}
	l, err := open(c, d.openFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func ids(evs []governor.Event) string {
	var s []string
	for _, ev := range evs {
		s = append(s, fmt.Sprint(ev.ID, ev.Text))
	}
	return strings.Join(s, " ")
}
