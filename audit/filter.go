package audit

import (
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// Filter picks actions, with their outcomes. The zero value picks everything,
// notes included; every field that is set must fit. An outcome goes with its
// action, whenever it came.
type Filter struct {
	Host   string // with or without port: "shop.example" picks "shop.example:8080" too
	Kind   actions.Kind
	Reason governor.Reason
	Since  time.Time // zero: from the start; the log keeps milliseconds, and so does the comparison
	Until  time.Time // zero: to the end; exclusive
	Client string

	Refused bool // refusals, those that belong to no action included
	Sent    bool // what was sent; together with Refused: both, but no notes
}

// since is the day whose file is the first to be read, "" for all.
func (f Filter) since() string {
	if f.Since.IsZero() {
		return ""
	}
	return f.Since.UTC().Format(time.DateOnly)
}

// match looks at an action or a note.
func (f Filter) match(ev *governor.Event) bool {
	sent := ev.Type == governor.EventAction && ev.Sent
	refused := !sent && (ev.Type == governor.EventAction || ev.Reason != "")
	switch {
	case (f.Refused || f.Sent) && !(f.Refused && refused || f.Sent && sent),
		f.Host != "" && !sameHost(ev.Host, f.Host),
		f.Kind != "" && ev.Kind != f.Kind,
		f.Reason != "" && ev.Reason != f.Reason,
		f.Client != "" && ev.Client != f.Client,
		!f.Since.IsZero() && ev.Time.Before(f.Since.Truncate(time.Millisecond)),
		!f.Until.IsZero() && !ev.Time.Before(f.Until):
		return false
	}
	return true
}

func sameHost(have, want string) bool {
	if len(have) > len(want) && have[len(want)] == ':' && strings.IndexByte(have[len(want)+1:], ':') < 0 {
		have = have[:len(want)]
	}
	return strings.EqualFold(have, want)
}

// picker applies a filter to lines in order and keeps outcomes with their
// actions.
type picker struct {
	Filter
	picked map[string]bool // by ID: whether the newest action of that ID was picked
}

func newPicker(f Filter) *picker { return &picker{Filter: f, picked: map[string]bool{}} }

func (p *picker) pick(ev *governor.Event) bool {
	switch ev.Type {
	case governor.EventOutcome:
		if p.Filter == (Filter{}) {
			return true
		}
		return p.picked[ev.ID]
	case governor.EventAction:
		ok := p.match(ev)
		if ok && ev.Sent {
			p.picked[ev.ID] = true
		} else if !ok {
			delete(p.picked, ev.ID)
		}
		return ok
	}
	return p.match(ev)
}
