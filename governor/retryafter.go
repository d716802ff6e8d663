package governor

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter is the longest wait a server is believed to mean.
const maxRetryAfter = 365 * 24 * time.Hour

// retryAfter reads a response's Retry-After (RFC 9110, 10.2.3): seconds, with
// decimals as some servers send them, or a date in any of HTTP's three formats.
// A date is taken against the response's own Date, for the server's clock may
// differ from ours; without one against now. Of several values the longest
// counts. ok is false when there is none that can be read; a date in the past
// is a wait of 0.
func retryAfter(header map[string][]string, now time.Time) (wait time.Duration, ok bool) {
	for _, v := range header["Retry-After"] {
		if d, good := retryAfterValue(strings.TrimSpace(v), header, now); good {
			wait, ok = max(wait, d), true
		}
	}
	return wait, ok
}

func retryAfterValue(v string, header map[string][]string, now time.Time) (time.Duration, bool) {
	if v == "" {
		return 0, false
	}
	if strings.Trim(v, "0123456789.") == "" {
		s, err := strconv.ParseFloat(v, 64)
		if err != nil && s == 0 { // "1.2.3"; a number too large comes back as infinity
			return 0, false
		}
		if s >= maxRetryAfter.Seconds() {
			return maxRetryAfter, true
		}
		return time.Duration(s * float64(time.Second)), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if sent := header["Date"]; len(sent) > 0 {
		if t, err := http.ParseTime(sent[0]); err == nil {
			now = t
		}
	}
	return min(max(0, at.Sub(now)), maxRetryAfter), true
}

// challenged reports whether a response is a bot check by its headers, whatever
// its status says.
func challenged(header map[string][]string) bool {
	for _, v := range header["Cf-Mitigated"] {
		if strings.EqualFold(strings.TrimSpace(v), "challenge") {
			return true
		}
	}
	for _, v := range header["X-Amzn-Waf-Action"] {
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "challenge", "captcha":
			return true
		}
	}
	return false
}
