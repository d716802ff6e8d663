package robots

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	fetchTime   = 10 * time.Second // for all of a fetch, redirects included
	connectTime = 5 * time.Second  // for one connection: name, TCP and TLS
	maxHops     = 5                // redirects that are followed (RFC 9309 2.3.1.2: at least five)
)

// fetched is what came of asking an origin for its robots.txt.
type fetched struct {
	standing   standing
	file       *File // of a readable one
	cause      string
	warning    string
	life       time.Duration // by Cache-Control
	hasLife    bool
	retryAfter time.Duration
}

var (
	errConnectTime = fmt.Errorf("no connection within %v", connectTime)
	errPrivate     = errors.New("a public host leads to a private address")
)

// fetcher asks for files. It does one hop a time through the round tripper and
// keeps no cookies, sends no credentials and no Referer.
type fetcher struct {
	via       http.RoundTripper
	userAgent string
	mode      Mode
	now       func() time.Time
}

// fetch asks origin for its robots.txt. The rules found count for that origin,
// whichever host served them in the end.
func (f fetcher) fetch(ctx context.Context, origin string) fetched {
	who := "robots.txt of " + short(origin)
	u, err := url.Parse(origin + "/robots.txt")
	if err != nil {
		return fetched{standing: down, cause: who + " has no address that can be asked: " + shown(err.Error())}
	}
	// A site on a private address may redirect to others there; a public one
	// must not use us to reach them.
	private := privateHost(u.Hostname())
	for hop := 0; ; hop++ {
		resp, toPrivate, err := f.hop(ctx, u, hop > 0 && !private)
		if err != nil {
			out := fetched{standing: down, cause: who + " could not be read: " + errText(err)}
			if private {
				out.cause += " (skip_hosts excepts your own)"
			}
			return out
		}
		if hop == 0 && toPrivate {
			private = true
		}
		if !redirects(resp.StatusCode) {
			return f.read(resp, who)
		}
		location := resp.Header.Get("Location")
		resp.Body.Close()
		if hop == maxHops {
			out := fetched{standing: busy, cause: fmt.Sprintf("%s redirects more than %d times", who, maxHops)}
			if f.mode == RFC {
				out.standing, out.warning = open, out.cause
			}
			return out
		}
		next, err := u.Parse(location)
		switch {
		case location == "" || err != nil || next.Host == "" && (next.Scheme == "http" || next.Scheme == "https"):
			return fetched{standing: busy, cause: fmt.Sprintf("%s answered %d without a usable Location", who, resp.StatusCode)}
		case next.Scheme != "http" && next.Scheme != "https":
			return fetched{standing: busy, cause: fmt.Sprintf("%s redirects to a %s address", who, short(shown(next.Scheme)))}
		case u.Scheme == "https" && next.Scheme == "http":
			return fetched{standing: busy, cause: who + " redirects from https to http"}
		case !private && privateHost(next.Hostname()):
			return fetched{standing: busy, cause: who + " redirects to a private address: " + short(shown(next.Host))}
		}
		next.User, next.Fragment, next.RawFragment = nil, "", ""
		u = next
	}
}

// hop sends one request. toPrivate says that its connection went to a private
// address; with refusePrivate the request is then given up before it is sent.
func (f fetcher) hop(ctx context.Context, u *url.URL, refusePrivate bool) (resp *http.Response, toPrivate bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var wentPrivate atomic.Bool
	slow := time.AfterFunc(connectTime, func() { cancel(errConnectTime) })
	slow.Stop() // runs from GetConn on: a round tripper may hold a request before it connects
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { slow.Reset(connectTime) },
		GotConn: func(info httptrace.GotConnInfo) {
			slow.Stop()
			if privateConn(info.Conn) {
				wentPrivate.Store(true)
				if refusePrivate {
					cancel(errPrivate)
				}
			}
		},
	}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodGet, u.String(), nil)
	if err == nil {
		req.Header.Set("User-Agent", f.userAgent)
		req.Header.Set("Accept", "text/plain,*/*;q=0.5")
		resp, err = f.via.RoundTrip(req)
	}
	slow.Stop()
	if err == nil && refusePrivate && wentPrivate.Load() {
		resp.Body.Close()
		err = errPrivate
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, false, err
	}
	resp.Body = &cancelBody{resp.Body, cancel}
	return resp, wentPrivate.Load(), nil
}

// read turns the last response into what it means, and closes it.
func (f fetcher) read(resp *http.Response, who string) fetched {
	defer resp.Body.Close()
	out := fetched{retryAfter: retryAfter(resp.Header, f.now())}
	out.life, out.hasLife = maxAge(resp.Header)
	var odd bool
	out.standing, odd = standingOf(resp.StatusCode, f.mode)
	answered := fmt.Sprintf("%s answered %d", who, resp.StatusCode)
	if odd {
		out.warning = answered
	}
	if !out.standing.good() {
		out.cause = answered
	}
	if out.standing != readable {
		return out
	}
	body, err := readBody(resp)
	if err != nil {
		return fetched{standing: down, cause: who + " broke off or cannot be decoded: " + errText(err)}
	}
	out.file = Parse(body)
	if looksHTML(resp.Header.Get("Content-Type"), body) {
		out.warning = who + " is an HTML page"
	}
	return out
}

// errText is the heart of a network error on one short line.
func errText(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %v", fetchTime)
	case errors.As(err, &op) && op.Op == "dial":
		err = op.Err
	}
	return short(shown(strings.TrimPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: ")))
}

// cancelBody ends a request's context when its body is closed.
type cancelBody struct {
	body interface {
		Read([]byte) (int, error)
		Close() error
	}
	cancel context.CancelCauseFunc
}

func (b *cancelBody) Read(p []byte) (int, error) { return b.body.Read(p) }

func (b *cancelBody) Close() error {
	err := b.body.Close()
	b.cancel(nil)
	return err
}
