package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"browsergovernor/actions"
	"browsergovernor/governor"
)

// version is the format of the lines that this package writes.
const version = 1

// record is one line as it was read.
type record struct {
	Event governor.Event
	V     int
	Seq   uint64
	Prev  string // hex, as it stands in the line

	Raw  string // without the newline
	File string // name inside the folder
	Line int    // from 1
	Hash [hashSize]byte
	Err  error // *LineError when the line cannot be understood, or what kept the file from being read
}

// LineError says which line of which file is wrong.
type LineError struct {
	File string // name inside the log's folder
	Line int    // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("audit: %s:%d: %v", e.File, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// wire is a line as JSON sees it. The keys are in the order in which they are
// written.
type wire struct {
	V          int            `json:"v"`
	Seq        uint64         `json:"seq"`
	TS         string         `json:"ts"`
	Day        string         `json:"day"`
	Event      string         `json:"event"`
	ID         string         `json:"id"`
	Kind       string         `json:"kind"`
	Method     string         `json:"method"`
	URL        string         `json:"url"`
	Host       string         `json:"host"`
	Sent       bool           `json:"sent"`
	Attempt    int            `json:"attempt"`
	WaitedMS   float64        `json:"waited_ms"`
	Client     string         `json:"client"`
	Tab        string         `json:"tab"`
	Cause      string         `json:"cause"`
	Resource   string         `json:"resource"`
	Detail     string         `json:"detail"`
	Left       *governor.Left `json:"left"`
	Reason     string         `json:"reason"`
	Rule       string         `json:"rule"`
	Status     int            `json:"status"`
	MS         float64        `json:"ms"`
	RetryAfter float64        `json:"retry_after_s"`
	FromCache  bool           `json:"from_cache"`
	Credited   bool           `json:"credited"`
	HoldUntil  string         `json:"hold_until"`
	Error      string         `json:"error"`
	Note       string         `json:"note"`
	Text       string         `json:"text"`
	Prev       string         `json:"prev"`
}

// parse reads one line into r. Lines in our own spelling take the fast way;
// everything else that is JSON is read by encoding/json and means the same.
func parse(line string, r *record) error {
	if parseFast(line, r) {
		return nil
	}
	return parseAny(line, r)
}

func parseAny(line string, r *record) error {
	var w wire
	if err := json.Unmarshal([]byte(line), &w); err != nil {
		var mismatch *json.UnmarshalTypeError
		// A newer version may give a field another shape: that field stays
		// empty, the rest is readable.
		if !errors.As(err, &mismatch) || w.V <= version {
			return jsonError(err)
		}
	}
	if w.V < 1 {
		return errors.New(`not a line of this log: no "v"`)
	}
	if w.Event == "" {
		return errors.New(`"event" is missing`)
	}
	ts, err := time.Parse(time.RFC3339Nano, w.TS)
	if err != nil {
		return fmt.Errorf(`"ts" is %q: want a time as in "2006-01-02T15:04:05.000Z"`, w.TS)
	}
	var hold time.Time
	if w.HoldUntil != "" {
		if hold, err = time.Parse(time.RFC3339Nano, w.HoldUntil); err != nil && w.V <= version {
			return fmt.Errorf(`"hold_until" is %q: want a time as in "2006-01-02T15:04:05.000Z"`, w.HoldUntil)
		}
		hold = hold.UTC()
	}
	r.V, r.Seq, r.Prev = w.V, w.Seq, w.Prev
	r.Event = governor.Event{
		Type: governor.EventType(w.Event), Time: ts.UTC(), Day: w.Day,
		ID: w.ID, Kind: actions.Kind(w.Kind), Method: w.Method, URL: w.URL, Host: w.Host,
		Sent: w.Sent, Attempt: w.Attempt, Waited: fromMS(w.WaitedMS),
		Client: w.Client, Tab: w.Tab, Cause: w.Cause, Resource: w.Resource, Detail: w.Detail,
		Left: w.Left, Reason: governor.Reason(w.Reason), Rule: w.Rule,
		Status: w.Status, Latency: fromMS(w.MS), RetryAfter: fromMS(math.Round(w.RetryAfter * 1000)),
		FromCache: w.FromCache, Credited: w.Credited, HoldUntil: hold, Error: w.Error,
		Note: w.Note, Text: w.Text,
	}
	return nil
}

// longestMS bounds what is read as a duration: 31 years in milliseconds.
const longestMS = 1e12

// fromMS turns milliseconds into a duration without leaving its range.
func fromMS(ms float64) time.Duration {
	ms = min(max(ms, -longestMS), longestMS)
	whole, frac := math.Modf(ms)
	return time.Duration(whole)*time.Millisecond + time.Duration(math.Round(frac*float64(time.Millisecond)))
}

// jsonError names the column or the key.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("column %d: not JSON: %w", syntax.Offset, err)
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("%q is a %s: want %s", mismatch.Field, mismatch.Value, mismatch.Type)
	}
	return fmt.Errorf("not a line of this log: %w", err)
}
