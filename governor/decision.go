package governor

import (
	"time"

	"browsergovernor/actions"
)

// Verdict is the answer in one bit. Its zero value refuses, so that a decision
// nobody made lets nothing through.
type Verdict uint8

const (
	Refuse Verdict = iota
	Allow
)

// String returns "refuse" or "allow".
func (v Verdict) String() string {
	if v == Allow {
		return "allow"
	}
	return "refuse"
}

// Reason is why an action was refused. The values are stable: they stand in the
// log, in the API, in metrics and in the X-Governor-Reason header.
type Reason string

// The reasons, in the order in which Admit looks for them.
const (
	Paused             Reason = "paused"                // the operator stopped the host or everything
	PolicyDenied       Reason = "policy_denied"         // scheme, host list or kind
	PrivateNetwork     Reason = "private_network"       // a private address the policy does not allow
	RepeatedDenial     Reason = "repeated_denial"       // the same refused action, asked again and again
	RobotsDisallowed   Reason = "robots_disallowed"     // a rule of robots.txt
	RobotsUnavailable  Reason = "robots_unavailable"    // robots.txt could not be read, so nothing is known to be allowed
	CrawlDelayTooLong  Reason = "crawl_delay_too_long"  // the site asks for more time than the policy is ready to wait
	RetryAfter         Reason = "retry_after"           // the host asked to wait
	Challenge          Reason = "challenge"             // the host showed a bot check; a human decides
	DailyCap           Reason = "daily_cap"             // the day's budget is spent
	HostDailyCap       Reason = "host_daily_cap"        // the host's budget of the day is spent
	Rate               Reason = "rate"                  // the bucket needs longer than the action can be held
	QueueFull          Reason = "queue_full"            // too many actions wait for the host
	AuditUnavailable   Reason = "audit_unavailable"     // the log cannot be written
	StoreUnavailable   Reason = "store_unavailable"     // the shared budget cannot be reached
	Abandoned          Reason = "abandoned"             // whoever asked went away while the action was held
	CommandNotGoverned Reason = "command_not_permitted" // a CDP command that would walk around the governor
)

// Left is what remains of the budgets after a decision. A budget without a
// limit is -1.
type Left struct {
	Host int `json:"host"` // interactions left today for the host
	Day  int `json:"day"`  // interactions left today in all
}

// Decision is the final answer to one action. The zero value refuses.
type Decision struct {
	Verdict Verdict
	ID      string        // "a41": the action's name in the log; "" from Check
	Waited  time.Duration // how long Admit held the action
	Left    Left
	Refusal *Refusal // nil when allowed
}

// Allowed reports whether the action may go ahead.
func (d Decision) Allowed() bool { return d.Verdict == Allow }

// Refusal is what a refused asker is told. It is an error, so that Go callers
// can return it as it is.
type Refusal struct {
	ID         string        `json:"id"`
	Reason     Reason        `json:"reason"`
	Sentence   string        `json:"message"` // one line for people and models, see Sentence rules in refusal.go
	Rule       string        `json:"rule,omitempty"`
	Retryable  bool          `json:"retryable"`
	RetryAfter time.Duration `json:"-"` // 0 when unknown or not retryable
	Kind       actions.Kind  `json:"kind"`
	URL        string        `json:"url,omitempty"`
}

// Error returns the sentence.
func (r *Refusal) Error() string { return r.Sentence }
