package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// The lines as the design shows them, with every field that an event can have.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l,
		governor.Event{
			Type: governor.EventAction, Time: noon, Day: "2026-11-30", ID: "a41", Kind: actions.Navigation, Method: "GET",
			URL: "http://host/profile/3", Host: "host", Sent: true, Waited: 912 * time.Millisecond, Client: "playwright",
			Tab: "T1", Cause: "a40", Resource: "Document", Detail: `link "Next"`, Left: &governor.Left{Host: 11, Day: 459},
		},
		governor.Event{
			Type: governor.EventOutcome, Time: noon.Add(84 * time.Millisecond), ID: "a41", Status: 429, Latency: 84 * time.Millisecond,
			RetryAfter: 2 * time.Second, HoldUntil: noon.Add(2*time.Second + 1),
		},
		governor.Event{
			Type: governor.EventAction, Time: noon, ID: "a42", Kind: actions.Navigation, URL: "http://host/private/inbox",
			Reason: governor.RobotsDisallowed, Rule: "Disallow: /private (line 2 of http://host/robots.txt)",
		},
		governor.Event{Type: governor.EventOutcome, Time: noon, ID: "a43", FromCache: true, Credited: true, RetryAfter: 1500*time.Millisecond + 1, Error: "net error"},
		governor.Event{Type: governor.EventNote, Time: noon, Note: "started", Text: "robots off"},
		governor.Event{Type: governor.EventAction, Time: noon, ID: "a44", Kind: actions.Click, Sent: true, Attempt: 2},
	)
	closeLog(t, l)
	got := read(t, dir, "2026-11-30.jsonl")
	want := []string{
		`{"v":1,"seq":1,"ts":"2026-11-30T12:09:22.118Z","day":"2026-11-30","event":"action","id":"a41","kind":"navigation","method":"GET","url":"http://host/profile/3","host":"host","sent":true,"attempt":0,"waited_ms":912,"client":"playwright","tab":"T1","cause":"a40","resource":"Document","detail":"link \"Next\"","left":{"host":11,"day":459},"prev":"0000000000000000000000000000000000000000000000000000000000000000"}`,
		`{"v":1,"seq":2,"ts":"2026-11-30T12:09:22.202Z","event":"outcome","id":"a41","status":429,"ms":84,"retry_after_s":2,"from_cache":false,"hold_until":"2026-11-30T12:09:24.119Z","prev":"`,
		`{"v":1,"seq":3,"ts":"2026-11-30T12:09:22.118Z","event":"action","id":"a42","kind":"navigation","url":"http://host/private/inbox","sent":false,"reason":"robots_disallowed","rule":"Disallow: /private (line 2 of http://host/robots.txt)","prev":"`,
		`{"v":1,"seq":4,"ts":"2026-11-30T12:09:22.118Z","event":"outcome","id":"a43","status":0,"ms":0,"retry_after_s":1.501,"from_cache":true,"credited":true,"error":"net error","prev":"`,
		`{"v":1,"seq":5,"ts":"2026-11-30T12:09:22.118Z","event":"note","note":"started","text":"robots off","prev":"`,
		`{"v":1,"seq":6,"ts":"2026-11-30T12:09:22.118Z","event":"action","id":"a44","kind":"click","sent":true,"attempt":2,"waited_ms":0,"prev":"`,
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), got)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("line %d\n got %s\nwant %s", i+1, lines[i], want[i])
		}
		var r record
		if !parseFast(lines[i], &r) {
			t.Errorf("line %d is not read the fast way", i+1)
		}
	}
	verified(t, dir)
}

// What is written comes back, to the millisecond.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := governor.Event{
		Type: "later", Time: noon, Day: "2026-12-01", ID: "a1", Kind: "k", Method: "M", URL: "http://h/?a=b&c=<d>", Host: "h",
		Sent: true, Attempt: 3, Waited: time.Minute, Client: "c", Tab: "t", Cause: "a0", Resource: "Document",
		Detail: "quotes \" \\ / \n\r\t\b\f \x01 é 日本 \u2028 😀", Left: &governor.Left{Host: -1, Day: 7}, Reason: "r", Rule: "rule",
		Status: 200, Latency: 3 * time.Millisecond, RetryAfter: 1250 * time.Millisecond, FromCache: true, Credited: true,
		HoldUntil: noon.Add(time.Hour), Error: "e", Note: "n", Text: "bad \xff utf-8",
	}
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("the test leaves %s empty", v.Type().Field(i).Name)
		}
	}
	l := openLog(t, Config{Dir: dir})
	put(t, l, want)
	closeLog(t, l)
	want.Text = "bad \ufffd utf-8"
	if got := replay(t, dir); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := openLog(t, Config{Dir: dir})
	put(t, l, note("x"))
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "2026-11-30.jsonl"): 0o600, filepath.Join(dir, "lock"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestRollOver(t *testing.T) {
	dir := t.TempDir()
	var c clock
	c.set(noon)
	l := openLog(t, Config{Dir: dir, Now: c.now})
	put(t, l, note("1"))
	c.set(time.Date(2026, 11, 30, 23, 59, 59, 999_999_999, time.UTC))
	put(t, l, note("2"))
	c.set(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	put(t, l, note("3"))
	// A line stamped before midnight that comes after one stamped later stays
	// behind it: the chain does not go back.
	late := note("4")
	late.Time = time.Date(2026, 11, 30, 23, 59, 59, 0, time.FixedZone("", 0))
	put(t, l, late)
	c.set(time.Date(2026, 12, 24, 1, 0, 0, 0, time.FixedZone("west", -3*3600))) // 04:00 UTC
	put(t, l, note("5"))
	closeLog(t, l)
	l = openLog(t, Config{Dir: dir, Now: c.now})
	put(t, l, note("6"))
	closeLog(t, l)

	for name, want := range map[string]int{"2026-11-30.jsonl": 2, "2026-12-01.jsonl": 2, "2026-12-24.jsonl": 2} {
		if got := strings.Count(read(t, dir, name), "\n"); got != want {
			t.Errorf("%s has %d lines, want %d", name, got, want)
		}
	}
	if rep := verified(t, dir); rep.Lines != 6 || rep.Files != 3 || rep.LastSeq != 6 {
		t.Errorf("%+v", rep)
	}
	if got := ids(replay(t, dir)); got != "1 2 3 4 5 6" {
		t.Errorf("replayed %s", got)
	}
	var since []governor.Event
	for ev, err := range ReplaySince(dir, "2026-12-01") {
		if err != nil {
			t.Fatal(err)
		}
		since = append(since, ev)
	}
	if got := ids(since); got != "3 4 5 6" {
		t.Errorf("replayed since December %s", got)
	}
}

func TestConcurrent(t *testing.T) {
	for _, p := range []Policy{FsyncInterval, FsyncAlways, FsyncNever} {
		t.Run(string(p), func(t *testing.T) {
			dir := t.TempDir()
			l := openLog(t, Config{Dir: dir, Fsync: p, Interval: time.Millisecond})
			const writers, each = 16, 100
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					for i := range each {
						ev := governor.Event{Type: governor.EventAction, ID: fmt.Sprintf("a%d", w*each+i), Sent: true,
							// Two days at once.
							Time: noon.Add(time.Duration(i) * 10 * time.Minute)}
						if err := l.Record(&ev); err != nil {
							t.Error(err)
						}
						if seq, head := l.Head(); seq == 0 || len(head) != 64 {
							t.Errorf("head %d %s", seq, head)
						}
					}
				})
			}
			wg.Wait()
			closeLog(t, l)
			if rep := verified(t, dir); rep.Lines != writers*each {
				t.Errorf("%d lines, want %d", rep.Lines, writers*each)
			}
			seen := map[string]bool{}
			for _, ev := range replay(t, dir) {
				seen[ev.ID] = true
			}
			if len(seen) != writers*each {
				t.Errorf("%d different IDs, want %d", len(seen), writers*each)
			}
		})
	}
}

// Records that come while one is being written share the next write.
func TestConcurrentRecordsShareWrites(t *testing.T) {
	d := &faults{}
	l := openFaulty(t, Config{Dir: t.TempDir()}, d)
	l.mu.Lock()
	l.led = true // as if somebody wrote
	l.mu.Unlock()
	var wg sync.WaitGroup
	const n = 20
	for range n {
		wg.Go(func() {
			ev := note("x")
			if err := l.Record(&ev); err != nil {
				t.Error(err)
			}
		})
	}
	var batch []*entry
	for len(batch) < n {
		runtime.Gosched()
		l.mu.Lock()
		batch = l.queue
		l.mu.Unlock()
	}
	l.mu.Lock()
	l.queue = nil
	l.mu.Unlock()
	batch[0].wake <- batch
	wg.Wait()
	if d.writes != 1 {
		t.Errorf("%d records took %d writes, want 1", n, d.writes)
	}
	if seq, _ := l.Head(); seq != n {
		t.Errorf("seq %d, want %d", seq, n)
	}
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	closeLog(t, l)
	closeLog(t, l)
	ev := note("x")
	if err := l.Record(&ev); !errors.Is(err, ErrClosed) {
		t.Errorf("Record after Close: %v", err)
	}
	if got := list(t, dir); got != "lock" {
		t.Errorf("an unused log leaves %s", got)
	}
}

func TestCloseWaitsForRecords(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	var wg sync.WaitGroup
	var mu sync.Mutex
	written := 0
	for range 8 {
		wg.Go(func() {
			for {
				ev := note("x")
				if err := l.Record(&ev); errors.Is(err, ErrClosed) {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				written++
				mu.Unlock()
			}
		})
	}
	for seq := uint64(0); seq < 100; seq, _ = l.Head() {
		runtime.Gosched()
	}
	closeLog(t, l)
	wg.Wait()
	if rep := verified(t, dir); rep.Lines != written {
		t.Errorf("%d lines, %d records said they were written", rep.Lines, written)
	}
}

func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(file), "file", "x")
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{}, "no folder"},
		{Config{Dir: t.TempDir(), Fsync: "sometimes"}, `fsync policy "sometimes": want interval, always or never`},
		{Config{Dir: file}, "making the folder of the log"},
	} {
		if l, err := Open(tt.c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v %v, want %s", tt.c, l, err, tt.want)
		}
	}
}

func TestBadEvents(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	for _, ev := range []governor.Event{{}, {Type: "x", Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}} {
		if err := l.Record(&ev); err == nil {
			t.Errorf("%+v was recorded", ev)
		}
	}
	put(t, l, note("good"))
	if rep := verified(t, dir); rep.Lines != 1 {
		t.Errorf("%+v", rep)
	}
}

func TestVersionIsNoted(t *testing.T) {
	dir := t.TempDir()
	closeLog(t, openLog(t, Config{Dir: dir, Version: "1.2.3"}))
	evs := replay(t, dir)
	if len(evs) != 1 || evs[0].Note != "log_opened" || !strings.Contains(evs[0].Text, "1.2.3") {
		t.Errorf("%+v", evs)
	}
}

func TestHugeFieldsAreClipped(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	ev := note("")
	ev.URL = "http://host/" + strings.Repeat("é", 1<<20)
	put(t, l, ev, note("after"))
	evs := replay(t, dir)
	if len(evs) != 2 || len(evs[0].URL) > maxField+64 || !strings.HasSuffix(evs[0].URL, "bytes cut]") {
		t.Errorf("%d lines, URL of %d bytes", len(evs), len(evs[0].URL))
	}
}
