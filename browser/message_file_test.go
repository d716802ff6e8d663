package browser

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// openFiles counts this process's open files whose name has the prefix.
func openFiles(t *testing.T, prefix string) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range fds {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

func TestReleaseClosesTheFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	dir := t.TempDir()
	text := sized(5 << 18)
	var ms []*Message
	for range 5 {
		m, err := ReadAll(strings.NewReader(text), dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	if n := openFiles(t, dir); n != len(ms) {
		t.Fatalf("%d files are open, want %d", n, len(ms))
	}
	for _, m := range ms {
		m.Release()
	}
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d files are still open", n)
	}
	// Nor does a message that was too large keep one.
	if _, err := ReadAll(strings.NewReader(text), dir, 1100<<10); err == nil {
		t.Fatal("no error above the limit")
	}
	if n := openFiles(t, dir); n != 0 {
		t.Errorf("%d files of refused messages are open", n)
	}
}

func TestMapped(t *testing.T) {
	bare := sized(5 << 18)
	text := strings.TrimSuffix(bare, "}") + `,"sessionId":"0123456789ABCDEF"}`
	for _, tt := range []struct {
		name   string
		change func(*Message) *Message
		want   string
		mapped bool
	}{
		{"as it came", func(m *Message) *Message { return m }, text, true},
		{"stripped", StripSession, bare, true},
		{"spliced", func(m *Message) *Message { return SpliceSession(StripSession(m), "N") }, strings.TrimSuffix(bare, "}") + `,"sessionId":"N"}`, true},
		{"changed at the front", func(m *Message) *Message { m.replace(0, 1, " {"); return m }, " " + text, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := tt.change(spooled(t, text))
			defer m.Release()
			for range 2 {
				b, unmap, err := m.mapped()
				if (err == nil) != tt.mapped {
					t.Fatalf("mapped: %v", err)
				}
				if err == nil {
					if string(b) != tt.want {
						t.Error("another text in memory")
					}
					unmap()
				}
			}
			sameText(t, m, tt.want)
		})
	}
}

func TestSpliceQuotes(t *testing.T) {
	for session, want := range map[string]string{
		"0123456789ABCDEFabcdef": `"0123456789ABCDEFabcdef"`,
		"a\"b\\c":                `"a\"b\\c"`,
		"\x11\x19":               `"\u0011\u0019"`,
		"a b-c":                  `"a b-c"`,
		"":                       `""`,
	} {
		m := SpliceSession(NewMessage([]byte(`{"id":1}`)), session)
		if b, _ := m.Bytes(); string(b) != `{"id":1,"sessionId":`+want+`}` {
			t.Errorf("%q became %s", session, b)
		}
	}
}
