package governor

import (
	"fmt"
	"slices"
	"strings"

	"browsergovernor/actions"
)

// HostPolicy is what the policy says about one host, every exception applied.
// It is comparable, so that hosts with the same rules can share one.
type HostPolicy struct {
	Deny             bool // refuse every action
	Interactions     Bucket
	Subresources     Bucket
	HostInteractions int // a day; 0 means no limit
	HostTotal        int // a day; 0 means no limit
}

// For returns what holds for a host, named as [actions.Host] names it. The first
// rule of Hosts that matches counts; what it leaves out is the policy's own.
func (p Policy) For(host string) HostPolicy {
	h := HostPolicy{
		Interactions:     p.Interactions,
		Subresources:     p.Subresources,
		HostInteractions: p.Caps.HostInteractions,
		HostTotal:        p.Caps.HostTotal,
	}
	if i := p.ruleFor(host); i >= 0 {
		r := &p.Hosts[i]
		h.Deny = r.Deny
		h.Interactions = h.Interactions.or(r.Interactions)
		h.Subresources = h.Subresources.or(r.Subresources)
		if r.HostInteractions != nil {
			h.HostInteractions = *r.HostInteractions
		}
		if r.HostTotal != nil {
			h.HostTotal = *r.HostTotal
		}
	}
	return h
}

// ruleFor returns the place in Hosts of the rule that counts for a host, or -1.
func (p *Policy) ruleFor(host string) int {
	return slices.IndexFunc(p.Hosts, func(r HostRule) bool { return matchHost(r.Match, host) })
}

// or returns b with the fields that an exception sets. A rate and a burst of 0
// are not possible, so 0 means left out.
func (b Bucket) or(exception *Bucket) Bucket {
	if exception == nil {
		return b
	}
	if exception.Rate != 0 {
		b.Rate = exception.Rate
	}
	if exception.Burst != 0 {
		b.Burst = exception.Burst
	}
	return b
}

// NeedsContact returns an error when a host may not be visited because the
// policy names nobody whom its operator could reach. Hosts of this machine need
// no contact.
func (p Policy) NeedsContact(host string) error {
	if p.Agent.Contact != "" || actions.Loopback(host) {
		return nil
	}
	return fmt.Errorf("agent.contact: set a URL or an e-mail address to visit %s", host)
}

// SkipsRobots reports whether robots.txt of a host is not asked for because
// robots.skip_hosts names it.
func (p Policy) SkipsRobots(host string) bool {
	for _, pattern := range p.Robots.SkipHosts {
		if matchHost(pattern, host) {
			return true
		}
	}
	return false
}

// matchHost reports whether a host, with or without port, is meant by a pattern:
// "shop.example" (any port), "shop.example:8080", "*.example" (every name below
// example, not example itself), "*".
func matchHost(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	if _, port := cutPort(pattern); port == "" {
		host, _ = cutPort(host)
	}
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		return len(host) > len(suffix) && strings.HasSuffix(host, suffix)
	}
	return pattern == host
}

// cutPort takes the port off a host.
func cutPort(host string) (name, port string) {
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		return host[:i], host[i+1:]
	}
	return host, ""
}

// hostPatternProblem returns what is expected of a pattern, "" when it is fine.
func hostPatternProblem(pattern string) string {
	if pattern == "*" {
		return ""
	}
	name := strings.TrimPrefix(pattern, "*.")
	if name == "" || strings.Contains(name, "*") {
		return `expected a host like shop.example, 127.0.0.1:8080, "*.example" or "*"`
	}
	if _, port := cutPort(name); port == "80" || port == "443" {
		return "expected no port 80 or 443: a host stands without the port of its scheme"
	}
	switch canonical := actions.Host("http://" + name); {
	case canonical == "" || strings.ContainsAny(name, `/\@?#`):
		return "expected a host, not a URL, and no blanks"
	case canonical != name:
		return "expected it as a browser writes it: " + strings.TrimSuffix(pattern, name) + canonical
	}
	return ""
}
