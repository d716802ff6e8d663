package browser

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/coder/websocket"
)

// echoQueue hands what comes back to the client as the browser does: one
// goroutine reads, another writes, and sessions are taken out between them.
type echoQueue struct {
	ready chan struct{} // has room for one wake-up
	gone  chan struct{}

	mu    sync.Mutex
	queue []*Message
}

func newEchoQueue() *echoQueue {
	return &echoQueue{ready: make(chan struct{}, 1), gone: make(chan struct{})}
}

// readAll queues messages until next fails.
func (q *echoQueue) readAll(next func() (*Message, error)) {
	defer close(q.gone)
	for {
		m, err := next()
		if err != nil {
			return
		}
		q.mu.Lock()
		q.queue = append(q.queue, StripSession(m))
		q.mu.Unlock()
		select {
		case q.ready <- struct{}{}:
		default:
		}
	}
}

func (q *echoQueue) recv(ctx context.Context) (*Message, error) {
	for {
		q.mu.Lock()
		if len(q.queue) > 0 {
			m := q.queue[0]
			q.queue = q.queue[1:]
			q.mu.Unlock()
			return m, nil
		}
		q.mu.Unlock()
		select {
		case <-q.ready:
		case <-q.gone:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// withSession does to a command what the browser does before it is sent.
func withSession(m *Message) (*Message, error) {
	env, err := m.Envelope()
	if err != nil {
		return nil, err
	}
	if env.SessionID == "" {
		m = SpliceSession(m, "0123456789ABCDEF0123456789ABCDEF")
	}
	return m, nil
}

// farEngine leads each conversation over a WebSocket.
type farEngine struct {
	*stubEngine
	url string
}

type farConn struct {
	*echoQueue
	ws *websocket.Conn
}

func (e *farEngine) connect(ctx context.Context, _ connInfo) (clientConn, error) {
	ws, _, err := websocket.Dial(ctx, e.url, nil)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	c := &farConn{newEchoQueue(), ws}
	go c.readAll(func() (*Message, error) {
		_, r, err := ws.Reader(context.Background())
		if err != nil {
			return nil, err
		}
		return ReadAll(r, "", 0)
	})
	return c, nil
}

func (c *farConn) send(_ context.Context, m *Message) error {
	m, err := withSession(m)
	if err != nil {
		return err
	}
	text, ok := m.Bytes()
	if !ok {
		return errors.New("too large for this benchmark")
	}
	return c.ws.Write(context.Background(), websocket.MessageText, text)
}

func (c *farConn) close(string) {
	c.ws.CloseNow()
	<-c.gone
}

// pipeEngine leads each conversation over a pair of pipes, as Chrome's are.
type pipeEngine struct{ *stubEngine }

type pipeConn struct {
	*echoQueue
	in     *os.File
	echoed chan struct{} // closed when the far side has ended
}

func (e *pipeEngine) connect(context.Context, connInfo) (clientConn, error) {
	chromeIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, chromeOut, err := os.Pipe()
	if err != nil {
		closeAll(chromeIn, in)
		return nil, err
	}
	c := &pipeConn{newEchoQueue(), in, make(chan struct{})}
	go func() {
		defer close(c.echoed)
		io.CopyBuffer(struct{ io.Writer }{chromeOut}, struct{ io.Reader }{chromeIn}, make([]byte, 64<<10))
		closeAll(chromeOut, chromeIn)
	}()
	br := bufio.NewReaderSize(out, 256<<10)
	go func() {
		defer out.Close()
		c.readAll(func() (*Message, error) { return ReadDelimited(br, "") })
	}()
	return c, nil
}

func (c *pipeConn) send(_ context.Context, m *Message) error {
	m, err := withSession(m)
	if err != nil {
		return err
	}
	defer m.Release()
	return m.WriteDelimited(c.in)
}

func (c *pipeConn) close(string) {
	c.in.Close()
	<-c.echoed
	<-c.gone
}
