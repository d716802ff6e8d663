package governor

import "time"

// clock reads the time in two ways. The wall clock names days and stands in
// the log; it may be set. The steady clock measures waits: it starts at the
// wall's time, moves with the monotonic clock where the source has one, and
// stands still rather than run backwards. An older time would mint tokens:
// [rate.Limiter] keeps whatever time it is given last.
//
// The Governor's mutex guards it.
type clock struct {
	now   func() time.Time
	start time.Time
	past  time.Duration // the furthest the clock has come since start
}

func newClock(now func() time.Time) clock {
	if now == nil {
		now = time.Now
	}
	return clock{now: now, start: now()}
}

func (c *clock) read() (wall time.Time, steady tick) {
	wall = c.now()
	c.past = max(c.past, wall.Sub(c.start))
	return wall, tick(c.start.UnixNano()).add(c.past)
}

// today is the budget day that is running and what was spent of it.
//
// The Governor's mutex guards it.
type today struct {
	zone       *time.Location
	name       string // "2026-11-30"
	start, end time.Time
	number     int16 // raised by one with every new day; marks the hosts' own counts

	interactions, total int
}

// wrongClock is how far back the wall clock may be set before the day is
// allowed to follow it. Less than that is a correction across midnight, and the
// later day goes on, so that its budget is not handed out twice.
const wrongClock = 48 * time.Hour

// roll starts the day that wall lies in, if it is another one.
func (d *today) roll(wall time.Time) {
	switch {
	case d.name == "":
	case wall.Before(d.start):
		if d.start.Sub(wall) < wrongClock {
			return
		}
		// The clock was plainly wrong before. What was spent stays spent.
		d.name, d.start, d.end = dayOf(wall, d.zone)
		return
	case wall.Before(d.end):
		return
	}
	d.name, d.start, d.end = dayOf(wall, d.zone)
	d.number++
	d.interactions, d.total = 0, 0
}

// dayOf returns the calendar day of t in zone, which may last 23 to 25 hours.
func dayOf(t time.Time, zone *time.Location) (name string, start, end time.Time) {
	t = t.In(zone)
	y, m, d := t.Date()
	start = time.Date(y, m, d, 0, 0, 0, 0, zone)
	for start.Day() != d { // this day has no midnight: its clocks go forward then
		start = start.Add(15 * time.Minute)
	}
	end = time.Date(y, m, d+1, 0, 0, 0, 0, zone)
	for end.Day() == d {
		end = end.Add(15 * time.Minute)
	}
	return t.Format(time.DateOnly), start, end
}
