package governor

import (
	"context"
	"strings"
	"time"

	"browsergovernor/actions"
)

// grant is a token and its place in the caps, taken for one action.
type grant struct {
	id     uint64
	host   *host
	wall   time.Time
	day    string
	left   Left
	waited time.Duration
}

// ctxMargin is kept free of a context's deadline, so that an action that was
// waited for is not let through to somebody who has just given up.
const ctxMargin = 20 * time.Millisecond

// overslept is how far behind its deadline a wait may end and still let its
// action through. More than that is no busy machine but a process that was
// stopped, or a computer that slept: whoever asked has given up long ago, and
// what it asked for would happen as a ghost.
const overslept = 2 * time.Second

// hold returns how long a may wait, negative for as long as ctx lives. firm is
// false where a shorter context and not the hold is the limit.
func (g *Governor) hold(ctx context.Context, a *actions.Action) (d time.Duration, firm bool) {
	d = a.Hold
	if d == 0 {
		switch {
		case pressed(a.Kind):
			d = g.policy.Hold.Click
		case a.Kind != actions.Navigation:
			d = g.policy.Hold.Subresource
		case patient(a.Client):
			d = max(g.policy.Hold.KnownClient, g.policy.Hold.Navigation)
		default:
			d = g.policy.Hold.Navigation
		}
	}
	if until, ok := ctx.Deadline(); ok {
		if rest := max(0, time.Until(until)-ctxMargin); d < 0 || rest < d {
			return rest, false
		}
	}
	return d, true
}

// patient reports whether a client is known to wait 30 seconds for a navigation.
func patient(client string) bool {
	switch strings.ToLower(client) {
	case "playwright", "puppeteer", "browser-use":
		return true
	}
	return false
}

// acquire is steps 3 to 5: the host's cool-down, the caps and the bucket, and
// the wait for them. Bucket and caps are taken together, at the moment of
// release; before that nothing is held but a place in the queue.
func (g *Governor) acquire(ctx context.Context, a *actions.Action, name string, site siteRules) (grant, *denial) {
	if ctx.Err() != nil {
		return grant{}, abandoned()
	}
	hold, firm := g.hold(ctx, a)
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, now := g.tell()
	h, no := g.enter(name, now)
	if no != nil {
		return grant{}, no
	}
	if site.known {
		h.setDelay(now, site.delay)
	}
	w := waiter{soft: pressed(a.Kind), gated: !pressed(a.Kind), deadline: never}
	if hold >= 0 {
		w.deadline = now.add(hold)
	}
	if no := g.blocked(h, a, now, w.deadline); no != nil {
		return grant{}, no
	}
	b := h.bucket(a.Kind.Interaction())
	g.draw(a, &w)
	if b.q == nil && w.jitter == 0 && (!w.gated || h.closed <= now) && enough(b.level(now)) {
		return g.take(h, a, wall, now), nil
	}
	return g.queue(ctx, a, h, w, wall, now, firm)
}

// draw gives an interaction its jitter.
func (g *Governor) draw(a *actions.Action, w *waiter) {
	if j := g.policy.Jitter; a.Kind.Interaction() && j.Max > 0 {
		w.least = j.Min
		w.jitter = j.Min + time.Duration(g.rand()*float64(j.Max-j.Min))
	}
}

// queue waits in line. The mutex is held, and let go while waiting.
func (g *Governor) queue(ctx context.Context, a *actions.Action, h *host, first waiter, wall time.Time, now tick, firm bool) (grant, *denial) {
	b := h.bucket(a.Kind.Interaction())
	if limit := g.policy.MaxQueue; limit > 0 && b.waiting() >= limit {
		if first.soft {
			got := g.take(h, a, wall, now)
			b.reprice()
			return got, nil
		}
		return grant{}, g.tooMany(h, b, &first, now)
	}
	w := &first
	w.wake = make(chan struct{}, 1)
	b.push(w)
	start := now
	var slept time.Duration // by timers: ends the wait though the clock stands still
	for again := false; ; again = true {
		eta := b.eta(g.forecast(h, a, now), w)
		over := now >= w.deadline || w.deadline < never && slept > w.deadline.sub(start)
		until := never
		no := (*denial)(nil)
		switch {
		case ctx.Err() != nil:
			no = abandoned()
		case again:
			if no = g.stopped(h.name); no == nil {
				no = g.blocked(h, a, now, w.deadline)
			}
		}
		switch {
		case no != nil:
		case w.deadline < never && now > w.deadline.add(overslept):
			no = g.tooSlow(h, b, a, max(eta, now), now)
		case b.head() == w && eta <= now:
			b.leave(w)
			got := g.take(h, a, wall, now)
			got.waited = now.sub(start)
			return got, nil
		case w.soft && (over || !firm && eta > w.deadline):
			b.leave(w)
			got := g.take(h, a, wall, now) // the debt is the next navigation's
			got.waited = now.sub(start)
			b.reprice()
			return got, nil
		case !w.soft && (over || eta > w.deadline):
			no = g.tooSlow(h, b, a, eta, now)
		case b.head() == w:
			until = min(eta, w.deadline)
		default:
			until = w.deadline
		}
		if no != nil {
			b.leave(w)
			return grant{waited: now.sub(start)}, no
		}
		g.mu.Unlock()
		slept += pause(ctx, w.wake, until, now)
		g.mu.Lock()
		wall, now = g.tell()
		h.thaw(now)
	}
}

// pause waits until the tick, a nudge or the end of ctx, and returns how long
// it slept where it slept to the end.
func pause(ctx context.Context, wake <-chan struct{}, until, now tick) time.Duration {
	var alarm <-chan time.Time
	if until < never {
		t := time.NewTimer(until.sub(now))
		defer t.Stop()
		alarm = t.C
	}
	select {
	case <-alarm:
		return until.sub(now)
	case <-wake:
	case <-ctx.Done():
	}
	return 0
}

// foresee is acquire without taking or waiting: how long a would be held, or
// why it would be refused. The mutex is held.
func (g *Governor) foresee(ctx context.Context, a *actions.Action, name string, site siteRules) (time.Duration, *denial) {
	_, now := g.tell()
	h := g.hosts.get(name)
	if h == nil {
		h = g.hosts.fresh(name, g.policy.For(name))
	}
	h.counts(g.day.number)
	h.thaw(now)
	if site.known {
		h.setDelay(now, site.delay)
	}
	hold, _ := g.hold(ctx, a)
	w := waiter{soft: pressed(a.Kind), gated: !pressed(a.Kind), deadline: never}
	if hold >= 0 {
		w.deadline = now.add(hold)
	}
	if no := g.blocked(h, a, now, w.deadline); no != nil {
		return 0, no
	}
	b := h.bucket(a.Kind.Interaction())
	if j := g.policy.Jitter; a.Kind.Interaction() {
		w.least, w.jitter = j.Min, (j.Min+j.Max)/2 // what is drawn on average
	}
	if limit := g.policy.MaxQueue; limit > 0 && b.waiting() >= limit && !w.soft {
		return 0, g.tooMany(h, b, &w, now)
	}
	eta := b.eta(g.forecast(h, a, now), &w)
	if w.soft {
		eta = min(eta, w.deadline)
	}
	if eta > w.deadline {
		return 0, g.tooSlow(h, b, a, eta, now)
	}
	return eta.sub(now), nil
}
