package governor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"browsergovernor/actions"
)

// setting is one key of a policy file. Everything that knows about keys, the
// file, the environment, flags, the template and the reference, works from the
// list that [settings] returns.
type setting struct {
	path   string // "caps.total"
	values string // what may stand there, for people
	doc    string // one line
	list   bool   // the value is a list of texts

	// get returns the value as it stands in a file, without quotes; set reads it
	// from there. Elements of a list are parted by commas.
	get func(*Policy) string
	set func(*Policy, string) error

	// check returns what is expected instead of the value, "" when it is fine.
	check func(*Policy) string
}

// Limits of what makes sense in a policy. They catch slips like a day written
// for a second, not wishes.
const (
	maxWaiting = time.Hour
	maxCount   = 1_000_000_000
	maxRetries = 20
)

// Risks that a policy must accept by name in i_accept.
const (
	RobotsOffRisk   = "robots_off"
	IdentityOffRisk = "identity_off"
)

// settings lists every key but hosts, in the order of the template.
func settings() []setting {
	return []setting{
		numberKey("version", "format of this file; 1", func(p *Policy) *int { return &p.Version }, 1, 1),

		textKey("agent.name", "a product, with or without version", "who visits: stands in the User-Agent of every request", func(p *Policy) *string { return &p.Agent.Name },
			func(s string) string {
				if !productName(s) {
					return "expected a product like ResearchBot/1.0 (letters, digits and dashes, no blanks)"
				}
				return ""
			}),
		textKey("agent.contact", "a URL or an e-mail address", "where site operators reach you; without it only loopback hosts are visited", func(p *Policy) *string { return &p.Agent.Contact },
			func(s string) string {
				if s != "" && !contactable(s) {
					return "expected a URL like https://example.com/bot or an e-mail address like bot@example.com"
				}
				return ""
			}),
		textKey("agent.robots_token", "letters, - and _", "name looked for in robots.txt; empty: agent.name up to the version", func(p *Policy) *string { return &p.Agent.RobotsToken },
			func(s string) string {
				for i := range len(s) {
					if !robotsTokenByte(s[i]) {
						return "expected letters, - and _ only, like ResearchBot"
					}
				}
				return ""
			}),

		listKey("schemes", "schemes", "what may be opened; file: and the browser's own chrome: and devtools: are not, unless named", func(p *Policy) *[]string { return &p.Schemes }, schemeProblem),
		listKey("deny", strings.Join(deniableKinds(), ", "), "kinds of action that are refused on every host", func(p *Policy) *[]string { return &p.Deny },
			func(s string) string {
				if !slices.Contains(deniableKinds(), s) {
					return "expected " + oneOf(deniableKinds()) + didYouMean(s, deniableKinds())
				}
				return ""
			}),

		listKey("navigations.allow", "hosts", "hosts whose documents a tab may show, by whatever way it gets there; empty: all", func(p *Policy) *[]string { return &p.Navigations.Allow }, hostPatternProblem),
		listKey("navigations.deny", "hosts", "hosts whose documents it may not show; wins over allow", func(p *Policy) *[]string { return &p.Navigations.Deny }, hostPatternProblem),

		rateKey("interactions.rate", "navigations, clicks, taps and activating keys, on average, on each host", func(p *Policy) *RateLimit { return &p.Interactions.Rate }),
		numberKey("interactions.burst", "as many at once after a rest", func(p *Policy) *int { return &p.Interactions.Burst }, 1, maxCount),
		rateKey("subresources.rate", "everything pages load for themselves, on average, on each host", func(p *Policy) *RateLimit { return &p.Subresources.Rate }),
		numberKey("subresources.burst", "as many at once after a rest", func(p *Policy) *int { return &p.Subresources.Burst }, 1, maxCount),
		listKey("subresources.allow", "hosts", "hosts that pages may load from, frames and WebSockets included; empty: all", func(p *Policy) *[]string { return &p.SubresourceHosts.Allow }, hostPatternProblem),
		listKey("subresources.deny", "hosts", "hosts that pages may not load from; wins over allow", func(p *Policy) *[]string { return &p.SubresourceHosts.Deny }, hostPatternProblem),

		durationKey("jitter.min", "least random extra wait of an interaction; spares servers a fixed beat", func(p *Policy) *time.Duration { return &p.Jitter.Min }, 0, maxWaiting),
		durationKey("jitter.max", "most random extra wait; 0s for none", func(p *Policy) *time.Duration { return &p.Jitter.Max }, 0, maxWaiting),

		numberKey("caps.interactions", "interactions a day, all hosts together; 0: no limit", func(p *Policy) *int { return &p.Caps.Interactions }, 0, maxCount),
		numberKey("caps.total", "actions a day, all hosts, sub-resources included; 0: no limit", func(p *Policy) *int { return &p.Caps.Total }, 0, maxCount),
		numberKey("caps.host_interactions", "interactions a day on each host; 0: no limit", func(p *Policy) *int { return &p.Caps.HostInteractions }, 0, maxCount),
		numberKey("caps.host_total", "actions a day on each host, sub-resources included; 0: no limit", func(p *Policy) *int { return &p.Caps.HostTotal }, 0, maxCount),
		textKey("caps.time_zone", "an IANA name, or UTC", "whose midnight begins a new day", func(p *Policy) *string { return &p.Caps.TimeZone },
			func(s string) string {
				if _, err := time.LoadLocation(s); err != nil || s == "Local" {
					return "expected an IANA time zone like Europe/Berlin, or UTC"
				}
				return ""
			}),

		durationKey("hold.click", "longest wait of a click; then it passes and the next navigation pays", func(p *Policy) *time.Duration { return &p.Hold.Click }, 0, maxWaiting),
		durationKey("hold.navigation", "longest wait of a navigation before it is refused", func(p *Policy) *time.Duration { return &p.Hold.Navigation }, 0, maxWaiting),
		durationKey("hold.known_client", "the same for clients known to wait longer: Playwright, Puppeteer, browser-use", func(p *Policy) *time.Duration { return &p.Hold.KnownClient }, 0, maxWaiting),
		durationKey("hold.subresource", "longest wait of a sub-resource before it is refused", func(p *Policy) *time.Duration { return &p.Hold.Subresource }, 0, maxWaiting),

		choiceKey("robots.mode", "strict: RFC 9309, and 401, 403, 429 deny; rfc: to the letter; warn: log only; off: not fetched", func(p *Policy) *RobotsMode { return &p.Robots.Mode }, RobotsStrict, RobotsRFC, RobotsWarn, RobotsOff),
		durationKey("robots.max_crawl_delay", "sites that ask for a longer crawl-delay are refused; 0s: none is", func(p *Policy) *time.Duration { return &p.Robots.MaxCrawlDelay }, 0, 24*time.Hour),
		listKey("robots.skip_hosts", "hosts", "hosts of your own whose robots.txt is not asked for", func(p *Policy) *[]string { return &p.Robots.SkipHosts }, hostPatternProblem),

		durationKey("backoff.base", "first wait after 429 or 503 when the server names none; doubles each time", func(p *Policy) *time.Duration { return &p.Backoff.Base }, time.Millisecond, maxWaiting),
		durationKey("backoff.max", "longest wait after which the browser tries again by itself", func(p *Policy) *time.Duration { return &p.Backoff.Max }, time.Millisecond, 24*time.Hour),
		numberKey("backoff.retries", "tries of one navigation after the first", func(p *Policy) *int { return &p.Backoff.Retries }, 0, maxRetries),

		choiceKey("identity", "on: every request carries the agent's name", func(p *Policy) *Switch { return &p.Identity }, On, Off),
		choiceKey("service_workers", "refuse: pages may not install them, since some of their requests cannot be held; allow: counted afterwards", func(p *Policy) *ServiceWorkers { return &p.ServiceWorkers }, RefuseServiceWorkers, AllowServiceWorkers),
		choiceKey("http2", "refuse: Chrome speaks HTTP/1.1, since nobody sees what early hints (103) over HTTP/2 make it ask for; allow: that escapes, from hosts that were admitted", func(p *Policy) *HTTP2 { return &p.HTTP2 }, RefuseHTTP2, AllowHTTP2),
		numberKey("max_denials", "the same refused action this many times in a row is a repeated denial; 0: never", func(p *Policy) *int { return &p.MaxDenials }, 0, maxCount),
		numberKey("max_queue", "actions that may wait for one host", func(p *Policy) *int { return &p.MaxQueue }, 1, maxCount),

		choiceKey("log.fsync", "when the log is forced to the disk: interval (every second), always (before each action), never", func(p *Policy) *string { return &p.Log.Fsync }, FsyncInterval, FsyncAlways, FsyncNever),
		textKey("log.dir", "a directory", "where the log is written, one file a day", func(p *Policy) *string { return &p.Log.Dir },
			func(s string) string {
				if s == "" || strings.ContainsRune(s, 0) {
					return "expected a directory"
				}
				return ""
			}),

		listKey("i_accept", "robots_off, identity_off", "second key for each protection switched off: robots.mode warn or off, identity off", func(p *Policy) *[]string { return &p.AcceptedRisks },
			func(s string) string {
				if s != RobotsOffRisk && s != IdentityOffRisk {
					return "expected " + oneOf([]string{RobotsOffRisk, IdentityOffRisk})
				}
				return ""
			}),
	}
}

// deniableKinds are the kinds that deny may list.
func deniableKinds() []string {
	var names []string
	for _, k := range actions.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// schemeProblem returns what is expected of an element of schemes, "" when it is fine.
func schemeProblem(s string) string {
	if s == "" || actions.Scheme(s+":") != s {
		return "expected a scheme in lower case and without its colon, like https"
	}
	return ""
}

// ruleSetting is one key of an entry of hosts.
type ruleSetting struct {
	path, values, doc string
	set               func(*HostRule, string) error
}

// ruleSettings lists the keys of an entry of hosts.
func ruleSettings() []ruleSetting {
	bucket := func(b **Bucket) *Bucket {
		if *b == nil {
			*b = &Bucket{}
		}
		return *b
	}
	count := func(n **int, s string) error {
		v, err := parseNumber(s)
		*n = &v
		return err
	}
	return []ruleSetting{
		{"match", "a host", `which hosts: shop.example (any port), 127.0.0.1:8080, "*.example" (below it, not itself), "*"`, func(r *HostRule, s string) error {
			r.Match = s
			return nil
		}},
		{"deny", "true, false", "true: refuse every action on them", func(r *HostRule, s string) (err error) {
			r.Deny, err = parseBool(s)
			return err
		}},
		{"interactions.rate", "a rate", "instead of interactions.rate", func(r *HostRule, s string) error { return parseRate(&bucket(&r.Interactions).Rate, s) }},
		{"interactions.burst", "a number", "instead of interactions.burst", func(r *HostRule, s string) error { return parseBurst(&bucket(&r.Interactions).Burst, s) }},
		{"subresources.rate", "a rate", "instead of subresources.rate", func(r *HostRule, s string) error { return parseRate(&bucket(&r.Subresources).Rate, s) }},
		{"subresources.burst", "a number", "instead of subresources.burst", func(r *HostRule, s string) error { return parseBurst(&bucket(&r.Subresources).Burst, s) }},
		{"host_interactions", "a number", "instead of caps.host_interactions", func(r *HostRule, s string) error { return count(&r.HostInteractions, s) }},
		{"host_total", "a number", "instead of caps.host_total", func(r *HostRule, s string) error { return count(&r.HostTotal, s) }},
	}
}

func textKey(path, values, doc string, field func(*Policy) *string, problem func(string) string) setting {
	return setting{
		path: path, values: values, doc: doc,
		get:   func(p *Policy) string { return *field(p) },
		set:   func(p *Policy, s string) error { *field(p) = s; return nil },
		check: func(p *Policy) string { return problem(*field(p)) },
	}
}

func listKey(path, values, doc string, field func(*Policy) *[]string, problem func(string) string) setting {
	return setting{
		path: path, values: "list: " + values, doc: doc, list: true,
		get: func(p *Policy) string { return strings.Join(*field(p), ",") },
		set: func(p *Policy, s string) error {
			var list []string
			for _, e := range strings.Split(s, ",") {
				if e = strings.TrimSpace(e); e != "" {
					list = append(list, e)
				}
			}
			*field(p) = list
			return nil
		},
		check: func(p *Policy) string {
			for _, s := range *field(p) {
				if problem := problem(s); problem != "" {
					return fmt.Sprintf("%q: %s", s, problem)
				}
			}
			return ""
		},
	}
}

func numberKey(path, doc string, field func(*Policy) *int, least, most int) setting {
	values := "a number"
	if least == most {
		values = strconv.Itoa(least)
	}
	return setting{
		path: path, values: values, doc: doc,
		get: func(p *Policy) string { return strconv.Itoa(*field(p)) },
		set: func(p *Policy, s string) (err error) { *field(p), err = parseNumber(s); return err },
		check: func(p *Policy) string {
			switch n := *field(p); {
			case n >= least && n <= most:
				return ""
			case least == most:
				return fmt.Sprintf("expected %d, not %d", least, n)
			default:
				return fmt.Sprintf("expected %d to %d, not %d", least, most, n)
			}
		},
	}
}

func rateKey(path, doc string, field func(*Policy) *RateLimit) setting {
	return setting{
		path: path, values: "a rate", doc: doc,
		get:   func(p *Policy) string { return field(p).String() },
		set:   func(p *Policy, s string) error { return parseRate(field(p), s) },
		check: func(p *Policy) string { return rateProblem(*field(p)) },
	}
}

func durationKey(path, doc string, field func(*Policy) *time.Duration, least, most time.Duration) setting {
	return setting{
		path: path, values: "a duration", doc: doc,
		get: func(p *Policy) string { return shortDuration(*field(p)) },
		set: func(p *Policy, s string) error {
			d, err := time.ParseDuration(s)
			if err != nil {
				return fmt.Errorf("expected a duration like 2.5s, 500ms or 2m, not %q", s)
			}
			*field(p) = d
			return nil
		},
		check: func(p *Policy) string {
			if d := *field(p); d < least || d > most {
				return fmt.Sprintf("expected %s to %s, not %s", shortDuration(least), shortDuration(most), shortDuration(d))
			}
			return ""
		},
	}
}

func choiceKey[T ~string](path, doc string, field func(*Policy) *T, values ...T) setting {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return setting{
		path: path, values: strings.Join(names, ", "), doc: doc,
		get: func(p *Policy) string { return string(*field(p)) },
		set: func(p *Policy, s string) error { *field(p) = T(s); return nil },
		check: func(p *Policy) string {
			if s := string(*field(p)); !slices.Contains(names, s) {
				return fmt.Sprintf("expected %s, not %q%s", oneOf(names), s, didYouMean(s, names))
			}
			return ""
		},
	}
}

// shortDuration writes a duration without the zeros at its end: 2m, not 2m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("expected a whole number, not %q", s)
	}
	return n, nil
}

func parseBool(s string) (bool, error) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("expected true or false, not %q", s)
}

func parseRate(r *RateLimit, s string) (err error) {
	*r, err = ParseRate(s)
	return err
}

// parseBurst reads the burst of an exception, where 0 would mean left out.
func parseBurst(n *int, s string) (err error) {
	if *n, err = parseNumber(s); err == nil && *n < 1 {
		return fmt.Errorf("expected 1 or more, not %d", *n)
	}
	return err
}

func rateProblem(r RateLimit) string {
	if !(r > 0) || r > maxRate {
		return fmt.Sprintf("expected a rate of more than 0 and at most %s", maxRate)
	}
	return ""
}
