package robots

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Config is what a Cache needs to know.
type Config struct {
	// RoundTripper sends the requests, one redirect hop at a time; it should
	// take the way the browser takes (proxy, certificates). Nil is a transport
	// of the cache's own, without a proxy. It need not bound time or follow
	// redirects: a fetch ends after 10 s and a connection attempt after 5 s,
	// the latter if it reports them to net/http/httptrace as http.Transport does.
	RoundTripper http.RoundTripper

	UserAgent  string           // of the browser; required
	Token      string           // name looked for in the files; "" takes it from UserAgent, see [Token]
	Mode       Mode             // "" is Strict
	Now        func() time.Time // nil is time.Now
	MaxEntries int              // origins kept; 0 is 10,000. What they hold is bounded by 64 MiB besides
}

// Cache fetches robots.txt files, keeps them, and judges URLs by them. It is
// safe for concurrent use.
type Cache struct {
	token   string
	fetcher fetcher
	own     *http.Transport // nil when the configuration brought one
	flights singleflight.Group
	closing chan struct{}
	running sync.WaitGroup // fetches; Add under mu, while not closed

	mu     sync.Mutex // protects the fields below
	store  *store
	closed bool
}

var errClosed = errors.New("the cache of robots.txt files is closed")

// New checks the configuration and returns an empty Cache. Close it when done.
func New(cfg Config) (*Cache, error) {
	if cfg.UserAgent == "" {
		return nil, errors.New("robots: UserAgent is empty")
	}
	if cfg.Token == "" {
		cfg.Token = Token(cfg.UserAgent)
	} else if err := ValidToken(cfg.Token); err != nil {
		return nil, fmt.Errorf("robots: %w", err)
	}
	switch cfg.Mode {
	case "":
		cfg.Mode = Strict
	case Strict, RFC:
	default:
		return nil, fmt.Errorf("robots: mode %q is neither %q nor %q", cfg.Mode, Strict, RFC)
	}
	if cfg.MaxEntries < 0 {
		return nil, fmt.Errorf("robots: MaxEntries is %d", cfg.MaxEntries)
	}
	if cfg.MaxEntries == 0 {
		cfg.MaxEntries = 10_000
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	c := &Cache{token: cfg.Token, closing: make(chan struct{}), store: newStore(cfg.MaxEntries)}
	if cfg.RoundTripper == nil {
		c.own = &http.Transport{
			DialContext:            (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout:    connectTime,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true, // one request a day and host
			MaxResponseHeaderBytes: 64 << 10,
		}
		cfg.RoundTripper = c.own
	}
	c.fetcher = fetcher{via: cfg.RoundTripper, userAgent: cfg.UserAgent, mode: cfg.Mode, now: cfg.Now}
	return c, nil
}

// Token is the product token that is looked for; "" when only groups for * bind.
func (c *Cache) Token() string { return c.token }

// Close ends the fetches that run and waits for them. Checks after it refuse,
// unless their answer is still kept.
func (c *Cache) Close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.closing)
	}
	c.mu.Unlock()
	c.running.Wait()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Check judges a URL, fetching the robots.txt of its origin if it is not kept.
// Callers that ask for the same origin at the same time share one fetch. When
// ctx ends, Check returns at once and refuses; the fetch goes on for the others,
// with the values of the ctx that came first.
func (c *Cache) Check(ctx context.Context, rawURL string) Verdict {
	t, v, done := c.prepare(rawURL)
	if done {
		return v
	}
	if e := c.fresh(t.origin); e != nil {
		return e.verdict(t, c.fetcher.mode, c.fetcher.now())
	}
	gone := func(why error) Verdict {
		return Verdict{Unavailable: true, RobotsURL: t.origin + "/robots.txt",
			Cause: fmt.Sprintf("robots.txt of %s was not read: %v", short(t.origin), why)}
	}
	if err := ctx.Err(); err != nil {
		return gone(err)
	}
	flight := c.flights.DoChan(t.origin, func() (any, error) { return c.refresh(context.WithoutCancel(ctx), t.origin) })
	select {
	case <-ctx.Done():
		return gone(ctx.Err())
	case got := <-flight:
		if got.Err != nil {
			return gone(got.Err)
		}
		return got.Val.(*entry).verdict(t, c.fetcher.mode, c.fetcher.now())
	}
}

// Cached judges a URL by what is kept, without fetching anything. ok is false
// when that takes a fetch.
func (c *Cache) Cached(rawURL string) (v Verdict, ok bool) {
	t, v, done := c.prepare(rawURL)
	if done {
		return v, true
	}
	e := c.fresh(t.origin)
	if e == nil {
		return Verdict{}, false
	}
	return e.verdict(t, c.fetcher.mode, c.fetcher.now()), true
}

// prepare takes a URL apart; done says that no file is needed for the verdict.
func (c *Cache) prepare(rawURL string) (t target, v Verdict, done bool) {
	t, err := splitURL(rawURL)
	switch {
	case err != nil || t.scheme == "":
		return t, Verdict{Cause: errNotURL.Error() + ": " + short(shown(rawURL))}, true
	case !t.governed():
		return t, Verdict{Allow: true}, true
	case t.isRobotsFile():
		return t, Verdict{Allow: true, RobotsURL: t.origin + "/robots.txt"}, true
	}
	return t, Verdict{}, false
}

// fresh is the kept entry of an origin, nil when there is none or it is too old.
func (c *Cache) fresh(origin string) *entry {
	now := c.fetcher.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.store.get(origin); e != nil && now.Before(e.expires) {
		return e
	}
	return nil
}

// refresh fetches the file of an origin and keeps what came of it.
func (c *Cache) refresh(ctx context.Context, origin string) (*entry, error) {
	if e := c.fresh(origin); e != nil { // a fetch ended between the look and the flight
		return e, nil
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, errClosed
	}
	c.running.Add(1)
	c.mu.Unlock()
	defer c.running.Done()

	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-c.closing:
			cancel()
		case <-ctx.Done():
		}
	}()
	got := c.fetcher.fetch(ctx, origin)
	closed := ctx.Err() == context.Canceled
	cancel()
	<-watched
	if closed { // says nothing about the server
		return nil, errClosed
	}

	now := c.fetcher.now()
	c.mu.Lock()
	old := c.store.get(origin)
	c.mu.Unlock()
	e := old.next(origin, c.token, got, now) // picks and sorts rules: not under the lock
	c.mu.Lock()
	c.store.put(e)
	c.mu.Unlock()
	return e, nil
}
