package browser

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// socksGreeting offers no authentication (RFC 1928 section 3).
const socksGreeting = "\x05\x01\x00"

// socksAsk is a request (RFC 1928 section 4) for a host, as an address if it is
// one.
func socksAsk(command byte, host string, port int) string {
	b := []byte{5, command, 0}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		b = append(append(b, 3, byte(len(host))), host...)
	case ip.Is4():
		b = append(append(b, 1), ip.AsSlice()...)
	default:
		b = append(append(b, 4), ip.AsSlice()...)
	}
	return string(binary.BigEndian.AppendUint16(b, uint16(port)))
}

func startGuard(t testing.TB, c GuardConfig) *Guard {
	t.Helper()
	if c.Allowed == nil {
		c.Allowed = func(string, int) bool { return true }
	}
	g, err := NewGuard(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		done := make(chan error, 1)
		go func() { done <- g.Close() }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("the guard does not close")
		}
	})
	return g
}

// throughGuard asks the guard for host and port and returns the reply code.
func throughGuard(t testing.TB, g *Guard, host string, port int) (net.Conn, byte) {
	t.Helper()
	c, err := net.Dial("tcp", g.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(2 * patience))
	io.WriteString(c, socksGreeting)
	wantRead(t, c, "\x05\x00")
	io.WriteString(c, socksAsk(1, host, port))
	var reply [10]byte
	if _, err := io.ReadFull(c, reply[:]); err != nil || reply[0] != 5 {
		t.Fatalf("reply %v, %v", reply, err)
	}
	return c, reply[1]
}

func wantRead(t testing.TB, r io.Reader, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(r, b); err != nil || string(b) != want {
		t.Fatalf("read %q, %v; want %q", b, err, want)
	}
}

// listenEcho answers every connection with what it says, after the end of which
// it adds a farewell.
func listenEcho(t testing.TB, network, addr string) (port int) {
	t.Helper()
	ln, err := net.Listen(network, addr)
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
			wg.Go(func() {
				defer c.Close()
				if _, err := io.Copy(c, c); err == nil {
					io.WriteString(c, "bye")
				}
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return ln.Addr().(*net.TCPAddr).Port
}

// closedPort is a port of loopback where nobody listens.
func closedPort(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func TestGuardConnects(t *testing.T) {
	port := listenEcho(t, "tcp", "127.0.0.1:0")
	port6 := listenEcho(t, "tcp6", "[::1]:0")
	rules, err := ParseHostRules(fmt.Sprintf("MAP *.test 127.0.0.1:%d, MAP gone.example ~NOTFOUND", port))
	if err != nil {
		t.Fatal(err)
	}
	closed := closedPort(t)
	asked := make(chan string, 1)
	g := startGuard(t, GuardConfig{HostRules: rules, Allowed: func(host string, port int) bool {
		asked <- net.JoinHostPort(host, strconv.Itoa(port))
		return true
	}})
	for _, tt := range []struct {
		host  string
		port  int
		asked string
		reply byte
	}{
		{"127.0.0.1", port, fmt.Sprintf("127.0.0.1:%d", port), 0},
		{"::1", port6, fmt.Sprintf("[::1]:%d", port6), 0},
		{"localhost", port, fmt.Sprintf("localhost:%d", port), 0},
		{"a.test", 80, "a.test:80", 0}, // asked by its name, reached by the rule
		{"127.0.0.1", closed, fmt.Sprintf("127.0.0.1:%d", closed), 5},
		{"gone.example", 443, "gone.example:443", 4},
	} {
		c, reply := throughGuard(t, g, tt.host, tt.port)
		if about := within(t, asked, "question"); reply != tt.reply || about != tt.asked {
			t.Errorf("%s port %d: reply %d, asked about %s; want %d, %s", tt.host, tt.port, reply, about, tt.reply, tt.asked)
		}
		if reply != 0 {
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("%s port %d: %v behind the reply, want the end", tt.host, tt.port, err)
			}
			continue
		}
		// Half-closed: what is still on its way back arrives.
		io.WriteString(c, "hello ")
		c.(*net.TCPConn).CloseWrite()
		if b, err := io.ReadAll(c); err != nil || string(b) != "hello bye" {
			t.Errorf("%s port %d: got %q, %v", tt.host, tt.port, b, err)
		}
	}
}

func TestGuardRefuses(t *testing.T) {
	port := listenEcho(t, "tcp", "127.0.0.1:0")
	type refusal struct {
		host string
		port int
	}
	refused := make(chan refusal, 1)
	g := startGuard(t, GuardConfig{
		Allowed: func(host string, p int) bool { return false },
		Refused: func(host string, p int, why string) {
			if why == "" {
				t.Error("refused without a reason")
			}
			refused <- refusal{host, p}
		},
	})
	for _, host := range []string{"127.0.0.1", "localhost", "::1", "update.example"} {
		c, reply := throughGuard(t, g, host, port)
		if got := within(t, refused, "refusal"); reply != 2 || got != (refusal{host, port}) {
			t.Errorf("%s: reply %d, refused %+v", host, reply, got)
		}
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%s: %v behind the reply, want the end", host, err)
		}
	}
	// Nobody has to listen to refusals.
	_, reply := throughGuard(t, startGuard(t, GuardConfig{Allowed: func(string, int) bool { return false }}), "127.0.0.1", port)
	if reply != 2 {
		t.Errorf("reply %d", reply)
	}
}

// What is no proper request gets at most a reply, and nobody is asked about it.
func TestGuardGarbage(t *testing.T) {
	g := startGuard(t, GuardConfig{Allowed: func(host string, port int) bool {
		t.Errorf("asked about %q port %d", host, port)
		return false
	}})
	reply := func(code byte) string { return string([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0}) }
	for _, tt := range []struct{ in, want string }{
		{"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", ""},
		{"\x04\x01\x00\x50\x7f\x00\x00\x01\x00", ""},                            // SOCKS4
		{"\x05\x00", "\x05\xff"},                                                // offers nothing
		{"\x05\x01\x02", "\x05\xff"},                                            // wants to log in
		{socksGreeting + "\x04\x01\x00\x01", "\x05\x00"},                        // another version
		{socksGreeting + socksAsk(2, "127.0.0.1", 80), "\x05\x00" + reply(7)},   // BIND
		{socksGreeting + socksAsk(3, "127.0.0.1", 80), "\x05\x00" + reply(7)},   // UDP ASSOCIATE
		{socksGreeting + "\x05\x01\x00\x02", "\x05\x00" + reply(8)},             // unknown kind of address
		{socksGreeting + "\x05\x01\x00\x03\x00\x00\x50", "\x05\x00" + reply(8)}, // empty name
		{socksGreeting + "\x05\x01\x00\x03\x09short", "\x05\x00"},
		{socksGreeting + "\x05\x01\x00\x01\x7f", "\x05\x00"},
		{"\x05", ""},
		{"", ""},
	} {
		c, err := net.Dial("tcp", g.Addr())
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(2 * patience))
		io.WriteString(c, tt.in)
		c.(*net.TCPConn).CloseWrite()
		got, err := io.ReadAll(c)
		// A reset is an end, too: the guard closes without reading on.
		var op *net.OpError
		if string(got) != tt.want || err != nil && !errors.As(err, &op) {
			t.Errorf("%q: answered %q, %v; want %q", tt.in, got, err, tt.want)
		}
		c.Close()
	}
}

func TestGuardCloseCutsTunnels(t *testing.T) {
	port := listenEcho(t, "tcp", "127.0.0.1:0")
	g := startGuard(t, GuardConfig{})
	tunnel, reply := throughGuard(t, g, "127.0.0.1", port)
	if reply != 0 {
		t.Fatal(reply)
	}
	io.WriteString(tunnel, "ping")
	wantRead(t, tunnel, "ping")
	waiting, err := net.Dial("tcp", g.Addr()) // has said nothing yet
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if err := g.Close(); err != nil { // waits for every goroutine
		t.Fatal(err)
	}
	for name, c := range map[string]net.Conn{"tunnel": tunnel, "greeting": waiting} {
		c.SetDeadline(time.Now().Add(patience))
		var timeout net.Error
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
			t.Errorf("%s: %v after the guard closed", name, err)
		}
	}
	if c, err := net.Dial("tcp", g.Addr()); err == nil {
		c.Close()
		t.Error("a closed guard takes connections")
	}
	if err := g.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// A connection that is lost on one side ends on the other.
func TestGuardPassesLossOn(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	g := startGuard(t, GuardConfig{})
	c, reply := throughGuard(t, g, "127.0.0.1", ln.Addr().(*net.TCPAddr).Port)
	if reply != 0 {
		t.Fatal(reply)
	}
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	server.SetDeadline(time.Now().Add(patience))
	c.(*net.TCPConn).SetLinger(0) // a reset instead of an orderly end
	c.Close()
	var timeout net.Error
	if _, err := server.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("the server reads %v", err)
	}
}

// A client that never finishes its request is let go after the deadline.
func TestGuardSlowClient(t *testing.T) {
	for _, said := range []string{"", "\x05", socksGreeting, socksGreeting + "\x05\x01\x00\x03\x09a.te"} {
		synctest.Test(t, func(t *testing.T) {
			asked := func(string, int) bool { t.Error("asked about half a request"); return false }
			g := &Guard{cfg: GuardConfig{Allowed: asked}}
			client, server := net.Pipe()
			ended := make(chan struct{})
			go func() {
				g.serve(t.Context(), server, false)
				server.Close()
				close(ended)
			}()
			go io.Copy(io.Discard, client)
			began := time.Now()
			if _, err := io.WriteString(client, said); err != nil {
				t.Error(err)
			}
			<-ended
			if d := time.Since(began); d != socksTimeout {
				t.Errorf("after %q: let go after %v, want %v", said, d, socksTimeout)
			}
			client.Close()
		})
	}
}

func TestDialCode(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want byte
	}{
		{context.DeadlineExceeded, 1},
		{&net.DNSError{IsNotFound: true}, 4},
		{errors.New("other"), 1},
	} {
		if got := dialCode(fmt.Errorf("dial: %w", tt.err)); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}

// scripted is a connection that says what it is told to and hears nothing.
type scripted struct {
	net.Conn
	r io.Reader
	w bytes.Buffer
}

func (s *scripted) Read(p []byte) (int, error)  { return s.r.Read(p) }
func (s *scripted) Write(p []byte) (int, error) { return s.w.Write(p) }

func FuzzSocksRequest(f *testing.F) {
	for _, s := range []string{
		socksGreeting + socksAsk(1, "127.0.0.1", 80), socksGreeting + socksAsk(1, "::1", 443),
		socksGreeting + socksAsk(1, "a.test", 65535), socksGreeting + socksAsk(2, "a", 1),
		"\x05\xff" + strings.Repeat("\x00", 255) + socksAsk(1, strings.Repeat("x", 255), 0), "GET / HTTP/1.1\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		rest := bytes.NewReader(in)
		c := &scripted{r: iotest.OneByteReader(rest)}
		host, port, code, err := socksRequest(c)
		if err != nil {
			if host != "" || port != 0 || code > socksNoAddress {
				t.Errorf("%q: error %v with %q, %d, code %d", in, err, host, port, code)
			}
			return
		}
		if code != socksOK || c.w.String() != "\x05\x00" {
			t.Errorf("%q: code %d, answered %q", in, code, c.w.String())
		}
		request := in[2+int(in[1]) : len(in)-rest.Len()] // exactly what was read
		address, last := request[4:len(request)-2], request[len(request)-2:]
		want := ""
		switch request[3] {
		case 1, 4:
			ip, _ := netip.AddrFromSlice(address)
			want = ip.Unmap().String()
		case 3:
			want = string(address[1:])
		}
		if host != want || host == "" || port != int(binary.BigEndian.Uint16(last)) {
			t.Errorf("%q: %q port %d, want %q port % x", in, host, port, want, last)
		}
	})
}
