package governor

import (
	"context"
	"net/http"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor/robots"
)

// robotsCause is the cause of a robots.txt fetch in the log.
const robotsCause = "robots"

// robotsChecker is what the governor needs of [robots.Cache].
type robotsChecker interface {
	Check(ctx context.Context, rawURL string) robots.Verdict
	Cached(rawURL string) (robots.Verdict, bool)
}

// newRobots returns nil where the policy switches robots.txt off.
func newRobots(c Config, g *Governor) (robotsChecker, error) {
	p := c.Policy
	mode := robots.Strict
	switch p.Robots.Mode {
	case RobotsOff:
		return nil, nil
	case RobotsRFC:
		mode = robots.RFC
	}
	base := c.RobotsTransport
	if base == nil {
		base = plainTransport()
	}
	agent := c.UserAgent
	if agent == "" {
		agent = p.Agent.UserAgent("")
	}
	cache, err := robots.New(robots.Config{
		RoundTripper: &governedTransport{g: g, base: base}, UserAgent: agent, Token: p.Agent.Token(), Mode: mode, Now: c.Now,
	})
	if err != nil {
		return nil, err // not a nil *Cache in an interface
	}
	return cache, nil
}

// governedTransport makes each request for robots.txt an action of its own:
// admitted, logged and settled like everything else a site receives. It is
// charged as a sub-resource and not asked about in robots.txt.
type governedTransport struct {
	g    *Governor
	base http.RoundTripper
}

// RoundTrip answers with the *[Refusal] as error where the request is refused.
func (t *governedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	d := t.g.Admit(req.Context(), actions.Action{
		Kind: actions.Subresource, Method: req.Method, URL: req.URL.String(),
		Client: "browser-governor", Cause: robotsCause, Resource: robotsCause,
	})
	t.g.noteFetch(actions.Host(req.URL.String()), d.Refusal)
	if !d.Allowed() {
		return nil, d.Refusal
	}
	if ua := t.g.robotsAgent(""); ua != "" {
		req = req.Clone(req.Context()) // a RoundTripper must not change its request
		req.Header.Set("User-Agent", ua)
	}
	start := time.Now()
	resp, err := t.base.RoundTrip(req)
	o := Outcome{Latency: time.Since(start)}
	if err != nil {
		o.Err = err.Error()
	} else {
		o.Status, o.Header = resp.StatusCode, resp.Header
	}
	t.g.Settle(d.ID, o)
	return resp, err
}

// plainTransport asks sites directly: a proxy in the environment would be a way
// to them that nobody configured.
func plainTransport() http.RoundTripper {
	return &http.Transport{
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          16,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 15 * time.Second,
	}
}

// fetchRefusalsMax bounds what noteFetch remembers.
const fetchRefusalsMax = 1024

// noteFetch remembers the refusal of a host's robots.txt fetch until one is let
// through: the navigations that then go without robots.txt are refused for the
// same reason.
func (g *Governor) noteFetch(host string, r *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r == nil {
		delete(g.fetchRefused, host)
		return
	}
	if len(g.fetchRefused) >= fetchRefusalsMax {
		clear(g.fetchRefused)
	}
	g.fetchRefused[strings.Clone(host)] = r
}
