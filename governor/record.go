package governor

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"browsergovernor/actions"
)

// Discard is a Recorder that keeps nothing.
var Discard Recorder = discard{}

type discard struct{}

func (discard) Record(*Event) error { return nil }

// line is an event with the budgets it points to, made anew for each action and
// not kept by recorders.
type line struct {
	Event
	left Left
}

var lines = sync.Pool{New: func() any { return new(line) }}

func actionID(id uint64) string {
	var b [21]byte
	return string(strconv.AppendUint(append(b[:0], 'a'), id, 10))
}

// actionNumber is the inverse of actionID.
func actionNumber(id string) (uint64, bool) {
	digits, ok := strings.CutPrefix(id, "a")
	if !ok || digits == "" || digits[0] == '0' || digits[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

func (l *line) of(a *actions.Action, host, id string) {
	l.Event = Event{
		Type: EventAction, ID: id, Kind: a.Kind, Method: a.Method, URL: a.URL, Host: host, Attempt: a.Attempt,
		Client: a.Client, Tab: a.Tab, Cause: a.Cause, Resource: a.Resource, Detail: a.Detail, Left: &l.left,
	}
}

// release writes an action down and lets it go. What cannot be written down is
// refused and has cost nothing.
func (g *Governor) release(a *actions.Action, host string, got grant, site siteRules) Decision {
	d := Decision{Verdict: Allow, ID: actionID(got.id), Waited: got.waited, Left: got.left}
	l := lines.Get().(*line)
	l.of(a, host, d.ID)
	l.Time, l.Day, l.Sent, l.Waited, l.Rule, l.left = got.wall, got.day, true, got.waited, site.rule, got.left
	err := g.recorder.Record(&l.Event)
	*l = line{}
	lines.Put(l)
	if err == nil {
		return d
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, now := g.tell()
	if p, ok := g.pending.remove(got.id); ok {
		g.giveBack(p, now)
	}
	g.log.Error("action refused: the log cannot be written", "id", d.ID, "error", err)
	g.refusals.add(host, AuditUnavailable)
	no := denial{reason: AuditUnavailable, what: "the log cannot be written, and nothing happens that is not logged"}
	return Decision{ID: d.ID, Waited: got.waited, Left: g.left(got.host), Refusal: no.refusal(d.ID, a)}
}

// refuse writes a refusal down and answers with it. A refusal that cannot be
// written down is still a refusal.
func (g *Governor) refuse(a *actions.Action, host string, no *denial, waited time.Duration) Decision {
	g.mu.Lock()
	wall, _ := g.tell()
	if a.Kind.Interaction() && lasting(no.reason) {
		if n := g.denials.refused(a); g.policy.MaxDenials > 0 && n >= g.policy.MaxDenials {
			no = &denial{
				reason: RepeatedDenial, rule: strings.TrimPrefix(string(no.reason)+": "+no.rule, ": "),
				what: fmt.Sprintf("refused %d times already, stop asking for it (%s: %s)", n, no.reason, no.what),
			}
		}
	}
	g.lastID++
	id, day, left := actionID(g.lastID), g.day.name, g.left(g.hosts.get(host))
	g.refusals.add(host, no.reason)
	g.mu.Unlock()

	d := Decision{ID: id, Waited: waited, Left: left, Refusal: no.refusal(id, a)}
	l := &line{left: left}
	l.of(a, host, id)
	l.Time, l.Day, l.Waited, l.Reason, l.Rule, l.RetryAfter = wall, day, waited, no.reason, no.rule, d.Refusal.RetryAfter
	if l.Rule == "" {
		l.Rule = clean(no.what, 120)
	}
	if err := g.recorder.Record(&l.Event); err != nil {
		g.log.Error("refusal not logged", "id", id, "reason", no.reason, "error", err)
	}
	return d
}

// note writes down something that is no action.
func (g *Governor) note(host, note, text string, reason Reason) error {
	g.mu.Lock()
	wall, _ := g.tell()
	day := g.day.name
	g.mu.Unlock()
	err := g.recorder.Record(&Event{Type: EventNote, Time: wall, Day: day, Host: host, Note: note, Text: text, Reason: reason})
	if err != nil {
		g.log.Error("note not logged", "note", note, "error", err)
		return fmt.Errorf("governor: note %q: %w", note, err)
	}
	return nil
}
