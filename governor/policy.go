package governor

import "time"

// Policy is what the operator allows. It is immutable once a Governor has it.
// The zero value is not usable; start from [DefaultPolicy].
//
// In a policy file the keys are the yaml names below, durations are written
// "2.5s" and rates "12/minute".
type Policy struct {
	Version int `yaml:"version"` // format of the file; 1

	Agent        Agent     `yaml:"agent"`
	Schemes      []string  `yaml:"schemes"`     // what a browser may be asked to open: "http", "https", …
	Deny         []string  `yaml:"deny"`        // kinds of action that are refused everywhere: "download", "click"
	Navigations  HostLists `yaml:"navigations"` // hosts whose documents a tab may show
	Interactions Bucket    `yaml:"interactions"`
	Subresources Bucket    `yaml:"subresources"`

	// SubresourceHosts are subresources.allow and subresources.deny: hosts that
	// pages may load from. Frames and WebSockets are among them.
	SubresourceHosts HostLists `yaml:"-"`

	Jitter         Jitter         `yaml:"jitter"`
	Caps           Caps           `yaml:"caps"`
	Hold           Hold           `yaml:"hold"`
	Robots         Robots         `yaml:"robots"`
	Backoff        Backoff        `yaml:"backoff"`
	Identity       Switch         `yaml:"identity"`        // on: every request carries the agent's name
	ServiceWorkers ServiceWorkers `yaml:"service_workers"` // refuse or allow
	HTTP2          HTTP2          `yaml:"http2"`           // refuse or allow
	MaxDenials     int            `yaml:"max_denials"`     // the same refused action this many times in a row: repeated_denial; 0 switches it off
	MaxQueue       int            `yaml:"max_queue"`       // actions that may wait for one host
	Hosts          []HostRule     `yaml:"hosts"`           // exceptions, first match wins
	AcceptedRisks  []string       `yaml:"i_accept"`        // second key for every protection switched off: "robots_off", "identity_off"
	Log            LogPolicy      `yaml:"log"`

	places *places // where it stands in its file; nil when it comes from none
}

// HostLists say which hosts may be asked. The patterns are those of
// [HostRule.Match]. Deny wins; an empty Allow allows every host, any other only
// those it names.
type HostLists struct {
	Allow []string `yaml:"allow"`
	Deny  []string `yaml:"deny"`
}

// Agent is who visits. Name and Contact go into the User-Agent of every request.
type Agent struct {
	Name        string `yaml:"name"`         // product token, with or without version: "ResearchBot/1.0"
	Contact     string `yaml:"contact"`      // URL or e-mail address; required unless every host visited is loopback
	RobotsToken string `yaml:"robots_token"` // name looked for in robots.txt; default: Name without the version
}

// Bucket is the pace of one sort of action on one host: Rate tokens a second
// on average, at most Burst at once.
type Bucket struct {
	Rate  RateLimit `yaml:"rate"`
	Burst int       `yaml:"burst"`
}

// RateLimit is events per second, written "12/minute", "1/second", "500/hour".
type RateLimit float64

// Jitter is the random extra wait of an interaction, drawn evenly between Min
// and Max. It spares servers a fixed beat; it is not a disguise.
type Jitter struct {
	Min time.Duration `yaml:"min"`
	Max time.Duration `yaml:"max"`
}

// Caps are budgets a day. 0 means no limit.
type Caps struct {
	Interactions     int    `yaml:"interactions"`      // a day, all hosts
	Total            int    `yaml:"total"`             // a day, all hosts, sub-resources included
	HostInteractions int    `yaml:"host_interactions"` // a day, each host
	HostTotal        int    `yaml:"host_total"`        // a day, each host, sub-resources included
	TimeZone         string `yaml:"time_zone"`         // whose midnight: IANA name; default UTC
}

// Hold is the longest an action is made to wait before it is refused.
type Hold struct {
	Click       time.Duration `yaml:"click"`
	Navigation  time.Duration `yaml:"navigation"`
	KnownClient time.Duration `yaml:"known_client"` // navigations of clients known to wait longer (Playwright, Puppeteer, browser-use)
	Subresource time.Duration `yaml:"subresource"`
}

// RobotsMode says how robots.txt is obeyed.
type RobotsMode string

const (
	RobotsStrict RobotsMode = "strict" // RFC 9309, and 401/403/429 deny
	RobotsRFC    RobotsMode = "rfc"    // RFC 9309 to the letter
	RobotsWarn   RobotsMode = "warn"   // log what strict would refuse; needs i_accept robots_off
	RobotsOff    RobotsMode = "off"    // do not fetch it; needs i_accept robots_off
)

// Robots is how robots.txt is read.
type Robots struct {
	Mode          RobotsMode    `yaml:"mode"`
	MaxCrawlDelay time.Duration `yaml:"max_crawl_delay"` // longer asked delays refuse
	SkipHosts     []string      `yaml:"skip_hosts"`      // hosts (or host:port) of your own that have none
}

// Backoff is what happens after 429 and 503.
type Backoff struct {
	Base    time.Duration `yaml:"base"`    // first wait when the server names none
	Max     time.Duration `yaml:"max"`     // longest wait the browser retries after; longer ones only close the host
	Retries int           `yaml:"retries"` // tries after the first, of one navigation
}

// Switch is on or off.
type Switch string

const (
	On  Switch = "on"
	Off Switch = "off"
)

// ServiceWorkers says whether pages may install service workers, whose
// navigation preload and update requests cannot be held.
type ServiceWorkers string

const (
	RefuseServiceWorkers ServiceWorkers = "refuse"
	AllowServiceWorkers  ServiceWorkers = "allow"
)

// HTTP2 says whether Chrome may speak HTTP/2. What a server's early answer (103)
// makes it ask for there is seen by nobody.
type HTTP2 string

const (
	RefuseHTTP2 HTTP2 = "refuse"
	AllowHTTP2  HTTP2 = "allow"
)

// HostRule is an exception for hosts. A field left out keeps the policy's value.
type HostRule struct {
	Match            string  `yaml:"match"` // "shop.example", "*.example" (not the apex), "127.0.0.1:8080", "*"
	Deny             bool    `yaml:"deny"`  // refuse every action on the host
	Interactions     *Bucket `yaml:"interactions"`
	Subresources     *Bucket `yaml:"subresources"`
	HostInteractions *int    `yaml:"host_interactions"`
	HostTotal        *int    `yaml:"host_total"`
}

// LogPolicy is where and how safely the log is written.
type LogPolicy struct {
	Dir   string `yaml:"dir"`
	Fsync string `yaml:"fsync"` // "interval" (every second), "always", "never"
}
