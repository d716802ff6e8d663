package browser

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebSocket handshakes do not pause: the guard is where they are seen. Chrome
// opens a connection of its own for each, on the guard's port for WebSockets. The
// first words on it tell which: a plain handshake has a path, of an encrypted one
// only the host is known.

// opening is what a client said first on a connection.
type opening struct {
	said []byte // all of it, to be passed on
	url  string // of the WebSocket that it opens; "" when it opens none
}

// headMaxHTTP is the largest head of a request that is looked at, in bytes.
// Chrome's own limit is 256 KiB; a handshake is below 4.
const headMaxHTTP = 64 << 10

// listen reads what is said first on c. Outside the port for WebSockets a plain
// one is told by its head, should a Chrome ever open one there.
func (g *Guard) listen(c net.Conn, host string, port int, sockets bool) opening {
	r := &recorder{Conn: c}
	first := make([]byte, 1)
	if _, err := c.Read(first); err != nil {
		return opening{}
	}
	r.said, r.again = first, first
	const tlsHandshake = 0x16
	if first[0] == tlsHandshake {
		if !sockets {
			return opening{said: r.said}
		}
		return opening{said: r.said, url: "wss://" + authority(host, port, 443) + "/"} // the path is a secret
	}
	path, ok := handshakeHTTP(r)
	switch {
	case ok:
	case sockets:
		path = "/" // whatever this is, it is judged
	default:
		return opening{said: r.said}
	}
	return opening{said: r.said, url: "ws://" + authority(host, port, 80) + path}
}

func authority(host string, port, usual int) string {
	if port == usual {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// handshakeHTTP reads a request and returns its path if it opens a WebSocket.
func handshakeHTTP(r *recorder) (path string, ok bool) {
	buf := make([]byte, 4<<10)
	var end = []byte("\r\n\r\n")
	for {
		if _, err := r.Read(buf); err != nil {
			return "", false
		}
		const get = "GET "
		if n := min(len(r.said), len(get)); string(r.said[:n]) != get[:n] {
			return "", false // no handshake, and its body may be long
		}
		if bytes.Contains(r.said, end) {
			break
		}
		if len(r.said) > headMaxHTTP {
			return "", false
		}
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(r.said)))
	if err != nil || !strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
		return "", false
	}
	return req.RequestURI, true
}

// recorder keeps what is read from a connection, and writes nothing to it.
type recorder struct {
	net.Conn
	said  []byte
	again []byte // read before, to be read once more
}

func (r *recorder) Read(p []byte) (int, error) {
	if len(r.again) > 0 {
		n := copy(p, r.again)
		r.again = r.again[n:]
		return n, nil
	}
	n, err := r.Conn.Read(p)
	r.said = append(r.said, p[:n]...)
	return n, err
}

func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }

// serveKnown joins c to out, which is connected to a host that an admitted action
// asked for.
func (g *Guard) serveKnown(ctx context.Context, c, out net.Conn, host string, port int, sockets bool) {
	done := make(chan struct{})
	go func() {
		copyEnd(c, out)
		close(done)
	}()
	o := g.listen(c, host, port, sockets)
	if o.url != "" && !g.cfg.Socket(ctx, o.url) {
		refuseSocket(c, o)
		out.Close()
	} else if _, err := out.Write(o.said); err != nil {
		c.Close()
		out.Close()
	} else {
		copyEnd(out, c)
	}
	<-done
}

// serveUnknown lets c through to a host that nobody asked for yet, if it opens a
// WebSocket and that is admitted.
func (g *Guard) serveUnknown(ctx context.Context, c net.Conn, host string, port int, sockets bool) {
	if socksReply(c, socksOK) != nil {
		return
	}
	o := g.listen(c, host, port, sockets)
	if o.url == "" {
		g.refused(host, port, "no admitted action asked for it")
		return
	}
	if !g.cfg.Socket(ctx, o.url) {
		refuseSocket(c, o)
		return
	}
	out, err := g.dial(ctx, host, port)
	if err != nil {
		return
	}
	if !g.keep(out) {
		out.Close()
		return
	}
	defer g.drop(out)
	c.SetDeadline(time.Time{})
	if _, err := out.Write(o.said); err != nil {
		return
	}
	splice(c, out)
}

// refuseSocket ends a connection whose handshake was refused. What is encrypted
// can only be cut.
func refuseSocket(c net.Conn, o opening) {
	if strings.HasPrefix(o.url, "ws:") {
		c.Write([]byte("HTTP/1.1 403 Refused by browser-governor\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	}
	c.Close()
}
