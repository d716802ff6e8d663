package governor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"browsergovernor/actions"
)

// Everything in this file is called with the Governor's mutex held, but for
// closedFor.

// tell reads the clock and starts a new day when it is time.
func (g *Governor) tell() (time.Time, tick) {
	wall, now := g.clock.read()
	g.day.roll(wall)
	g.pending.sweep(now)
	return wall, now
}

// enter returns the host's entry and makes it if there is none.
func (g *Governor) enter(name string, now tick) (*host, *denial) {
	h := g.hosts.get(name)
	if h == nil {
		p := g.policy.For(name)
		h = g.hosts.fresh(strings.Clone(name), p) // name may be a piece of a long URL
		if !g.hosts.add(h, now, g.day.number, p.capped()) {
			return nil, &denial{reason: StoreUnavailable, what: "more hosts are in use than fit into memory"}
		}
	}
	h.vetted = true
	h.counts(g.day.number)
	h.thaw(now)
	return h, nil
}

func (g *Governor) forecast(h *host, a *actions.Action, now tick) forecast {
	interaction := a.Kind.Interaction()
	return h.bucket(interaction).forecast(now, h.closed, h.keep(interaction))
}

// blocked is what forbids a whatever the bucket holds: a challenge, a cool-down
// that is longer than a can wait, a cap.
func (g *Governor) blocked(h *host, a *actions.Action, now, deadline tick) *denial {
	if h.challenged && a.Kind == actions.Navigation {
		return &denial{reason: Challenge, what: short(h.name) + " showed a bot check; a person has to decide and resume it"}
	}
	if h.closed > now && h.closed > deadline && !pressed(a.Kind) {
		return &denial{
			reason: RetryAfter, after: h.closed.sub(now),
			what: short(h.name) + " asked to wait or is overloaded",
			rule: "closed until " + h.closed.time().UTC().Format(time.RFC3339),
		}
	}
	return g.spent(h, a.Kind.Interaction())
}

// spent refuses what a cap of the day does not allow.
func (g *Governor) spent(h *host, interaction bool) *denial {
	c, p := &g.policy.Caps, h.policy
	h.counts(g.day.number)
	switch {
	case interaction && c.Interactions > 0 && g.day.interactions >= c.Interactions:
		return g.capped(DailyCap, "daily cap of %d interactions", "", c.Interactions)
	case c.Total > 0 && g.day.total >= c.Total:
		return g.capped(DailyCap, "daily cap of %d actions", "", c.Total)
	case interaction && p.HostInteractions > 0 && int(h.interactions) >= p.HostInteractions:
		return g.capped(HostDailyCap, "daily cap of %d interactions", h.name, p.HostInteractions)
	case p.HostTotal > 0 && int(h.total) >= p.HostTotal:
		return g.capped(HostDailyCap, "daily cap of %d actions", h.name, p.HostTotal)
	}
	return nil
}

func (g *Governor) capped(r Reason, format, host string, n int) *denial {
	what := fmt.Sprintf(format, n)
	rule := what
	if host != "" {
		what += " on " + short(host)
	}
	wall, _ := g.clock.read()
	return &denial{reason: r, what: what + " is reached", rule: rule, after: g.day.end.Sub(wall)}
}

func (g *Governor) tooMany(h *host, b *bucket, w *waiter, now tick) *denial {
	f := b.forecast(now, h.closed, h.keep(b == &h.inter))
	return &denial{
		reason: QueueFull, after: min(b.eta(f, w).sub(now), 24*time.Hour),
		what: fmt.Sprintf("%d actions wait for %s already", b.waiting(), short(h.name)),
	}
}

func (g *Governor) tooSlow(h *host, b *bucket, a *actions.Action, eta, now tick) *denial {
	no := &denial{
		reason: Rate, after: min(max(eta.sub(now), time.Millisecond), 24*time.Hour),
		what: fmt.Sprintf("%s would have to wait longer for its turn on %s (%s) than can be borne",
			clean(string(a.Kind), 20), short(h.name), pace(b.rate())),
		rule: pace(b.rate()),
	}
	if h.delay > 0 && a.Kind.Interaction() {
		no.rule += fmt.Sprintf(", Crawl-delay: %g", h.delay.Seconds())
	}
	return no
}

func pace(perSecond float64) string {
	if perSecond >= 1 {
		return fmt.Sprintf("%.3g a second", perSecond)
	}
	return fmt.Sprintf("%.3g a minute", perSecond*60)
}

// take charges one action: a token, its place in the caps, its number.
func (g *Governor) take(h *host, a *actions.Action, wall time.Time, now tick) grant {
	g.lastID++
	g.charge(g.lastID, h, a, now)
	if a.Kind.Interaction() {
		g.denials.allowed(a)
	}
	return grant{id: g.lastID, host: h, wall: wall, day: g.day.name, left: g.left(h)}
}

func (g *Governor) charge(id uint64, h *host, a *actions.Action, now tick) {
	interaction := a.Kind.Interaction()
	h.bucket(interaction).take(now, *h.out(interaction))
	h.counts(g.day.number)
	g.day.total++
	h.total++
	if interaction {
		g.day.interactions++
		h.interactions++
		h.last = max(h.last, now)
	}
	g.pending.add(id, pending{
		host: h, at: now, day: g.day.number, attempt: int32(a.Attempt),
		interaction: interaction,
		navigation:  a.Kind == actions.Navigation,
		again:       a.Kind == actions.Navigation && (a.Method == "" || a.Method == "GET" || a.Method == "HEAD"),
		robots:      a.Cause == robotsCause,
	})
}

// giveBack undoes a charge: the caps exactly, the token as far as it can be
// given without letting more through than the bucket may.
func (g *Governor) giveBack(p pending, now tick) {
	p.host.bucket(p.interaction).refund(now, p.at, *p.host.out(p.interaction)+1) // p has left the pending
	p.host.bucket(p.interaction).reprice()
	if p.day != g.day.number {
		return
	}
	g.day.total = max(0, g.day.total-1)
	if p.interaction {
		g.day.interactions = max(0, g.day.interactions-1)
	}
	if h := p.host; h.day == p.day {
		h.total = max(0, h.total-1)
		if p.interaction {
			h.interactions = max(0, h.interactions-1)
		}
	}
}

// left is what remains of the interaction budgets; h may be nil.
func (g *Governor) left(h *host) Left {
	l := Left{Host: -1, Day: -1}
	if n := g.policy.Caps.Interactions; n > 0 {
		l.Day = max(0, n-g.day.interactions)
	}
	if h != nil && h.policy.HostInteractions > 0 {
		h.counts(g.day.number)
		l.Host = max(0, h.policy.HostInteractions-int(h.interactions))
	}
	return l
}

// repriceAll wakes everybody who waits for the host, "" for any host.
func (g *Governor) repriceAll(name string) {
	if name != "" {
		if h := g.hosts.get(name); h != nil {
			h.inter.reprice()
			h.sub.reprice()
		}
		return
	}
	for _, h := range g.hosts.byName {
		h.inter.reprice()
		h.sub.reprice()
	}
}

// closedFor refuses a where its host is closed or its budget spent. It is asked
// before robots.txt is fetched.
func (g *Governor) closedFor(ctx context.Context, a *actions.Action, name string) *denial {
	hold, _ := g.hold(ctx, a)
	g.mu.Lock()
	defer g.mu.Unlock()
	_, now := g.tell()
	h := g.hosts.get(name)
	if h == nil {
		h = g.hosts.fresh(name, g.policy.For(name))
	}
	deadline := never
	if hold >= 0 {
		deadline = now.add(hold)
	}
	return g.blocked(h, a, now, deadline)
}
