package governor

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Status is a snapshot of the budgets.
type Status struct {
	Time         time.Time        `json:"time"`
	Day          string           `json:"day"`          // budget day
	DayEnds      time.Time        `json:"day_ends"`     // when the caps start anew
	Interactions int              `json:"interactions"` // spent today
	Total        int              `json:"total"`        // spent today, sub-resources included
	Left         Left             `json:"left"`         // Host is -1
	TotalLeft    int              `json:"total_left"`   // -1: no limit
	Paused       bool             `json:"paused"`       // everything
	Pending      int              `json:"pending"`      // let through and not settled
	Waiting      int              `json:"waiting"`
	Refusals     map[Reason]int64 `json:"refusals"`    // since the start of the program
	KnownHosts   int              `json:"known_hosts"` // in memory; Hosts lists those with something to say
	Hosts        []HostStatus     `json:"hosts"`       // by name
}

// HostStatus is a snapshot of one host's budgets. A budget without limit is -1.
type HostStatus struct {
	Host             string           `json:"host"`
	Interactions     int              `json:"interactions"` // spent today
	InteractionsLeft int              `json:"interactions_left"`
	Total            int              `json:"total"`
	TotalLeft        int              `json:"total_left"`
	Level            float64          `json:"level"`           // tokens in the interactions bucket; below 0: debt
	Rate             float64          `json:"rate_per_minute"` // in force: the policy's or the crawl-delay's
	SubLevel         float64          `json:"subresources_level"`
	SubRate          float64          `json:"subresources_rate_per_minute"`
	Waiting          int              `json:"waiting"`
	SubWaiting       int              `json:"subresources_waiting"`
	ClosedUntil      *time.Time       `json:"closed_until,omitempty"` // cool-down
	CrawlDelay       float64          `json:"crawl_delay_s,omitempty"`
	Challenged       bool             `json:"challenged,omitempty"`
	Paused           bool             `json:"paused,omitempty"`
	Refusals         map[Reason]int64 `json:"refusals,omitempty"`
}

// Status returns a snapshot. Of the hosts it lists those that were visited
// today, have been refused something, are waited for, closed or paused.
func (g *Governor) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	wall, now := g.tell()
	s := Status{
		Time: wall, Day: g.day.name, DayEnds: g.day.end,
		Interactions: g.day.interactions, Total: g.day.total, Left: g.left(nil), TotalLeft: rest(g.policy.Caps.Total, g.day.total),
		Paused: g.paused || g.closed, Pending: len(g.pending.byID),
		Refusals: map[Reason]int64{}, KnownHosts: len(g.hosts.byName), Hosts: []HostStatus{},
	}
	refused := map[string]map[Reason]int64{}
	for k, n := range g.refusals.byHost {
		if refused[k.host] == nil {
			refused[k.host] = map[Reason]int64{}
		}
		refused[k.host][k.reason] = n
	}
	maps.Copy(s.Refusals, g.refusals.total)
	listed := map[string]bool{}
	for _, h := range g.hosts.byName {
		h.counts(g.day.number)
		h.thaw(now)
		w := h.inter.waiting() + h.sub.waiting()
		s.Waiting += w
		if h.total == 0 && w == 0 && h.closed <= now && !h.challenged && !g.pausedAt[h.name] && refused[h.name] == nil {
			continue
		}
		hs := g.hostStatus(h, wall, now)
		hs.Refusals = refused[h.name]
		s.Hosts = append(s.Hosts, hs)
		listed[h.name] = true
	}
	for name := range g.pausedAt {
		if !listed[name] && refused[name] == nil {
			refused[name] = map[Reason]int64{}
		}
	}
	for name, reasons := range refused { // never let through, so without an entry
		if !listed[name] && name != "" {
			hs := g.hostStatus(g.hosts.fresh(name, g.policy.For(name)), wall, now)
			hs.Refusals = reasons
			s.Hosts = append(s.Hosts, hs)
		}
	}
	slices.SortFunc(s.Hosts, func(a, b HostStatus) int { return strings.Compare(a.Host, b.Host) })
	return s
}

func (g *Governor) hostStatus(h *host, wall time.Time, now tick) HostStatus {
	s := HostStatus{
		Host: h.name, Interactions: int(h.interactions), Total: int(h.total),
		InteractionsLeft: rest(h.policy.HostInteractions, int(h.interactions)),
		TotalLeft:        rest(h.policy.HostTotal, int(h.total)),
		Level:            h.inter.level(now), Rate: h.inter.rate() * 60,
		SubLevel: h.sub.level(now), SubRate: h.sub.rate() * 60,
		Waiting: h.inter.waiting(), SubWaiting: h.sub.waiting(),
		CrawlDelay: h.delay.Seconds(), Challenged: h.challenged, Paused: g.pausedAt[h.name],
	}
	if h.closed > now {
		until := wall.Add(h.closed.sub(now))
		s.ClosedUntil = &until
	}
	return s
}

func rest(limit, spent int) int {
	if limit <= 0 {
		return -1
	}
	return max(0, limit-spent)
}

// refusalCounts counts refusals by reason, and by host for the first few thousand.
//
// The Governor's mutex guards it.
type refusalCounts struct {
	total  map[Reason]int64
	byHost map[refusalKey]int64
}

type refusalKey struct {
	host   string
	reason Reason
}

const refusalHosts = 4096

func (c *refusalCounts) add(host string, r Reason) {
	if c.total == nil {
		c.total, c.byHost = map[Reason]int64{}, map[refusalKey]int64{}
	}
	c.total[r]++
	k := refusalKey{strings.Clone(host), r}
	if _, ok := c.byHost[k]; ok || len(c.byHost) < refusalHosts {
		c.byHost[k]++
	}
}
