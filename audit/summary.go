package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// Summary is what was done, host by host.
type Summary struct {
	Hosts []HostSummary  `json:"hosts"`           // by name
	Total HostSummary    `json:"total"`           // of all hosts
	Notes map[string]int `json:"notes,omitempty"` // how many of each
}

// HostSummary is what was done on one host.
type HostSummary struct {
	Host         string                  `json:"host"`         // "" for actions without one, and for the total
	Interactions int                     `json:"interactions"` // navigations, clicks, taps and keys that were sent
	Requests     int                     `json:"requests"`     // everything sent that asks the host for something; navigations are in both
	Refused      map[governor.Reason]int `json:"refused,omitempty"`
	Statuses     map[string]int          `json:"statuses,omitempty"` // HTTP statuses; "none" for requests that got no answer
	WaitedS      float64                 `json:"waited_s"`           // seconds that actions were held, in all
	Credited     int                     `json:"credited"`           // sent, but never reached the server: given back to the budgets
	Unsettled    int                     `json:"unsettled"`          // requests sent whose outcome is not in the log
	First        time.Time               `json:"first,omitzero"`
	Last         time.Time               `json:"last,omitzero"`
}

// Summarize counts what f picks from the log in dir. A line that cannot be
// understood is an error, as a sum without it would be wrong.
func Summarize(dir string, f Filter) (Summary, error) {
	s, err := openScan(dir, f.since())
	if err != nil {
		return Summary{}, err
	}
	sum := summing{hosts: map[string]*HostSummary{}, sent: map[string]*sentAction{}, notes: map[string]int{}}
	pick := newPicker(f)
	for r := range s.records() {
		if r.Err != nil {
			return Summary{}, r.Err
		}
		if pick.pick(&r.Event) {
			sum.add(&r.Event)
		}
	}
	return sum.result(), nil
}

// sentAction is what must be known of an action when its outcome comes.
type sentAction struct {
	host     *HostSummary
	request  bool
	settled  bool
	status   string // under which it is counted; "" before its first outcome
	credited bool
}

type summing struct {
	hosts map[string]*HostSummary
	sent  map[string]*sentAction
	notes map[string]int
}

func (s *summing) add(ev *governor.Event) {
	switch ev.Type {
	case governor.EventAction:
		s.action(ev)
	case governor.EventOutcome:
		if a := s.sent[ev.ID]; a != nil {
			a.outcome(ev)
		}
	default:
		if ev.Reason != "" {
			s.host(ev).Refused[ev.Reason]++
		}
		s.notes[ev.Note]++
	}
}

func (s *summing) host(ev *governor.Event) *HostSummary {
	h := s.hosts[ev.Host]
	if h == nil {
		h = &HostSummary{Host: ev.Host, First: ev.Time, Refused: map[governor.Reason]int{}, Statuses: map[string]int{}}
		s.hosts[ev.Host] = h
	}
	if ev.Time.Before(h.First) {
		h.First = ev.Time
	}
	if ev.Time.After(h.Last) {
		h.Last = ev.Time
	}
	return h
}

func (s *summing) action(ev *governor.Event) {
	h := s.host(ev)
	h.WaitedS += ev.Waited.Seconds()
	if !ev.Sent {
		h.Refused[ev.Reason]++
		return
	}
	request := ev.Kind != actions.Click && ev.Kind != actions.Tap && ev.Kind != actions.Key
	if ev.Kind.Interaction() {
		h.Interactions++
	}
	if request {
		h.Requests++
		h.Unsettled++
	}
	s.sent[ev.ID] = &sentAction{host: h, request: request}
}

// outcome counts an action once, whatever number of outcomes it has: the newest
// status counts, one credit counts.
func (a *sentAction) outcome(ev *governor.Event) {
	if a.request && !a.settled {
		a.host.Unsettled--
	}
	a.settled = true
	if ev.Credited && !a.credited {
		a.credited = true
		a.host.Credited++
	}
	status := "none"
	if ev.Status != 0 {
		status = strconv.Itoa(ev.Status)
	}
	if !a.request || status == a.status || ev.Status == 0 && (ev.Credited || a.status != "") {
		return
	}
	if a.status != "" {
		if a.host.Statuses[a.status]--; a.host.Statuses[a.status] == 0 {
			delete(a.host.Statuses, a.status)
		}
	}
	a.status = status
	a.host.Statuses[status]++
}

func (s *summing) result() Summary {
	out := Summary{Notes: s.notes, Hosts: []HostSummary{}}
	total := &out.Total
	total.Refused, total.Statuses = map[governor.Reason]int{}, map[string]int{}
	for _, h := range s.hosts {
		out.Hosts = append(out.Hosts, *h)
		total.Interactions += h.Interactions
		total.Requests += h.Requests
		total.WaitedS += h.WaitedS
		total.Credited += h.Credited
		total.Unsettled += h.Unsettled
		for r, n := range h.Refused {
			total.Refused[r] += n
		}
		for st, n := range h.Statuses {
			total.Statuses[st] += n
		}
		if total.First.IsZero() || h.First.Before(total.First) {
			total.First = h.First
		}
		if h.Last.After(total.Last) {
			total.Last = h.Last
		}
	}
	slices.SortFunc(out.Hosts, func(a, b HostSummary) int { return cmp.Compare(a.Host, b.Host) })
	return out
}

// WriteText writes the summary for people.
func (s Summary) WriteText(w io.Writer) error {
	p := printer{w: w}
	if len(s.Hosts) == 0 {
		p.f("nothing was done\n")
	} else {
		p.f("%s to %s\n", s.Total.First.Format(stampLayout), s.Total.Last.Format(stampLayout))
	}
	for _, h := range s.Hosts {
		name := clean(h.Host)
		if name == "" {
			name = "(no host)"
		}
		h.write(&p, name)
	}
	if len(s.Hosts) > 1 {
		s.Total.write(&p, fmt.Sprintf("all %d hosts", len(s.Hosts)))
	}
	if len(s.Notes) > 0 {
		p.f("notes          %s\n", counts(s.Notes))
	}
	return p.err
}

func (h HostSummary) write(p *printer, name string) {
	refused := 0
	for _, n := range h.Refused {
		refused += n
	}
	p.f("%s\n", name)
	p.f("  sent         %d interactions, %d requests\n", h.Interactions, h.Requests)
	if refused > 0 {
		p.f("  refused      %d: %s\n", refused, counts(h.Refused))
	}
	if len(h.Statuses) > 0 {
		p.f("  answers      %s\n", counts(h.Statuses))
	}
	if h.Credited > 0 {
		p.f("  credited     %d never reached the server\n", h.Credited)
	}
	if h.Unsettled > 0 {
		p.f("  no outcome   %d\n", h.Unsettled)
	}
	p.f("  waited       %s\n", short(time.Duration(h.WaitedS*float64(time.Second))))
}

// counts writes "robots_disallowed 3, rate 1", the most frequent first.
func counts[K ~string](m map[K]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = clean(string(k)) + " " + strconv.Itoa(m[k])
	}
	return strings.Join(parts, ", ")
}
