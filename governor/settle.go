package governor

import (
	"math"
	"net/http"
	"time"
)

// Settle closes an action that was allowed: what the host answered is learned
// from, what never reached it is given back, and the outcome goes to the log. It
// returns whether the browser may ask again on the client's behalf. An ID that
// is unknown, settled already or older than ten minutes is ignored.
func (g *Governor) Settle(id string, o Outcome) Retry {
	n, ok := actionNumber(id)
	if !ok {
		return Retry{}
	}
	g.mu.Lock()
	wall, now := g.tell()
	p, ok := g.pending.remove(n)
	if !ok {
		g.mu.Unlock()
		return Retry{}
	}
	ev := Event{
		Type: EventOutcome, Time: wall, Day: g.day.name, ID: id, Host: p.host.name,
		Status: o.Status, Latency: o.Latency, FromCache: o.FromCache, Credited: o.FromCache || o.Credit, Error: o.Err,
	}
	var retry Retry
	challenge := false
	if ev.Credited {
		g.giveBack(p, now)
	}
	if !o.FromCache && o.Status > 0 {
		challenge = p.navigation && challenged(o.Header) && !p.host.challenged
		p.host.challenged = p.host.challenged || challenge
		retry = g.obey(&p, &o, &ev, wall, now)
	}
	host := p.host.name
	g.mu.Unlock()

	if err := g.recorder.Record(&ev); err != nil {
		g.log.Error("outcome not logged", "id", id, "error", err)
	}
	if challenge {
		_ = g.note(host, noteChallenge, "the host showed a bot check; its navigations wait for a person", Challenge)
	}
	return retry
}

// subFailsMax is how many sub-resources in a row have to be answered with 429
// or 503, without a word on how long, before the whole host is closed: one
// picture server's bad day says little about the host's pages.
const subFailsMax = 3

// limited reports whether a status says "too much".
func limited(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// obey closes the host as long as the answer asks for, and says whether a
// further try makes sense. The mutex is held.
func (g *Governor) obey(p *pending, o *Outcome, ev *Event, wall time.Time, now tick) Retry {
	h := p.host
	page := p.navigation || p.robots
	asked, said := time.Duration(0), false
	if o.Status >= 400 {
		asked, said = retryAfter(o.Header, wall)
		ev.RetryAfter = asked
	}
	if !limited(o.Status) {
		if page {
			h.strikes = 0
		} else {
			h.subFails = 0
		}
		if !said || asked <= 0 {
			return Retry{}
		}
	}
	wait := asked
	if asked <= 0 { // none named, or one that is over: our own
		if wait = g.backoff(p, now); wait <= 0 {
			return Retry{}
		}
	}
	// Whole milliseconds upwards, so that the log does not shorten it.
	wait = (wait + time.Millisecond - 1).Truncate(time.Millisecond)
	if h.close(now.add(wait)) {
		ev.HoldUntil = wall.Add(wait)
	}
	rest := max(wait, h.closed.sub(now))
	if ev.Credited || !limited(o.Status) || !p.again || h.challenged || int(p.attempt) >= g.policy.Backoff.Retries || rest > g.policy.Backoff.Max {
		return Retry{}
	}
	return Retry{OK: true, After: rest}
}

// backoff returns the wait after a 429 or 503 that names none: it doubles with
// every further try and with every such answer in a row. Answers to what was
// asked before the last one was heard do not count again. 0 means that the host
// stays open.
func (g *Governor) backoff(p *pending, now tick) time.Duration {
	h := p.host
	if !p.navigation && !p.robots {
		if h.subFails < subFailsMax {
			h.subFails++
		}
		if h.subFails < subFailsMax {
			return 0
		}
	}
	if p.at <= h.cut && h.closed > now {
		return h.closed.sub(now)
	}
	n := max(float64(p.attempt), float64(h.strikes))
	if h.strikes < math.MaxUint8 {
		h.strikes++
	}
	h.cut = now
	b := g.policy.Backoff
	// The factor keeps many clients from coming back as one.
	wait := b.Base.Seconds() * math.Pow(2, n) * (0.8 + 0.4*g.rand())
	return time.Duration(min(wait, b.Max.Seconds()) * float64(time.Second))
}
