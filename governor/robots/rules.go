package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Rules is the part of a File that binds one agent, in order of precedence. It
// is immutable and safe for concurrent use, and keeps nothing of the file's
// text that it does not need.
type Rules struct {
	Group    string        // the name under which the file speaks to the agent: its token, "*", or "" for not at all
	Delay    time.Duration // the longest crawl-delay of the group
	HasDelay bool          // whether there is one: no delay is not a delay of 0

	// DelaySeconds is the delay as the file gives it, also where it is too long
	// for a Duration.
	DelaySeconds float64
	Warnings     []Warning
	Records      []Record

	rules []rule
	bytes int
}

// rule is one allow or disallow line in canonical form.
type rule struct {
	pattern string // canonical, * is the wildcard, without the end mark
	raw     string // as written
	weight  int32  // octets of the rule, what precedence is decided by (RFC 9309 2.2.2)
	length  int32  // octets of the canonical form; a literal $ is one of weight and three of length
	line    int32
	allow   bool
	end     bool // pattern must reach the end of the path
}

// For picks the groups that bind the agent with that product token: all those
// that name it or, when no line does, all those for "*" (RFC 9309 2.2.1). The
// empty token is named nowhere.
func (f *File) For(token string) *Rules {
	r := &Rules{Warnings: f.warnings, Records: f.records}
	for _, name := range f.names {
		if name == "*" {
			r.Group = "*"
		} else if token != "" && strings.EqualFold(name, token) {
			r.Group = token
			break
		}
	}
	if r.Group == "" {
		return r
	}
	for i := range f.groups {
		g, end := f.span(i)
		at := slices.IndexFunc(f.names[g.names:end.names], func(n string) bool { return strings.EqualFold(n, r.Group) })
		if at < 0 {
			continue
		}
		for _, l := range f.lines[g.lines:end.lines] {
			r.rules = append(r.rules, newRule(l))
		}
		for _, d := range f.delays[g.delays:end.delays] {
			if g.names+int32(at) < d.names {
				r.DelaySeconds, r.HasDelay = max(r.DelaySeconds, d.delay), true
				r.Delay = duration(r.DelaySeconds)
			}
		}
	}
	r.order()
	return r
}

func newRule(l ruleLine) rule {
	// The copy lets go of the file's text.
	raw := strings.Clone(l.value)
	pattern, end := strings.CutSuffix(canonicalRule(raw), "$")
	dollars := strings.Count(pattern, "$")
	if dollars > 0 {
		pattern = strings.ReplaceAll(pattern, "$", "%24")
	}
	r := rule{pattern: pattern, raw: raw, line: l.line, allow: l.allow, end: end, length: int32(len(pattern))}
	if end {
		r.length++
	}
	r.weight = r.length - int32(2*dollars)
	return r
}

// order sorts the rules by precedence: the longest first, allow before
// disallow, and drops the copies of a rule. Then the first rule that fits a
// path is the one that decides.
func (r *Rules) order() {
	slices.SortFunc(r.rules, func(a, b rule) int {
		return cmp.Or(
			cmp.Compare(b.weight, a.weight),
			-compareBool(a.allow, b.allow),
			compareBool(a.end, b.end),
			strings.Compare(a.pattern, b.pattern),
			cmp.Compare(a.line, b.line),
		)
	})
	r.rules = slices.CompactFunc(r.rules, func(a, b rule) bool {
		return a.pattern == b.pattern && a.end == b.end && a.allow == b.allow
	})
	r.rules = slices.Clip(r.rules)
	r.bytes = cap(r.rules) * int(unsafe.Sizeof(rule{}))
	for _, l := range r.rules {
		r.bytes += len(l.raw) + len(l.pattern)
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// fits reports whether the rule matches a canonical path: literal pieces in
// this order, the first at the start, the last at the end if the rule says so.
// Leftmost matches suffice, so the cost is linear where backtracking would be
// quadratic and worse. work is lowered by the bytes looked at; below zero the
// answer means nothing.
func (r *rule) fits(path string, work *int) bool {
	piece, rest, star := strings.Cut(r.pattern, "*")
	*work -= 8 + len(piece)
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for star {
		piece, rest, star = strings.Cut(rest, "*")
		*work -= 8 + len(piece)
		if !star && r.end {
			return strings.HasSuffix(path, piece)
		}
		i := strings.Index(path, piece)
		if i < 0 {
			*work -= len(path)
			return false
		}
		*work -= i
		if *work < 0 {
			return false
		}
		path = path[i+len(piece):]
	}
	return !r.end || path == ""
}

// String is the rule as people write it.
func (r *rule) String() string {
	if r.allow {
		return "Allow: " + shown(r.raw)
	}
	return "Disallow: " + shown(r.raw)
}
