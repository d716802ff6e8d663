package audit

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"browsergovernor/governor"
)

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// Other spellings of the same line mean the same.
func TestOtherSpellings(t *testing.T) {
	const ours = `{"v":1,"seq":7,"ts":"2026-11-30T12:09:22.118Z","day":"2026-11-30","event":"action","id":"a1","url":"http://h/é","sent":true,"attempt":0,"waited_ms":912,"left":{"host":-1,"day":459},"prev":"` + zeros + `"}`
	var want record
	if !parseFast(ours, &want) {
		t.Fatal("not read the fast way")
	}
	for name, line := range map[string]string{
		"ours, read the slow way": ours,
		"blanks":                  strings.ReplaceAll(strings.ReplaceAll(ours, `":`, `" : `), `,"`, ` , "`),
		"prev first":              `{"prev":"` + zeros + `",` + strings.TrimSuffix(ours[1:], `,"prev":"`+zeros+`"}`) + `}`,
		"escapes":                 strings.ReplaceAll(ours, "é", `\u00e9`),
		"slashes":                 strings.ReplaceAll(ours, "/", `\/`),
		"another zone":            strings.ReplaceAll(ours, "12:09:22.118Z", "13:09:22.118+01:00"),
		"unknown fields":          strings.ReplaceAll(ours, `"id"`, `"mood":{"a":[1]},"id"`),
		"null":                    strings.ReplaceAll(ours, `"id"`, `"method":null,"id"`),
		"decimals":                strings.ReplaceAll(ours, `912`, `912.0`),
	} {
		for way, read := range map[string]func(string, *record) error{"parse": parse, "parseAny": parseAny} {
			var got record
			if err := read(line, &got); err != nil {
				t.Errorf("%s, %s: %v", name, way, err)
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s:\n got %+v\nwant %+v", name, way, got, want)
			}
		}
	}
}

// A newer version may add events and fields, and give fields other shapes.
func TestNewerVersion(t *testing.T) {
	var r record
	err := parse(`{"v":2,"seq":7,"ts":"2027-01-01T00:00:00Z","event":"consent","id":"a1","rule":{"text":"x"},"hold_until":17,"url":"http://h/","prev":"x"}`, &r)
	want := governor.Event{Type: "consent", Time: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), ID: "a1", URL: "http://h/"}
	if err != nil || r.V != 2 || r.Seq != 7 || !reflect.DeepEqual(r.Event, want) {
		t.Errorf("%v %+v", err, r)
	}
}

func TestBadLines(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{``, "column 0: not JSON: unexpected end of JSON input"},
		{`{"v":1,"seq":1,`, "column 15: not JSON"},
		{`{"v":1,"seq":1,"ts":"2026-11-30T12:09:22.118Z","event":"note"} x`, "column 64: not JSON: invalid character 'x'"},
		{`[1]`, "not a line of this log"},
		{`"x"`, "not a line of this log"},
		{`{}`, `no "v"`},
		{`{"v":1,"seq":-1}`, `"seq" is a number -1: want uint64`},
		{`{"v":1,"ts":"2026-11-30T12:09:22.118Z","event":"action","status":"ok"}`, `"status" is a string: want int`},
		{`{"v":1,"ts":"2026-11-30T12:09:22.118Z"}`, `"event" is missing`},
		{`{"v":1,"event":"note"}`, `"ts" is ""`},
		{`{"v":1,"seq":1,"ts":"2026-11-31T12:09:22.118Z","event":"note"}`, `"ts" is "2026-11-31T12:09:22.118Z"`},
		{`{"v":1,"seq":1,"ts":"2026-11-30T12:09:22.118Z","event":"note","hold_until":"soon"}`, `"hold_until" is "soon"`},
		{`{"v":1,"seq":01,"ts":"2026-11-30T12:09:22.118Z","event":"note"}`, "not JSON"},
		{"{\"v\":1,\"seq\":1,\"ts\":\"2026-11-30T12:09:22.118Z\",\"event\":\"note\",\"text\":\"a\tb\"}", "not JSON"},
	} {
		var r record
		if err := parse(tt.line, &r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant %s", tt.line, err, tt.want)
		}
	}
}

func TestReplayNamesTheLine(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l, note("1"), note("2"), note("3"))
	closeLog(t, l)
	lines := strings.SplitAfter(read(t, dir, "2026-11-30.jsonl"), "\n")
	write(t, dir, "2026-11-30.jsonl", lines[0]+"oops\n"+lines[2])
	write(t, dir, "2026-12-01.jsonl", "") // so that the file above is not the newest
	var good, bad int
	for ev, err := range Replay(dir) {
		var le *LineError
		switch {
		case err == nil:
			good++
		case errors.As(err, &le) && le.File == "2026-11-30.jsonl" && le.Line == 2 && ev.Type == "":
			bad++
			if want := "audit: 2026-11-30.jsonl:2: column 1: not JSON"; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		default:
			t.Error(err)
		}
	}
	if good != 2 || bad != 1 {
		t.Errorf("%d good, %d bad", good, bad)
	}
	// An older file without its last newline has lost something.
	write(t, dir, "2026-11-30.jsonl", strings.TrimSuffix(strings.Join(lines, ""), "\n"))
	var err error
	for _, err = range Replay(dir) {
	}
	if err == nil || !strings.Contains(err.Error(), "2026-11-30.jsonl:3: the line has no end") {
		t.Error(err)
	}
}

func TestReplayOfNothing(t *testing.T) {
	for ev, err := range Replay(t.TempDir() + "/none") {
		t.Error(ev, err)
	}
	for ev, err := range Replay(t.TempDir()) {
		t.Error(ev, err)
	}
	n := 0
	for _, err := range ReplaySince(t.TempDir(), "30 November") {
		if n++; err == nil || !strings.Contains(err.Error(), "want YYYY-MM-DD") {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d errors", n)
	}
}

// Chunks come back in order, lines longer than a chunk included, and breaking
// off ends everything (the race detector and goroutine leaks would tell).
func TestReplayAcrossChunks(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir, Fsync: FsyncNever})
	const lines = 6000
	for i := range lines {
		ev := note(strings.Repeat("x", i%400))
		if i%1000 == 999 {
			ev.Text = strings.Repeat("\x02", maxField)
		}
		ev.Attempt = i
		ev.Time = noon.Add(time.Duration(i) * time.Minute)
		put(t, l, ev)
	}
	closeLog(t, l)
	for stop := lines; stop > 0; stop /= 3 {
		n := 0
		for ev, err := range Replay(dir) {
			if err != nil || ev.Attempt != n {
				t.Fatalf("line %d: %v %v", n, ev.Attempt, err)
			}
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Fatalf("%d lines, want %d", n, stop)
		}
	}
	if rep := verified(t, dir); rep.Lines != lines {
		t.Errorf("%+v", rep)
	}
}

// The escaping is that of encoding/json.
func TestEscaping(t *testing.T) {
	for _, s := range []string{
		"", "plain", "q\"b\\s/", "\x00\x01\x1f\x7f\u0080", "\n\r\t\b\f", "<a&b>", "é日😀", "\u2028\u2029", "\xff", "a\xc3", "\xed\xa0\x80", "\ufffd",
	} {
		got := string(appendString(nil, s))
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if want := strings.TrimSuffix(b.String(), "\n"); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2 * time.Second: "2", 1500 * time.Millisecond: "1.5", 50 * time.Millisecond: "0.05", time.Millisecond: "0.001",
		1: "0.001", time.Second + 1: "1.001", 1999*time.Millisecond + 1: "2", 90*time.Second + 120*time.Millisecond: "90.12",
	} {
		if got := string(appendSeconds(nil, d)); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

// FuzzReplayLine: no line makes the readers panic; what the fast one accepts is
// JSON, and the slow one reads the same from it.
func FuzzReplayLine(f *testing.F) {
	evs := typical(41, noon)
	evs[0].Detail = "button \"Buy\"\n\\ é \u2028"
	evs[1].RetryAfter, evs[1].HoldUntil, evs[1].Credited = 1250*time.Millisecond, noon, true
	for i := range evs {
		body, err := appendBody(nil, &evs[i], noon)
		if err != nil {
			f.Fatal(err)
		}
		line := string(appendLine(nil, 7, body, &[hashSize]byte{1}))
		f.Add(line)
		f.Add(line[:len(line)/2])
		f.Add(strings.ReplaceAll(line, "412", "-0.5e3"))
	}
	for _, s := range []string{
		`{"v":1,"seq":7,"ts":"2024-02-29T23:59:59.999Z","event":"note","text":"\`, `{"v":1,"seq":7,"ts":"2023-02-29T23:59:59.999Z","event":"note"}`,
		`{"v":1,"seq":7,"ts":"0000-01-01T00:00:00.000Z","event":"note","text":"\/\"\\"}`, `{"v":2}`, `{"v":1,"seq":007}`,
		`{"v":1,"seq":7,"ts":"2024-02-29T23:59:59.999Z","event":"x","status":-0,"ms":-5,"retry_after_s":0.050}`,
		`{"v":1,"seq":7,"ts":"2024-02-29T23:59:59.999Z","event":"x","retry_after_s":12345678.999,"sent":false}`,
		`{"v":1,"seq":7,"ts":"2024-02-29T23:59:59.999Z","event":"x","EVENT":"y"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var fast, slow record
		ok := parseFast(line, &fast)
		err := parseAny(line, &slow)
		if !ok {
			return
		}
		if !json.Valid([]byte(line)) {
			t.Fatalf("the fast way reads %q, which is not JSON", line)
		}
		if err != nil {
			t.Fatalf("the fast way reads %q, the slow one says %v", line, err)
		}
		if !reflect.DeepEqual(fast, slow) {
			t.Fatalf("%q\nfast %+v\nslow %+v", line, fast, slow)
		}
	})
}

// FuzzWriteLine: whatever text a page brings in, the line is one line of JSON
// and both readers read what was meant.
func FuzzWriteLine(f *testing.F) {
	f.Add("http://h/?token=1", "é\u2028\xff\"\\\n", "x", int64(1234567), 3)
	f.Fuzz(func(t *testing.T, u, s, note string, ns int64, n int) {
		ev := governor.Event{
			Type: governor.EventAction, URL: u, Detail: s, Note: note, Host: s, Attempt: n % 1e9, Status: -n % 1e9,
			Waited: time.Duration(ns), RetryAfter: time.Duration(ns), HoldUntil: time.Unix(0, ns), Left: &governor.Left{Host: -1, Day: n % 1e9},
		}
		body, err := appendBody(nil, &ev, time.Unix(0, ns))
		if err != nil {
			t.Fatal(err)
		}
		line := string(appendLine(nil, 1, body, new([hashSize]byte)))
		if strings.ContainsAny(line, "\n\r\u2028\u2029") || !utf8.ValidString(line) {
			t.Fatalf("not one line: %q", line)
		}
		var slow, fast record
		if err := parseAny(line, &slow); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if parseFast(line, &fast) && !reflect.DeepEqual(fast, slow) {
			t.Fatalf("%q\nfast %+v\nslow %+v", line, fast, slow)
		}
		if got := slow.Event.Host; got != string([]rune(clip(s))) { // a rune of its own for each invalid byte
			t.Fatalf("%q came back as %q", s, got)
		}
		if d := slow.Event.RetryAfter - ev.RetryAfter; ns > 0 && (d < 0 || d >= time.Millisecond) {
			t.Fatalf("retry after %v came back as %v", ev.RetryAfter, slow.Event.RetryAfter)
		}
		if d := slow.Event.HoldUntil.Sub(ev.HoldUntil); d < 0 || d >= time.Millisecond {
			t.Fatalf("hold until %v came back as %v", ev.HoldUntil, slow.Event.HoldUntil)
		}
	})
}
