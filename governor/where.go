package governor

import (
	"fmt"
	"slices"
	"strings"

	"browsergovernor/actions"
)

// where is what the policy says about schemes, kinds and hosts, made ready for
// the hot path. It is immutable.
type where struct {
	policy                    *Policy
	navigations, subresources lists
	kinds                     map[actions.Kind]int // place in deny
	http, https               bool                 // the two schemes of nearly everything
}

// lists are one pair of allow and deny.
type lists struct {
	section     string // "navigations"
	allow, deny hostSet
}

func newWhere(p *Policy) where {
	w := where{
		policy:       p,
		navigations:  lists{"navigations", newHostSet(p.Navigations.Allow), newHostSet(p.Navigations.Deny)},
		subresources: lists{"subresources", newHostSet(p.SubresourceHosts.Allow), newHostSet(p.SubresourceHosts.Deny)},
		kinds:        map[actions.Kind]int{},
		http:         slices.Contains(p.Schemes, "http"),
		https:        slices.Contains(p.Schemes, "https"),
	}
	for i, k := range p.Deny {
		if _, again := w.kinds[actions.Kind(k)]; !again {
			w.kinds[actions.Kind(k)] = i
		}
	}
	return w
}

// scheme reports what [Policy.AllowsScheme] does, sooner.
func (w *where) scheme(rawURL string) bool {
	return w.https && strings.HasPrefix(rawURL, "https:") || w.http && strings.HasPrefix(rawURL, "http:") || w.policy.AllowsScheme(rawURL)
}

// kind refuses what deny lists. A fetch of robots.txt is no sub-resource of a
// page: without it no page could be asked for.
func (w *where) kind(a *actions.Action) *denial {
	if len(w.kinds) == 0 || a.Cause == robotsCause {
		return nil
	}
	i, ok := w.kinds[a.Kind]
	if !ok {
		return nil
	}
	rule := w.policy.rule("deny", i, string(a.Kind))
	return &denial{reason: PolicyDenied, what: "the policy allows no " + string(a.Kind) + ", see " + rule, rule: rule}
}

// host refuses what the lists of hosts do not allow: deny wins, and an allow
// list that names anything allows nothing else. A fetch of robots.txt is judged
// as the navigation it is for.
func (w *where) host(a *actions.Action, host string) *denial {
	l := &w.subresources
	if a.Kind == actions.Navigation || a.Cause == robotsCause {
		l = &w.navigations
	}
	if i := l.deny.find(host); i >= 0 {
		rule := w.policy.rule(l.section+".deny", i, w.policy.hostList(l.section).Deny[i])
		return &denial{reason: PolicyDenied, what: rule + " denies " + short(host), rule: rule}
	}
	if l.allow.size > 0 && l.allow.find(host) < 0 {
		rule := l.section + ".allow" + w.policy.placeOf(l.section+".allow")
		return &denial{reason: PolicyDenied, what: rule + " does not name " + short(host), rule: rule}
	}
	return nil
}

// hostList returns the lists of a section.
func (p *Policy) hostList(section string) *HostLists {
	if section == "navigations" {
		return &p.Navigations
	}
	return &p.SubresourceHosts
}

// rule names an element of a list and where it stands:
// navigations.deny "*.example" (policy.yaml line 12).
func (p *Policy) rule(key string, i int, value string) string {
	return key + " " + fmt.Sprintf("%q", clean(value, 40)) + p.placeOf(fmt.Sprintf("%s[%d]", key, i))
}

// AllowsScheme reports whether schemes lists the scheme of an address, as a
// browser reads it. view-source: is judged as what it shows. An address without
// scheme and javascript: ask nobody for anything and are always allowed; what a
// script then asks for is judged.
func (p *Policy) AllowsScheme(rawURL string) bool {
	scheme := actions.Scheme(rawURL)
	return scheme == "" || scheme == "javascript" || slices.Contains(p.Schemes, scheme)
}

// schemeRule names the list that an address fails.
func (p *Policy) schemeRule() string { return "schemes" + p.placeOf("schemes") }

func (p *Policy) schemeDenial(a *actions.Action) *denial {
	scheme := clean(actions.Scheme(a.URL), 20)
	rule := p.schemeRule()
	return &denial{reason: PolicyDenied, what: rule + " does not name " + scheme + ", " + said(cutQuery(a.URL)), rule: rule}
}

// cutQuery leaves the part of an address away that may hold what somebody typed.
func cutQuery(rawURL string) string {
	if i := strings.IndexAny(rawURL, "?#"); i >= 0 {
		return rawURL[:i]
	}
	return rawURL
}
