package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// secretSite has a page behind a login whose parts lie in another folder of the
// same host, behind the same login.
func secretSite(t *testing.T, scheme string) *site {
	t.Helper()
	challenge := func(inside http.HandlerFunc) http.HandlerFunc {
		asked := login(inside)
		return func(w http.ResponseWriter, r *http.Request) {
			if scheme != "Basic" {
				w.Header().Set("WWW-Authenticate", scheme+` realm="x", nonce="abc", qop="auth"`)
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			asked(w, r)
		}
	}
	return newSite(t, map[string]http.HandlerFunc{
		"/in/page":  challenge(html(`<p>inside</p><link rel=icon href=data:,><img src=/parts/a><img src=/parts/b>`)),
		"/parts/a":  challenge(status(204, nil)),
		"/parts/b":  challenge(status(204, nil)),
		"/parts/c":  challenge(html(`c`)),
		"/open":     html(`open`),
		"/in/other": challenge(html(`other`)),
	})
}

// TestKnownLoginIsGivenAtOnce: Chrome repeats a request that is answered with 401
// without a pause when it knows a login, from the URL or from before. The governor
// gives it with the first request, so that there is no second.
func TestKnownLoginIsGivenAtOnce(t *testing.T) {
	s := secretSite(t, "Basic")
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.visit(page, "http://u:p@a.test/in/page")
	if got := c.eval(page, "document.body.innerText.trim()"); got != "inside" {
		t.Errorf("the page says %v", got)
	}
	c.eval(page, `fetch("http://a.test/parts/c").then(r => r.text())`)
	c.visit(page, "http://a.test/in/other")
	c.visit(page, "http://a.test/open")
	// Without a window to ask in, Chrome makes this of a 401 to a login.
	var wrong struct{ ErrorText string }
	c.must(page, "Page.navigate", args{"url": "http://u:wrong@a.test/parts/c"}, &wrong)
	if wrong.ErrorText != "net::ERR_INVALID_AUTH_CREDENTIALS" {
		t.Errorf("a wrong password: %q", wrong.ErrorText)
	}
	c.visit(page, "http://u:p@a.test/parts/c")
	if got := c.eval(page, "document.body.innerText"); got != "c" {
		t.Errorf("after a wrong password and the right one the page says %v", got)
	}
	w.agree()
	for path, want := range map[string]int{"/in/page": 1, "/parts/a": 1, "/parts/b": 1, "/parts/c": 3, "/in/other": 1, "/open": 1} {
		if n := s.count(path); n != want {
			t.Errorf("%s was asked for %d times, want %d", path, n, want)
		}
	}

	// Another context knows nothing of it.
	var ctx struct{ BrowserContextID string }
	c.must("", "Target.createBrowserContext", nil, &ctx)
	_, other := c.pageIn(ctx.BrowserContextID)
	var unknown struct{ ErrorText string }
	c.must(other, "Page.navigate", args{"url": "http://a.test/in/other"}, &unknown)
	if unknown.ErrorText == "" {
		t.Error("a login is known in another context")
	}
	w.agree()
}

// TestLoginOfTheClientIsKnown: what a client gave once, Chrome uses for the rest of
// the host.
func TestLoginOfTheClientIsKnown(t *testing.T) {
	s := secretSite(t, "Basic")
	w := newWorld(t, s, testPolicy())
	c := dialRaw(t, w.endpoint())
	_, page := c.page()
	c.must("", "Fetch.enable", args{"handleAuthRequests": true}, nil)
	id := c.send(page, "Page.navigate", args{"url": "http://a.test/in/page"})
	c.must("", "Fetch.continueWithAuth", loginWith(c.fetchID("", "Fetch.authRequired")), nil)
	c.answer(page, id)
	c.complete(page)
	c.visit(page, "http://a.test/parts/c")
	if got := c.eval(page, "document.body.innerText"); got != "c" {
		t.Errorf("the page says %v", got)
	}
	w.agree()
	for path, want := range map[string]int{"/in/page": 2, "/parts/a": 1, "/parts/b": 1, "/parts/c": 1} {
		if n := s.count(path); n != want {
			t.Errorf("%s was asked for %d times, want %d", path, n, want)
		}
	}
}

// TestOnlyBasicLogins: the other schemes need several requests, which do not
// pause. Chrome is told not to know them, so the page is the server's 401.
func TestOnlyBasicLogins(t *testing.T) {
	for _, scheme := range []string{"Digest", "NTLM", "Negotiate"} {
		t.Run(scheme, func(t *testing.T) {
			s := secretSite(t, scheme)
			w := newWorld(t, s, testPolicy())
			c := dialRaw(t, w.endpoint())
			_, page := c.page()
			c.visit(page, "http://u:p@a.test/in/page")
			if got := c.eval(page, "document.body.innerText"); !strings.Contains(got.(string), "who are you?") {
				t.Errorf("the page says %v", got)
			}
			if n := s.count("/in/page"); n != 1 {
				t.Errorf("asked %d times, want once", n)
			}
			w.agree()
		})
	}
}
