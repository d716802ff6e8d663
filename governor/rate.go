package governor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxRate is the fastest rate a policy may name. Above it a bucket limits
// nothing, and its arithmetic loses the token it is about.
const maxRate RateLimit = 1e6

// rateUnits are the units of a rate, shortest first, as they are printed.
func rateUnits() []rateUnit {
	return []rateUnit{{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86400}}
}

type rateUnit struct {
	name    string
	seconds float64
}

// ParseRate reads a rate: a number, a slash and a unit ("12/minute", "0.5/s",
// "500/hour", "20/day"), or a number of events in a time ("1 per 5s", "1/5s").
// The units are second (s, sec), minute (min), hour (h) and day (d).
func ParseRate(s string) (RateLimit, error) {
	count, unit, ok := strings.Cut(s, "/")
	if !ok {
		count, unit, ok = strings.Cut(s, " per ")
	}
	bad := fmt.Errorf("rate %q: expected a number and a unit, like 12/minute, 0.5/s, 500/hour or 1 per 5s", s)
	if !ok {
		return 0, bad
	}
	count, unit = strings.TrimSpace(count), strings.TrimSpace(unit)
	if count == "" || strings.Trim(count, "0123456789.") != "" {
		return 0, bad
	}
	n, err := strconv.ParseFloat(count, 64)
	if err != nil {
		return 0, bad
	}
	seconds, ok := unitSeconds(unit)
	if !ok {
		return 0, bad
	}
	r := RateLimit(n / seconds)
	if !(r > 0) || r > maxRate {
		return 0, fmt.Errorf("rate %q: expected more than 0 and at most %s", s, maxRate)
	}
	return r, nil
}

// unitSeconds returns how long a unit lasts.
func unitSeconds(unit string) (float64, bool) {
	switch unit {
	case "s", "sec":
		return 1, true
	case "min":
		return 60, true
	case "h":
		return 3600, true
	case "d":
		return 86400, true
	}
	for _, u := range rateUnits() {
		if unit == u.name || unit == u.name+"s" {
			return u.seconds, true
		}
	}
	if d, err := time.ParseDuration(unit); err == nil && d > 0 && unit[0] >= '0' && unit[0] <= '9' {
		return d.Seconds(), true
	}
	return 0, false
}

// String returns the rate as a policy file has it, "12/minute": in the shortest
// unit in which the number is whole. ParseRate reads the very same rate back.
func (r RateLimit) String() string {
	f := float64(r)
	if math.IsNaN(f) || math.IsInf(f, 0) || f <= 0 {
		return strconv.FormatFloat(f, 'g', -1, 64) + "/second"
	}
	for _, u := range rateUnits() {
		n := math.Round(f * u.seconds)
		if n >= 1 && n/u.seconds == f {
			return strconv.FormatFloat(n, 'f', -1, 64) + "/" + u.name
		}
	}
	return strconv.FormatFloat(f, 'f', -1, 64) + "/second"
}

// UnmarshalYAML reads a rate written like "12/minute".
func (r *RateLimit) UnmarshalYAML(node *yaml.Node) error {
	v, err := ParseRate(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	*r = v
	return nil
}

// MarshalYAML writes a rate like "12/minute".
func (r RateLimit) MarshalYAML() (any, error) { return r.String(), nil }
