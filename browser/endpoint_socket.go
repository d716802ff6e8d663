package browser

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// targetCommand does something to one target.
type targetCommand = func(ctx context.Context, id string) error

// writeTimeout is how long one message may take to a client that does not read.
const writeTimeout = 2 * time.Minute

// serveSocket joins a client's WebSocket to a conversation with Chrome.
func (ep *Endpoint) serveSocket(w http.ResponseWriter, r *http.Request, targetID string) {
	ep.wg.Add(1)
	defer ep.wg.Done()
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
	w, lenient := lenientHandshake(w, r)
	ws, err := websocket.Accept(w, lenient, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // Origin and Host were judged before
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		c.close("the WebSocket handshake failed: " + err.Error())
		return
	}
	ws.SetReadLimit(-1) // large messages are spooled
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go ep.keepAlive(ctx, ws)
	go func() {
		defer cancel()
		ep.toClient(ctx, ws, c)
	}()
	c.close(ep.fromClient(ctx, ws, c))
	cancel()
	ws.Close(websocket.StatusNormalClosure, "")
}

// fromClient passes commands on until the client ends, and says how it did.
func (ep *Endpoint) fromClient(ctx context.Context, ws *websocket.Conn, c clientConn) string {
	for {
		_, r, err := ws.Reader(ctx)
		if err != nil {
			return endReason(err)
		}
		m, err := ReadAll(r, ep.cfg.SpoolDir, 0)
		if err != nil {
			return endReason(err)
		}
		if err := c.send(ctx, m); err != nil {
			return "Chrome is gone: " + err.Error()
		}
	}
}

func endReason(err error) string {
	if code := websocket.CloseStatus(err); code != -1 {
		return "it closed the connection (" + code.String() + ")"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return "its connection ended"
	}
	return "its connection broke: " + err.Error()
}

// toClient passes messages on until Chrome ends, and tells the client at once
// when it does: a socket that stays half open hangs agents.
func (ep *Endpoint) toClient(ctx context.Context, ws *websocket.Conn, c clientConn) {
	for {
		m, err := c.recv(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				ws.Close(websocket.StatusGoingAway, "Chrome has ended")
			} else if ctx.Err() == nil {
				ws.Close(websocket.StatusPolicyViolation, clip(err.Error(), 100))
			}
			return
		}
		if err := writeMessage(ctx, ws, m); err != nil {
			ws.CloseNow()
			return
		}
	}
}

func writeMessage(ctx context.Context, ws *websocket.Conn, m *Message) error {
	defer m.Release()
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if b, ok := m.Bytes(); ok {
		return ws.Write(ctx, websocket.MessageText, b)
	}
	w, err := ws.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	if _, err := m.WriteTo(w); err != nil {
		return err
	}
	return w.Close()
}

// keepAlive pings the client, so that a peer that vanished is found.
func (ep *Endpoint) keepAlive(ctx context.Context, ws *websocket.Conn) {
	tick := time.NewTicker(ep.ping)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// A client that is busy for a while is not dead: only a broken
			// connection ends it.
			pctx, cancel := context.WithTimeout(ctx, ep.ping)
			ws.Ping(pctx)
			cancel()
		}
	}
}
