package governor

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor/robots"
)

// Config is what a [Governor] is made of. Policy is required.
type Config struct {
	Policy   Policy
	Recorder Recorder // where every action is written before it is released; nil: [Discard]

	// RobotsTransport carries the requests for robots.txt. Nil means a transport
	// of its own that takes no proxy from the environment. UserAgent is sent
	// with them; "" means the policy's agent alone. See also SetUserAgent.
	RobotsTransport http.RoundTripper
	UserAgent       string

	Now     func() time.Time // nil: time.Now
	Rand    func() float64   // jitter, in [0, 1); nil: math/rand/v2
	Logger  *slog.Logger     // for trouble that reaches nobody else; nil: none
	IDStart uint64           // the first action is named one higher; Restore raises it
}

// Governor decides what a browser may do, and when. Ask with [Governor.Admit]
// before each action and close what was allowed with [Governor.Settle].
//
// It is safe for concurrent use. It starts no goroutine; actions wait in their
// callers'.
type Governor struct {
	policy   Policy
	where    where
	recorder Recorder
	robots   robotsChecker // nil: robots.txt is not read
	rand     func() float64
	log      *slog.Logger

	userAgent atomic.Pointer[string] // of robots.txt fetches, see SetUserAgent

	mu           sync.Mutex // guards the following, never held over I/O
	clock        clock
	day          today
	hosts        hostTable
	pending      pendings
	denials      denials
	refusals     refusalCounts
	lastID       uint64
	fetchRefused map[string]*Refusal // by host, see noteFetch
	paused       bool
	pausedAt     map[string]bool // hosts that the operator stopped
	closed       bool
}

// New makes a Governor. It opens nothing and fetches nothing. What an earlier
// run has spent is taken over by [Governor.Restore].
func New(c Config) (*Governor, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, fmt.Errorf("governor: %w", err)
	}
	g := &Governor{
		policy:       c.Policy,
		recorder:     c.Recorder,
		rand:         c.Rand,
		log:          c.Logger,
		clock:        newClock(c.Now),
		day:          today{zone: c.Policy.Location()},
		hosts:        newHostTable(),
		denials:      newDenials(),
		pausedAt:     map[string]bool{},
		fetchRefused: map[string]*Refusal{},
		lastID:       c.IDStart,
	}
	if g.recorder == nil {
		g.recorder = Discard
	}
	if g.rand == nil {
		g.rand = rand.Float64
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.where = newWhere(&g.policy)
	g.day.roll(g.clock.start)
	var err error
	if g.robots, err = newRobots(c, g); err != nil {
		return nil, fmt.Errorf("governor: %w", err)
	}
	return g, nil
}

// Admit answers whether a may happen, now. It is total: whatever goes wrong is
// a refusal with its own reason. It makes the asker wait where that helps, for
// a.Hold at most, and writes the answer to the log before it gives it. Cancelling
// ctx ends the wait with a refusal; an action that was not let through has cost
// nothing.
func (g *Governor) Admit(ctx context.Context, a actions.Action) Decision {
	host := actions.Host(a.URL)
	no := g.permitted(&a, host) // 1 operator and policy
	var site siteRules
	if no == nil {
		site, no = g.askSite(ctx, &a, host) // 2 robots.txt
	}
	if no != nil {
		return g.refuse(&a, host, no, 0)
	}
	got, no := g.acquire(ctx, &a, host, site) // 3 cool-down, 4 caps and bucket, 5 wait
	if no != nil {
		return g.refuse(&a, host, no, got.waited)
	}
	return g.release(&a, host, got, site) // 6 record, answer
}

// Check answers what Admit would answer, without counting, waiting or writing
// it down. Waited is how long an allowed action would be held. A robots.txt that
// is not known yet is fetched, and that fetch is an action like any other.
func (g *Governor) Check(ctx context.Context, a actions.Action) Decision {
	host := actions.Host(a.URL)
	no := g.permitted(&a, host)
	var site siteRules
	if no == nil {
		site, no = g.askSite(ctx, &a, host)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var wait time.Duration
	if no == nil {
		wait, no = g.foresee(ctx, &a, host, site)
	}
	d := Decision{Left: g.left(g.hosts.get(host))}
	if no != nil {
		d.Refusal = no.refusal("", &a)
		return d
	}
	d.Verdict, d.Waited = Allow, wait
	return d
}

// Close refuses everything from now on, those who wait included. It does not
// close the Recorder. Settle goes on working.
func (g *Governor) Close() error {
	g.mu.Lock()
	g.closed = true
	g.repriceAll("")
	g.mu.Unlock()
	if cache, ok := g.robots.(*robots.Cache); ok {
		cache.Close() // its fetches are refused by now, or under way and broken off
	}
	return nil
}
