package governor

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestDayOf(t *testing.T) {
	for _, c := range []struct {
		zone, at, day, start, end string
	}{
		{"UTC", "2026-11-30T23:59:59Z", "2026-11-30", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"},
		{"Europe/Berlin", "2026-11-30T23:00:00Z", "2026-12-01", "2026-11-30T23:00:00Z", "2026-12-01T23:00:00Z"},
		// Berlin's 23 and 25 hours.
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		// Days without a midnight: Sao Paulo 2018-11-04 and Cairo 2026-04-24 begin at one o'clock.
		{"America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-03", "2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"},
		{"Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23", "2026-04-22T22:00:00Z", "2026-04-23T22:00:00Z"},
		// Havana falls back from one to midnight: 0:30 comes twice.
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		day, start, end := dayOf(at, zone)
		if s, e := start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339); day != c.day || s != c.start || e != c.end {
			t.Errorf("%s in %s: %s from %s to %s, want %s from %s to %s", c.at, c.zone, day, s, e, c.day, c.start, c.end)
		}
	}
}

func TestCapsStartAnewAtMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // 2000-01-01 00:00 UTC is 1999-12-31 19:00 in New York
		p := plainPolicy()
		p.Caps = Caps{Interactions: 2, Total: 3, TimeZone: "America/New_York"}
		g, m := open(t, p)
		allow(t, g, nav("http://a.example/"))
		allow(t, g, click("http://b.example/"))
		allow(t, g, sub("http://a.example/i"))
		refused(t, g, sub("http://a.example/i"), DailyCap)
		r := refused(t, g, nav("http://a.example/"), DailyCap)
		near(t, "retry after", r.RetryAfter, 5*time.Hour)
		time.Sleep(r.RetryAfter - time.Millisecond)
		refused(t, g, nav("http://a.example/"), DailyCap)
		time.Sleep(time.Millisecond)
		if d := allow(t, g, nav("http://a.example/")); d.Left.Day != 1 {
			t.Errorf("%d left, want 1", d.Left.Day)
		}
		evs := m.sent()
		if a, b := evs[0].Day, evs[3].Day; a != "1999-12-31" || b != "2000-01-01" {
			t.Errorf("counted to %s and %s", a, b)
		}
	})
}

func TestHostCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plainPolicy()
		p.Caps.HostInteractions, p.Caps.HostTotal = 1, 2
		g, _ := open(t, p)
		if d := allow(t, g, nav("http://a.example/")); d.Left.Host != 0 {
			t.Errorf("left %+v", d.Left)
		}
		refused(t, g, nav("http://a.example/"), HostDailyCap)
		allow(t, g, sub("http://a.example/i"))
		refused(t, g, sub("http://a.example/i"), HostDailyCap)
		allow(t, g, nav("http://a.example:8080/"))
		time.Sleep(24 * time.Hour)
		allow(t, g, nav("http://a.example/"))
	})
}

// A clock that is set back across midnight hands no budget out twice.
func TestDayDoesNotComeTwice(t *testing.T) {
	now := time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC)
	p := plainPolicy()
	p.Caps.Interactions = 1
	g, m := open(t, p, func(c *Config) { c.Now = func() time.Time { return now } })
	allow(t, g, nav("http://a.example/"))
	now = now.Add(2 * time.Minute)
	allow(t, g, nav("http://b.example/"))
	now = now.Add(-2 * time.Minute)
	refused(t, g, nav("http://c.example/"), DailyCap)
	now = now.Add(2 * time.Minute)
	refused(t, g, nav("http://c.example/"), DailyCap)
	days := map[string]int{}
	for _, ev := range m.sent() {
		days[ev.Day]++
	}
	if days["2026-11-30"] != 1 || days["2026-12-01"] != 1 {
		t.Errorf("sent by day: %v", days)
	}
}
