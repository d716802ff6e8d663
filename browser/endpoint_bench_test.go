package browser

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// BenchmarkEndpointRoundTrip compares one command and its answer through the
// endpoint with the same through a hop that only copies bytes between two
// sockets. The rounds of both take turns in one run. Behind the hop stands a
// WebSocket echo, as Chrome's port would; behind the endpoint an echo on a pair
// of pipes, as Chrome's pipe is.
func BenchmarkEndpointRoundTrip(b *testing.B) {
	echo := httptest.NewServer(http.HandlerFunc(echoSocket))
	defer echo.Close()
	hop := copyHop(b, echo.Listener.Addr().String())
	for _, bb := range []struct {
		name string
		size int
	}{{"evaluate", 120}, {"100kB", 100 << 10}, {"1MB", 1 << 20}} {
		b.Run(bb.name, func(b *testing.B) {
			srv := httptest.NewServer(newEndpoint(&pipeEngine{}, EndpointConfig{}))
			defer srv.Close()
			raw, governed := dialHop(b, hop), dialHop(b, srv.Listener.Addr().String())
			text := []byte(`{"id":5,"method":"Runtime.evaluate","params":{"expression":"` + strings.Repeat("x", bb.size) + `"}}`)
			round := func(ws *websocket.Conn) time.Duration {
				start := time.Now()
				if err := ws.Write(b.Context(), websocket.MessageText, text); err != nil {
					b.Fatal(err)
				}
				if _, got, err := ws.Read(b.Context()); err != nil || len(got) != len(text) {
					b.Fatalf("%d bytes, %v", len(got), err)
				}
				return time.Since(start)
			}
			var raws, governeds []time.Duration
			for b.Loop() {
				raws = append(raws, round(raw))
				governeds = append(governeds, round(governed))
			}
			r, g := medianTime(raws), medianTime(governeds)
			b.ReportMetric(float64(r.Nanoseconds()), "raw-ns")
			b.ReportMetric(float64(g.Nanoseconds()), "governed-ns")
			b.ReportMetric(float64(g)/float64(r), "ratio")
		})
	}
}

func dialHop(b *testing.B, addr string) *websocket.Conn {
	ws, _, err := websocket.Dial(b.Context(), "ws://"+addr+"/", nil)
	if err != nil {
		b.Fatal(err)
	}
	ws.SetReadLimit(-1)
	b.Cleanup(func() { ws.CloseNow() })
	return ws
}

func medianTime(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func echoSocket(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(-1)
	for {
		typ, b, err := ws.Read(context.Background())
		if err != nil || ws.Write(context.Background(), typ, b) != nil {
			return
		}
	}
}

// copyHop copies bytes between whoever connects and addr.
func copyHop(b *testing.B, addr string) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ln.Close() })
	go func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				in.Close()
				return
			}
			// Through this process, as a hop that looks at the bytes would.
			through := func(dst, src net.Conn) {
				io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 64<<10))
				dst.Close()
				src.Close()
			}
			go through(in, out)
			go through(out, in)
		}
	}()
	return ln.Addr().String()
}

// pipeEngine answers over a pair of pipes, the way Chrome does.
type pipeEngine struct{ engine }

type pipeConn struct {
	w   *os.File
	out chan *Message // closed when the pipe is
}

func (p *pipeEngine) connect(context.Context, connInfo) (clientConn, error) {
	chromeIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, chromeOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		io.CopyBuffer(struct{ io.Writer }{chromeOut}, struct{ io.Reader }{chromeIn}, make([]byte, 64<<10))
		chromeOut.Close()
		chromeIn.Close()
	}()
	c := &pipeConn{w: in, out: make(chan *Message, 16)}
	go func() {
		defer out.Close()
		br := bufio.NewReaderSize(out, 256<<10)
		for {
			m, err := ReadDelimited(br, "")
			if err != nil {
				close(c.out)
				return
			}
			c.out <- m
		}
	}()
	return c, nil
}

func (c *pipeConn) send(_ context.Context, m *Message) error {
	env, err := m.Envelope()
	if err != nil {
		return err
	}
	if strings.HasPrefix(env.Method, "Page.") {
		return io.ErrNoProgress // nothing here is a navigation
	}
	m = SpliceSession(m, "0123456789ABCDEF0123456789ABCDEF")
	defer m.Release()
	return m.WriteDelimited(c.w)
}

func (c *pipeConn) recv(ctx context.Context) (*Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m, ok := <-c.out:
		if !ok {
			return nil, io.EOF
		}
		return StripSession(m), nil
	}
}

func (c *pipeConn) close(string) { c.w.Close() }
