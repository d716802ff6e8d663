package governor

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a policy.
type Problem struct {
	Line   int    // in the file, from 1; 0 when the policy comes from no file
	Column int    // in the file, from 1
	Key    string // "caps.total", "hosts[0].match"; "" for the file as a whole
	Text   string // what is expected
}

// PolicyError is everything that is wrong with a policy.
type PolicyError struct {
	File     string // "" when the policy comes from no file
	Problems []Problem
}

// Error returns one line for each problem, "FILE:LINE:COLUMN: key: what is expected".
func (e *PolicyError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		where := ""
		switch {
		case p.Line > 0:
			where = fmt.Sprintf("%s:%d:%d: ", e.File, p.Line, p.Column)
		case e.File != "":
			where = e.File + ": "
		default:
			where = "policy: "
		}
		if p.Key != "" {
			where += p.Key + ": "
		}
		lines[i] = where + p.Text
	}
	return strings.Join(lines, "\n")
}

// Validate returns a [*PolicyError] with everything that is impossible or
// contradictory in the policy, and with every protection that is switched off
// without the second key in i_accept. It returns nil when the policy can be used.
func (p Policy) Validate() error {
	if problems := p.problems(); len(problems) > 0 {
		return &PolicyError{Problems: problems}
	}
	return nil
}

// problems lists what is wrong, key by key and then between keys.
func (p *Policy) problems() []Problem {
	var list []Problem
	add := func(key, format string, args ...any) {
		list = append(list, Problem{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	for _, s := range settings() {
		if text := s.check(p); text != "" {
			add(s.path, "%s", text)
		}
	}
	if p.Agent.RobotsToken == "" && productName(p.Agent.Name) && p.Agent.Token() == "" {
		add("agent.robots_token", "expected a name for robots.txt, since agent.name %q begins with none", p.Agent.Name)
	}
	if p.Jitter.Min > p.Jitter.Max {
		add("jitter.min", "expected at most jitter.max (%s), not %s", shortDuration(p.Jitter.Max), shortDuration(p.Jitter.Min))
	}
	if p.Backoff.Base > p.Backoff.Max {
		add("backoff.base", "expected at most backoff.max (%s), not %s", shortDuration(p.Backoff.Max), shortDuration(p.Backoff.Base))
	}
	if m := p.Robots.Mode; (m == RobotsWarn || m == RobotsOff) && !p.accepts(RobotsOffRisk) {
		add("robots.mode", "%s switches a protection off: expected i_accept: [%s] with it", m, RobotsOffRisk)
	}
	if slices.Contains(p.Robots.SkipHosts, "*") && !p.accepts(RobotsOffRisk) {
		add("robots.skip_hosts", `"*" switches a protection off: expected i_accept: [%s] with it`, RobotsOffRisk)
	}
	if p.Identity == Off && !p.accepts(IdentityOffRisk) {
		add("identity", "off switches a protection off: expected i_accept: [%s] with it", IdentityOffRisk)
	}
	p.ruleProblems(add)
	return list
}

// ruleProblems lists what is wrong with the entries of hosts.
func (p *Policy) ruleProblems(add func(key, format string, args ...any)) {
	seen := map[string]int{}
	for i := range p.Hosts {
		r := &p.Hosts[i]
		key := func(name string) string { return fmt.Sprintf("hosts[%d].%s", i, name) }
		if text := hostPatternProblem(r.Match); text != "" {
			add(key("match"), "%s", text)
		}
		if first, ok := seen[r.Match]; ok {
			add(key("match"), "expected another host: hosts[%d] matches %q first", first, r.Match)
		} else if first, ok := seen["*"]; ok {
			add(key("match"), `expected before hosts[%d], which matches "*" first`, first)
		}
		if _, ok := seen[r.Match]; !ok {
			seen[r.Match] = i
		}
		for _, b := range []struct {
			name   string
			bucket *Bucket
		}{{"interactions", r.Interactions}, {"subresources", r.Subresources}} {
			if b.bucket == nil {
				continue
			}
			if b.bucket.Rate != 0 {
				if text := rateProblem(b.bucket.Rate); text != "" {
					add(key(b.name+".rate"), "%s", text)
				}
			}
			if n := b.bucket.Burst; n < 0 || n > maxCount {
				add(key(b.name+".burst"), "expected 1 to %d, not %d", maxCount, n)
			}
		}
		for _, c := range []struct {
			name  string
			count *int
		}{{"host_interactions", r.HostInteractions}, {"host_total", r.HostTotal}} {
			if c.count != nil && (*c.count < 0 || *c.count > maxCount) {
				add(key(c.name), "expected 0 to %d, not %d", maxCount, *c.count)
			}
		}
	}
}

// accepts reports whether the operator has named a risk.
func (p *Policy) accepts(risk string) bool { return slices.Contains(p.AcceptedRisks, risk) }

// oneOf writes alternatives: "strict, rfc or off".
func oneOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// didYouMean returns a hint when one of the names is nearly s, "" otherwise.
func didYouMean(s string, names []string) string {
	best, least := "", 3 // more than two slips is another word
	for _, name := range names {
		if d := slips(strings.ToLower(s), name); d < least && d < len(name)/2+1 {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// slips counts the letters to add, drop or change to make a into b.
func slips(a, b string) int {
	if max(len(a), len(b)) > 100 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// SwitchedOff names the protections that the policy switches off, in words for
// the log. Mostly there are none.
func (p Policy) SwitchedOff() []string {
	var off []string
	if m := p.Robots.Mode; m == RobotsWarn || m == RobotsOff {
		off = append(off, "robots.mode is "+string(m)+": robots.txt refuses nothing")
	}
	if slices.Contains(p.Robots.SkipHosts, "*") {
		off = append(off, `robots.skip_hosts has "*": no robots.txt is asked for`)
	}
	if p.Identity == Off {
		off = append(off, "identity is off: requests do not name the agent")
	}
	if p.ServiceWorkers == AllowServiceWorkers {
		off = append(off, "service_workers is allow: their preload and update requests are not seen")
	}
	if p.HTTP2 == AllowHTTP2 {
		off = append(off, "http2 is allow: what early hints name is asked for unseen")
	}
	return off
}
