package browser

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"browsergovernor/governor"
)

// body reads an answer to its end.
func body(t *testing.T, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEndpointPaths(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{Status: func() any { return map[string]int{"left": 7} }}, nil)
	for _, tt := range []struct {
		request string
		status  int
		has     string // in the body
		calls   string
	}{
		{"GET /json/version", 200, `"Browser": "Chrome/156.0.1.2"`, "version"},
		{"GET /json/version/", 200, `"webSocketDebuggerUrl": "ws://` + addr + `/devtools/browser/B-1"`, "version"},
		{"GET /json/version", 200, `"Protocol-Version": "1.3"`, "version"},
		{"GET /json", 200, `"id": "PAGE1"`, "targets"},
		{"GET /json/", 200, `"title": "A <b> & c"`, "targets"},
		{"GET /json/list", 200, `"url": "http://a.test/?x=1&y=2"`, "targets"},
		{"GET /json/list/", 200, `"webSocketDebuggerUrl": "ws://` + addr + `/devtools/page/PAGE1"`, "targets"},
		{"GET /json/list", 200, `"devtoolsFrontendUrl": "/devtools/inspector.html?ws=` + addr + `/devtools/page/PAGE1"`, "targets"},
		{"GET /json/protocol", 200, `{"domains":[]}`, "protocol"},
		{"GET /json/protocol/", 200, `{"domains":[]}`, "protocol"},
		{"GET /json/new?http://a.test/", 405, "supports only PUT", ""},
		{"POST /json/new?http://a.test/", 405, "supports only PUT", ""},
		{"PUT /json/new", 200, `"id": "NEW1"`, "new  by Client/1"},
		{"PUT /json/new?http://a.test/?q=1&r=a%20b&token=theirs", 200, `"id": "NEW1"`, "new http://a.test/?q=1&r=a%20b&token=theirs by Client/1"},
		{"PUT /json/new?http%3A%2F%2Fa.test%2F%3Fq%3Da%2Bb%26r%3D1+2", 200, "", "new http://a.test/?q=a+b&r=1+2 by Client/1"},
		{"PUT /json/new?about:blank", 200, "", "new about:blank by Client/1"},
		{"PUT /json/new?data:text/html,%3Cp%3E", 200, "", "new data:text/html,%3Cp%3E by Client/1"},
		{"GET /json/activate/PAGE1", 200, "Target activated", "activate PAGE1"},
		{"GET /json/activate/NONE", 404, "No such target id: NONE", "activate NONE"},
		{"GET /json/close/PAGE1", 200, "Target is closing", "close PAGE1"},
		{"GET /json/close/NONE", 404, "No such target id: NONE", "close NONE"},
		{"GET /governor/status", 200, `"left": 7`, ""},
		{"GET /", 200, "ws://" + addr + "/devtools/browser", ""},
		{"GET /nowhere", 404, "/json/version", ""},
		{"GET /devtools/browser/B-1", 404, "nothing here", ""},
	} {
		method, path, _ := strings.Cut(tt.request, " ")
		req, err := http.NewRequest(method, "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", "Client/1")
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		text := body(t, res)
		if res.StatusCode != tt.status || !strings.Contains(text, tt.has) {
			t.Errorf("%s: status %d, want %d with %q; body:\n%s", tt.request, res.StatusCode, tt.status, tt.has, text)
		}
		if calls := e.takeCalls(); calls != tt.calls {
			t.Errorf("%s: asked the browser for %q, want %q", tt.request, calls, tt.calls)
		}
		if res.StatusCode == 200 && strings.HasPrefix(path, "/json") && !strings.Contains(path, "/json/activate/") && !strings.Contains(path, "/json/close/") && !json.Valid([]byte(text)) {
			t.Errorf("%s: the body is not JSON:\n%s", tt.request, text)
		}
	}
}

func TestEndpointNewRefused(t *testing.T) {
	e := newStubEngine()
	e.newErr = &governor.Refusal{ID: "a7", Reason: governor.RobotsDisallowed, Sentence: "refused by browser-governor: robots.txt says so; do not retry", Rule: "Disallow: /x", RetryAfter: 1500 * time.Millisecond}
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	req, err := http.NewRequest(http.MethodPut, "http://"+addr+"/json/new?http://a.test/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID, Reason, Message, Rule string
		After                     float64 `json:"retry_after_s"`
	}
	if err := json.Unmarshal([]byte(body(t, res)), &got); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusForbidden || res.Header.Get("X-Governor-Reason") != "robots_disallowed" ||
		got.ID != "a7" || got.Reason != "robots_disallowed" || !strings.HasPrefix(got.Message, "refused by browser-governor:") || got.Rule != "Disallow: /x" || got.After != 1.5 {
		t.Errorf("status %d, %v, %+v", res.StatusCode, res.Header, got)
	}
}

func TestEndpointWithoutChrome(t *testing.T) {
	e := newStubEngine()
	e.err = errors.New("its pipe closed")
	addr, _ := serveStub(t, e, EndpointConfig{}, nil)
	for _, lines := range [][]string{
		{"GET /json/version HTTP/1.1", "Host: localhost"},
		{"GET /json/list HTTP/1.1", "Host: localhost"},
		{"GET /json/protocol HTTP/1.1", "Host: localhost"},
		{"PUT /json/new HTTP/1.1", "Host: localhost"},
		{"GET /json/close/PAGE1 HTTP/1.1", "Host: localhost"},
		upgrade("/devtools/browser/B-1"),
		upgrade("/devtools/page/PAGE1"),
	} {
		_, res := dialRaw(t, addr, lines...)
		if text := body(t, res); res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "its pipe closed") {
			t.Errorf("%s: %d %q", lines[0], res.StatusCode, text)
		}
	}
}

// Who may use the endpoint, by raw requests: libraries correct most of these.
func TestEndpointAccess(t *testing.T) {
	open := EndpointConfig{AllowedHosts: []string{"Governor.internal."}}
	locked := EndpointConfig{Token: "s&cret/1"}
	plain := func(target string, header ...string) []string {
		return append([]string{"GET " + target + " HTTP/1.1"}, header...)
	}
	for _, tt := range []struct {
		name   string
		config EndpointConfig
		lines  []string
		status int
		has    string
	}{
		{"address", open, plain("/json/version", "Host: 127.0.0.1:9222"), 200, "ws://127.0.0.1:9222/"},
		{"address without a port, as chromedriver", open, plain("/json/version", "Host: 127.0.0.1"), 200, "ws://127.0.0.1/"},
		{"IPv6", open, plain("/json/version", "Host: [::1]:9222"), 200, "ws://[::1]:9222/"},
		{"IPv6 without a port", open, plain("/json/version", "Host: [::1]"), 200, "ws://[::1]/"},
		{"localhost", open, plain("/json/version", "Host: LocalHost:1"), 200, "ws://LocalHost:1/"},
		{"allowed name", open, plain("/json/version", "Host: governor.internal:9222"), 200, "ws://governor.internal:9222/"},
		{"allowed name with a dot", open, plain("/json/version", "Host: governor.internal.:9222"), 200, ""},
		{"foreign name", open, plain("/json/version", "Host: evil.test:9222"), 403, "--allow-host"},
		{"name that begins with an address", open, plain("/json/version", "Host: 127.0.0.1.evil.test"), 403, ""},
		{"name that ends like an allowed one", open, plain("/json/version", "Host: xgovernor.internal"), 403, ""},
		{"no name", open, plain("/json/version", "Host:"), 403, ""},
		{"web page", open, plain("/json/version", "Host: localhost", "Origin: https://evil.test"), 403, "web pages"},
		{"web page of this machine", open, plain("/json/version", "Host: localhost", "Origin: http://localhost:3000"), 403, ""},
		{"sandboxed web page", open, plain("/json/version", "Host: localhost", "Origin: null"), 403, ""},
		{"extension", open, plain("/json/version", "Host: localhost", "Origin: chrome-extension://abc"), 403, ""},
		{"allowed extension", EndpointConfig{AllowExtension: true}, plain("/json/version", "Host: localhost", "Origin: chrome-extension://abc"), 200, ""},
		{"allowed extension, web page", EndpointConfig{AllowExtension: true}, plain("/json/version", "Host: localhost", "Origin: http://chrome-extension.test"), 403, ""},
		{"DevTools", open, plain("/json/version", "Host: localhost", "Origin: devtools://devtools"), 200, ""},
		{"as a proxy", open, plain("http://a.test/json/version", "Host: a.test"), 400, "NO_PROXY"},
		{"as a proxy for itself", open, plain("http://127.0.0.1:9222/json/version", "Host: 127.0.0.1:9222"), 400, "NO_PROXY"},
		{"as a tunnel", open, []string{"CONNECT a.test:443 HTTP/1.1", "Host: a.test:443"}, 400, "NO_PROXY"},

		{"no token", locked, plain("/json/version", "Host: localhost"), 401, "?token="},
		{"wrong token", locked, plain("/json/version?token=s", "Host: localhost"), 401, ""},
		{"wrong bearer", locked, plain("/json/version", "Host: localhost", "Authorization: Bearer x"), 401, ""},
		{"empty bearer", locked, plain("/json/version", "Host: localhost", "Authorization: Bearer "), 401, ""},
		{"token in the query", locked, plain("/json/version?token=s%26cret%2F1", "Host: localhost"), 200, "/devtools/browser/B-1?token=s%26cret%2F1"},
		{"bearer", locked, plain("/json/version", "Host: localhost", "Authorization: Bearer s&cret/1"), 200, "?token=s%26cret%2F1"},
		{"token beside another login", locked, plain("/json/version?token=s%26cret%2F1", "Host: localhost", "Authorization: Basic eA=="), 200, ""},
		{"token listed", locked, plain("/json/list?token=s%26cret%2F1", "Host: localhost:1"), 200, `"webSocketDebuggerUrl": "ws://localhost:1/devtools/page/PAGE1?token=s%26cret%2F1"`},
		{"token in the frontend's address", locked, plain("/json/list?token=s%26cret%2F1", "Host: localhost:1"), 200, `inspector.html?ws=localhost:1/devtools/page/PAGE1%3Ftoken=s%2526cret%252F1"`},
		{"a token does not excuse a foreign name", locked, plain("/json/version?token=s%26cret%2F1", "Host: evil.test"), 403, ""},

		{"socket from a web page", open, upgrade("/devtools/browser", "Origin: https://evil.test"), 403, ""},
		{"socket from a foreign name", open, upgrade("/", "Host: evil.test"), 403, ""},
		{"socket without a token", locked, upgrade("/devtools/browser"), 401, ""},
		{"socket with a token", locked, upgrade("/devtools/page/PAGE1?token=s%26cret%2F1"), 101, ""},
		{"socket with a bearer", locked, upgrade("/", "Authorization: Bearer s&cret/1"), 101, ""},
		{"socket of an extension", EndpointConfig{AllowExtension: true}, upgrade("/devtools/browser/B-1", "Origin: chrome-extension://abc"), 101, ""},
		{"socket of an unknown page", open, upgrade("/devtools/page/NONE"), 404, "No such target id: NONE"},
		{"socket of nothing", open, upgrade("/elsewhere"), 404, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr, _ := serveStub(t, newStubEngine(), tt.config, nil)
			_, res := dialRaw(t, addr, tt.lines...)
			text := ""
			if res.StatusCode != http.StatusSwitchingProtocols {
				text = body(t, res)
			}
			if res.StatusCode != tt.status || !strings.Contains(text, tt.has) {
				t.Errorf("status %d, want %d with %q; body:\n%s", res.StatusCode, tt.status, tt.has, text)
			}
		})
	}
}

// The URL of /json/new is a query, and so is our token.
func TestEndpointTokenStaysHere(t *testing.T) {
	e := newStubEngine()
	addr, _ := serveStub(t, e, EndpointConfig{Token: "ours"}, nil)
	for query, want := range map[string]string{
		"token=ours&http://a.test/?x=1":              "http://a.test/?x=1",
		"http://a.test/?x=1&token=ours":              "http://a.test/?x=1",
		"http://a.test/?x=1&token=theirs&token=ours": "http://a.test/?x=1&token=theirs",
		"http://a.test/&token=ours&y=2":              "http://a.test/&y=2",
		"token=ours":                                 "",
	} {
		_, res := dialRaw(t, addr, "PUT /json/new?"+query+" HTTP/1.1", "Host: localhost", "User-Agent: C")
		if got := e.takeCalls(); res.StatusCode != 200 || got != "new "+want+" by C" {
			t.Errorf("%s: status %d, opened %q, want %q", query, res.StatusCode, got, want)
		}
	}
}

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		addr, token, problem string
	}{
		{"127.0.0.1:0", "", ""},
		{"127.9.9.9:0", "", ""},
		{"localhost:0", "", ""},
		{"0.0.0.0:0", "", "set a token"},
		{":0", "", "set a token"},
		{"[::]:0", "", "set a token"},
		{"example.test:0", "", "set a token"},
		{"0.0.0.0:0", "t", ""},
		{"9222", "", "want HOST:PORT"},
		{"127.0.0.1", "", "want HOST:PORT"},
	} {
		ln, err := Listen(tt.addr, tt.token)
		if err == nil {
			ln.Close()
		}
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%q with token %q: %v, want %q", tt.addr, tt.token, err, tt.problem)
		}
	}
	ln, err := Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := Listen(ln.Addr().String(), ""); err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("taken port: %v", err)
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcdef", 5, "ab…"}, {"日本語", 8, "日…"}, {"日本語", 9, "日本語"}, {"日本語", 3, "…"},
	} {
		if got := clip(tt.s, tt.n); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}
