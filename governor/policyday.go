package governor

import "time"

// Location returns the time zone whose midnight begins a new budget: UTC when
// Caps.TimeZone is empty or, which Validate does not let pass, unknown.
func (p Policy) Location() *time.Location {
	zone, err := time.LoadLocation(p.Caps.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Day returns the budget day in which t lies, "2026-11-30".
func (p Policy) Day(t time.Time) string { return t.In(p.Location()).Format(time.DateOnly) }
