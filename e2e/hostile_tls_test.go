package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browsergovernor/actions"
	"browsergovernor/browser"
	"browsergovernor/governor"
)

// testCertificate makes a certificate for the names of tests, and the hash of the
// key that Chrome is to trust.
func testCertificate(t testing.TB) (c tls.Certificate, spki string) {
	t.Helper()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ca, leaf := key(), key()
	issuer := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Nobody's CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	cert := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a.test"}, DNSNames: []string{"*.test", "a.test", "b.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		// A browser that looks for the issuer asks here.
		IssuingCertificateURL: []string{"http://a.test/issuer.crt"}, OCSPServer: []string{"http://a.test/ocsp"}}
	der, err := x509.CreateCertificate(rand.Reader, cert, issuer, leaf.Public(), ca)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(parsed.RawSubjectPublicKeyInfo)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: leaf}, base64.StdEncoding.EncodeToString(sum[:])
}

// secure serves the site over TLS as well, with HTTP/2, and makes Chrome find it
// on port 443. It returns the hash of the key that Chrome is to trust.
func (s *site) secure(t testing.TB) (spki string) {
	t.Helper()
	certificate, spki := testCertificate(t)
	srv := httptest.NewUnstartedServer(s)
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	var err error
	s.rules, err = browser.ParseHostRules("MAP *.test:443 " + srv.Listener.Addr().String() + ", " + s.hostRules())
	if err != nil {
		t.Fatal(err)
	}
	return spki
}

// agreeOnHTTPS is agree where the site does not write down the scheme.
func (w *world) agreeOnHTTPS() {
	w.t.Helper()
	var got []string
	for _, h := range w.site.all() {
		got = append(got, h.String())
	}
	sent := strings.ReplaceAll(multiset(w.sent()), "https://", "http://")
	if sent = multiset(strings.Split(sent, "\n")); sent != multiset(got) {
		w.t.Errorf("the log and the site disagree\nlog says sent:\n%s\n\nsite received:\n%s", sent, multiset(got))
	}
}

// TestTLS: what Chrome does by itself around https, an upgrade to it, hints that
// come before the answer, a look for the issuer of a certificate, is counted as
// the server sees it.
func TestTLS(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{
		"/strict": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Strict-Transport-Security", "max-age=3600")
			html(`strict`)(w, r)
		},
		"/hints": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</hinted.css>; rel=preload; as=style, <https://b.test/hinted.js>; rel=preload; as=script, <https://c.test>; rel=preconnect")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Del("Link")
			time.Sleep(300 * time.Millisecond) // so that the hints come first
			html(r.Proto)(w, r)
		},
	})
	spki := s.secure(t)
	p := testPolicy()
	p.Robots.SkipHosts = []string{"a.test", "b.test", "c.test"}
	w := newWorld(t, s, p)
	o := w.options()
	o.AcceptTestCerts = []string{spki}
	c := dialRaw(t, w.endpointWith(o))
	_, page := c.page()
	c.visit(page, "http://a.test/plain") // so that a.test:80 may be connected to
	c.visit(page, "https://a.test/strict")
	c.visit(page, "http://a.test/upgraded")
	if got := c.eval(page, "location.href"); got != "https://a.test/upgraded" {
		t.Errorf("not upgraded: %v", got)
	}
	waitFor(t, "the upgrade to be one request", func() bool { return len(w.sent()) == len(s.all()) })
	c.visit(page, "https://a.test/hints")
	if got := c.eval(page, "document.body.innerText"); got != "HTTP/1.1" {
		t.Errorf("the page came over %v", got)
	}
	c.eval(page, "new Promise(r => setTimeout(r, 500))")
	w.agreeOnHTTPS()
}

// TestPasswordInURL: it works and stands nowhere.
func TestPasswordInURL(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/in": login(html(`inside`))})
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://u:s3cret@a.test/out")
	c.visit(page, "http://u:p@a.test/in")
	if got := c.eval(page, "document.body.innerText"); got != "inside" {
		t.Errorf("the page says %v", got)
	}
	for _, ev := range w.events() {
		if strings.Contains(ev.URL, ":p@") || strings.Contains(ev.URL, "s3cret") {
			t.Errorf("the log holds the password: %s", ev.URL)
		}
	}
}

// TestWebSockets: a page's WebSockets, plain and encrypted, to its own host and to
// others, are actions of their kind.
func TestWebSockets(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		kind, b, err := ws.Read(r.Context())
		if err == nil {
			ws.Write(r.Context(), kind, b)
			ws.Read(r.Context()) // its close
		}
	}
	s := newSite(t, map[string]http.HandlerFunc{"/ws": echo, "/": func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			echo(w, r)
			return
		}
		html(`/`)(w, r)
	}})
	spki := s.secure(t)
	p := testPolicy()
	p.Robots.SkipHosts = []string{"a.test", "b.test"}
	two := 2
	p.Hosts = []governor.HostRule{{Match: "denied.test", Deny: true}, {Match: "few.test", HostTotal: &two}}
	w := newWorld(t, s, p)
	o := w.options()
	o.AcceptTestCerts = []string{spki}
	c := dialRaw(t, w.endpointWith(o))
	_, page := c.page()
	c.visit(page, "http://a.test/plain")
	say := func(url string) any {
		return c.eval(page, `new Promise(r => { const ws = new WebSocket("`+url+`");
			ws.onopen = () => ws.send("hello"); ws.onmessage = m => { ws.close(); r(m.data) }; ws.onerror = () => r("refused") })`)
	}
	for url, want := range map[string]string{
		"ws://a.test/ws": "hello", "wss://a.test/": "hello", // hosts that were visited
		"ws://b.test/ws": "hello", "wss://b.test/": "hello", "ws://c.test:6001/ws": "hello", // and that were not
		"ws://denied.test/ws": "refused", "wss://denied.test/": "refused",
	} {
		if got := say(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	for i, want := range []string{"hello", "hello", "refused"} {
		if got := say("ws://few.test/ws"); got != want {
			t.Errorf("socket %d of a host with a cap of 2: %v", i+1, got)
		}
	}
	c.visit(page, "https://a.test/page")
	sockets := 0
	for _, ev := range w.events() {
		if ev.Kind == actions.WebSocket && ev.Sent {
			sockets++
		}
	}
	if sockets != 7 {
		t.Errorf("%d WebSockets in the log, want 7", sockets)
	}
	sent := multiset(w.sent())
	for _, r := range [][2]string{{"https://", "http://"}, {"wss://", "http://"}, {"ws://", "http://"}, {":6001", ""}} {
		sent = strings.ReplaceAll(sent, r[0], r[1])
	}
	var got []string
	for _, h := range s.all() {
		got = append(got, h.String())
	}
	if sent = multiset(strings.Split(sent, "\n")); sent != multiset(got) {
		t.Errorf("the log and the site disagree\nlog says sent:\n%s\n\nsite received:\n%s", sent, multiset(got))
	}
}
