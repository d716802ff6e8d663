package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A write that fails in any way leaves the log as if it had not been tried, and
// the log says so in the first line that can be written again.
func TestFailedWrites(t *testing.T) {
	full := syscall.ENOSPC
	for name, tt := range map[string]struct {
		fsync  Policy
		break_ func(*faults)
	}{
		"nothing written":    {FsyncNever, func(d *faults) { d.write = full }},
		"one byte written":   {FsyncNever, func(d *faults) { d.write, d.part = full, 1 }},
		"all but newline":    {FsyncNever, func(d *faults) { d.write, d.part = full, 150 }},
		"all written":        {FsyncNever, func(d *faults) { d.write, d.part = full, 1<<20 }},
		"nor can it be cut":  {FsyncNever, func(d *faults) { d.write, d.part, d.truncate = full, 40, syscall.EIO }},
		"fsync fails":        {FsyncAlways, func(d *faults) { d.sync = full }},
		"new file, no space": {FsyncInterval, func(d *faults) { d.open = full }},
	} {
		t.Run(name, func(t *testing.T) {
			dir, d := t.TempDir(), &faults{}
			var c clock
			c.set(noon)
			l := openFaulty(t, Config{Dir: dir, Fsync: tt.fsync, Now: c.now}, d)
			put(t, l, note("before"))
			if l.Err() != nil {
				t.Error(l.Err())
			}
			tt.break_(d)
			c.set(noon.Add(13 * time.Hour)) // the next day: a new file too
			for range 3 {
				ev := note("lost")
				if err := l.Record(&ev); !errors.Is(err, full) && !errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "audit: ") {
					t.Fatalf("Record on a full disk: %v", err)
				}
				if l.Err() == nil {
					t.Error("the error does not stick")
				}
			}
			if d.truncate == nil {
				verified(t, dir) // a crash now would leave a log that holds
			}
			d.write, d.part, d.truncate, d.sync, d.open = nil, 0, nil, nil, nil
			put(t, l, note("after"))
			if l.Err() != nil {
				t.Error(l.Err())
			}
			closeLog(t, l)
			verified(t, dir)
			evs := replay(t, dir)
			if len(evs) != 3 || evs[0].Text != "before" || evs[1].Note != "lines_lost" || evs[2].Text != "after" {
				t.Fatalf("%+v", evs)
			}
			if !strings.Contains(evs[1].Text, "3 events could not be written") {
				t.Errorf("note %q", evs[1].Text)
			}
		})
	}
}

// The file that is written to must be the one that people see.
func TestRemovedFile(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var c clock
			c.set(noon)
			l := openLog(t, Config{Dir: dir, Now: c.now})
			put(t, l, note("1"))
			if err := remove(filepath.Join(dir, "2026-11-30.jsonl")); err != nil {
				t.Fatal(err)
			}
			c.set(noon.Add(time.Second))
			for range 2 {
				ev := note("2")
				if err := l.Record(&ev); err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("Record: %v", err)
				}
			}
		})
	}
}

func TestFsyncPolicies(t *testing.T) {
	for _, tt := range []struct {
		p    Policy
		want []int64 // syncs after three lines, after 1 s, after another 1 s without lines, after Close
	}{
		{FsyncNever, []int64{0, 0, 0, 0}},
		{FsyncAlways, []int64{3, 3, 3, 4}},
		{FsyncInterval, []int64{0, 1, 1, 2}},
	} {
		t.Run(string(tt.p), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				d := &faults{}
				l, err := open(Config{Dir: dir, Fsync: tt.p, Interval: time.Second, Now: time.Now}, d.openFile)
				if err != nil {
					t.Fatal(err)
				}
				var got []int64
				put(t, l, note("1"), note("2"), note("3"))
				got = append(got, d.syncs.Load())
				for range 2 {
					time.Sleep(time.Second)
					synctest.Wait()
					got = append(got, d.syncs.Load())
				}
				closeLog(t, l)
				got = append(got, d.syncs.Load())
				for i := range got {
					if got[i] != tt.want[i] {
						t.Fatalf("syncs %v, want %v", got, tt.want)
					}
				}
			})
		})
	}
}

// After a sync in the background failed nothing is recorded until one succeeds.
func TestFailedBackgroundSync(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &faults{}
		l, err := open(Config{Dir: dir, Fsync: FsyncInterval, Interval: time.Second, Now: time.Now}, d.openFile)
		if err != nil {
			t.Fatal(err)
		}
		put(t, l, note("1"))
		d.set(func(d *faults) { d.sync = syscall.EIO })
		time.Sleep(time.Second)
		synctest.Wait()
		if err := l.Err(); !errors.Is(err, syscall.EIO) {
			t.Errorf("Err %v", err)
		}
		ev := note("2")
		if err := l.Record(&ev); !errors.Is(err, syscall.EIO) {
			t.Errorf("Record %v", err)
		}
		d.set(func(d *faults) { d.sync = nil })
		put(t, l, note("3"))
		closeLog(t, l)
		if got := len(replay(t, dir)); got != 3 { // 1, lines_lost, 3
			t.Errorf("%d lines", got)
		}
	})
}
