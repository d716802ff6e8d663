package robots

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseDelay reads the value of a crawl-delay: seconds with or without
// decimals, and a unit of seconds or none. There is no standard; exponents,
// signs, NaN and the comma are not numbers here.
func parseDelay(s string) (seconds float64, ok bool) {
	i := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	number, unit := s, ""
	if i >= 0 {
		number, unit = s[:i], trimBlanks(s[i:])
	}
	switch strings.ToLower(unit) {
	case "", "s", "sec", "secs", "second", "seconds":
	default:
		return 0, false
	}
	sec, err := strconv.ParseFloat(number, 64)
	if err != nil && !math.IsInf(sec, 1) { // out of range is +Inf and an error
		return 0, false
	}
	return min(sec, math.MaxFloat64), true
}

// duration is the delay to wait. One too long for a Duration (292 years) is the
// longest one.
func duration(seconds float64) time.Duration {
	if ns := seconds * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(ns)
	}
	return math.MaxInt64
}
