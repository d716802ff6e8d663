package governor

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor/robots"
)

// permitted is the first step: what the operator and the policy say. It knows
// nothing of sites and needs no budget.
func (g *Governor) permitted(a *actions.Action, host string) *denial {
	g.mu.Lock()
	if no := g.stopped(host); no != nil {
		g.mu.Unlock()
		return no
	}
	h := g.hosts.get(host)
	vetted := host == "" || h != nil && h.vetted
	g.mu.Unlock()

	if a.Kind == "" {
		return &denial{reason: PolicyDenied, what: "an action without a kind is not allowed"}
	}
	if no := g.where.kind(a); no != nil {
		return no
	}
	if !pressed(a.Kind) {
		if no := g.wrongScheme(a, host); no != nil {
			return no
		}
		if no := g.where.host(a, host); no != nil {
			return no
		}
	}
	if vetted { // permitted before, and the policy never changes
		return nil
	}
	if i := g.policy.ruleFor(host); i >= 0 && g.policy.Hosts[i].Deny {
		rule := fmt.Sprintf("hosts: deny %q", clean(g.policy.Hosts[i].Match, 40)) + g.policy.placeOf(fmt.Sprintf("hosts[%d]", i))
		return &denial{reason: PolicyDenied, what: "the policy denies every action on " + clean(host, 40) + ", see " + rule, rule: rule}
	}
	if err := g.policy.NeedsContact(host); err != nil {
		return &denial{reason: PolicyDenied, what: "the policy names no contact (" + clean(err.Error(), 110) + ")", rule: "agent.contact is required"}
	}
	return nil
}

// pressed reports whether k is an input. Inputs ask no host for anything by
// themselves; what they cause is judged when it happens.
func pressed(k actions.Kind) bool {
	return k == actions.Click || k == actions.Tap || k == actions.Key || k == actions.Upload
}

func (g *Governor) wrongScheme(a *actions.Action, host string) *denial {
	if !g.where.scheme(a.URL) {
		return g.policy.schemeDenial(a)
	}
	scheme, _, ok := strings.Cut(a.URL, ":")
	if ok {
		switch strings.ToLower(scheme) {
		case "http", "https":
			ok = a.Kind != actions.WebSocket || host != ""
		case "ws", "wss":
			ok = a.Kind == actions.WebSocket
		default:
			ok = false
		}
	}
	if !ok {
		return &denial{reason: PolicyDenied, what: "only http and https reach a server, not " + said(a.URL), rule: "scheme"}
	}
	if host == "" {
		return &denial{reason: PolicyDenied, what: "no host in the URL " + said(a.URL), rule: "host"}
	}
	return nil
}

// stopped refuses what the operator stopped. The mutex is held.
func (g *Governor) stopped(host string) *denial {
	switch {
	case g.closed:
		return &denial{reason: Paused, what: "the governor is shutting down"}
	case g.paused:
		return &denial{reason: Paused, what: "everything is paused by the operator until resumed"}
	case len(g.pausedAt) > 0 && g.pausedAt[host]:
		return &denial{reason: Paused, what: short(host) + " is paused by the operator until resumed"}
	}
	return nil
}

// siteRules is what a site's robots.txt says about one action.
type siteRules struct {
	known bool          // robots.txt was asked
	delay time.Duration // crawl-delay; 0: none
	rule  string        // what would have refused, where it is only written down
}

// askSite is the second step: robots.txt, of navigations and of each hop and
// each further try.
func (g *Governor) askSite(ctx context.Context, a *actions.Action, host string) (siteRules, *denial) {
	if a.Kind != actions.Navigation || g.robots == nil || g.policy.SkipsRobots(host) {
		return siteRules{}, nil
	}
	v, cached := g.robots.Cached(a.URL)
	if !cached {
		// A closed host is not asked for its robots.txt either, nor is one
		// asked when no budget is left for the page.
		if no := g.closedFor(ctx, a, host); no != nil {
			return siteRules{}, no
		}
		v = g.fetchRules(ctx, a)
	}
	site, no := siteRules{known: true}, (*denial)(nil)
	switch {
	case v.Unavailable && ctx.Err() != nil:
		no = abandoned()
	case v.Unavailable:
		no = g.unavailable(host, v)
	case !v.Allow:
		no = &denial{reason: RobotsDisallowed, what: robotsWords(a.URL, v), rule: v.Text()}
	}
	if v.HasDelay {
		site.delay = v.Delay
		if limit := g.policy.Robots.MaxCrawlDelay; no == nil && limit > 0 && v.Delay > limit {
			no = &denial{
				reason: CrawlDelayTooLong,
				what:   fmt.Sprintf("robots.txt of %s asks for %d s between requests, the policy waits %d s at most", short(host), seconds(v.Delay), seconds(limit)),
				rule:   fmt.Sprintf("Crawl-delay: %g (%s)", v.Delay.Seconds(), v.RobotsURL),
			}
		}
	}
	if no != nil && g.policy.Robots.Mode == RobotsWarn && no.reason != Abandoned {
		site.rule = string(no.reason) + ", only written down: " + no.rule
		if no.reason == CrawlDelayTooLong {
			site.delay = 0
		}
		no = nil
	}
	return site, no
}

// fetchRules asks the site for its robots.txt, for as long as a may be held: a
// server that hangs must not hold an action longer than a full bucket may. The
// time it takes is taken off the hold that is left for the bucket. The fetch
// goes on, so that the next action finds its answer.
func (g *Governor) fetchRules(ctx context.Context, a *actions.Action) robots.Verdict {
	hold, _ := g.hold(ctx, a)
	if hold < 0 {
		return g.robots.Check(ctx, a.URL)
	}
	began := g.steady()
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	v := g.robots.Check(ctx, a.URL)
	a.Hold = max(hold-g.steady().sub(began), time.Nanosecond)
	return v
}

// steady is the time on the clock that measures waits.
func (g *Governor) steady() tick {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, now := g.tell()
	return now
}

// unavailable explains why robots.txt could not be read. When the governor
// itself refused the fetch, its reason is the navigation's reason.
func (g *Governor) unavailable(host string, v robots.Verdict) *denial {
	after := v.RetryAfter
	g.mu.Lock()
	r := g.fetchRefused[host]
	if h := g.hosts.get(host); h != nil {
		_, now := g.clock.read()
		after = max(after, h.closed.sub(now))
	}
	g.mu.Unlock()
	if r != nil && r.Reason != Abandoned {
		what, _, _ := strings.Cut(strings.TrimPrefix(r.Sentence, sentencePrefix), ";")
		return &denial{reason: r.Reason, what: what, rule: r.Rule, after: max(after, r.RetryAfter)}
	}
	what := "robots.txt of " + short(host) + " cannot be read, so nothing there is known to be allowed"
	return &denial{reason: RobotsUnavailable, what: what, rule: v.Text(), after: after}
}

func robotsWords(rawURL string, v robots.Verdict) string {
	path := rawURL
	if u, err := url.Parse(rawURL); err == nil {
		path = u.EscapedPath()
	}
	if v.Rule == "" {
		return "robots.txt forbids " + clean(path, 40) + " (" + clean(v.Text(), 100) + ")"
	}
	return "robots.txt forbids " + clean(path, 40) + " (" + clean(v.Rule, 40) + ", line " +
		fmt.Sprint(v.Line) + " of " + clean(v.RobotsURL, 50) + ")"
}

func abandoned() *denial {
	return &denial{reason: Abandoned, what: "whoever asked went away while the action was held"}
}
