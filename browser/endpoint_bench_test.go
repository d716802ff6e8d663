package browser

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// BenchmarkEndpointRoundTrip compares one command and its answer through the
// endpoint, with everything the plumbing does to them, with the same through a
// hop that copies messages and does nothing else. Both lead over a second
// WebSocket to the same echo, and take turns in one run. The bar is 1.10 for
// the ratio of the medians.
func BenchmarkEndpointRoundTrip(b *testing.B) {
	echo := serveHTTP(b, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer ws.CloseNow()
		ws.SetReadLimit(-1)
		copyMessages(ws, ws)
	})
	raw := serveHTTP(b, func(w http.ResponseWriter, r *http.Request) {
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer client.CloseNow()
		chrome, _, err := websocket.Dial(context.Background(), echo, nil)
		if err != nil {
			return
		}
		defer chrome.CloseNow()
		client.SetReadLimit(-1)
		chrome.SetReadLimit(-1)
		var wg sync.WaitGroup
		wg.Go(func() {
			copyMessages(client, chrome)
			client.CloseNow()
		})
		copyMessages(chrome, client)
		chrome.CloseNow()
		wg.Wait()
	})
	for _, size := range []struct {
		name string
		n    int
	}{{"120B", 120}, {"100kB", 100_000}} {
		b.Run(size.name, func(b *testing.B) {
			addr, _ := serveStub(b, &farEngine{stubEngine: newStubEngine(), url: echo}, EndpointConfig{}, nil)
			arms := []*websocket.Conn{dialStub(b, "ws://"+addr+"/", nil), dialStub(b, raw, nil)}
			times := make([][]time.Duration, len(arms))
			text := []byte(sized(size.n))
			ctx := context.Background()
			round := 0
			for b.Loop() {
				for i := range arms {
					arm := (i + round) % len(arms)
					began := time.Now()
					if err := arms[arm].Write(ctx, websocket.MessageText, text); err != nil {
						b.Fatal(err)
					}
					_, got, err := arms[arm].Read(ctx)
					if err != nil || len(got) != len(text) {
						b.Fatal(len(got), err)
					}
					times[arm] = append(times[arm], time.Since(began))
				}
				round++
			}
			median := func(d []time.Duration) float64 {
				slices.Sort(d)
				return float64(d[len(d)/2])
			}
			ours, copied := median(times[0]), median(times[1])
			b.ReportMetric(ours/1e3, "us-endpoint")
			b.ReportMetric(copied/1e3, "us-raw-copy")
			b.ReportMetric(ours/copied, "x-raw-copy")
			b.ReportMetric(0, "ns/op") // of both together, which says nothing
		})
	}
}

func serveHTTP(b *testing.B, h http.HandlerFunc) (url string) {
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

// copyMessages copies messages as a hop does that knows nothing of them.
func copyMessages(dst, src *websocket.Conn) {
	ctx := context.Background()
	for {
		typ, text, err := src.Read(ctx)
		if err != nil {
			return
		}
		if dst.Write(ctx, typ, text) != nil {
			return
		}
	}
}

// farEngine leads each conversation over a WebSocket, and treats messages as
// the browser does on its pipe.
type farEngine struct {
	*stubEngine
	url string
}

func (e *farEngine) connect(ctx context.Context, info connInfo) (clientConn, error) {
	ws, _, err := websocket.Dial(ctx, e.url, nil)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	c := &farConn{ws: ws, ready: make(chan struct{}, 1), gone: make(chan struct{})}
	go c.readAll()
	return c, nil
}

type farConn struct {
	ws    *websocket.Conn
	ready chan struct{}
	gone  chan struct{}

	mu    sync.Mutex
	queue []*Message
}

func (c *farConn) send(_ context.Context, m *Message) error {
	env, err := m.Envelope()
	if err != nil {
		return err
	}
	if env.SessionID == "" {
		m = SpliceSession(m, "0123456789ABCDEF0123456789ABCDEF")
	}
	text, ok := m.Bytes()
	if !ok {
		return errors.New("too large for this benchmark")
	}
	return c.ws.Write(context.Background(), websocket.MessageText, text)
}

// readAll is the goroutine that reads Chrome's pipe.
func (c *farConn) readAll() {
	defer close(c.gone)
	for {
		_, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return
		}
		m, err := ReadAll(r, "", 0)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.queue = append(c.queue, StripSession(m))
		c.mu.Unlock()
		select {
		case c.ready <- struct{}{}:
		default:
		}
	}
}

func (c *farConn) recv(ctx context.Context) (*Message, error) {
	for {
		c.mu.Lock()
		if len(c.queue) > 0 {
			m := c.queue[0]
			c.queue = c.queue[1:]
			c.mu.Unlock()
			return m, nil
		}
		c.mu.Unlock()
		select {
		case <-c.ready:
		case <-c.gone:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *farConn) close(string) {
	c.ws.CloseNow()
	<-c.gone
}
