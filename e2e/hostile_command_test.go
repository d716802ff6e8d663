package e2e

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"browsergovernor/governor"
)

// TestDeniedCommands: every command that would walk around the governor, sent
// for real, is answered with an error, logged, and does nothing.
func TestDeniedCommands(t *testing.T) {
	s := newSite(t, nil)
	w := newWorld(t, s, testPolicy())
	endpoint := w.endpoint()
	c := dialRaw(t, endpoint)
	target, page := c.page()
	c.visit(page, "http://a.test/")
	var level struct{ SessionID string }
	c.must("", "Target.attachToBrowserTarget", nil, &level)
	var browserTarget struct{ TargetInfo struct{ TargetID string } }
	c.must("", "Target.getTargetInfo", nil, &browserTarget)

	const url = "http://escaped.test/"
	message := `{"id":1,"method":"Page.navigate","params":{"url":"` + url + `"}}`
	type command struct {
		session, method string
		params          args
	}
	var denied []command
	for _, session := range []string{"", level.SessionID} {
		denied = append(denied,
			command{session, "Fetch.enable", nil},
			command{session, "Fetch.enable", args{"patterns": []any{args{"urlPattern": "*"}}}},
			command{session, "Fetch.enable", args{"handleAuthRequests": false}},
			command{session, "Fetch.continueRequest", args{"requestId": "interception-job-1.0", "url": url}},
			command{session, "Fetch.fulfillRequest", args{"requestId": "interception-job-1.0", "responseCode": 200}},
			command{session, "Fetch.failRequest", args{"requestId": "interception-job-1.0", "errorReason": "Failed"}},
			command{session, "Fetch.continueResponse", args{"requestId": "interception-job-1.0"}},
			command{session, "Fetch.getResponseBody", args{"requestId": "interception-job-1.0"}},
			command{session, "Fetch.takeResponseBodyAsStream", args{"requestId": "interception-job-1.0"}},
			command{session, "Tethering.bind", args{"port": 9}},
			command{session, "Tethering.unbind", args{"port": 9}},
			command{session, "Browser.close", nil},
			command{session, "Browser.crash", nil},
			command{session, "Browser.crashGpuProcess", nil},
			command{session, "Target.setRemoteLocations", args{"locations": []any{args{"host": "127.0.0.1", "port": 9}}}},
			command{session, "Target.sendMessageToTarget", args{"message": message, "targetId": target}},
			command{session, "Target.sendMessageToTarget", args{"message": message, "sessionId": page}},
			command{session, "Target.openDevTools", args{"targetId": target}},
			command{session, "Target.exposeDevToolsProtocol", args{"targetId": target, "inheritPermissions": true}},
			command{session, "Target.createBrowserContext", args{"proxyServer": "direct://"}},
			command{session, "Target.createBrowserContext", args{"proxyBypassList": "*"}},
			command{session, "Extensions.loadUnpacked", args{"path": t.TempDir()}},
		)
	}
	denied = append(denied,
		command{page, "Network.loadNetworkResource", args{"frameId": target, "url": url, "options": args{"disableCache": true, "includeCredentials": false}}},
		command{page, "Target.sendMessageToTarget", args{"message": message, "targetId": target}},
		command{page, "Target.setRemoteLocations", args{"locations": []any{args{"host": "127.0.0.1", "port": 9}}}},
	)
	for _, d := range denied {
		before := len(w.refusals())
		m := c.ask(d.session, d.method, d.params)
		if m.Error == nil || m.Error.Code != -32000 {
			t.Errorf("%s %v: answered %s, %v", d.method, d.params, m.Result, m.Error)
			continue
		}
		logged := w.refusals()
		if len(logged) == before || logged[len(logged)-1].Reason != governor.CommandNotGoverned {
			t.Errorf("%s: not in the log as %s", d.method, governor.CommandNotGoverned)
		}
	}

	// The browser has a target of its own: a page connection to it would be a
	// browser session under another name.
	if code, body := httpGet(t, endpoint+"/json/list"); code != 200 || strings.Contains(body, browserTarget.TargetInfo.TargetID) {
		t.Errorf("/json/list: %d, %s", code, body)
	}
	if b := tryRaw(t, endpoint, "/devtools/page/"+browserTarget.TargetInfo.TargetID); b != nil {
		if m := b.ask("", "Fetch.enable", nil); m.Error == nil {
			t.Error("Fetch.enable works on the browser's own target, reached as a page")
		}
	}
	var again struct{ SessionID string }
	if m := c.ask("", "Target.attachToTarget", args{"targetId": browserTarget.TargetInfo.TargetID, "flatten": true}); m.Error == nil {
		if err := json.Unmarshal(m.Result, &again); err != nil {
			t.Fatal(err)
		}
		if m := c.ask(again.SessionID, "Fetch.enable", nil); m.Error == nil {
			t.Error("Fetch.enable works on the browser's own target, attached to by name")
		}
	}
	c.visit(page, "http://a.test/after")
	for _, h := range s.all() {
		if h.host == "escaped.test" {
			t.Errorf("escaped: %s", h)
		}
	}
	w.agree()
}

// TestExposedProtocol: a page that was given a binding to the protocol gains
// nothing that the governor does not see.
func TestExposedProtocol(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	target, page := c.page()
	c.visit(page, "http://a.test/")
	if m := c.ask("", "Target.exposeDevToolsProtocol", args{"targetId": target, "bindingName": "cdp"}); m.Error != nil {
		return // not to be had at all: as good
	}
	js := `new Promise(done => {
		const heard = [];
		cdp.onmessage = m => heard.push(m);
		const say = (id, method, params, sessionId) => cdp.send(JSON.stringify({id, method, params, sessionId}));
		say(1, "Target.createTarget", {url: "http://a.test/private/tab"});
		say(2, "Fetch.enable", {});
		say(3, "Tethering.bind", {port: 9});
		say(4, "Target.attachToBrowserTarget", {});
		say(5, "Target.attachToTarget", {targetId: "` + target + `", flatten: true});
		say(6, "Target.createBrowserContext", {proxyServer: "direct://"});
		say(7, "Browser.close", {});
		setTimeout(() => done(heard), 1000);
	})`
	heard := c.eval(page, js)
	for _, m := range heard.([]any) {
		text := m.(string)
		if strings.Contains(text, `"result"`) {
			t.Logf("the page's script was answered: %.300s", text)
		}
		for _, id := range []string{`{"id":2,`, `{"id":3,`, `{"id":4,`, `{"id":6,`, `{"id":7,`} {
			if strings.HasPrefix(text, id) && strings.Contains(text, `"result"`) {
				t.Errorf("a page's script may do what no client may: %.200s", text)
			}
		}
	}
	if n := s.count("/private/tab"); n > 0 {
		t.Error("a page's script opened a tab that nobody judged")
	}
}

// TestLogin: a client answers a server's login, on its page or on the browser
// session as browser-use does, and both requests are counted.
func TestLogin(t *testing.T) {
	for _, where := range []string{"page", "browser"} {
		t.Run(where, func(t *testing.T) {
			s := newSite(t, map[string]http.HandlerFunc{"/in": login(html(`inside`))})
			w := newWorld(t, s, testPolicy())
			c := dialRaw(t, w.endpoint())
			_, page := c.page()
			session := page
			if where == "browser" {
				session = ""
			}
			c.must(session, "Fetch.enable", args{"handleAuthRequests": true}, nil)
			id := c.send(page, "Page.navigate", args{"url": "http://a.test/in"})
			if where == "page" {
				c.must(session, "Fetch.continueRequest", args{"requestId": c.fetchID(session, "Fetch.requestPaused")}, nil)
			}
			c.must(session, "Fetch.continueWithAuth", loginWith(c.fetchID(session, "Fetch.authRequired")), nil)
			if m := c.answer(page, id); m.Error != nil {
				t.Fatal(m.Error)
			}
			c.complete(page)
			if got := c.eval(page, "document.body.innerText"); got != "inside" {
				t.Errorf("after the login the page says %q", got)
			}
			if n := s.count("/in"); n != 2 {
				t.Errorf("the server received %d requests, want the first and the one with the login", n)
			}
			w.agree()
			c.must(session, "Fetch.disable", nil, nil)
			if where == "browser" {
				for _, m := range c.heard {
					if m.Method == "Fetch.requestPaused" || m.ID != nil && *m.ID > c.next {
						t.Errorf("the client was shown %+v", m)
					}
				}
			}
		})
	}
}

// TestLoginAtTheCap: a login is one more request, and the budget holds for it.
func TestLoginAtTheCap(t *testing.T) {
	s := newSite(t, map[string]http.HandlerFunc{"/in": login(html(`inside`))})
	p := testPolicy()
	p.Caps.Interactions = 1
	w := newWorld(t, s, p)
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.must("", "Fetch.enable", args{"handleAuthRequests": true}, nil)
	id := c.send(page, "Page.navigate", args{"url": "http://a.test/in"})
	if m := c.ask("", "Fetch.continueWithAuth", loginWith(c.fetchID("", "Fetch.authRequired"))); !m.Error.refused() {
		t.Errorf("the login at the cap: %v", m.Error)
	}
	c.answer(page, id) // the navigation ends, it does not hang
	if n := s.count("/in"); n != 1 {
		t.Errorf("the server received %d requests, the cap is 1", n)
	}
	w.agree()
}

// fetchID waits for an event of the Fetch domain and returns its request id.
func (c *rawClient) fetchID(session, event string) string {
	c.t.Helper()
	var p struct{ RequestID string }
	if err := json.Unmarshal(c.event(session, event).Params, &p); err != nil {
		c.t.Fatal(err)
	}
	return p.RequestID
}

func loginWith(requestID string) args {
	return args{"requestId": requestID,
		"authChallengeResponse": args{"response": "ProvideCredentials", "username": "u", "password": "p"}}
}

// login wants the name u and the password p.
func login(inside http.HandlerFunc) http.HandlerFunc {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p"))
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		inside(w, r)
	}
}

// TestClientFetch: a client's own interception on its page works, and what it
// makes of a request is judged as what it is then.
func TestClientFetch(t *testing.T) {
	s := newSite(t, nil)
	s.setRobots("a.test", "User-agent: *\nDisallow: /private\n")
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.must(page, "Fetch.enable", args{"patterns": []any{args{"urlPattern": "*"}}}, nil)

	// visit navigates and answers the first pause.
	visit := func(method string, params args) rawMessage {
		from := c.mark()
		id := c.send(page, "Page.navigate", args{"url": "http://a.test/open"})
		var p struct{ RequestID string }
		paused, err := c.hear(10*time.Second, from, func(m rawMessage) bool {
			return m.Method == "Fetch.requestPaused" && strings.Contains(string(m.Params), `"url":"http://a.test/open"`)
		})
		if err == nil {
			err = json.Unmarshal(paused.Params, &p)
		}
		if err != nil {
			t.Fatal(err)
		}
		params["requestId"] = p.RequestID
		c.must(page, method, params, nil)
		return c.answer(page, id)
	}
	title := func() any { c.complete(page); return c.eval(page, "document.title") }

	visit("Fetch.continueRequest", args{})
	if got := title(); got != "/open" {
		t.Errorf("continued: title %q", got)
	}
	visit("Fetch.continueRequest", args{"url": "http://a.test/private/rewritten"})
	if got := title(); !strings.HasPrefix(got.(string), "refused by browser-governor") {
		t.Errorf("rewritten to a page that robots.txt forbids: title %q", got)
	}
	visit("Fetch.continueRequest", args{"url": "http://b.test/elsewhere"})
	if got := title(); got != "/elsewhere" {
		t.Errorf("rewritten to another page: title %q", got)
	}
	visit("Fetch.continueRequest", args{"method": "POST", "postData": "YQ=="})
	if got := title(); got != "/open" {
		t.Errorf("made a POST: title %q", got)
	}
	visit("Fetch.continueRequest", args{"headers": []any{args{"name": "User-Agent", "value": "Somebody/1.0"}}})
	visit("Fetch.continueRequest", args{"headers": []any{args{"name": "X-A", "value": "b"}}})
	visit("Fetch.fulfillRequest", args{"responseCode": 200, "body": base64.StdEncoding.EncodeToString([]byte("<title>own</title><link rel=icon href=data:,>"))})
	if got := title(); got != "own" {
		t.Errorf("fulfilled by the client: title %q", got)
	}
	visit("Fetch.failRequest", args{"errorReason": "Failed"})
	for _, h := range s.all() {
		if strings.HasPrefix(h.path, "/private") {
			t.Errorf("reached the server: %s", h)
		}
		if ua := h.header.Get("User-Agent"); !strings.Contains(ua, "ResearchBot/1.0") {
			t.Errorf("%s came from %q", h, ua)
		}
	}
	// What asked nobody is given back.
	waitFor(t, "the credits", func() bool { return len(w.sent()) == len(s.all()) })
	w.agree()
}
