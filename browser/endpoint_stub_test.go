package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// stubEngine is a browser as the endpoint sees it.
type stubEngine struct {
	err    error                     // what every question is answered with
	newErr error                     // what a new tab is answered with
	echo   func(m *Message) *Message // what a conversation answers; nil: nothing
	conns  chan *stubConn            // conversations as they open
	known  map[string]bool           // page ids

	mu    sync.Mutex
	calls []string
}

func newStubEngine() *stubEngine {
	return &stubEngine{conns: make(chan *stubConn, 16), known: map[string]bool{"PAGE1": true}}
}

func (e *stubEngine) called(format string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls = append(e.calls, fmt.Sprintf(format, args...))
	return e.err
}

func (e *stubEngine) takeCalls() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := strings.Join(e.calls, ",")
	e.calls = nil
	return s
}

func (e *stubEngine) version(context.Context) (versionInfo, error) {
	return versionInfo{Browser: "Chrome/156.0.1.2", Protocol: "1.3", UserAgent: "UA", V8: "15.6", WebKit: "537.36", BrowserID: "B-1"}, e.called("version")
}

func (e *stubEngine) targets(context.Context) ([]targetInfo, error) {
	return []targetInfo{{ID: "PAGE1", Type: "page", Title: "A <b> & c", URL: "http://a.test/?x=1&y=2"}}, e.called("targets")
}

func (e *stubEngine) newTab(_ context.Context, rawURL, client string) (targetInfo, error) {
	if err := e.called("new %s by %s", rawURL, client); err != nil {
		return targetInfo{}, err
	}
	return targetInfo{ID: "NEW1", Type: "page", URL: rawURL}, e.newErr
}

func (e *stubEngine) target(what, id string) error {
	if err := e.called("%s %s", what, id); err != nil {
		return err
	}
	if !e.known[id] {
		return fmt.Errorf("Target: %w", &CDPError{Code: -32602, Message: "No target with given id found"})
	}
	return nil
}

func (e *stubEngine) activate(_ context.Context, id string) error    { return e.target("activate", id) }
func (e *stubEngine) closeTarget(_ context.Context, id string) error { return e.target("close", id) }

func (e *stubEngine) protocol(context.Context) ([]byte, error) {
	return []byte(`{"domains":[]}`), e.called("protocol")
}

func (e *stubEngine) connect(_ context.Context, info connInfo) (clientConn, error) {
	if e.err != nil {
		return nil, e.err
	}
	if info.targetID != "" {
		if err := e.target("connect", info.targetID); err != nil {
			return nil, err
		}
	}
	c := &stubConn{info: info, echo: e.echo, sent: make(chan *Message, 64), out: make(chan *Message, 64), gone: make(chan struct{}), closed: make(chan string, 4)}
	e.conns <- c
	return c, nil
}

// stubConn is a conversation with nobody: what the client sends stands in sent,
// unless echo answers it.
type stubConn struct {
	info   connInfo
	echo   func(m *Message) *Message
	sent   chan *Message
	out    chan *Message
	gone   chan struct{} // closed when Chrome is gone
	failed error         // what recv returns then; nil: io.EOF
	broken error         // what send returns
	closed chan string   // reasons
}

func (c *stubConn) send(_ context.Context, m *Message) error {
	if c.broken != nil {
		m.Release()
		return c.broken
	}
	if c.echo != nil {
		c.out <- c.echo(m)
		return nil
	}
	c.sent <- m
	return nil
}

func (c *stubConn) recv(ctx context.Context) (*Message, error) {
	select {
	case m := <-c.out:
		return m, nil
	case <-c.gone:
		if c.failed != nil {
			return nil, c.failed
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *stubConn) close(reason string) { c.closed <- reason }

// patience bounds every wait of these tests. Nothing should ever take as long.
const patience = 20 * time.Second

// within waits for a value.
func within[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s within %v", what, patience)
		panic("unreachable")
	}
}

// serveStub serves e on a free port and returns host:port. The endpoint ends with
// the test, which fails if that takes long.
func serveStub(t testing.TB, e engine, c EndpointConfig, change func(*Endpoint)) (addr string, stop func()) {
	t.Helper()
	ln, err := Listen("127.0.0.1:0", c.Token)
	if err != nil {
		t.Fatal(err)
	}
	ep := newEndpoint(e, c)
	if change != nil {
		change(ep)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ep.Serve(ctx, ln) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(patience):
			t.Errorf("Serve did not end within %v", patience)
		}
	})
	t.Cleanup(stop)
	return ln.Addr().String(), stop
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	return ctx
}

func dialStub(t testing.TB, url string, header http.Header) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(testContext(t), url, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(-1)
	t.Cleanup(func() { ws.CloseNow() })
	return ws
}

// rawClient speaks WebSocket by hand, to send what no library would and to see
// each frame.
type rawClient struct {
	net.Conn
	br *bufio.Reader
}

// dialRaw sends a request of the given lines and returns the answer.
func dialRaw(t testing.TB, addr string, lines ...string) (*rawClient, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(2 * patience))
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	c := &rawClient{conn, bufio.NewReader(conn)}
	res, err := http.ReadResponse(c.br, nil)
	if err != nil {
		t.Fatalf("reading the answer to %q: %v", lines[0], err)
	}
	return c, res
}

// upgrade is a handshake with extra header lines. A line replaces the one of
// the same name; one without a value takes it out.
func upgrade(path string, extra ...string) []string {
	lines := []string{"GET " + path + " HTTP/1.1"}
	header := []string{"Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	name := func(line string) string {
		n, _, _ := strings.Cut(line, ":")
		return textproto.CanonicalMIMEHeaderKey(n)
	}
	for _, h := range header {
		replaced := false
		for _, x := range extra {
			replaced = replaced || name(x) == name(h)
		}
		if !replaced {
			lines = append(lines, h)
		}
	}
	for _, x := range extra {
		if !strings.HasSuffix(x, ":") {
			lines = append(lines, x)
		}
	}
	return lines
}

// WebSocket opcodes (RFC 6455 section 5.2).
const (
	frameContinuation = 0
	frameText         = 1
	frameBinary       = 2
	frameClose        = 8
	framePing         = 9
	framePong         = 10
)

func (c *rawClient) writeFrame(t testing.TB, fin bool, op byte, payload []byte) {
	t.Helper()
	b := []byte{op}
	if fin {
		b[0] |= 0x80
	}
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	mask := []byte{7, 1, 2, 3}
	b = append(b, mask...)
	for i, x := range payload {
		b = append(b, x^mask[i%4])
	}
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// readFrame returns the next frame.
func (c *rawClient) readFrame() (fin bool, op byte, payload []byte, err error) {
	var h [8]byte
	if _, err = io.ReadFull(c.br, h[:2]); err != nil {
		return
	}
	fin, op = h[0]&0x80 != 0, h[0]&0xf
	n := uint64(h[1] & 0x7f)
	switch n {
	case 126:
		_, err = io.ReadFull(c.br, h[:2])
		n = uint64(binary.BigEndian.Uint16(h[:2]))
	case 127:
		_, err = io.ReadFull(c.br, h[:8])
		n = binary.BigEndian.Uint64(h[:8])
	}
	if err != nil {
		return
	}
	if n > 200<<20 {
		return false, 0, nil, errors.New("a frame of absurd length")
	}
	var buf bytes.Buffer
	_, err = io.CopyN(&buf, c.br, int64(n))
	return fin, op, buf.Bytes(), err
}
