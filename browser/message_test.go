package browser

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// sized returns a command of about n bytes, more for small n.
func sized(n int) string {
	const frame = `{"id":5,"method":"Runtime.evaluate","params":{"expression":""}}`
	return strings.Replace(frame, `""`, `"`+strings.Repeat("x", max(0, n-len(frame)))+`"`, 1)
}

func TestReadDelimited(t *testing.T) {
	sizes := []int{0, 100, 4096, 64 << 10, 256 << 10, memoryMax, memoryMax + 1, 2 << 20}
	var in bytes.Buffer
	for _, n := range sizes {
		in.WriteString(sized(n))
		in.WriteByte(0)
	}
	in.WriteByte(0) // an empty message
	dir := t.TempDir()
	br := bufio.NewReaderSize(&in, 64<<10)
	for _, n := range sizes {
		m, err := ReadDelimited(br, dir)
		if err != nil {
			t.Fatal(err)
		}
		sameText(t, m, sized(n))
		m.Release()
		m.Release()
	}
	if m, err := ReadDelimited(br, dir); err != nil || m.Len() != 0 {
		t.Errorf("empty message: %v, %v", m, err)
	}
	if _, err := ReadDelimited(br, dir); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
	emptyDir(t, dir)
}

func TestReadDelimitedCutOff(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{10, 2 << 20} {
		br := bufio.NewReader(strings.NewReader(strings.Repeat("x", n)))
		if _, err := ReadDelimited(br, dir); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes without an end: %v", n, err)
		}
	}
	emptyDir(t, dir)
}

func TestReadAll(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 5000, memoryMax - 1, memoryMax, memoryMax + 1, memoryMax + 2, 2 << 20} {
		text := sized(n)
		for _, r := range []io.Reader{strings.NewReader(text), iotest.HalfReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			m, err := ReadAll(r, dir, int64(len(text)))
			if err != nil {
				t.Fatal(err)
			}
			sameText(t, m, text)
			m.Release()
		}
		if _, err := ReadAll(strings.NewReader(text), dir, int64(len(text)-1)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d bytes above the limit: %v", n, err)
		}
		broken := errors.New("reset")
		if _, err := ReadAll(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), dir, 0); !errors.Is(err, broken) {
			t.Errorf("%d bytes, then an error: %v", n, err)
		}
	}
	emptyDir(t, dir)
}

func TestSpoolNeedsItsFolder(t *testing.T) {
	_, err := ReadAll(strings.NewReader(sized(2<<20)), t.TempDir()+"/gone", 0)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "spooling") {
		t.Errorf("got %v", err)
	}
}

// sameText checks every way to look at m, twice where it can be done twice.
func sameText(t *testing.T, m *Message, want string) {
	t.Helper()
	if m.Len() != int64(len(want)) {
		t.Fatalf("length %d, want %d", m.Len(), len(want))
	}
	b, inMemory := m.Bytes()
	if inMemory && string(b) != want {
		t.Fatal("another text in memory")
	}
	if string(m.Head()) != want[:min(len(want), headMax)] || string(m.Tail()) != want[max(0, len(want)-tailMax):] {
		t.Fatal("another head or tail")
	}
	for range 2 {
		var out bytes.Buffer
		if n, err := m.WriteTo(&out); err != nil || n != int64(len(want)) || out.String() != want {
			t.Fatalf("wrote %d bytes, %v; want %d", n, err, len(want))
		}
	}
	var out bytes.Buffer
	if err := m.WriteDelimited(&out); err != nil || out.String() != want+"\x00" {
		t.Fatalf("delimited: %v", err)
	}
	if all, err := m.all(); err != nil || string(all) != want {
		t.Fatalf("all: %v", err)
	}
	if len(want) < 10000 {
		if err := iotest.TestReader(m.reader(), []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
}

func emptyDir(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSessionsOfMessages(t *testing.T) {
	long := strings.Repeat("x", memoryMax)
	for _, tt := range []struct {
		name, in, stripped, spliced string
	}{
		{"as Chrome writes it", `{"id":1,"result":{},"sessionId":"S"}`, `{"id":1,"result":{}}`, `{"id":1,"result":{},"sessionId":"N"}`},
		{"first", `{"sessionId":"S", "id":1}`, `{ "id":1}`, `{ "id":1,"sessionId":"N"}`},
		{"in the middle", `{"id":1 , "sessionId" : "S" , "method":"A.b"}`, `{"id":1  , "method":"A.b"}`, `{"id":1  , "method":"A.b","sessionId":"N"}`},
		{"alone", `{ "sessionId":"S" }`, `{  }`, `{  "sessionId":"N"}`},
		{"last with space", "{\"id\":1,\"sessionId\":\"S\" }\n", "{\"id\":1 }\n", "{\"id\":1 ,\"sessionId\":\"N\"}\n"},
		{"none", `{"id":1}`, `{"id":1}`, `{"id":1,"sessionId":"N"}`},
		{"empty", `{"id":1,"sessionId":""}`, `{"id":1}`, `{"id":1,"sessionId":"N"}`},
		{"inner only", `{"id":1,"params":{"sessionId":"S"}}`, `{"id":1,"params":{"sessionId":"S"}}`, `{"id":1,"params":{"sessionId":"S"},"sessionId":"N"}`},
		{"much space", `{"id":1` + strings.Repeat(" ", 5000) + `}` + strings.Repeat("\n", 5000), `{"id":1` + strings.Repeat(" ", 5000) + `}` + strings.Repeat("\n", 5000), `{"id":1` + strings.Repeat(" ", 5000) + `,"sessionId":"N"}` + strings.Repeat("\n", 5000)},
		{"no JSON", `nonsense`, `nonsense`, `nonsense`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sameText(t, StripSession(NewMessage([]byte(tt.in))), tt.stripped)
			sameText(t, SpliceSession(NewMessage([]byte(tt.in)), "N"), tt.spliced)
			// The same with a large member in front, so that it is spooled.
			big := func(s string) string {
				if len(s) > 1 && s[:2] == "{}" || strings.TrimLeft(s, "{ ") == "}" {
					return "" // the member would stand alone and take another comma
				}
				return strings.Replace(s, "{", `{"x":"`+long+`",`, 1)
			}
			if big(tt.stripped) == "" || tt.name == "no JSON" {
				return
			}
			for _, do := range []struct {
				change func(*Message) *Message
				want   string
			}{
				{StripSession, big(tt.stripped)},
				{func(m *Message) *Message { return SpliceSession(m, "N") }, big(tt.spliced)},
				{func(m *Message) *Message { return StripSession(SpliceSession(m, "N")) }, big(tt.stripped)},
			} {
				m, err := ReadAll(strings.NewReader(big(tt.in)), t.TempDir(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if m = do.change(m); tt.name != "first" { // whose comma differs behind another member
					sameText(t, m, do.want)
				}
				if _, err := m.Envelope(); err != nil {
					t.Error(err)
				}
				m.Release()
			}
		})
	}
}

func TestEnvelopeOfSpooled(t *testing.T) {
	m, err := ReadAll(strings.NewReader(sized(3<<20)), t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	env, err := m.Envelope()
	if err != nil || env.ID != 5 || env.Method != "Runtime.evaluate" {
		t.Fatalf("%+v, %v", env, err)
	}
	if got, want := string(m.params(env)), `{"expression":"`+strings.Repeat("x", shortMax)+`"}`; got != want {
		t.Errorf("params have %d bytes, want %d", len(got), len(want))
	}
	if _, inMemory := m.Bytes(); inMemory {
		t.Error("3 MiB are in memory")
	}
}

// What a huge command asks for must stay readable, whatever stands around it.
func TestParamsOfSpooled(t *testing.T) {
	pad := strings.Repeat(" ", 2<<20)
	text := `{"id":1,"params":{` + pad + `"url":"http://a/\"", "n":[1, -2.5e3 ,true,{"x":null}],"data":"` + strings.Repeat(`\u0041`, 1<<18) + `","last":"日本"` + pad + `},"method":"Page.navigate"}`
	m, err := ReadAll(strings.NewReader(text), t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	env, err := m.Envelope()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"url":"http://a/\"","n":[1,-2.5e3,true,{"x":null}],"data":"` + strings.Repeat(`\u0041`, shortMax/6) + `","last":"日本"}`
	if got := string(m.params(env)); got != want || env.Method != "Page.navigate" {
		t.Errorf("method %q, params of %d bytes, want %d", env.Method, len(got), len(want))
	}
}

func TestCutString(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{`abc`, 3, `abc`},
		{`abcd`, 3, `abc`},
		{`ab\n`, 3, `ab`},
		{`a\\\\b`, 4, `a\\`},
		{`a\u00e9b`, 6, `a`},
		{`a\u00e9b`, 7, `a\u00e9`},
		{`日本`, 4, `日`},
	} {
		if got := string(cutString([]byte(tt.in), tt.n)); got != tt.want {
			t.Errorf("%s to %d: %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	in := []byte(`{"id":12,"result":{"result":{"type":"number","value":2,"description":"2"}},"sessionId":"0123456789ABCDEF0123456789ABCDEF"}` + "\x00")
	r := bytes.NewReader(in)
	br := bufio.NewReaderSize(r, 256<<10)
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(in)
		br.Reset(r)
		m, err := ReadDelimited(br, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := SessionOfTail(m.Tail()); !ok {
			b.Fatal("no session")
		}
		StripSession(m)
		m.WriteTo(io.Discard)
		m.Release()
	}
}
