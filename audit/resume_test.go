package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A log that ends anywhere inside its last lines goes on after the last whole
// one, and what was cut off is kept.
func TestTornAtEveryByte(t *testing.T) {
	origin := t.TempDir()
	l := openLog(t, Config{Dir: origin})
	put(t, l, note("1"), note("\" \u2028 é"))
	closeLog(t, l)
	const name = "2026-11-30.jsonl"
	whole := read(t, origin, name)

	for n := 0; n <= len(whole); n++ {
		dir := t.TempDir()
		write(t, dir, name, whole[:n])
		keep := strings.LastIndexByte(whole[:n], '\n') + 1
		lines := strings.Count(whole[:n], "\n")

		// Readers do not mind.
		if got := len(replay(t, dir)); got != lines {
			t.Fatalf("cut at %d: %d events, want %d", n, got, lines)
		}
		if rep := verified(t, dir); rep.Torn != int64(n-keep) {
			t.Fatalf("cut at %d: %d torn bytes, want %d", n, rep.Torn, n-keep)
		}

		l := openLog(t, Config{Dir: dir, Fsync: FsyncNever, Now: at(noon.Add(24 * time.Hour))})
		put(t, l, note("next"))
		closeLog(t, l)
		rep := verified(t, dir)
		if got := read(t, dir, name); got != whole[:keep] {
			t.Fatalf("cut at %d: %q is left", n, got)
		}
		evs := replay(t, dir)
		if n == keep {
			if rep.Lines != lines+1 || list(t, dir) != "2026-11-30.jsonl 2026-12-01.jsonl lock" {
				t.Fatalf("cut at %d: %d lines, files %s", n, rep.Lines, list(t, dir))
			}
			continue
		}
		if got := read(t, dir, "2026-11-30.torn-1"); got != whole[keep:n] {
			t.Fatalf("cut at %d: kept %q, want %q", n, got, whole[keep:n])
		}
		if rep.Lines != lines+2 || evs[lines].Note != "torn_line" ||
			!strings.Contains(evs[lines].Text, fmt.Sprintf("cut %d bytes", n-keep)) || !strings.Contains(evs[lines].Text, "2026-11-30.torn-1") {
			t.Fatalf("cut at %d: %+v", n, evs)
		}
	}
}

func TestTornAgain(t *testing.T) {
	dir := t.TempDir()
	for i := 1; i <= 3; i++ {
		l := openLog(t, Config{Dir: dir})
		put(t, l, note("x"))
		closeLog(t, l)
		write(t, dir, "2026-11-30.jsonl", read(t, dir, "2026-11-30.jsonl")+strings.Repeat("\x00", 200_000))
		if i > 1 && !strings.Contains(list(t, dir), fmt.Sprintf("2026-11-30.torn-%d", i-1)) {
			t.Errorf("files %s", list(t, dir))
		}
	}
	closeLog(t, openLog(t, Config{Dir: dir}))
	if rep := verified(t, dir); rep.Lines != 6 {
		t.Errorf("%+v", rep)
	}
}

func TestLongLastLine(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l, note("1"), note(strings.Repeat("\x01", maxField))) // 384 KB in JSON
	closeLog(t, l)
	l = openLog(t, Config{Dir: dir})
	put(t, l, note("3"))
	closeLog(t, l)
	if rep := verified(t, dir); rep.Lines != 3 {
		t.Errorf("%+v", rep)
	}
}

func TestResumeAfterEmptyFile(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l, note("1"))
	closeLog(t, l)
	write(t, dir, "2026-12-01.jsonl", "") // made at midnight, nothing written
	write(t, dir, "README.jsonl", "not ours\n")
	write(t, dir, "2026-13-01.jsonl", "not ours either\n")
	l = openLog(t, Config{Dir: dir, Now: at(noon.Add(24 * time.Hour))})
	put(t, l, note("2"))
	closeLog(t, l)
	if rep := verified(t, dir); rep.Lines != 2 || rep.LastSeq != 2 {
		t.Errorf("%+v", rep)
	}
}

// A last line that is whole but not of this log is nobody's to cut off.
func TestForeignLastLine(t *testing.T) {
	for _, tail := range []string{"\n", "hello\n", `{"v":1}` + "\n", `{"v":1,"seq":2,"ts":"yesterday","event":"note"}` + "\n"} {
		dir := t.TempDir()
		write(t, dir, "2026-11-30.jsonl", tail)
		_, err := Open(Config{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), "2026-11-30.jsonl") {
			t.Errorf("%q: %v", tail, err)
		}
		if got := read(t, dir, "2026-11-30.jsonl"); got != tail {
			t.Errorf("%q became %q", tail, got)
		}
		// The lock is free again.
		write(t, dir, "2026-11-30.jsonl", "")
		closeLog(t, openLog(t, Config{Dir: dir}))
	}
}
