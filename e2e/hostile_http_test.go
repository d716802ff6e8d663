package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask is one HTTP request to the endpoint.
func ask(t testing.TB, method, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t, 30*time.Second), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// TestHTTPPaths: Chrome's HTTP paths do what they do in Chrome, governed.
func TestHTTPPaths(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	endpoint := w.endpoint()
	type entry struct{ ID, Type, URL, WebSocketDebuggerURL string }
	list := func() []entry {
		t.Helper()
		code, body := ask(t, "GET", endpoint+"/json/list")
		var out []entry
		if err := json.Unmarshal([]byte(body), &out); code != 200 || err != nil {
			t.Fatalf("/json/list: %d %v\n%s", code, err, body)
		}
		return out
	}
	if l := list(); len(l) != 1 || l[0].URL != "about:blank" || l[0].Type != "page" {
		t.Errorf("at the start: %+v", l)
	}

	var made entry
	code, body := ask(t, "PUT", endpoint+"/json/new?http://a.test/new")
	if err := json.Unmarshal([]byte(body), &made); code != 200 || err != nil || made.ID == "" {
		t.Fatalf("new: %d %v\n%s", code, err, body)
	}
	waitFor(t, "the new tab's request", func() bool { return s.count("/new") == 1 })
	if code, body = ask(t, "PUT", endpoint+"/json/new?http://a.test/private/new"); code != http.StatusForbidden || !strings.Contains(body, "robots_disallowed") {
		t.Errorf("new, forbidden by robots.txt: %d\n%s", code, body)
	}
	for _, odd := range []string{"HTTP://A.TEST/private/x", "http%3A%2F%2Fa.test%2Fprivate%2Fx", "http:/a.test/private/x", "http:a.test/private/x",
		"view-source:http://a.test/private/x", "%20http://a.test/private/x", "a.test/private/x", "//a.test/private/x"} {
		ask(t, "PUT", endpoint+"/json/new?"+odd)
	}
	if code, _ = ask(t, "GET", endpoint+"/json/new?http://a.test/get"); code != http.StatusMethodNotAllowed {
		t.Errorf("GET /json/new: %d", code)
	}

	// A page's own connection is governed as the browser's.
	c := dialRaw(t, endpoint, strings.TrimPrefix(made.WebSocketDebuggerURL, "ws"+strings.TrimPrefix(endpoint, "http")))
	if m := c.ask("", "Page.navigate", args{"url": "http://a.test/private/page"}); !m.Error.refused() {
		t.Errorf("a page connection's forbidden navigation: %s %v", m.Result, m.Error)
	}
	c.visit("", "http://a.test/page")
	if m := c.ask("", "Network.loadNetworkResource", args{"frameId": made.ID, "url": "http://a.test/private/r", "options": args{"disableCache": true, "includeCredentials": false}}); m.Error == nil {
		t.Error("loadNetworkResource on a page connection")
	}
	for _, m := range []string{"Target.createTarget", "Target.attachToBrowserTarget", "Target.exposeDevToolsProtocol", "Browser.close", "Tethering.bind"} {
		c.ask("", m, args{"url": "http://a.test/private/" + m, "targetId": made.ID, "port": 9})
	}

	if code, body = ask(t, "GET", endpoint+"/json/activate/"+made.ID); code != 200 {
		t.Errorf("activate: %d %s", code, body)
	}
	if code, body = ask(t, "GET", endpoint+"/json/close/"+made.ID); code != 200 {
		t.Errorf("close: %d %s", code, body)
	}
	waitFor(t, "the tab to be gone", func() bool {
		for _, e := range list() {
			if e.ID == made.ID {
				return false
			}
		}
		return true
	})
	if err := c.gone(5 * time.Second); err == nil || err == errNothingHeard {
		t.Error("the connection to a closed page stays open")
	}
	for _, path := range []string{"/json/activate/none", "/json/close/none", "/json/activate/", "/json/nothing"} {
		if code, _ = ask(t, "GET", endpoint+path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	if b := tryRaw(t, endpoint, "/devtools/page/none"); b != nil {
		t.Error("a page connection to no page")
	}
	for _, h := range s.all() {
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
	}
	w.agree()
}

// TestHTTPProtocol: the description of the protocol is Chrome's own.
func TestHTTPProtocol(t *testing.T) {
	s := newSite(t, nil)
	endpoint := newWorld(t, s, testPolicy()).endpoint()
	code, body := ask(t, "GET", endpoint+"/json/protocol")
	var p struct{ Domains []struct{ Domain string } }
	if err := json.Unmarshal([]byte(body), &p); code != 200 || err != nil || len(p.Domains) < 30 {
		t.Errorf("/json/protocol: %d %v, %d domains", code, err, len(p.Domains))
	}
}

// TestStrangersAtTheEndpoint: web pages, rebound names and whoever has no token
// get nothing.
func TestStrangersAtTheEndpoint(t *testing.T) {
	s := newSite(t, nil)
	v := startServe(t, s, t.TempDir()+"/log", "--token", "s3cret", "--allow-host", "box.internal")
	port := v.endpoint[strings.LastIndexByte(v.endpoint, ':'):]
	port, _, _ = strings.Cut(port, "?")
	port, _, _ = strings.Cut(port, "/")
	base := "http://127.0.0.1" + port
	const auth, bearer = "Authorization", "Bearer s3cret"
	for _, c := range []struct {
		name   string
		url    string
		header []string
		want   int
	}{
		{"no token", "/json/version", nil, 401},
		{"wrong token", "/json/version?token=no", nil, 401},
		{"wrong bearer", "/json/version", []string{auth, "Bearer no"}, 401},
		{"token", "/json/version?token=s3cret", nil, 200},
		{"bearer", "/json/version", []string{auth, bearer}, 200},
		{"status without token", "/governor/status", nil, 401},
		{"page's origin", "/json/version", []string{auth, bearer, "Origin", "http://evil.test"}, 403},
		{"loopback page's origin", "/json/version", []string{auth, bearer, "Origin", "http://127.0.0.1" + port}, 403},
		{"null origin", "/json/version", []string{auth, bearer, "Origin", "null"}, 403},
		{"rebound name", "/json/version", []string{auth, bearer, "Host", "evil.test" + port}, 403},
		{"rebound name that looks local", "/json/version", []string{auth, bearer, "Host", "localhost.evil.test" + port}, 403},
		{"rebound name with an address in it", "/json/version", []string{auth, bearer, "Host", "127.0.0.1.evil.test"}, 403},
		{"localhost", "/json/version", []string{auth, bearer, "Host", "localhost" + port}, 200},
		{"allowed name", "/json/version", []string{auth, bearer, "Host", "box.internal" + port}, 200},
	} {
		if code, body := ask(t, "GET", base+c.url, c.header...); code != c.want {
			t.Errorf("%s: %d, want %d\n%s", c.name, code, c.want, body)
		}
	}
	for _, path := range []string{"/devtools/browser", "/devtools/browser/x?token=no", "/?token="} {
		if tryRaw(t, base, path) != nil {
			t.Errorf("%s: a WebSocket without the token", path)
		}
	}
	c := dialRaw(t, base, "/devtools/browser?token=s3cret")
	c.must("", "Browser.getVersion", nil, nil)
}
