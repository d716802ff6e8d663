package browser

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// targetCommand does something to one target.
type targetCommand = func(ctx context.Context, id string) error

const (
	// writeTimeout is how long one message may take to a client that does not
	// read.
	writeTimeout = 2 * time.Minute

	// closeGrace is how long a client may take to answer a close frame before its
	// connection is cut.
	closeGrace = time.Second

	// commandMax is the largest command a client may send, in bytes. Chromium 156
	// takes 100 MiB with the byte that ends the message; at one more it stops
	// reading its pipe, for every client and for good. The rest is room for a
	// session id.
	commandMax = 100<<20 - 512

	// closeReasonMax is the longest reason in a close frame (RFC 6455 section
	// 5.5: 125 bytes, 2 of them the code).
	closeReasonMax = 123
)

// socket is one client's WebSocket, joined to its conversation with Chrome.
type socket struct {
	ws   *websocket.Conn
	raw  net.Conn // below ws
	conn clientConn
	dir  string // where large messages are spooled
	max  int64  // largest command, bytes

	// pings are sent: the client is known to bear them. See keepsAlive.
	pings bool
	// bare is a client that takes every frame for a message, as go-rod does: a
	// close frame would crash it, so its connection just ends.
	bare bool

	writing atomic.Int64 // when the write under way began, Unix nanoseconds; 0 when there is none
	closing sync.Once
}

// ending is how a conversation ends: what the client is told and what the log
// says.
type ending struct {
	code   websocket.StatusCode
	reason string
	log    string
}

// serveSocket joins a client's WebSocket to a conversation with Chrome.
func (ep *Endpoint) serveSocket(w http.ResponseWriter, r *http.Request, targetID string) {
	c, err := ep.e.connect(r.Context(), connInfo{userAgent: r.UserAgent(), remoteAddr: r.RemoteAddr, targetID: targetID})
	if err != nil {
		var cdp *CDPError
		if targetID != "" && errors.As(err, &cdp) {
			http.Error(w, "No such target id: "+targetID, http.StatusNotFound)
			return
		}
		unavailable(w, err)
		return
	}
	h, r := lenientHandshake(w, r)
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // Origin and Host were judged before
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		c.close("the WebSocket handshake failed: " + err.Error())
		return
	}
	ws.SetReadLimit(-1) // large messages are spooled, see commandMax
	s := &socket{ws: ws, raw: h.conn, conn: c, dir: ep.cfg.SpoolDir, max: ep.commandMax, bare: h.accept != "", pings: keepsAlive(h, r)}
	s.serve(r.Context(), ep.ping)
}

// keepsAlive reports whether a client may be sent pings. Clients that implement
// just enough of the protocol for Chrome, which sends none, break on them:
// go-rod takes a ping for a message and panics, chromedp up to 0.14 leaves its
// payload in the stream. Neither names itself; those who do use whole WebSocket
// libraries. For the others TCP's own keepalive, which net/http sets, has to do.
func keepsAlive(h *handshake, r *http.Request) bool {
	return h.accept == "" && r.UserAgent() != ""
}

// serve passes messages both ways until one side ends or ctx does.
func (s *socket) serve(ctx context.Context, pingEvery time.Duration) {
	// Reads and writes do without a context: the library starts a goroutine's
	// worth of work for each one that has any. Closing the connection ends them.
	own, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.watch(ctx, own, pingEvery) })
	wg.Go(func() { s.toClient(own) })
	e := s.fromClient()
	cancel()
	s.conn.close(e.log)
	s.end(e.code, e.reason)
	wg.Wait()
}

// end closes the WebSocket, once. It returns when it is closed.
func (s *socket) end(code websocket.StatusCode, reason string) {
	s.closing.Do(func() {
		if s.bare {
			s.ws.CloseNow()
			return
		}
		cut := time.AfterFunc(closeGrace, func() { s.raw.Close() })
		defer cut.Stop()
		s.ws.Close(code, clip(reason, closeReasonMax))
	})
}

// fromClient passes commands on until the client ends, and says how it did.
func (s *socket) fromClient() ending {
	ctx := context.Background()
	in := &readFailure{}
	for {
		_, r, err := s.ws.Reader(ctx)
		if err != nil {
			return clientEnd(err)
		}
		in.r, in.err = r, nil
		m, err := ReadAll(in, s.dir, s.max)
		switch {
		case err == nil:
		case in.err != nil:
			return clientEnd(err)
		case errors.Is(err, ErrTooLarge):
			const why = "a command is larger than the 100 MiB that Chrome takes"
			return ending{websocket.StatusMessageTooBig, why, why}
		default: // the disk
			return ending{websocket.StatusInternalError, err.Error(), "a command could not be kept: " + err.Error()}
		}
		if err := s.conn.send(ctx, m); err != nil {
			return ending{websocket.StatusGoingAway, "Chrome has ended", "Chrome is gone: " + err.Error()}
		}
	}
}

// readFailure remembers why its reader failed, to tell a lost client from a
// full disk.
type readFailure struct {
	r   io.Reader
	err error
}

func (f *readFailure) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

func clientEnd(err error) ending {
	if code := websocket.CloseStatus(err); code != -1 {
		return ending{code, "", "it closed the connection (" + code.String() + ")"}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return ending{websocket.StatusNormalClosure, "", "its connection ended"}
	}
	return ending{websocket.StatusProtocolError, err.Error(), "its connection broke: " + err.Error()}
}

// toClient passes messages on until Chrome ends, and tells the client at once
// when it does: a socket that stays half open hangs agents.
func (s *socket) toClient(ctx context.Context) {
	for {
		m, err := s.conn.recv(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return // the other side says why
		case errors.Is(err, io.EOF):
			s.end(websocket.StatusGoingAway, "Chrome has ended")
			return
		default:
			s.end(websocket.StatusPolicyViolation, err.Error())
			return
		}
		if err := s.write(m); err != nil {
			s.end(websocket.StatusInternalError, err.Error())
			return
		}
	}
}

// write sends one message, as one frame where it can: go-rod reads nothing else.
func (s *socket) write(m *Message) error {
	defer m.Release()
	s.writing.Store(time.Now().UnixNano())
	defer s.writing.Store(0)
	ctx := context.Background()
	if b, ok := m.Bytes(); ok {
		return s.ws.Write(ctx, websocket.MessageText, b)
	}
	if b, unmap, err := m.mapped(); err == nil {
		defer unmap()
		return s.ws.Write(ctx, websocket.MessageText, b)
	}
	w, err := s.ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	if _, err := m.WriteTo(w); err != nil {
		return err
	}
	return w.Close()
}

// watch pings the client, cuts it off when it does not read, and says goodbye
// when the endpoint ends. own ends with the socket, parent with the endpoint.
func (s *socket) watch(parent, own context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-own.Done():
			if parent.Err() != nil {
				s.end(websocket.StatusGoingAway, "the governor is ending")
			}
			return
		case now := <-tick.C:
			if began := s.writing.Load(); began != 0 && now.Sub(time.Unix(0, began)) > writeTimeout {
				s.raw.Close()
				return
			}
			if s.pings {
				// A client that is busy for a while is not dead: only a broken
				// connection ends it.
				ctx, cancel := context.WithTimeout(own, every)
				s.ws.Ping(ctx)
				cancel()
			}
		}
	}
}
