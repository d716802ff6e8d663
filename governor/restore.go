package governor

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"browsergovernor/actions"
)

// Restore rebuilds from the log what an earlier run has spent and learned: the
// caps of today, the buckets, the cool-downs and challenges, and the number of
// the last action. Events come oldest first; those of the last day or two are
// enough, and more do no harm. It must be called before the first action.
//
// A crash loop gains nothing by it: the bucket is as empty as it was. A pause
// does not outlive the program.
func (g *Governor) Restore(events iter.Seq2[Event, error]) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.day.interactions+g.day.total > 0 || len(g.pending.byID) > 0 {
		return errors.New("governor: restore: actions were admitted before")
	}
	wall, now := g.tell()
	f := fold{g: g, wall: wall, now: now}
	n := 0
	for ev, err := range events {
		if err != nil {
			return fmt.Errorf("governor: restore: after %d events: %w", n, err)
		}
		n++
		f.event(&ev)
	}
	for id := range g.pending.byID { // nobody is left to settle them
		g.pending.remove(id)
	}
	for _, h := range g.hosts.byName {
		h.thaw(now)
	}
	return nil
}

// fold is the state of a Restore. The Governor's mutex is held.
type fold struct {
	g    *Governor
	wall time.Time // now
	now  tick
	at   tick // of the last event; never runs backwards and never past now
}

func (f *fold) event(ev *Event) {
	f.at = max(f.at, min(f.now, tick(ev.Time.UnixNano())))
	switch ev.Type {
	case EventAction:
		f.action(ev)
	case EventOutcome:
		f.outcome(ev)
	case EventNote:
		f.note(ev)
	}
}

func (f *fold) action(ev *Event) {
	g := f.g
	id, ok := actionNumber(ev.ID)
	if ok {
		g.lastID = max(g.lastID, id)
	}
	if !ev.Sent {
		return
	}
	f.follow(ev)
	h := f.host(ev.Host)
	if h == nil {
		return
	}
	g.pending.sweep(f.at)
	h.counts(g.day.number)
	h.thaw(f.at)
	a := actions.Action{Kind: ev.Kind, Method: ev.Method, Cause: ev.Cause, Attempt: ev.Attempt}
	day := g.day
	counts := [2]int32{h.interactions, h.total}
	g.charge(id, h, &a, f.at)
	if f.day(ev) != g.day.name { // the bucket is charged, another day's caps are not
		g.day = day
		h.interactions, h.total = counts[0], counts[1]
		p := g.pending.byID[id]
		p.day = -1
		g.pending.byID[id] = p
	}
}

func (f *fold) outcome(ev *Event) {
	g := f.g
	id, ok := actionNumber(ev.ID)
	if !ok {
		return
	}
	h := f.host(ev.Host)
	if p, ok := g.pending.remove(id); ok {
		if ev.Credited {
			g.giveBack(p, f.at)
		}
		h = p.host
		if p.navigation && ev.Status > 0 && !limited(ev.Status) {
			h.strikes = 0
		}
	}
	if h == nil || ev.HoldUntil.IsZero() {
		return
	}
	wait := max(-maxRetryAfter, min(ev.HoldUntil.Sub(f.wall), maxRetryAfter))
	h.close(f.now.add(wait)) // a cool-down that is over counts as well: there was no burst after it
	if ev.RetryAfter <= 0 && h.strikes < 16 {
		h.strikes++
	}
	h.cut = f.at
}

// challengeFor is how long a challenge of an earlier run stands: a person who
// restarts the program the next day has had the time to look.
const challengeFor = 24 * time.Hour

func (f *fold) note(ev *Event) {
	switch ev.Note {
	case noteChallenge:
		if h := f.host(ev.Host); h != nil && f.wall.Sub(ev.Time) < challengeFor {
			h.challenged = true
		}
	case noteResume:
		if h := f.g.hosts.get(ev.Host); h != nil && ev.Host != "" {
			h.reopen(f.at)
		}
	}
}

// day is the budget day that the event was counted to.
func (f *fold) day(ev *Event) string {
	if ev.Day != "" {
		return ev.Day
	}
	day, _, _ := dayOf(ev.Time, f.g.day.zone)
	return day
}

// follow goes on to the event's day where that is later than today by the
// clock: it was set back since. A day too far off is a wrong clock's.
func (f *fold) follow(ev *Event) {
	d := &f.g.day
	name := f.day(ev)
	if name <= d.name {
		return
	}
	t, err := time.ParseInLocation(time.DateOnly, name, d.zone)
	if err != nil || t.Sub(f.wall) >= wrongClock {
		return
	}
	d.roll(t.Add(12 * time.Hour)) // noon is on the same day in every zone with any clock change
}

func (f *fold) host(name string) *host {
	g := f.g
	if h := g.hosts.get(name); h != nil {
		return h
	}
	p := g.policy.For(name)
	h := g.hosts.fresh(name, p)
	g.hosts.add(h, f.at, g.day.number, p.capped())
	return h
}
