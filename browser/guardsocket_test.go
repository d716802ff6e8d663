package browser

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestGuardTellsSockets: the first words of a connection tell whether it opens a
// WebSocket, and none of them is lost.
func TestGuardTellsSockets(t *testing.T) {
	upgrade := "GET /chat?x=1 HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nupgrade: WebSocket\r\n\r\n"
	hello := func(protos ...string) func(net.Conn) {
		return func(c net.Conn) {
			tls.Client(c, &tls.Config{ServerName: "a.test", NextProtos: protos}).Handshake()
		}
	}
	say := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			for len(text) > 0 { // in pieces, as networks do
				n := min(len(text), 700)
				if _, err := c.Write([]byte(text[:n])); err != nil {
					return
				}
				text = text[n:]
			}
			c.Close()
		}
	}
	for _, c := range []struct {
		name    string
		say     func(net.Conn)
		host    string
		port    int
		sockets bool // on the port for WebSockets
		url     string
		said    string // "" does not matter
	}{
		{"handshake", say(upgrade), "a.test", 80, false, "ws://a.test/chat?x=1", upgrade},
		{"another port", say(upgrade), "a.test", 8080, false, "ws://a.test:8080/chat?x=1", upgrade},
		{"IPv6", say(upgrade), "::1", 80, false, "ws://[::1]/chat?x=1", upgrade},
		{"long head", say(strings.Replace(upgrade, "\r\n\r\n", "\r\nCookie: "+strings.Repeat("c", 20<<10)+"\r\n\r\n", 1)), "a.test", 80, false, "ws://a.test/chat?x=1", ""},
		{"page", say("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"), "a.test", 80, false, "", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"},
		{"other upgrade", say("GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: h2c\r\n\r\n"), "a.test", 80, false, "", ""},
		{"post", say("POST / HTTP/1.1\r\n"), "a.test", 80, false, "", "POST / HTTP/1.1\r\n"},
		{"endless head", say("GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<20)), "a.test", 80, false, "", ""},
		{"nothing", say(""), "a.test", 80, false, "", ""},
		{"half a word", say("GE"), "a.test", 80, false, "", "GE"},
		{"no HTTP", say("SSH-2.0-x\r\n"), "a.test", 80, false, "", "SSH-2.0-x\r\n"},
		{"TLS page", hello("h2", "http/1.1"), "a.test", 443, false, "", ""},
		{"TLS page, HTTP/2 off", hello("http/1.1"), "a.test", 443, false, "", ""},
		{"broken TLS", say("\x16\x03\x01\x00\x05hello"), "a.test", 443, false, "", "\x16\x03\x01\x00\x05hello"},
		{"sockets: handshake", say(upgrade), "a.test", 80, true, "ws://a.test/chat?x=1", upgrade},
		{"sockets: TLS", hello("http/1.1"), "a.test", 443, true, "wss://a.test/", ""},
		{"sockets: TLS with h2", hello("h2", "http/1.1"), "a.test", 443, true, "wss://a.test/", ""},
		{"sockets: another port", hello(), "::1", 8443, true, "wss://[::1]:8443/", ""},
		{"sockets: page", say("POST / HTTP/1.1\r\n"), "a.test", 80, true, "ws://a.test/", "POST / HTTP/1.1\r\n"},
		{"sockets: half a word", say("GE"), "a.test", 80, true, "ws://a.test/", "GE"},
		{"sockets: nothing", say(""), "a.test", 80, true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, server := net.Pipe()
			defer server.Close()
			defer client.Close()
			server.SetDeadline(time.Now().Add(5 * time.Second))
			go c.say(client)
			g := &Guard{}
			o := g.listen(server, c.host, c.port, c.sockets)
			if o.url != c.url {
				t.Errorf("url %q, want %q", o.url, c.url)
			}
			if c.said != "" {
				rest, _ := io.ReadAll(server)
				if all := string(o.said) + string(rest); all != c.said {
					t.Errorf("%q became %q", c.said, all)
				}
			}
			if len(o.said) > headMaxHTTP+4<<10 {
				t.Errorf("kept %d bytes", len(o.said))
			}
		})
	}
}
