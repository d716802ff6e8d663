package robots

import "time"

// Lives of what a fetch found.
const (
	minLife     = 5 * time.Minute // a shorter Cache-Control is not obeyed: the file itself is load
	maxLife     = 24 * time.Hour  // RFC 9309 2.4; also without Cache-Control
	refusedLife = time.Hour       // of 401, 403 and the like without Cache-Control: people mend them
	firstRetry  = time.Minute     // after a failure, doubling with each one
	lastRetry   = time.Hour

	lastGoodStrict = 24 * time.Hour      // how old a good copy may be while the server is down
	lastGoodRFC    = 30 * 24 * time.Hour // RFC 9309 2.3.1.4: "a reasonably long period, for example 30 days"
)

// entry is what is known of one origin. It is immutable: a fetch makes a new one.
type entry struct {
	origin   string
	standing standing
	cause    string
	warnings []Warning // of the fetch, before those of the file
	expires  time.Time

	good      *Rules // the last good copy; nil when there is none
	goodAt    time.Time
	failures  int       // fetches in a row that settled nothing
	downSince time.Time // when the server was first found down, zero when it is not
}

// next is the entry after another fetch. old may be nil.
func (old *entry) next(origin, token string, got fetched, now time.Time) *entry {
	e := &entry{origin: origin, standing: got.standing, cause: got.cause}
	if got.warning != "" {
		e.warnings = []Warning{{Text: got.warning}}
	}
	life := func(otherwise time.Duration) time.Time {
		if got.hasLife {
			otherwise = min(max(got.life, minLife), maxLife)
		}
		return now.Add(otherwise)
	}
	switch got.standing {
	case readable:
		e.good, e.goodAt, e.expires = got.file.For(token), now, life(maxLife)
	case open:
		e.good, e.goodAt, e.expires = &Rules{}, now, life(maxLife)
	case refused: // what it said before counts no more
		e.expires = life(refusedLife)
	default:
		if old != nil {
			e.good, e.goodAt, e.failures, e.downSince = old.good, old.goodAt, old.failures, old.downSince
		}
		wait := lastRetry
		if e.failures < 6 { // 1 min << 6 is more than an hour
			wait = min(firstRetry<<e.failures, lastRetry)
		}
		e.failures++
		e.expires = now.Add(max(wait, got.retryAfter))
		switch {
		case got.standing == busy:
			e.downSince = time.Time{}
		case e.downSince.IsZero():
			e.downSince = now
		}
	}
	return e
}

// rules are the ones in force, with what is odd about that. They are nil when
// nothing is known to be allowed.
func (e *entry) rules(mode Mode, now time.Time) (*Rules, []Warning) {
	if e.standing.good() {
		return e.good, e.warnings
	}
	if e.standing != down {
		return nil, e.warnings
	}
	longest := lastGoodStrict
	if mode == RFC {
		longest = lastGoodRFC
	}
	if e.good != nil && now.Sub(e.goodAt) <= longest {
		return e.good, append(e.warnings[:len(e.warnings):len(e.warnings)],
			Warning{Text: "the copy of " + e.goodAt.UTC().Format(time.RFC3339) + " counts, as " + e.cause})
	}
	if mode == RFC && now.Sub(e.downSince) > lastGoodRFC {
		return &Rules{}, append(e.warnings[:len(e.warnings):len(e.warnings)],
			Warning{Text: "down for more than 30 days, so everything is allowed: " + e.cause})
	}
	return nil, e.warnings
}

// verdict judges a URL of the origin.
func (e *entry) verdict(t target, mode Mode, now time.Time) Verdict {
	v := Verdict{RobotsURL: e.origin + "/robots.txt"}
	r, warnings := e.rules(mode, now)
	v.Warnings = warnings
	if r == nil {
		v.Unavailable, v.Cause, v.RetryAfter = true, e.cause, max(e.expires.Sub(now), 0)
		return v
	}
	a := r.ask(t)
	v.Allow, v.Rule, v.Line, v.Group, v.Cause = a.Allow, a.Rule, a.Line, a.Group, a.Cause
	v.Delay, v.HasDelay = a.Delay, a.HasDelay
	v.Records = r.Records
	if len(r.Warnings) > 0 {
		v.Warnings = append(v.Warnings[:len(v.Warnings):len(v.Warnings)], r.Warnings...)
	}
	return v
}

// size is about what the entry takes in memory, in bytes.
func (e *entry) size() int {
	n := 500 + 2*len(e.origin) + len(e.cause)
	if e.good != nil {
		n += e.good.bytes
		for _, w := range e.good.Warnings {
			n += 24 + len(w.Text)
		}
		for _, r := range e.good.Records {
			n += 40 + len(r.Key) + len(r.Value)
		}
	}
	return n
}
