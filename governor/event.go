package governor

import (
	"time"

	"browsergovernor/actions"
)

// EventType says what a log event records.
type EventType string

const (
	EventAction  EventType = "action"  // a decision: sent, or refused with its reason
	EventOutcome EventType = "outcome" // what came of an action that was sent
	EventNote    EventType = "note"    // anything else worth keeping: start, stop, a client, a crash, a switched-off protection
)

// Event is one thing that happened. The audit log writes it as one line; the
// governor's state is a fold over these events.
//
// Time and Day are set by the governor, the sequence number and the hash chain
// by the log.
type Event struct {
	Type EventType
	Time time.Time
	Day  string // budget day in the policy's time zone, "2026-11-30"

	// Of an action.
	ID       string
	Kind     actions.Kind
	Method   string
	URL      string
	Host     string // bucket key: host, with the port unless it is the scheme's own
	Sent     bool
	Attempt  int
	Waited   time.Duration
	Client   string
	Tab      string
	Cause    string
	Resource string
	Detail   string
	Left     *Left
	Reason   Reason // of a refusal
	Rule     string // of a refusal: the rule in words

	// Of an outcome. ID names the action.
	Status     int           // HTTP status; 0 when there was no answer
	Latency    time.Duration // request start to headers
	RetryAfter time.Duration // what the server asked for; 0 when it did not ask
	FromCache  bool
	Credited   bool      // the action turned out not to have reached the server: its charge is given back
	HoldUntil  time.Time // the host stays closed until then; zero when it does not
	Error      string

	// Of a note: one word for what, one sentence for people, and the reason
	// code where it is a refusal that belongs to no action.
	Note string
	Text string
}

// Recorder keeps events. Record returns only when the event is as safe as the
// recorder promises to make it; an error refuses the action. It must be safe
// for concurrent use and must not retain ev.
type Recorder interface {
	Record(ev *Event) error
}

// Outcome is what came of an action that was allowed.
type Outcome struct {
	Status    int
	Header    map[string][]string // canonical keys, as in net/http.Header; nil when unknown
	Latency   time.Duration
	FromCache bool   // answered without reaching the server: the charge is given back
	Credit    bool   // never left the browser for another reason: the charge is given back
	Err       string // why there was no answer; "" when there was one
}

// Retry is the governor's advice after an outcome: whether the browser may ask
// again on the client's behalf, and the earliest time to do so. Asking again is
// an action of its own and is admitted like any other, with Attempt one higher.
type Retry struct {
	OK    bool
	After time.Duration
}
