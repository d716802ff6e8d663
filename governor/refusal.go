package governor

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"browsergovernor/actions"
)

// A refusal's sentence is read by people and by models, who act on it. It
//
//   - starts "refused by browser-governor: ", so that nobody takes it for the site's word;
//   - says what forbids the action and names the rule;
//   - ends "; do not retry" or "; retry after N s", N rounded up;
//   - is one line of less than 200 printable ASCII characters;
//   - holds no "net::" and no "ERR_": clients take those for network errors and retry.
//
// Words of a site (URLs, robots rules) stand in it cut and cleaned. They cannot
// forge an ending: a semicolon in them becomes a comma.
const (
	sentencePrefix = "refused by browser-governor: "
	sentenceMax    = 199
	noRetry        = "; do not retry"
)

// denial is a refusal that nobody has been told of yet.
type denial struct {
	reason Reason
	what   string        // the middle of the sentence, in our words and cleaned words of others
	rule   string        // as it goes to the log
	after  time.Duration // wait that makes a retry sensible; 0: unknown
}

// retryable reports whether the asker may try again by itself. A pause and a
// challenge end, too, but only when a person ends them.
func (r Reason) retryable() bool {
	switch r {
	case RetryAfter, DailyCap, HostDailyCap, Rate, QueueFull, RobotsUnavailable, AuditUnavailable, StoreUnavailable:
		return true
	}
	return false
}

// fallbackRetry is the wait named where a retry makes sense and nobody knows when.
const fallbackRetry = 60 * time.Second

// refusal turns d into what the asker is told.
func (d *denial) refusal(id string, a *actions.Action) *Refusal {
	r := &Refusal{ID: id, Reason: d.reason, Rule: d.rule, Kind: a.Kind, URL: a.URL}
	if d.reason.retryable() {
		r.Retryable = true
		r.RetryAfter = d.after
		if r.RetryAfter <= 0 {
			r.RetryAfter = fallbackRetry
		}
	}
	r.Sentence = sentence(d.what, r.Retryable, r.RetryAfter)
	return r
}

func sentence(what string, retryable bool, after time.Duration) string {
	end := noRetry
	if retryable {
		end = fmt.Sprintf("; retry after %d s", seconds(after))
	}
	return sentencePrefix + clean(what, sentenceMax-len(sentencePrefix)-len(end)) + end
}

// seconds rounds up, and to 1 at least.
func seconds(d time.Duration) int64 {
	return max(1, int64(math.Ceil(d.Seconds())))
}

// clean makes s one line of at most n printable ASCII characters without a word
// that clients would act on.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return '?'
		case r == ';':
			return ','
		}
		return r
	}, s)
	if len(s) > n {
		s = strings.TrimRight(s[:n-3], " ") + "..."
	}
	for _, word := range []string{"net::", "err_"} { // in any case; ASCII, so that positions agree
		for i := strings.Index(strings.ToLower(s), word); i >= 0; i = strings.Index(strings.ToLower(s), word) {
			s = s[:i+len(word)-1] + "-" + s[i+len(word):]
		}
	}
	return s
}

// short cuts words of others to the room they get in a sentence.
func short(s string) string { return clean(s, 70) }

// said is a site's text between quotes it cannot close.
func said(s string) string { return `"` + strings.ReplaceAll(short(s), `"`, `'`) + `"` }

// refusalJSON is the data of a refusal in CDP errors, in the log of clients and
// over HTTP.
type refusalJSON struct {
	ID         string       `json:"id,omitempty"`
	Reason     Reason       `json:"reason"`
	Message    string       `json:"message"`
	Rule       string       `json:"rule,omitempty"`
	Retryable  bool         `json:"retryable"`
	RetryAfter float64      `json:"retry_after_s,omitempty"` // seconds, rounded up to milliseconds
	Kind       actions.Kind `json:"kind,omitempty"`
	URL        string       `json:"url,omitempty"`
}

// MarshalJSON writes the refusal with its wait as "retry_after_s", in seconds.
func (r Refusal) MarshalJSON() ([]byte, error) {
	return json.Marshal(refusalJSON{
		ID: r.ID, Reason: r.Reason, Message: r.Sentence, Rule: r.Rule, Retryable: r.Retryable,
		RetryAfter: math.Ceil(r.RetryAfter.Seconds()*1000) / 1000, Kind: r.Kind, URL: r.URL,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Refusal) UnmarshalJSON(b []byte) error {
	var j refusalJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("refusal: %w", err)
	}
	*r = Refusal{
		ID: j.ID, Reason: j.Reason, Sentence: j.Message, Rule: j.Rule, Retryable: j.Retryable,
		RetryAfter: time.Duration(j.RetryAfter * float64(time.Second)), Kind: j.Kind, URL: j.URL,
	}
	return nil
}

// JSON returns the refusal as the data member of a CDP error.
func (r *Refusal) JSON() json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil { // strings, numbers and a bool
		return nil
	}
	return b
}
