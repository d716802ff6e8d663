package robots

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Mode says how statuses are read that RFC 9309 treats more kindly than a site
// may have meant them.
type Mode string

const (
	Strict Mode = "strict" // RFC 9309, and 401, 402, 403, 408, 421, 425, 429 deny
	RFC    Mode = "rfc"    // RFC 9309 to the letter; 407 and 429 deny
)

// standing is what the answer to a fetch means for the URLs of the origin.
type standing uint8

const (
	down     standing = iota // no answer, or 5xx: the last good copy counts, else nothing is allowed
	busy                     // an answer that settles nothing: nothing is allowed for now
	refused                  // the server does not want us: nothing is allowed
	open                     // no rules: everything is allowed
	readable                 // a body with rules
)

func (s standing) good() bool { return s == open || s == readable }

// standingOf reads a status that is no redirect (RFC 9309 2.3.1). odd is true
// where everything is allowed only because the RFC says so for all of 4xx.
func standingOf(status int, mode Mode) (s standing, odd bool) {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusNotFound, http.StatusGone:
		return open, false
	case http.StatusPartialContent: // nobody asked for a part
		return down, false
	case http.StatusProxyAuthRequired: // our own proxy's, not the site's
		return refused, false
	case http.StatusTooManyRequests:
		return busy, false
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		if mode == Strict {
			return refused, false
		}
	case http.StatusRequestTimeout, http.StatusMisdirectedRequest, http.StatusTooEarly:
		if mode == Strict {
			return busy, false
		}
	}
	switch {
	case status >= 200 && status < 300:
		return readable, false
	case status >= 300 && status < 400:
		return busy, false
	case status >= 400 && status < 500:
		return open, true
	}
	return down, false
}

// redirects reports whether the status asks for another address (RFC 9309 2.3.1.2).
func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// maxAge is how long the response may be kept by its Cache-Control, and whether
// that says so.
func maxAge(h http.Header) (time.Duration, bool) {
	age, ok := time.Duration(0), false
	for _, line := range h.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			switch strings.ToLower(name) {
			case "no-store", "no-cache":
				return 0, true
			case "max-age":
				if d, good := seconds(strings.Trim(value, `"`)); good {
					age, ok = d, true
				}
			}
		}
	}
	return age, ok
}

// retryAfter is the wait a response asks for, at most a day; 0 when it asks for
// none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	d, ok := seconds(v)
	if !ok {
		t, err := http.ParseTime(v)
		if err != nil {
			return 0
		}
		d = t.Sub(now)
	}
	return min(max(d, 0), maxLife)
}

// seconds reads a whole number of seconds; more than a year is a year.
func seconds(s string) (time.Duration, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0, false
	}
	const year = 365 * 24 * 3600
	return time.Duration(min(n, year)) * time.Second, true
}
