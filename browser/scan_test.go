package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestScan(t *testing.T) {
	for _, tt := range []struct {
		name, in                string
		id                      int64
		method, session, params string
		result                  string
	}{
		{"command", `{"id":7,"method":"Page.navigate","params":{"url":"http://a/"},"sessionId":"S1"}`, 7, "Page.navigate", "S1", `{"url":"http://a/"}`, ""},
		{"order and space", " {\n\t\"sessionId\" : \"S\" ,\r\n \"params\" : { } , \"id\" : -3 , \"method\":\"A.b\" } \n", -3, "A.b", "S", `{ }`, ""},
		{"answer", `{"id":2147483647,"result":{"a":[1,{"b":"}"}]}}`, math.MaxInt32, "", "", "", `{"a":[1,{"b":"}"}]}`},
		{"whole numbers in other spellings", `{"id":1e2,"method":"A.b"}`, 100, "A.b", "", "", ""},
		{"escaped names", `{"\u0069d":1.0,"method":"Page\u002enavigate"}`, 1, "Page.navigate", "", "", ""},
		{"quotes and brackets in strings", `{"id":1,"x":"\\","params":{"e":"\"}\\\"]","f":"{"}}`, 1, "", "", `{"e":"\"}\\\"]","f":"{"}`, ""},
		{"session of the params is not the message's", `{"id":1,"method":"M","params":{"sessionId":"inner","id":9}}`, 1, "M", "", `{"sessionId":"inner","id":9}`, ""},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"extra":[null,true,-1.5e3]}`, 1, "", "", "", ""},
		{"empty object", `{}`, 0, "", "", "", ""},
		{"text beyond ASCII", `{"id":1,"params":{"text":"日本語 🙂"}}`, 1, "", "", `{"text":"日本語 🙂"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, err := Scan([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			part := func(s Span) string { return tt.in[s.From:s.To] }
			if env.ID != tt.id || env.Method != tt.method || env.SessionID != tt.session || part(env.Params) != tt.params || part(env.Result) != tt.result {
				t.Errorf("got %+v", env)
			}
			for _, r := range readers(tt.in) {
				if streamed, err := ScanReader(r); err != nil || streamed != env {
					t.Errorf("streamed: %+v, %v; in memory: %+v", streamed, err, env)
				}
			}
		})
	}
}

// readers are ways to read the same text in small pieces.
func readers(text string) []io.Reader {
	return []io.Reader{
		strings.NewReader(text),
		iotest.OneByteReader(strings.NewReader(text)),
		iotest.HalfReader(strings.NewReader(text)),
		iotest.DataErrReader(strings.NewReader(text)),
	}
}

func TestScanRefuses(t *testing.T) {
	for _, tt := range []struct {
		in, problem string
		id          int64 // what can still be answered
		session     string
	}{
		{``, "no JSON object", 0, ""},
		{`[]`, "no JSON object", 0, ""},
		{`"id"`, "no JSON object", 0, ""},
		{`{"id":1`, "no comma or brace", 1, ""},
		{`{"id":1,}`, "no member name", 1, ""},
		{`{"id":1 "method":"x"}`, "no comma or brace", 1, ""},
		{`{id:1}`, "no member name", 0, ""},
		{`{"id" 1}`, "no colon", 0, ""},
		{`{"id":}`, "no JSON value", 0, ""},
		{`{"id":1}{"id":2}`, "more than one JSON value", 1, ""},
		{`{"id":1,"x":nil}`, "no JSON value", 1, ""},
		{`{"id":1,"params":{"a":[1,2}`, "value without an end", 1, ""},
		{`{"id":1,"method":"Page`, "string without an end", 1, ""},
		{`{"id":1,"id":2,"method":"A.b"}`, `duplicate "id"`, 1, ""},
		{`{"id":1,"method":"A.b","method":"Page.navigate"}`, `duplicate "method"`, 1, ""},
		{`{"id":1,"method":"A.b","\u006dethod":"Page.navigate"}`, `duplicate "method"`, 1, ""},
		{`{"id":1,"sessionId":"a","sessionId":"b"}`, `duplicate "sessionId"`, 1, "a"},
		{`{"id":1,"params":{},"params":{}}`, `duplicate "params"`, 1, ""},
		{`{"id":"7","method":"A.b","sessionId":"S"}`, `"id" that is not`, 0, "S"},
		{`{"id":1.5,"sessionId":"S"}`, `"id" that is not`, 0, "S"},
		{`{"id":2147483648}`, `"id" that is not`, 0, ""},
		{`{"id":null}`, `"id" that is not`, 0, ""},
		{`{"id":{"a":1},"sessionId":"S"}`, `"id" that is not`, 0, "S"},
		{`{"id":1,"method":null,"sessionId":"S"}`, `"method" that is not a string`, 1, "S"},
		{`{"id":1,"sessionId":null}`, `"sessionId" that is not a string`, 1, ""},
		// What Chrome's reader and others take differently.
		{`{"id":1,/*"*/"method":"Page.navigate"/*"*/}`, "no member name", 1, ""},
		{`{"id":1,"params":{/*"*/},"method":"Page.navigate","x":{/*"*/}}`, "comment", 1, ""},
		{"{\"id\":1,\"meth\xc0\x80od\":\"Page.navigate\"}", "not UTF-8", 1, ""},
		{"{\"id\":1,\"method\":\"Page.navi\xffgate\"}", "not UTF-8", 1, ""},
		{"{\"id\":1,\"params\":{\"a\":\"\xe2\x82\"}}", "not UTF-8", 1, ""},
		{"{\"id\":1}\x00{\"id\":2}", "zero byte", 1, ""},
		{"{\"id\":1,\"params\":{\"a\":\"\x00\"}}", "zero byte", 1, ""},
		{`{"id":1,"\x6dethod":"Page.navigate"}`, "unknown escape", 1, ""},
	} {
		env, err := Scan([]byte(tt.in))
		var bad *ScanError
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, tt.problem) {
			t.Errorf("%q: error %v, want %q", tt.in, err, tt.problem)
			continue
		}
		if env.ID != tt.id || env.SessionID != tt.session {
			t.Errorf("%q: answer would go to id %d, session %q; want %d, %q", tt.in, env.ID, env.SessionID, tt.id, tt.session)
		}
		for _, r := range readers(tt.in) {
			if _, err := ScanReader(r); err == nil {
				t.Errorf("%q: not refused when streamed", tt.in)
			}
		}
	}
}

func TestScanReaderReportsReadErrors(t *testing.T) {
	broken := errors.New("disk gone")
	_, err := ScanReader(io.MultiReader(strings.NewReader(`{"id":1,`), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

// A string of nothing but escapes must not be looked at again and again: a
// second look of everything at each escape would take hours here.
func TestScanIsLinear(t *testing.T) {
	for _, unit := range []string{`\n`, `\"`, `\\`, `[`, `{"a":`, `"",`} {
		open := `{"id":1,"params":{"a":"`
		if unit[0] != '\\' {
			open = `{"id":1,"params":[`
		}
		in := []byte(open + strings.Repeat(unit, 2<<20/len(unit)))
		if _, err := Scan(in); err == nil {
			t.Errorf("%s: took a message without an end", unit)
		}
	}
}

func TestSessionOfTail(t *testing.T) {
	for _, tt := range []struct {
		in, session string
	}{
		{`{"method":"Page.loadEventFired","params":{"timestamp":1.5},"sessionId":"0A1B"}`, "0A1B"},
		{`{"id":1,"result":{},"sessionId":"S"}`, "S"},
		{`{"id":1,"result":{"sessionId":"S"}}`, ""},
		{`{"method":"Target.attachedToTarget","params":{"sessionId":"S"}}`, ""},
		{`{"id":1,"result":",\"sessionId\":\"S"}`, ""},
		{`{"id":1,"sessionId":"a\"b"}`, ""},
		{`{"id":1,"sessionId":""}`, ""},
		{`{"id":1}`, ""},
		{`"}`, ""},
		{``, ""},
	} {
		got, ok := SessionOfTail([]byte(tt.in))
		if got != tt.session || ok != (tt.session != "") {
			t.Errorf("%s: %q, %v; want %q", tt.in, got, ok, tt.session)
		}
	}
}

// reference reads b with encoding/json and says what Scan must find.
func reference(b []byte) (members map[string]json.RawMessage, dup, ok bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return nil, false, false
	}
	members = map[string]json.RawMessage{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false, false
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, false, false
		}
		switch key := name.(string); key {
		case "id", "method", "sessionId", "params", "result", "error":
			if _, had := members[key]; had {
				dup = true
			}
			members[key] = v
		}
	}
	return members, dup, true
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"method":"Page.navigate","params":{"url":"http://a/"},"sessionId":"S"}`,
		`{"id":1,"result":{"data":"iVBORw0KGgo="}}`, ` { "a" : [ 1 , { } ] , "id" : 1e1 } `,
		`{"method":"A\u002eb","params":{"x":"\\\""}}`, `{"id":1,"id":2}`, `{}`, `[1]`, `{"sessionId":"x"}`,
		"{\"id\":1,\"meth\xc0\x80od\":\"x\"}", `{"id":1,/**/"method":"x"}`, `{"params":{"a":"日本"},"error":{"code":-1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		env, err := Scan(b)
		streamed, serr := ScanReader(iotest.OneByteReader(bytes.NewReader(b)))
		if (err == nil) != (serr == nil) || err == nil && env != streamed {
			t.Fatalf("in memory %+v, %v; streamed %+v, %v", env, err, streamed, serr)
		}
		valid := json.Valid(b) && utf8.Valid(b)
		members, dup, object := reference(b)
		if err != nil {
			var bad *ScanError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v is no ScanError", err)
			}
			if valid && object && !dup && routable(members) && !strings.Contains(err.Error(), "too long") {
				t.Fatalf("refused %q: %v", b, err)
			}
			return
		}
		if !valid {
			return // nested values are passed over, not checked
		}
		if !object || dup {
			t.Fatalf("took %q", b)
		}
		for name, span := range map[string]Span{"params": env.Params, "result": env.Result, "error": env.Error} {
			if got := string(span.Of(b)); got != string(members[name]) {
				t.Fatalf("%s is %q, want %q", name, got, members[name])
			}
		}
		for name, got := range map[string]string{"method": env.Method, "sessionId": env.SessionID} {
			var want string
			json.Unmarshal(members[name], &want)
			if got != want {
				t.Fatalf("%s is %q, want %q", name, got, want)
			}
		}
		if raw, has := members["id"]; has != env.HasID || has && fmt.Sprint(number(t, raw)) != fmt.Sprint(float64(env.ID)) {
			t.Fatalf("id is %d, %v; want %s", env.ID, env.HasID, raw)
		}
		rewrite(t, b, env)
	})
}

func number(t *testing.T, raw []byte) float64 {
	var f float64
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	return f + 0 // -0 is 0
}

// routable reports whether Scan has to take a valid message with these members.
func routable(members map[string]json.RawMessage) bool {
	for name, raw := range members {
		var s *string
		var f *float64
		switch name {
		case "method", "sessionId":
			if json.Unmarshal(raw, &s) != nil || s == nil {
				return false
			}
		case "id":
			if json.Unmarshal(raw, &f) != nil || f == nil || *f != math.Trunc(*f) || *f > math.MaxInt32 || *f < math.MinInt32 {
				return false
			}
		}
	}
	return true
}

// rewrite takes the session out and puts another in, and compares what is left.
func rewrite(t *testing.T, b []byte, env Envelope) {
	m := NewMessage(bytes.Clone(b))
	SpliceSession(m, "NEW")
	spliced, err := Scan(m.b)
	if err != nil {
		t.Fatalf("%q with a session became %q: %v", b, m.b, err)
	}
	if spliced.SessionID != "NEW" || spliced.ID != env.ID || spliced.Method != env.Method || string(spliced.Params.Of(m.b)) != string(env.Params.Of(b)) {
		t.Fatalf("%q with a session became %q", b, m.b)
	}
	StripSession(m)
	if env.session == (Span{}) && !bytes.Equal(m.b, b) {
		t.Fatalf("%q with a session and without it again became %q", b, m.b)
	}
	stripped, err := Scan(m.b)
	if err != nil || stripped.SessionID != "" || stripped.session != (Span{}) {
		t.Fatalf("%q without its session became %q: %v", b, m.b, err)
	}
}

func BenchmarkScan(b *testing.B) {
	picture := `{"id":9,"result":{"data":"` + strings.Repeat("iVBORw0KGgoAAAA", 1<<16) + `"},"sessionId":"0123456789ABCDEF0123456789ABCDEF"}`
	dom := `{"id":9,"result":{"nodes":[` + strings.Repeat(`{"nodeId":12,"nodeName":"DIV","attributes":["class","a b"],"children":[]},`, 1<<13) + `{}]}}`
	for _, bb := range []struct{ name, in string }{
		{"evaluate", `{"id":12,"method":"Runtime.evaluate","params":{"expression":"1+1","returnByValue":true},"sessionId":"0123456789ABCDEF0123456789ABCDEF"}`},
		{"screenshot", picture},
		{"dom", dom},
	} {
		in := []byte(bb.in)
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Scan(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
