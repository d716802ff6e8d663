package browser

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func echoMessage(m *Message) *Message { return m }

// exchange sends a text and returns the answer.
func exchange(t *testing.T, ws *websocket.Conn, text string) string {
	t.Helper()
	ctx := testContext(t)
	if err := ws.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
	typ, b, err := ws.Read(ctx)
	if err != nil || typ != websocket.MessageText {
		t.Fatalf("reading: %v, %v", typ, err)
	}
	return string(b)
}

func TestSocketPaths(t *testing.T) {
	e := newStubEngine()
	e.echo = echoMessage
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	for path, target := range map[string]string{
		"":                             "",
		"/":                            "",
		"/devtools/browser":            "",
		"/devtools/browser/":           "",
		"/devtools/browser/B-1":        "",
		"/devtools/browser/an-old-one": "",
		"/devtools/page/PAGE1":         "PAGE1",
		"/devtools/page/PAGE1?x=1":     "PAGE1",
	} {
		ws := dialStub(t, "ws://"+addr+path, http.Header{"User-Agent": {"Playwright/1.65"}})
		c := within(t, e.conns, "conversation")
		if c.info.targetID != target || c.info.userAgent != "Playwright/1.65" || c.info.remoteAddr == "" || c.info.inProcess {
			t.Errorf("%q: connected as %+v", path, c.info)
		}
		if got := exchange(t, ws, `{"id":1}`); got != `{"id":1}` {
			t.Errorf("%q: got %q", path, got)
		}
		ws.Close(websocket.StatusNormalClosure, "")
		within(t, c.closed, "end of the conversation")
	}
}

// go-rod 0.116 sends the key "nil" and wants its hash; the other key and hash
// are those of RFC 6455 section 1.3.
func TestSocketKeys(t *testing.T) {
	addr, _ := serveStub(t, newStubEngine(), EndpointConfig{}, nil)
	for key, accept := range map[string]string{
		"dGhlIHNhbXBsZSBub25jZQ==": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
		"nil":                      "Q67D9eATKx531lK8F7u2rqQNnNI=",
		"c2hvcnQ=":                 "",
	} {
		_, res := dialRaw(t, addr, upgrade("/devtools/browser/B-1", "Sec-WebSocket-Key: "+key, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")...)
		got := res.Header.Get("Sec-WebSocket-Accept")
		if res.StatusCode != http.StatusSwitchingProtocols || got == "" || accept != "" && got != accept {
			t.Errorf("key %q: status %d, hash %q, want %q", key, res.StatusCode, got, accept)
		}
		if ext := res.Header.Get("Sec-WebSocket-Extensions"); ext != "" {
			t.Errorf("key %q: agreed to %q", key, ext)
		}
	}
}

func TestSocketFailedHandshakeEndsConversation(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	for _, extra := range []string{"Sec-WebSocket-Version: 8", "Sec-WebSocket-Key:", "Connection: close"} {
		_, res := dialRaw(t, addr, upgrade("/", extra)...)
		if res.StatusCode < 400 {
			t.Errorf("%s: status %d", extra, res.StatusCode)
		}
		c := within(t, e.conns, "conversation")
		if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, "handshake") {
			t.Errorf("%s: %q", extra, reason)
		}
	}
}

func TestSocketFrames(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	raw, _ := dialRaw(t, addr, upgrade("/")...)
	c := within(t, e.conns, "conversation")
	next := func() string {
		t.Helper()
		m := within(t, c.sent, "message")
		b, err := m.all()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	raw.writeFrame(t, true, frameBinary, []byte(`{"id":1}`))
	if got := next(); got != `{"id":1}` {
		t.Errorf("binary: %q", got)
	}
	raw.writeFrame(t, false, frameText, []byte(`{"id`))
	raw.writeFrame(t, true, framePing, []byte("between"))
	raw.writeFrame(t, false, frameContinuation, nil)
	raw.writeFrame(t, true, frameContinuation, []byte(`":2}`))
	if got := next(); got != `{"id":2}` {
		t.Errorf("fragmented: %q", got)
	}
	if _, op, payload, err := raw.readFrame(); err != nil || op != framePong || string(payload) != "between" {
		t.Errorf("answer to a ping: %d %q %v", op, payload, err)
	}
	big := sized(5 << 18)
	raw.writeFrame(t, true, frameText, []byte(big))
	if got := next(); got != big {
		t.Error("a large message has changed")
	}
	// What is no JSON is answered behind the endpoint, with the id it had.
	for _, bad := range []string{"", "nonsense", `{"id":3,"method":`, "\x00", "\xff\xfe", "[]"} {
		raw.writeFrame(t, true, frameText, []byte(bad))
		if got := next(); got != bad {
			t.Errorf("malformed: %q, want %q", got, bad)
		}
	}
}

func TestSocketCloseByClient(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	for _, tt := range []struct {
		payload, reason string
	}{
		{"\x03\xe8bye", "StatusNormalClosure"},
		{"\x03\xe9", "StatusGoingAway"},
		{"\x0f\xa0own", "4000"},
		{"", "StatusNoStatusRcvd"},
	} {
		raw, _ := dialRaw(t, addr, upgrade("/")...)
		c := within(t, e.conns, "conversation")
		raw.writeFrame(t, true, frameClose, []byte(tt.payload))
		if _, op, payload, err := raw.readFrame(); err != nil || op != frameClose || string(payload) != tt.payload {
			t.Errorf("answer to close %q: %d %q, %v", tt.payload, op, payload, err)
		}
		if _, _, _, err := raw.readFrame(); err == nil {
			t.Error("the connection goes on")
		}
		if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, tt.reason) {
			t.Errorf("close %q is %q in the log", tt.payload, reason)
		}
	}
	// Without a word.
	raw, _ := dialRaw(t, addr, upgrade("/")...)
	c := within(t, e.conns, "conversation")
	raw.Close()
	if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, "connection ended") {
		t.Errorf("a lost connection is %q in the log", reason)
	}
	// An unmasked frame breaks RFC 6455 section 5.1.
	raw, _ = dialRaw(t, addr, upgrade("/")...)
	c = within(t, e.conns, "conversation")
	raw.Write([]byte{0x81, 1, 'x'})
	if _, op, payload, err := raw.readFrame(); err != nil || op != frameClose || !strings.HasPrefix(string(payload), "\x03\xea") {
		t.Errorf("answer to an unmasked frame: %d %q, %v", op, payload, err)
	}
	if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, "unmasked") {
		t.Errorf("an unmasked frame is %q in the log", reason)
	}
}

func TestSocketCloseByChrome(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(e *stubEngine, c *stubConn, ws *websocket.Conn, stop func())
		code   websocket.StatusCode
		reason string
	}{
		{"gone", func(_ *stubEngine, c *stubConn, _ *websocket.Conn, _ func()) { close(c.gone) }, websocket.StatusGoingAway, "Chrome has ended"},
		{"gone, noticed while sending", func(_ *stubEngine, c *stubConn, ws *websocket.Conn, _ func()) {
			c.broken = errWireClosed
			ws.Write(context.Background(), websocket.MessageText, []byte("{}"))
		}, websocket.StatusGoingAway, "Chrome has ended"},
		{"cut off", func(_ *stubEngine, c *stubConn, _ *websocket.Conn, _ func()) {
			c.failed = errors.New("the client does not read: " + strings.Repeat("ü", 200))
			close(c.gone)
		}, websocket.StatusPolicyViolation, "the client does not read: ü"},
		{"governor ends", func(_ *stubEngine, _ *stubConn, _ *websocket.Conn, stop func()) { go stop() }, websocket.StatusGoingAway, "the governor is ending"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newStubEngine()
			addr, stop := serveStub(t, e, EndpointConfig{}, nil)
			ws := dialStub(t, "ws://"+addr+"/", nil)
			c := within(t, e.conns, "conversation")
			tt.end(e, c, ws, stop)
			_, _, err := ws.Read(testContext(t))
			var got websocket.CloseError
			if !errors.As(err, &got) || got.Code != tt.code || !strings.HasPrefix(got.Reason, tt.reason) {
				t.Errorf("the client got %v, want %v %q", err, tt.code, tt.reason)
			}
			within(t, c.closed, "end of the conversation")
		})
	}
}

// What Chrome said before it ended still arrives.
func TestSocketLastWords(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	ws := dialStub(t, "ws://"+addr+"/", nil)
	c := within(t, e.conns, "conversation")
	c.out <- NewMessage([]byte(`{"method":"Inspector.targetCrashed"}`))
	if _, b, err := ws.Read(testContext(t)); err != nil || string(b) != `{"method":"Inspector.targetCrashed"}` {
		t.Fatalf("%q, %v", b, err)
	}
	close(c.gone)
	if _, _, err := ws.Read(testContext(t)); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
}

// A client that does not answer the close frame loses its connection all the
// same: an agent that waits on a half-open socket hangs.
func TestSocketCloseUnanswered(t *testing.T) {
	t.Parallel()
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	raw, _ := dialRaw(t, addr, upgrade("/")...)
	c := within(t, e.conns, "conversation")
	began := time.Now()
	close(c.gone)
	if _, op, payload, err := raw.readFrame(); err != nil || op != frameClose || !strings.HasPrefix(string(payload), "\x03\xe9") {
		t.Fatalf("%d %q, %v; want close 1001", op, payload, err)
	}
	if _, err := raw.br.ReadByte(); err == nil {
		t.Error("more after the close frame")
	}
	if d := time.Since(began); d > 4*closeGrace {
		t.Errorf("cut after %v, want about %v", d, closeGrace)
	}
	within(t, c.closed, "end of the conversation")
}

// go-rod takes every frame for a whole message: control frames make it panic and
// parts of a message make no sense to it.
func TestSocketOfGoRod(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{SpoolDir: t.TempDir()}, func(ep *Endpoint) { ep.ping = 5 * time.Millisecond })
	rod, _ := dialRaw(t, addr, upgrade("/", "Sec-WebSocket-Key: nil", "User-Agent: rod")...)
	c := within(t, e.conns, "conversation")
	awaitPings(t, addr, 3)

	text := strings.TrimSuffix(sized(5<<18), "}") + `,"sessionId":"S"}`
	for _, strip := range []bool{false, true} {
		want := text
		m := spooled(t, text)
		if strip {
			m = StripSession(m)
			want = sized(5 << 18)
		}
		c.out <- m
		fin, op, payload, err := rod.readFrame()
		if err != nil || !fin || op != frameText || string(payload) != want {
			t.Fatalf("strip %v: fin %v, opcode %d, %d bytes, %v; want one text frame of %d", strip, fin, op, len(payload), err, len(want))
		}
	}
	close(c.gone)
	if b, err := rod.br.ReadByte(); err == nil {
		t.Errorf("a frame 0x%x after Chrome's end", b)
	}
	within(t, c.closed, "end of the conversation")
}

func spooled(t testing.TB, text string) *Message {
	t.Helper()
	m, err := ReadAll(strings.NewReader(text), t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, inMemory := m.Bytes(); inMemory {
		t.Fatalf("%d bytes are in memory", len(text))
	}
	return m
}

// awaitPings connects a client that names itself and waits for n pings.
func awaitPings(t *testing.T, addr string, n int) {
	t.Helper()
	raw, _ := dialRaw(t, addr, upgrade("/", "User-Agent: Playwright/1.65")...)
	for range n {
		_, op, payload, err := raw.readFrame()
		if err != nil || op != framePing {
			t.Fatalf("opcode %d, %v; want a ping", op, err)
		}
		raw.writeFrame(t, true, framePong, payload)
	}
}

// Clients that name themselves are pinged, the others are not: chromedp up to
// 0.14, which does not, loses its place in the stream by a ping with a payload.
func TestSocketPings(t *testing.T) {
	e := newStubEngine()
	e.echo = echoMessage
	addr, _ := serveStub(t, e, EndpointConfig{}, func(ep *Endpoint) { ep.ping = 5 * time.Millisecond })
	nameless, _ := dialRaw(t, addr, upgrade("/")...)
	awaitPings(t, addr, 5)
	nameless.writeFrame(t, true, frameText, []byte(`{"id":1}`))
	if _, op, payload, err := nameless.readFrame(); err != nil || op != frameText || string(payload) != `{"id":1}` {
		t.Errorf("opcode %d, %q, %v; want the message first", op, payload, err)
	}
}

// A client that answers no ping is busy, not dead.
func TestSocketPingsUnanswered(t *testing.T) {
	e := newStubEngine()
	e.echo = echoMessage
	addr, _ := serveStub(t, e, EndpointConfig{}, func(ep *Endpoint) { ep.ping = 5 * time.Millisecond })
	busy, _ := dialRaw(t, addr, upgrade("/", "User-Agent: x")...)
	for range 3 {
		if _, op, _, err := busy.readFrame(); err != nil || op != framePing {
			t.Fatalf("opcode %d, %v", op, err)
		}
	}
	busy.writeFrame(t, true, frameText, []byte(`{"id":1}`))
	for {
		_, op, payload, err := busy.readFrame()
		if err != nil {
			t.Fatal(err)
		}
		if op == frameText {
			if string(payload) != `{"id":1}` {
				t.Errorf("got %q", payload)
			}
			return
		}
	}
}

func TestSocketSlowClientBlocksNobody(t *testing.T) {
	t.Parallel()
	e := newStubEngine()
	e.echo = echoMessage
	addr, stop := serveStub(t, e, EndpointConfig{}, nil)
	slow, _ := dialRaw(t, addr, upgrade("/")...)
	c := within(t, e.conns, "conversation")
	slow.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	full := bytes.Repeat([]byte("x"), memoryMax)
	for range cap(c.out) { // more than socket buffers hold: the endpoint waits for the client
		c.out <- NewMessage(full)
	}
	fast := dialStub(t, "ws://"+addr+"/", nil)
	for range 100 {
		if got := exchange(t, fast, `{"id":1}`); got != `{"id":1}` {
			t.Fatalf("got %q", got)
		}
	}
	fast.CloseNow()
	stop() // nor does it keep the endpoint from ending
	within(t, c.closed, "end of the conversation")
}

func TestSocketTooLarge(t *testing.T) {
	t.Parallel()
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{SpoolDir: t.TempDir()}, func(ep *Endpoint) { ep.commandMax = 5 << 18 })
	for _, over := range []int{0, 1} {
		ws := dialStub(t, "ws://"+addr+"/", nil)
		c := within(t, e.conns, "conversation")
		if err := ws.Write(testContext(t), websocket.MessageText, []byte(sized(5<<18+over))); err != nil {
			t.Fatal(err)
		}
		if over == 0 {
			within(t, c.sent, "message").Release()
			continue
		}
		_, _, err := ws.Read(testContext(t))
		if websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("the client got %v", err)
		}
		if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, "100 MiB") {
			t.Errorf("the log says %q", reason)
		}
	}
}

func TestSocketSpoolFails(t *testing.T) {
	t.Parallel()
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{SpoolDir: t.TempDir() + "/gone"}, nil)
	ws := dialStub(t, "ws://"+addr+"/", nil)
	c := within(t, e.conns, "conversation")
	if err := ws.Write(testContext(t), websocket.MessageText, []byte(sized(5<<18))); err != nil {
		t.Fatal(err)
	}
	_, _, err := ws.Read(testContext(t))
	var got websocket.CloseError
	if !errors.As(err, &got) || got.Code != websocket.StatusInternalError || !strings.Contains(got.Reason, "spooling") {
		t.Errorf("the client got %v", err)
	}
	if reason := within(t, c.closed, "end of the conversation"); !strings.Contains(reason, "could not be kept") {
		t.Errorf("the log says %q", reason)
	}
}

// A client that goes away in the middle of a large message leaves nothing. The
// WebSocket library takes the lost connection for the message's end, so it must
// not pass for a whole one.
func TestSocketTruncated(t *testing.T) {
	e := newStubEngine()
	dir := t.TempDir()
	addr, _ := serveStub(t, e, EndpointConfig{SpoolDir: dir}, nil)
	for _, fin := range []bool{false, true} {
		raw, _ := dialRaw(t, addr, upgrade("/")...)
		c := within(t, e.conns, "conversation")
		text := sized(5 << 18)
		text = text[:len(text)-1]
		if fin {
			raw.Write([]byte{0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0}) // 2 MiB, mask 0
			raw.Write([]byte(text))
		} else {
			raw.writeFrame(t, false, frameText, []byte(text))
		}
		raw.Close()
		within(t, c.closed, "end of the conversation")
		select {
		case m := <-c.sent:
			if _, err := m.Envelope(); err == nil {
				t.Errorf("half a message of %d bytes was passed on as a whole one", m.Len())
			}
			m.Release()
		default:
		}
	}
	emptyDir(t, dir)
}
