package browser

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// GuardConfig says what the egress guard lets through.
type GuardConfig struct {
	HostRules HostRules
	// Allowed reports whether a connection to host and port may leave.
	Allowed func(host string, port int) bool
	// Socket is asked before a WebSocket is opened, with its URL; of an encrypted
	// one the path is unknown. It may wait. Nil lets sockets to allowed hosts
	// through without a question.
	Socket func(ctx context.Context, url string) bool
	// Refused is told of every connection that did not leave. It may be nil.
	Refused func(host string, port int, why string)
}

// Guard is the only way out of Chrome: SOCKS5 proxies on loopback in this
// process. They end with the process, so a Chrome that outlives its governor
// reaches nobody.
//
// There are two, one of them for WebSockets, because nothing that is encrypted
// tells a WebSocket. It also keeps them out of HTTP/2 connections, where they
// would open no connection at all (RFC 8441): Chrome shares none between proxies.
type Guard struct {
	cfg     GuardConfig
	ln      net.Listener
	sockets net.Listener

	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil once closed
}

// NewGuard listens on two free ports of loopback.
func NewGuard(c GuardConfig) (*Guard, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("egress guard: %w", err)
	}
	sockets, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		ln.Close()
		return nil, fmt.Errorf("egress guard: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &Guard{cfg: c, ln: ln, sockets: sockets, cancel: cancel, conns: map[net.Conn]struct{}{}}
	g.wg.Go(func() { g.accept(ctx, ln, false) })
	g.wg.Go(func() { g.accept(ctx, sockets, true) })
	return g, nil
}

// Addr is host:port of the guard for everything but WebSockets.
func (g *Guard) Addr() string { return g.ln.Addr().String() }

// ProxyRules is what Chrome's --proxy-server is told. Chrome takes the proxy
// named "socks" for every scheme that has none of its own, which leaves
// WebSockets.
func (g *Guard) ProxyRules() string {
	return "http=socks5://" + g.Addr() + ";https=socks5://" + g.Addr() + ";socks=socks5://" + g.sockets.Addr().String()
}

// Close cuts every connection and waits for the guard's goroutines.
func (g *Guard) Close() error {
	g.cancel()
	err := errors.Join(g.ln.Close(), g.sockets.Close())
	g.mu.Lock()
	conns := g.conns
	g.conns = nil
	g.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	g.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (g *Guard) accept(ctx context.Context, ln net.Listener, sockets bool) {
	for {
		c, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			// Out of file descriptors: wait rather than spin. Nothing leaves
			// meanwhile.
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		if !g.keep(c) {
			c.Close()
			return
		}
		g.wg.Go(func() {
			defer g.drop(c)
			g.serve(ctx, c, sockets)
		})
	}
}

func (g *Guard) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		return false
	}
	g.conns[c] = struct{}{}
	return true
}

func (g *Guard) drop(c net.Conn) {
	c.Close()
	g.mu.Lock()
	delete(g.conns, c)
	g.mu.Unlock()
}

// A connection has this long to say where it wants to go and to get there; the
// shorter time for the dial leaves some for the answer.
const (
	socksTimeout = 30 * time.Second
	dialTimeout  = 25 * time.Second
)

// SOCKS5 reply codes (RFC 1928 section 6).
const (
	socksOK          = 0
	socksFailure     = 1
	socksNotAllowed  = 2
	socksUnreachable = 4
	socksRefused     = 5
	socksNoCommand   = 7
	socksNoAddress   = 8
)

// serve answers one connection. sockets says that it is a WebSocket's.
func (g *Guard) serve(ctx context.Context, c net.Conn, sockets bool) {
	c.SetDeadline(time.Now().Add(socksTimeout))
	host, port, code, err := socksRequest(c)
	if err != nil {
		if code != socksOK {
			socksReply(c, code)
		}
		return
	}
	if !g.cfg.Allowed(host, port) {
		if g.cfg.Socket != nil {
			g.serveUnknown(ctx, c, host, port, sockets)
			return
		}
		g.refused(host, port, "no admitted action asked for it")
		socksReply(c, socksNotAllowed)
		return
	}
	out, err := g.dial(ctx, host, port)
	if err != nil {
		socksReply(c, dialCode(err))
		return
	}
	if !g.keep(out) {
		out.Close()
		return
	}
	defer g.drop(out)
	if socksReply(c, socksOK) != nil {
		return
	}
	c.SetDeadline(time.Time{})
	if g.cfg.Socket != nil {
		g.serveKnown(ctx, c, out, host, port, sockets)
		return
	}
	splice(c, out)
}

func (g *Guard) refused(host string, port int, why string) {
	if g.cfg.Refused != nil {
		g.cfg.Refused(host, port, why)
	}
}

func (g *Guard) dial(ctx context.Context, host string, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return g.cfg.HostRules.DialWith(ctx, &net.Dialer{}, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

func dialCode(err error) byte {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksRefused
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return socksUnreachable
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return socksUnreachable
	}
	return socksFailure
}

// socksRequest reads the greeting and the request. code is what to answer when
// err is not nil; socksOK means that nobody understands an answer.
func socksRequest(c net.Conn) (host string, port int, code byte, err error) {
	var b [257]byte
	if _, err = io.ReadFull(c, b[:2]); err != nil {
		return "", 0, 0, err
	}
	if b[0] != 5 {
		return "", 0, 0, fmt.Errorf("socks version %d", b[0])
	}
	methods := b[2 : 2+int(b[1])]
	if _, err = io.ReadFull(c, methods); err != nil {
		return "", 0, 0, err
	}
	if bytes.IndexByte(methods, 0) < 0 {
		c.Write([]byte{5, 0xff}) // none of them is acceptable
		return "", 0, 0, errors.New("socks client that wants authentication")
	}
	if _, err = c.Write([]byte{5, 0}); err != nil { // no authentication
		return "", 0, 0, err
	}
	if _, err = io.ReadFull(c, b[:4]); err != nil {
		return "", 0, 0, err
	}
	if b[0] != 5 {
		return "", 0, 0, fmt.Errorf("socks version %d", b[0])
	}
	if b[1] != 1 {
		return "", 0, socksNoCommand, fmt.Errorf("socks command %d", b[1])
	}
	switch b[3] {
	case 1:
		_, err = io.ReadFull(c, b[:4])
		host = net.IP(b[:4]).String()
	case 4:
		_, err = io.ReadFull(c, b[:16])
		host = net.IP(b[:16]).String()
	case 3: // a name; Chrome leaves looking it up to us
		if _, err = io.ReadFull(c, b[:1]); err == nil {
			n := b[0]
			_, err = io.ReadFull(c, b[:n])
			host = string(b[:n])
		}
	default:
		return "", 0, socksNoAddress, fmt.Errorf("socks address type %d", b[3])
	}
	if err != nil {
		return "", 0, 0, err
	}
	if _, err = io.ReadFull(c, b[:2]); err != nil {
		return "", 0, 0, err
	}
	if host == "" { // net.Dial would take it for this machine
		return "", 0, socksNoAddress, errors.New("socks request without a host")
	}
	return host, int(binary.BigEndian.Uint16(b[:2])), socksOK, nil
}

func socksReply(c net.Conn, code byte) error {
	_, err := c.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0})
	return err
}

// splice copies both ways until both sides have ended. A side that ends first
// is passed on as an end, so that half-closed exchanges finish.
func splice(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		copyEnd(a, b)
		close(done)
	}()
	copyEnd(b, a)
	<-done
}

func copyEnd(dst, src net.Conn) {
	_, err := io.Copy(dst, src)
	if w, ok := dst.(interface{ CloseWrite() error }); ok && err == nil {
		w.CloseWrite()
		return
	}
	dst.Close()
	src.Close()
}
