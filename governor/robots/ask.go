package robots

import "time"

// Answer is what a robots.txt says about one URL and one agent. The zero value
// refuses.
type Answer struct {
	Allow bool
	Rule  string // the line that decided, "Disallow: /private"; "" when none did
	Line  int    // its number, from 1; 0 when none did
	Group string // name the rules were found under: the agent's token, "*", or "" for no group
	Cause string // why the answer is no although no rule says so; mostly ""

	Delay    time.Duration // crawl-delay of the group
	HasDelay bool          // whether the group has one; 0 is a value

	DelaySeconds float64 // the same, as the file gives it
}

// fitWork is how many bytes of rules and path one question may look at, and
// then it is refused. The worst honest file (500 KiB of wildcard rules, a path
// of 2 KB) needs a quarter of it; all of it takes about 0.2 s.
const fitWork = 128 << 20

// Ask answers for an agent's product token and a URL, or a path that begins
// with "/". URLs that are neither http nor https have no robots.txt and are
// allowed. Callers with many questions keep the [Rules] of [File.For].
func (f *File) Ask(token, rawURL string) Answer { return f.For(token).Ask(rawURL) }

// Ask answers for a URL, or a path that begins with "/".
func (r *Rules) Ask(rawURL string) Answer {
	t, err := splitURL(rawURL)
	if err != nil {
		return Answer{Cause: err.Error() + ": " + shown(rawURL)}
	}
	return r.ask(t)
}

func (r *Rules) ask(t target) Answer {
	a := Answer{Group: r.Group, Delay: r.Delay, HasDelay: r.HasDelay, DelaySeconds: r.DelaySeconds}
	if !t.governed() {
		return Answer{Allow: true}
	}
	if t.isRobotsFile() {
		a.Allow = true
		return a
	}
	candidates, ok := r.candidates(t.path)
	if !ok {
		a.Cause = "too much work to judge this URL"
		return a
	}
	if len(candidates) == 0 {
		a.Allow = true
		return a
	}
	top := candidates[0]
	a.Rule, a.Line = top.String(), int(top.line)
	switch allow, ok := decide(candidates, t.path); {
	case !ok && top.allow:
		a.Cause = "too much work to confirm the allowing rule"
	case !ok: // the disallowing rule stands without it
	case allow != top.allow:
		a.Cause = "the matching engine does not confirm the rule" // a defect of ours: refuse, and let it be seen
	default:
		a.Allow = allow
	}
	return a
}

// candidates are the rules that fit the path, by precedence, at most as many as
// the engine is shown. ok is false when the work is more than is allowed and no
// rule has been found.
func (r *Rules) candidates(path string) (found []*rule, ok bool) {
	work := fitWork
	for i := range r.rules {
		l := &r.rules[i]
		fits := l.fits(path, &work)
		if work < 0 {
			// The rules not looked at weigh less than one found before.
			return found, len(found) > 0
		}
		if fits {
			if found = append(found, l); len(found) == maxCandidates {
				break
			}
		}
	}
	return found, true
}
