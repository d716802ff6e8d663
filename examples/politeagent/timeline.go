package main

import (
	"fmt"
	"net/url"
	"sync"
	"time"

	"browsergovernor/governor"
)

// timeline prints every event as it is recorded, and passes it on to the log.
type timeline struct {
	next  governor.Recorder
	began time.Time

	mu sync.Mutex
}

// Record implements governor.Recorder.
func (t *timeline) Record(ev *governor.Event) error {
	err := t.next.Record(ev)
	switch ev.Type {
	case governor.EventAction:
		t.action(ev)
	case governor.EventOutcome:
		t.outcome(ev)
	}
	return err
}

func (t *timeline) action(ev *governor.Event) {
	if !ev.Sent {
		t.say("REFUSED  %-16s %s", path(ev.URL), ev.Reason)
		return
	}
	note := ""
	if ev.Attempt > 0 {
		note = fmt.Sprintf("  retry %d", ev.Attempt)
	}
	if ev.Waited > 0 {
		note += fmt.Sprintf("  held %.1f s", ev.Waited.Seconds())
	}
	left := ""
	if ev.Left != nil && ev.Kind.Interaction() {
		left = fmt.Sprintf("  %d left today", ev.Left.Day)
	}
	t.say("%-8s %-16s%s%s", ev.Method, path(ev.URL), note, left)
}

func (t *timeline) outcome(ev *governor.Event) {
	switch {
	case ev.Status == 429 || ev.Status == 503:
		why := "no Retry-After: backing off"
		if ev.RetryAfter > 0 {
			why = fmt.Sprintf("Retry-After: %g s", ev.RetryAfter.Seconds())
		}
		closed := ""
		if !ev.HoldUntil.IsZero() {
			closed = fmt.Sprintf(", closed for %.2f s", ev.HoldUntil.Sub(ev.Time).Seconds())
		}
		t.say("  answer %d, %s%s", ev.Status, why, closed)
	case ev.Credited:
		t.say("  not sent after all: %s", ev.Error)
	}
}

func (t *timeline) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Printf("[%5.1fs] %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

func path(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Path
}
