package governor_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"browsergovernor/governor"
)

func TestPresets(t *testing.T) {
	for _, name := range governor.Presets() {
		p, err := governor.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if p.Robots.Mode != governor.RobotsStrict || p.Identity != governor.On || len(p.AcceptedRisks) > 0 {
			t.Errorf("%s switches a protection off", name)
		}
	}
	p, _ := governor.Preset("polite")
	if !reflect.DeepEqual(p, governor.DefaultPolicy()) {
		t.Error("polite is not the default")
	}
	// The numbers of the design.
	if p.Interactions.Rate.String() != "12/minute" || p.Interactions.Burst != 2 || p.Subresources != (governor.Bucket{Rate: 10, Burst: 200}) ||
		p.Jitter != (governor.Jitter{Min: 500 * time.Millisecond, Max: 2 * time.Second}) || p.Caps.Interactions != 500 || p.Caps.Total != 20000 ||
		p.Hold.Click != 2500*time.Millisecond || p.Hold.Navigation != 8*time.Second || p.Hold.KnownClient != 25*time.Second || p.MaxDenials != 3 {
		t.Errorf("%+v", p)
	}
	if _, err := governor.Preset("carefull"); err == nil || err.Error() != `preset "carefull": expected polite, careful or harness (did you mean careful?)` {
		t.Errorf("%v", err)
	}
	var zero governor.Policy
	if zero.Validate() == nil {
		t.Error("the zero policy is valid")
	}
}

func TestFor(t *testing.T) {
	p, err := governor.ParsePolicy("p", []byte(`
caps: {host_interactions: 50, host_total: 500}
hosts:
  - {match: "127.0.0.1:8080", deny: true}
  - {match: 127.0.0.1, host_total: 0}
  - match: slow.example
    interactions: {rate: 1/minute}
    subresources: {burst: 5}
  - {match: "*.example", host_interactions: 7}
`))
	if err != nil {
		t.Fatal(err)
	}
	base := governor.HostPolicy{Interactions: p.Interactions, Subresources: p.Subresources, HostInteractions: 50, HostTotal: 500}
	with := func(change func(*governor.HostPolicy)) governor.HostPolicy {
		h := base
		change(&h)
		return h
	}
	for host, want := range map[string]governor.HostPolicy{
		"other.test":     base,
		"example":        base,
		"127.0.0.1:8080": with(func(h *governor.HostPolicy) { h.Deny = true }),
		"127.0.0.1:8081": with(func(h *governor.HostPolicy) { h.HostTotal = 0 }),
		"127.0.0.1":      with(func(h *governor.HostPolicy) { h.HostTotal = 0 }),
		"slow.example:8443": with(func(h *governor.HostPolicy) {
			h.Interactions.Rate, h.Subresources.Burst = governor.RateLimit(1.0/60), 5
		}),
		"a.slow.example": with(func(h *governor.HostPolicy) { h.HostInteractions = 7 }),
		"notexample":     base,
	} {
		if got := p.For(host); got != want {
			t.Errorf("%s: %+v, want %+v", host, got, want)
		}
	}
}

func TestNeedsContact(t *testing.T) {
	p := governor.DefaultPolicy()
	for host, want := range map[string]bool{"localhost:8080": false, "127.0.0.1": false, "[::1]:1": false, "example.com": true} {
		if err := p.NeedsContact(host); (err != nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
	p.Agent.Contact = "bot@example.com"
	if err := p.NeedsContact("example.com"); err != nil {
		t.Error(err)
	}
}

func TestSkipsRobots(t *testing.T) {
	p, _ := governor.Preset("harness")
	for host, want := range map[string]bool{"localhost:8080": true, "a.localhost": true, "127.0.0.1:9": true, "[::1]:9": true, "example.com": false, "localhost.example": false} {
		if got := p.SkipsRobots(host); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}

func TestDay(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)
	for zone, want := range map[string]string{"UTC": "2026-11-30", "": "2026-11-30", "Europe/Berlin": "2026-12-01", "America/New_York": "2026-11-30", "Mars/Olympus": "2026-11-30"} {
		p := governor.DefaultPolicy()
		p.Caps.TimeZone = zone
		if got := p.Day(at); got != want {
			t.Errorf("%s: %s, want %s", zone, got, want)
		}
	}
}

func TestSet(t *testing.T) {
	p := governor.DefaultPolicy()
	for _, kv := range [][2]string{
		{"caps.total", "100"}, {"interactions.rate", "6/minute"}, {"jitter.max", "0s"}, {"jitter.min", "0s"}, {"identity", "off"},
		{"i_accept", "identity_off, robots_off"}, {"robots.skip_hosts", "localhost,*.test"}, {"hosts", "[{match: shop.example, deny: true}]"},
	} {
		next, err := p.Set(kv[0], kv[1])
		if err != nil {
			t.Fatalf("%v: %v", kv, err)
		}
		p = next
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	if p.Caps.Total != 100 || p.Interactions.Rate != 0.1 || p.Jitter.Max != 0 || len(p.AcceptedRisks) != 2 || len(p.Robots.SkipHosts) != 2 || !p.For("shop.example").Deny {
		t.Errorf("%+v", p)
	}
	for _, c := range [][3]string{
		{"caps.totl", "1", "caps.totl: unknown key (did you mean caps.total?)"},
		{"caps", "1", "caps: unknown key"},
		{"caps.total", "-1", "caps.total: expected 0 to 1000000000, not -1"},
		{"caps.total", "", `caps.total: expected a whole number, not ""`},
		{"robots.mode", "of", `robots.mode: expected strict, rfc, warn or off, not "of" (did you mean off?)`},
		{"hosts", "[{match: https://x/}]", "hosts[0].match: expected a host, not a URL, and no blanks"},
		{"hosts", "[{match: x, dney: true}]", "hosts[0].dney: unknown key (did you mean deny?); expected deny, host_interactions, host_total, interactions, match or subresources"},
		{"hosts", "x", "hosts: expected a list of exceptions, like - {match: shop.example, deny: true}"},
	} {
		next, err := p.Set(c[0], c[1])
		if err == nil || err.Error() != c[2] {
			t.Errorf("Set(%s, %s): %v\nwant %s", c[0], c[1], err, c[2])
		}
		if !reflect.DeepEqual(next, p) {
			t.Errorf("Set(%s, %s) changes the policy and fails", c[0], c[1])
		}
	}
}

func TestApplyEnv(t *testing.T) {
	p, err := governor.DefaultPolicy().ApplyEnv([]string{
		"BROWSER_GOVERNOR_INTERACTIONS_RATE=6/minute", "BROWSER_GOVERNOR_CAPS_TOTAL=77", "BROWSER_GOVERNOR_AGENT_CONTACT=bot@example.com",
		"BROWSER_GOVERNOR_MAX_QUEUE=9", "BROWSER_GOVERNOR_I_ACCEPT=robots_off", "BROWSER_GOVERNOR_ROBOTS_MODE=off", "BROWSER_GOVERNOR_LOG_DIR=/var/log/x",
		"BROWSER_GOVERNOR_CDP_URL=ws://127.0.0.1:1/", "BROWSER_GOVERNOR_POLICY=policy.yaml", "BROWSER_GOVERNOR_TOKEN=x", "BROWSER_GOVERNOR_LOG=x",
		"PATH=/bin", "HOME", "",
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Interactions.Rate != 0.1 || p.Caps.Total != 77 || p.Agent.Contact != "bot@example.com" || p.MaxQueue != 9 || p.Robots.Mode != governor.RobotsOff || p.Log.Dir != "/var/log/x" {
		t.Errorf("%+v", p)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}

	before := governor.DefaultPolicy()
	p, err = before.ApplyEnv([]string{
		"BROWSER_GOVERNOR_POLICY_CAPS_TOTAL=1", "BROWSER_GOVERNOR_INTERACTION_RATE=1/s", "BROWSER_GOVERNOR_CAPS_WHATEVER=1", "BROWSER_GOVERNOR_POLICY_X=1", "BROWSER_GOVERNOR_CAPS_INTERACTIONS=many",
	})
	want := `BROWSER_GOVERNOR_CAPS_INTERACTIONS: caps.interactions: expected a whole number, not "many"
BROWSER_GOVERNOR_CAPS_WHATEVER: no such policy key
BROWSER_GOVERNOR_INTERACTION_RATE: no such policy key (did you mean BROWSER_GOVERNOR_INTERACTIONS_RATE?)
BROWSER_GOVERNOR_POLICY_CAPS_TOTAL: no such policy key (did you mean BROWSER_GOVERNOR_CAPS_TOTAL?)
BROWSER_GOVERNOR_POLICY_X: no such policy key`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if !reflect.DeepEqual(p, before) {
		t.Error("a failed ApplyEnv changes the policy")
	}
}

// Every key must be reachable by one variable, and no two by the same.
func TestEnvNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for line := range strings.Lines(governor.PolicyReference()) {
		if cells := strings.Split(line, "`"); strings.HasPrefix(line, "| `BROWSER_GOVERNOR_") && len(cells) > 3 {
			if other, ok := seen[cells[1]]; ok {
				t.Errorf("%s means %s and %s", cells[1], other, cells[3])
			}
			seen[cells[1]] = cells[3]
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d variables", len(seen))
	}
}

func TestSwitchedOff(t *testing.T) {
	p := governor.DefaultPolicy()
	if off := p.SwitchedOff(); len(off) != 0 {
		t.Errorf("the default policy switches off %q", off)
	}
	p.Robots.Mode, p.Identity, p.Robots.SkipHosts = governor.RobotsWarn, governor.Off, []string{"*"}
	p.ServiceWorkers, p.HTTP2 = governor.AllowServiceWorkers, governor.AllowHTTP2
	if off := p.SwitchedOff(); len(off) != 5 {
		t.Errorf("got %q, want five", off)
	}
}
