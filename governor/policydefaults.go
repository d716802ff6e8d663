package governor

import (
	"fmt"
	"time"
)

// DefaultPolicy returns the preset "polite": a pace that a small site bears and
// a person at the keyboard would keep. It names no contact, so it visits
// loopback hosts only until Agent.Contact is set.
func DefaultPolicy() Policy {
	return Policy{
		Version:      1,
		Agent:        Agent{Name: "browser-governor"},
		Schemes:      []string{"http", "https", "ws", "wss", "about", "data", "blob"},
		Interactions: Bucket{Rate: perMinute(12), Burst: 2},
		Subresources: Bucket{Rate: perMinute(600), Burst: 200},
		Jitter:       Jitter{Min: 500 * time.Millisecond, Max: 2 * time.Second},
		Caps:         Caps{Interactions: 500, Total: 20_000, TimeZone: "UTC"},
		Hold: Hold{ // measured time-outs of clients, less a margin
			Click:       2500 * time.Millisecond,
			Navigation:  8 * time.Second,
			KnownClient: 25 * time.Second,
			Subresource: 10 * time.Second,
		},
		Robots:         Robots{Mode: RobotsStrict, MaxCrawlDelay: time.Minute},
		Backoff:        Backoff{Base: 2 * time.Second, Max: 2 * time.Minute, Retries: 4},
		Identity:       On,
		ServiceWorkers: RefuseServiceWorkers,
		HTTP2:          RefuseHTTP2,
		MaxDenials:     3,
		MaxQueue:       64,
		Log:            LogPolicy{Dir: "browser-governor-log", Fsync: FsyncInterval},
	}
}

// When the log is forced to the disk.
const (
	FsyncInterval = "interval" // every second
	FsyncAlways   = "always"   // before each action is released
	FsyncNever    = "never"    // when the system likes
)

// Presets returns the names that [Preset] knows, the default first.
func Presets() []string { return []string{"polite", "careful", "harness"} }

// Preset returns a policy by name:
//
//   - "polite", the default;
//   - "careful", half the pace and less than half the budget, for small or
//     unknown sites;
//   - "harness", for tests of your own site on this machine: fast, without
//     jitter and caps, and without robots.txt on loopback hosts. Hosts elsewhere
//     are asked for theirs as ever.
func Preset(name string) (Policy, error) {
	p := DefaultPolicy()
	switch name {
	case "polite":
	case "careful":
		p.Interactions = Bucket{Rate: perMinute(6), Burst: 1}
		p.Caps.Interactions, p.Caps.Total = 200, 8000
	case "harness":
		p.Interactions = Bucket{Rate: perMinute(600), Burst: 50}
		p.Subresources = Bucket{Rate: perMinute(6000), Burst: 1000}
		p.Jitter = Jitter{}
		p.Caps.Interactions, p.Caps.Total = 0, 0
		p.Robots.SkipHosts = []string{"localhost", "*.localhost", "127.0.0.1", "[::1]"}
	default:
		return Policy{}, fmt.Errorf("preset %q: expected %s%s", name, oneOf(Presets()), didYouMean(name, Presets()))
	}
	return p, nil
}

func perMinute(n float64) RateLimit { return RateLimit(n / 60) }
