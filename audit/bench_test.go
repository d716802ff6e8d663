package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// typical is what a governed page load writes most of: an action and its outcome.
func typical(i int, now time.Time) [2]governor.Event {
	id := fmt.Sprintf("a%d", i)
	return [2]governor.Event{
		{
			Type: governor.EventAction, Time: now, Day: "2026-11-30", ID: id, Kind: actions.Subresource, Method: "GET",
			URL: "https://shop.example/static/img/products/1234567.webp?w=640&q=75", Host: "shop.example", Sent: true,
			Waited: 912 * time.Millisecond, Client: "playwright", Tab: "5F0B3C4D9A1E4B7C8D2E6F7A8B9C0D1E", Cause: "a40",
			Resource: "Image", Left: &governor.Left{Host: 11, Day: 459},
		},
		{Type: governor.EventOutcome, Time: now, ID: id, Status: 200, Latency: 84 * time.Millisecond},
	}
}

func BenchmarkRecord(b *testing.B) {
	for _, p := range []Policy{FsyncInterval, FsyncNever, FsyncAlways} {
		b.Run(string(p), func(b *testing.B) {
			l, err := Open(Config{Dir: b.TempDir(), Fsync: p})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			evs := typical(41, time.Now())
			i := 0
			for b.Loop() {
				if err := l.Record(&evs[i&1]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func BenchmarkRecordParallel(b *testing.B) {
	for _, p := range []Policy{FsyncInterval, FsyncAlways} {
		b.Run(string(p), func(b *testing.B) {
			l, err := Open(Config{Dir: b.TempDir(), Fsync: p})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			evs := typical(41, time.Now())
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if err := l.Record(&evs[i&1]); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// fill writes a log of n lines.
func fill(tb testing.TB, dir string, n int) {
	tb.Helper()
	l, err := Open(Config{Dir: dir, Fsync: FsyncNever})
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < n; i += 2 {
		evs := typical(i, time.Date(2026, 11, 30, 12, 0, 0, i*1e6, time.UTC))
		for j := range evs {
			if err := l.Record(&evs[j]); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func BenchmarkReplay(b *testing.B) {
	const lines = 200_000
	dir := b.TempDir()
	fill(b, dir, lines)
	info, err := os.Stat(filepath.Join(dir, "2026-11-30.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		n := 0
		for ev, err := range Replay(dir) {
			if err != nil || ev.Type == "" {
				b.Fatal(err)
			}
			n++
		}
		if n != lines {
			b.Fatalf("%d lines, want %d", n, lines)
		}
	}
	b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkVerify(b *testing.B) {
	const lines = 200_000
	dir := b.TempDir()
	fill(b, dir, lines)
	for b.Loop() {
		if rep, err := Verify(dir, ""); err != nil || rep.Lines != lines {
			b.Fatal(err, rep.Lines)
		}
	}
	b.ReportMetric(float64(b.N)*lines/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkMask(b *testing.B) {
	for b.Loop() {
		Mask("https://shop.example/static/img/products/1234567.webp?w=640&q=75")
	}
}
