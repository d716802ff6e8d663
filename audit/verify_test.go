package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browsergovernor/governor"
)

// threeDays is a log of three files with three lines each. It returns their
// names.
func threeDays(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	var c clock
	c.set(noon)
	l := openLog(t, Config{Dir: dir, Now: c.now})
	for day := range 3 {
		c.set(noon.Add(time.Duration(day) * 24 * time.Hour))
		put(t, l, visit("a"+string(rune('1'+day)), "host", 200)...)
		put(t, l, note("end of the day"))
		names = append(names, c.now().UTC().Format(time.DateOnly)+".jsonl")
	}
	closeLog(t, l)
	return names
}

func TestVerifyFindsTampering(t *testing.T) {
	edit := func(line int, from, to string) func(string) string {
		return func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			if !strings.Contains(lines[line-1], from) {
				panic("nothing to edit")
			}
			lines[line-1] = strings.Replace(lines[line-1], from, to, 1)
			return strings.Join(lines, "")
		}
	}
	without := func(line int) func(string) string {
		return func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(append(lines[:line-1:line-1], lines[line:]...), "")
		}
	}
	for name, tt := range map[string]struct {
		file   int // 1 to 3
		change func(string) string
		where  string // first broken line
		what   string
		lines  int // that hold before it
	}{
		"edited":                 {1, edit(2, `"status":200`, `"status":404`), "2026-11-30.jsonl:3", "prev is not the hash of 2026-11-30.jsonl:2", 2},
		"one blank more":         {2, edit(1, `,"kind"`, `, "kind"`), "2026-12-01.jsonl:2", "prev is not the hash of 2026-12-01.jsonl:1", 4},
		"edited, last of a file": {1, edit(3, "end", "END"), "2026-12-01.jsonl:1", "prev is not the hash of 2026-11-30.jsonl:3", 3},
		"seq edited":             {2, edit(2, `"seq":5`, `"seq":6`), "2026-12-01.jsonl:2", "seq does not follow 2026-12-01.jsonl:1", 4},
		"prev edited":            {3, edit(2, `"prev":"`, `"prev":"0`), "2026-12-02.jsonl:2", "prev is not the hash of 2026-12-02.jsonl:1", 7},
		"not JSON":               {2, edit(2, `{`, ``), "2026-12-01.jsonl:2", "column 4: not JSON", 4},
		"no seq":                 {2, edit(2, `"seq":5,`, ``), "2026-12-01.jsonl:2", "seq: want 1 or more, found 0", 4},
		"line removed":           {2, without(2), "2026-12-01.jsonl:2", "want 5, found 6", 4},
		"last line removed":      {2, without(3), "2026-12-02.jsonl:1", "seq does not follow 2026-12-01.jsonl:2: lines are missing, moved or added: want 6, found 7", 5},
		"first line removed":     {3, without(1), "2026-12-02.jsonl:1", "want 7, found 8", 6},
		"emptied":                {2, func(string) string { return "" }, "2026-12-02.jsonl:1", "want 4, found 7", 3},
		"line doubled":           {1, func(s string) string { return s + s[strings.LastIndex(s[:len(s)-1], "\n")+1:] }, "2026-11-30.jsonl:4", "want 4, found 3", 3},
		"blank line":             {1, func(s string) string { return s + "\n" }, "2026-11-30.jsonl:4", "column 0: not JSON", 3},
		"newline lost":           {1, func(s string) string { return s[:len(s)-1] }, "2026-11-30.jsonl:3", "the line has no end", 2},
		"another beginning":      {1, edit(1, zeros, strings.Repeat("f", 64)), "2026-11-30.jsonl:1", "prev of the first line of all", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			names := threeDays(t, dir)
			verified(t, dir)
			file := names[tt.file-1]
			write(t, dir, file, tt.change(read(t, dir, file)))
			rep, err := Verify(dir, "")
			var b *Broken
			if !errors.As(err, &b) {
				t.Fatalf("found nothing: %v", err)
			}
			if rep.OK || rep.Broken != b || rep.Lines != tt.lines {
				t.Errorf("report %+v, want %d lines", rep, tt.lines)
			}
			if msg := err.Error(); !strings.HasPrefix(msg, "audit: "+tt.where+": ") || !strings.Contains(msg, tt.what) {
				t.Errorf("got  %s\nwant %s: …%s", msg, tt.where, tt.what)
			}
			var text strings.Builder
			if err := rep.WriteText(&text); err != nil || !strings.Contains(text.String(), tt.where) {
				t.Errorf("%v\n%s", err, text.String())
			}
		})
	}
}

func TestVerifyFindsMissingFiles(t *testing.T) {
	for i, want := range []string{"", "2026-12-02.jsonl:1: seq does not follow 2026-11-30.jsonl:3: lines are missing, moved or added: want 4, found 7", ""} {
		dir := t.TempDir()
		names := threeDays(t, dir)
		if err := os.Remove(filepath.Join(dir, names[i])); err != nil {
			t.Fatal(err)
		}
		rep, err := Verify(dir, "")
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("without file %d: %v, want %s", i+1, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("without file %d: %v", i+1, err)
		}
		if i == 0 && rep.FirstSeq != 4 { // old days may be thrown away; it is said
			t.Errorf("%+v", rep)
		}
	}
}

func TestVerifyHead(t *testing.T) {
	dir := t.TempDir()
	names := threeDays(t, dir)
	whole := verified(t, dir)
	if rep, err := Verify(dir, strings.ToUpper(whole.Head)); err != nil || rep.Known != 9 {
		t.Errorf("its own head: %v %+v", err, rep)
	}
	// The log grows: the old head is in it.
	l := openLog(t, Config{Dir: dir, Now: at(noon.Add(72 * time.Hour))})
	if seq, head := l.Head(); seq != 9 || head != whole.Head {
		t.Errorf("Log.Head %d %s, Report %s", seq, head, whole.Head)
	}
	put(t, l, note("more"))
	_, newest := l.Head()
	closeLog(t, l)
	if rep, err := Verify(dir, whole.Head); err != nil || rep.Known != 9 || rep.LastSeq != 10 || rep.Head != newest {
		t.Errorf("an older head: %v %+v", err, rep)
	}
	// Its end is cut off: only the head tells.
	os.Remove(filepath.Join(dir, "2026-12-03.jsonl"))
	last := read(t, dir, names[2])
	for _, end := range []string{
		last[:strings.LastIndex(last[:len(last)-1], "\n")+1],  // a line less
		strings.Replace(last, "end of the day", "nothing", 1), // the last edited
	} {
		write(t, dir, names[2], end)
		verified(t, dir)
		if rep, err := Verify(dir, whole.Head); err == nil || rep.OK || !strings.Contains(err.Error(), "no line has the hash that was expected") {
			t.Errorf("%v %+v", err, rep)
		}
	}
	if _, err := Verify(dir, "abc"); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") {
		t.Error(err)
	}
}

func TestVerifyUnsettled(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Config{Dir: dir})
	put(t, l, visit("a1", "host", 200)...)
	put(t, l, visit("a2", "host", 200)[0])
	put(t, l, governor.Event{Type: governor.EventAction, ID: "a3", Reason: governor.Rate}) // refused: nothing to settle
	put(t, l, visit("a2", "host", 200)...)                                                 // the ID came back
	put(t, l, visit("a4", "host", 200)[0])
	closeLog(t, l)
	rep := verified(t, dir)
	if len(rep.Unsettled) != 2 || rep.Unsettled[0].Line != 3 || rep.Unsettled[1].ID != "a4" {
		t.Errorf("%+v", rep.Unsettled)
	}
	var text strings.Builder
	if err := rep.WriteText(&text); err != nil || !strings.Contains(text.String(), "2 actions were sent and never settled") ||
		!strings.Contains(text.String(), "http://host/a4 (2026-11-30.jsonl:7)") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

func TestVerifyNoLog(t *testing.T) {
	for dir, want := range map[string]string{t.TempDir(): "holds no log", "/no/such/folder": "reading the folder of the log"} {
		if _, err := Verify(dir, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
