package e2e

import (
	"bytes"
	"crypto/tls"
	"io"
	"slices"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"browsergovernor/actions"
	"browsergovernor/browser"
	"browsergovernor/governor"
)

// connectServer speaks HTTP/2 and takes WebSockets inside a connection (RFC 8441).
// It writes down what it was asked for.
type connectServer struct {
	mu    sync.Mutex
	asked []string
}

func (s *connectServer) add(text string) {
	s.mu.Lock()
	s.asked = append(s.asked, text)
	s.mu.Unlock()
}

func (s *connectServer) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// listen serves until the test ends and returns the address.
func (s *connectServer) listen(t testing.TB, certificate tls.Certificate) string {
	t.Helper()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			wg.Go(func() {
				defer c.Close()
				s.serve(c.(*tls.Conn))
			})
		}
	})
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	return ln.Addr().String()
}

func (s *connectServer) serve(c *tls.Conn) {
	if c.Handshake() != nil {
		return
	}
	if proto := c.ConnectionState().NegotiatedProtocol; proto != "h2" {
		s.add("connection without HTTP/2")
		return
	}
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.WriteSettings(http2.Setting{ID: http2.SettingEnableConnectProtocol, Val: 1})
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			f.WritePing(true, frame.Data)
		case *http2.MetaHeadersFrame:
			s.answer(f, frame)
		}
	}
}

func (s *connectServer) answer(f *http2.Framer, asked *http2.MetaHeadersFrame) {
	method := asked.PseudoValue("method")
	s.add(method + " " + asked.PseudoValue("path") + " " + asked.PseudoValue("protocol"))
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	if method != "CONNECT" {
		enc.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/html"})
		enc.WriteField(hpack.HeaderField{Name: "cache-control", Value: "no-store"})
	}
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: asked.StreamID, BlockFragment: head.Bytes(), EndHeaders: true})
	if method != "CONNECT" {
		f.WriteData(asked.StreamID, true, []byte("<link rel=icon href=data:,>page"))
	}
}

// TestSocketsStayOutOfHTTP2: where the server would take a WebSocket inside the
// connection that the page came over, in which nobody would see it, Chrome opens
// one of its own for it, and it is judged.
func TestSocketsStayOutOfHTTP2(t *testing.T) {
	certificate, spki := testCertificate(t)
	srv := &connectServer{}
	addr := srv.listen(t, certificate)
	s := newSite(t, nil)
	rules, err := browser.ParseHostRules("MAP *.test:443 " + addr)
	if err != nil {
		t.Fatal(err)
	}
	s.rules = rules
	p := testPolicy()
	p.Robots.SkipHosts = []string{"a.test"}
	p.HTTP2 = governor.AllowHTTP2
	w := newWorld(t, s, p)
	o := w.options()
	o.AcceptTestCerts = []string{spki}
	c := dialRaw(t, w.endpointWith(o))
	_, page := c.page()
	c.visit(page, "https://a.test/page")
	if got := c.eval(page, "document.body.innerText"); got != "page" {
		t.Fatalf("the page says %v", got)
	}
	c.eval(page, `new Promise(r => { const ws = new WebSocket("wss://a.test/inside"); ws.onopen = ws.onerror = () => r("ended") })`)
	if got, want := srv.all(), []string{"GET /page ", "connection without HTTP/2"}; !slices.Equal(got, want) {
		t.Errorf("the server was asked for %q, want %q", got, want)
	}
	sockets := 0
	for _, ev := range w.events() {
		if ev.Kind == actions.WebSocket && ev.Sent {
			sockets++
		}
	}
	if sockets != 1 {
		t.Errorf("%d WebSockets in the log, want 1", sockets)
	}
}
